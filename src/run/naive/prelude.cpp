// The helpers of a naive program, as C++17 text: numbers with error bounds, arrays, reductions, integer rules.
//
// It states in plain code what src/run/reference/error_model.hpp states for the interpreter; tests hold the two together.
// Pieces are emitted only where a program uses them, so that an exported main.cpp stays short.
#include "src/run/naive/prelude.hpp"

#include "src/run/naive/prelude_pieces.hpp"

namespace facet::naive {

namespace {

constexpr const char* kIndex =
    R"(inline std::int64_t floor_div(std::int64_t a, std::int64_t b) { return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0)); }
inline std::int64_t floor_mod(std::int64_t a, std::int64_t b) { return b == 0 ? 0 : a - b * floor_div(a, b); }
inline std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
inline std::int64_t larger(std::int64_t a, std::int64_t b) { return a > b ? a : b; }
inline bool inside(std::int64_t i, std::int64_t extent) { return i >= 0 && i < extent; }
)";

constexpr const char* kArray = R"(// A tensor in row-major order: values, and bounds once some element has one.
inline float round_up(double b) { return b == 0 ? 0.0F : static_cast<float>(b * (1 + 0x1p-23)) + 0x1p-149F; }
template <class T> struct Array {
  using Number = decltype(T::v);
  std::vector<std::int64_t> extent;
  std::vector<Number> value;
  std::vector<float> bound, magnitude;   // magnitude: sum of |terms| of elements that are added to
  void shape(std::vector<std::int64_t> sizes) {
    extent = sizes;
    std::size_t count = 1;
    for (std::int64_t n : sizes) count *= static_cast<std::size_t>(n);
    value.assign(count, std::numeric_limits<Number>::has_quiet_NaN ? std::numeric_limits<Number>::quiet_NaN() : Number(0));
    bound.clear();
    magnitude.clear();
  }
  void release() { *this = Array(); }
  template <class... I> std::size_t at(I... i) const {
    std::size_t offset = 0;
    [[maybe_unused]] std::size_t d = 0;
    ((offset = offset * static_cast<std::size_t>(extent[d++]) + static_cast<std::size_t>(i)), ...);
    return offset;
  }
  T get(std::size_t k) const { return {value[k], bound.empty() ? 0.0 : static_cast<double>(bound[k])}; }
  template <class... I> T operator()(I... i) const { return get(at(i...)); }
  void set(std::size_t k, T x) {
    value[k] = x.v;
    if (x.b != 0 && bound.empty()) bound.assign(value.size(), 0.0F);
    if (!bound.empty()) bound[k] = round_up(x.b);
  }
};
)";

constexpr const char* kStores =
    R"(// Stores of loop nests round to the dtype. Sums may be added in any order: each addition costs u times the sum of |terms|.
template <int P> Real<P> stored(Real<P> x) { return {rounded<P>(x.v), x.b == 0 || !std::isfinite(x.v) ? x.b : x.b + Facts<P>::unit * std::fabs(x.v)}; }
inline Whole stored(Whole x) { return x; }
template <int P> Real<P> added(Real<P> s, Real<P> t, float& magnitude) {
  const double v = s.v + t.v, p = s.b + t.b;
  if (!std::isfinite(v)) return s + t;
  magnitude = round_up(std::fmax(static_cast<double>(magnitude), std::fabs(s.v)) + std::fabs(t.v));
  if (p == 0 && exact<P>(v)) return {v, 0};
  return finish<P>(v, p + Facts<P>::unit * static_cast<double>(magnitude));
}
template <class T> void store(Array<T>& a, std::size_t k, T x) {
  a.set(k, stored(x));
  if (!a.magnitude.empty()) a.magnitude[k] = 0;
}
template <class T> void accumulate(Array<T>& a, std::size_t k, T x) {
  if (a.magnitude.empty()) a.magnitude.assign(a.value.size(), 0.0F);
  a.set(k, stored(added(a.get(k), x, a.magnitude[k])));
}
template <class T> struct Scalar {
  T x;
  float magnitude = 0;
  T operator()() const { return x; }
  void store(T y) { x = stored(y); magnitude = 0; }
  void accumulate(T y) { x = stored(added(x, y, magnitude)); }
};
)";

constexpr const char* kSum =
    R"(// A sum of n terms, added in any order, is within (n - 1) u sum|terms|; small integers add exactly.
template <int P> struct Sum {
  double v = 0, size = 0, b = 0, n = 0;
  bool integral = true;
  void add(Real<P> t) {
    v += t.v;
    size += std::fabs(t.v);
    b += t.b;
    n += 1;
    if (integral) integral = t.v == std::nearbyint(t.v);
  }
  Real<P> value() const {
    if (!(b < kInf)) return {v, kInf};
    if (!std::isfinite(v) || (b == 0 && integral && size <= std::ldexp(1.0, P))) return {v, 0};
    if (n > 1 && size > Facts<P>::largest) return finish<P>(v, size);
    return finish<P>(v, b + (n > 1 ? (n - 1) * Facts<P>::unit * size : 0));
  }
};
)";

constexpr const char* kSpread =
    R"(// Running bounds of a recurrence grow until they allow anything. Where an output has such bounds the program runs again a few
// times with its roundings moved at random: 16 times the largest distance between runs bounds the elements of that output.
// Elements that move as far as the output is large hang on a comparison and stay as they are.
constexpr std::uint64_t kSpreadRuns = 3;
template <int P> struct Spread {
  const Array<Real<P>>& base;
  double size = 0, share = std::fmin(0.25, 64 * std::sqrt(Facts<P>::unit)), largest = 0;
  bool vague = false;
  std::vector<bool> jumps;
  explicit Spread(const Array<Real<P>>& of) : base(of), jumps(of.value.size()) {
    double sum = 0, count = 0;
    for (double v : base.value) if (std::isfinite(v)) sum += v * v, count += 1;
    size = count > 0 ? std::sqrt(sum / count) : 0;
    for (std::size_t k = 0; k < base.bound.size(); ++k)
      vague = vague || (std::isfinite(base.value[k]) && !(static_cast<double>(base.bound[k]) <= share * size));
  }
  void add(const Array<Real<P>>& other) {
    for (std::size_t k = 0; k < jumps.size(); ++k) {
      const double distance = std::fabs(other.value[k] - base.value[k]);
      if (!(distance <= share * size)) jumps[k] = true;
      else largest = std::fmax(largest, distance);
    }
  }
  void tighten(Array<Real<P>>& to) const {
    const float most = static_cast<float>(16 * (largest + Facts<P>::unit * size));
    for (std::size_t k = 0; vague && k < to.bound.size(); ++k)
      if (!jumps[k] && std::isfinite(to.value[k]) && most < to.bound[k]) to.bound[k] = most;
  }
};
)";

constexpr const char* kProduct = R"(template <int P> struct Product {
  Real<P> x{1, 0};
  void add(Real<P> t) { x = x * t; }
  Real<P> value() const { return x; }
};
)";

constexpr const char* kExtremum = R"(template <int P, int S> struct Extremum {   // S = 1: max, S = -1: min; NaN wins
  double best = -kInf, low = -kInf, high = -kInf;
  bool nan = false, unsure = false;
  void add(Real<P> t) {
    const double x = S * t.v;
    nan = nan || x != x;
    unsure = unsure || !(t.b < kInf);
    best = best > x ? best : x;
    low = low > x - t.b ? low : x - t.b;
    high = high > x + t.b ? high : x + t.b;
  }
  Real<P> value() const {
    const double v = nan ? std::numeric_limits<double>::quiet_NaN() : S * best;
    if (unsure || !std::isfinite(v)) return {v, unsure ? kInf : 0};
    return {v, high - best > best - low ? high - best : best - low};
  }
};
)";

constexpr const char* kFold = R"(template <class F> struct Fold {   // a reduction of integers or truth values
  F f;
  Whole x;
  void add(Whole t) { x = f(x, t); }
  Whole value() const { return x; }
};
template <class F> Fold<F> fold(F f, std::int64_t start) { return {f, {start, 0}}; }
)";

constexpr const char* kArg =
    R"(template <int P, int S> struct ArgReal {   // first position of the largest (S = 1) or smallest term; the first NaN wins
  std::int64_t position = 0;
  Real<P> best{-S * kInf, 0};
  double rival = -kInf;   // the highest upper end among the others, exact ties apart
  bool found = false, unsure = false, nan = false;
  void add(Real<P> t, std::int64_t i) {
    unsure = unsure || !(t.b < kInf);
    if (nan) return;
    nan = t.v != t.v;
    if (nan) rival = -kInf;
    if (!nan && found && !(S * t.v > S * best.v)) {
      if ((t.v != best.v || t.b != 0 || best.b != 0) && S * t.v + t.b > rival) rival = S * t.v + t.b;
      return;
    }
    if (!nan && found && S * best.v + best.b > rival) rival = S * best.v + best.b;
    best = t;
    position = i;
    found = true;
  }
  Whole value() const { return {position, unsure || (!nan && rival >= S * best.v - best.b) ? kInf : 0}; }
};
template <class T, int S> struct ArgWhole {
  std::int64_t position = 0;
  T best = 0;
  bool found = false, unsure = false;
  void add(Whole t, std::int64_t i) {
    const T x = static_cast<T>(t.v);
    unsure = unsure || t.b != 0;
    if (found && !(S > 0 ? x > best : x < best)) return;
    best = x;
    position = i;
    found = true;
  }
  Whole value() const { return {position, unsure ? kInf : 0}; }
};
)";

constexpr const char* kGather =
    R"(// Data-dependent subscripts are clamped; the first one outside is remembered with the element that asked for it.
static std::int64_t g_gathers = 0;
static std::string g_first_gather;
template <class Element> std::int64_t gather(std::int64_t i, std::int64_t extent, const char* text, Element element) {
  if (inside(i, extent)) return i;
  if (g_gathers++ == 0)
    g_first_gather = "element " + element() + ": the gather " + text + " wants position " + std::to_string(i) + " of an axis of " + std::to_string(extent);
  return i < 0 ? 0 : extent - 1;
}
inline std::int64_t wrapped_gather(std::int64_t i, std::int64_t extent) { return larger(0, smaller(i < 0 ? i + extent : i, extent - 1)); }
inline std::string element_name(const char* name, std::vector<std::int64_t> at) {
  std::string text;
  for (std::int64_t i : at) text += (text.empty() ? "" : ", ") + std::to_string(i);
  return std::string(name) + "[" + text + "]";
}
)";

constexpr const char* kHalf = R"(inline double half_value(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  const double size = exponent == 31 ? (fraction ? std::numeric_limits<double>::quiet_NaN() : kInf)
                      : exponent ? std::ldexp(fraction + 1024.0, exponent - 25) : std::ldexp(double(fraction), -24);
  return bits & 0x8000 ? -size : size;
}
)";

constexpr const char* kBrain = R"(inline double brain_value(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}
)";

struct PieceText {
  Piece piece;
  const char* text;
};

}  // namespace

std::string prelude_text(const std::set<Piece>& used) {
  static const PieceText kPieces[] = {
      {Piece::kReal, kReal},           {Piece::kFmaxFmin, kFmaxFmin}, {Piece::kMath, kMath},         {Piece::kPower, kPower},
      {Piece::kRemainder, kRemainder}, {Piece::kWhole, kWhole},       {Piece::kIntegers, kIntegers}, {Piece::kIndex, kIndex},
      {Piece::kArray, kArray},         {Piece::kStores, kStores},     {Piece::kSum, kSum},           {Piece::kSpread, kSpread},
      {Piece::kProduct, kProduct},     {Piece::kExtremum, kExtremum}, {Piece::kFold, kFold},         {Piece::kArg, kArg},
      {Piece::kGather, kGather},       {Piece::kHalf, kHalf},         {Piece::kBrain, kBrain}};
  std::string text;
  for (const PieceText& p : kPieces) {
    const bool always =
        p.piece == Piece::kReal || p.piece == Piece::kWhole || p.piece == Piece::kIndex || p.piece == Piece::kArray;
    if (always || used.count(p.piece)) text += std::string(p.text) + "\n";
  }
  return text;
}

}  // namespace facet::naive
