// Numbers with error bounds and integers with their rules, as C++17 text.
#include "src/run/naive/prelude_pieces.hpp"

namespace facet::naive {

const char* const kReal =
    R"(// A number and how far a correct kernel may be from it. P: significant bits of the dtype (24 f32, 53 f64, 11 f16, 8 bf16).
// b = 0: every correct kernel computes exactly v. b = infinity: hangs on a comparison that rounding may turn over.
constexpr double kInf = std::numeric_limits<double>::infinity();
template <int P> struct Real { double v = 0, b = 0; };
// Unit roundoff (f64: twice, since this program rounds too), underflow, largest value, and whether kernels use this precision.
template <int P> struct Facts;
template <> struct Facts<24> { static constexpr double unit = 0x1.00001p-24, tiny = 0x1p-149, largest = 0x1.FFFFFEp127; static constexpr bool wide = true; };
template <> struct Facts<53> { static constexpr double unit = 0x1p-52, tiny = 0x1p-1073, largest = 0x1.FFFFFFFFFFFFFp1023; static constexpr bool wide = true; };
template <> struct Facts<11> { static constexpr double unit = 0x1.004p-11, tiny = 0x1p-24, largest = 65504.0; static constexpr bool wide = false; };
template <> struct Facts<8> { static constexpr double unit = 0x1.02p-8, tiny = 0x1p-133, largest = 0x1.FEp127; static constexpr bool wide = false; };

// The nearest value with P significant bits, half to even.
template <int P> double rounded(double x) {
  if (P == 53) return x;
  if (P == 24) return static_cast<float>(x);
  if (!std::isfinite(x) || x == 0) return x;
  const int least = P == 11 ? -14 : -126;
  const int exponent = std::ilogb(x);
  const int quantum = (exponent > least ? exponent : least) - (P - 1);
  const double y = std::ldexp(std::nearbyint(std::ldexp(x, -quantum)), quantum);
  return std::fabs(y) > Facts<P>::largest ? std::copysign(kInf, x) : y;
}
// True if no rounding was needed to get x (this program computes in f64, so f64 results count only if they are short).
template <int P> bool exact(double x) { return P == 53 ? std::fabs(x) < 0x1p32 && x * 0x1p20 == std::nearbyint(x * 0x1p20) : rounded<P>(x) == x; }
// Set, every rounded result is one unit off, up or down as a hash of its bits and the seed has it.
static std::uint64_t g_seed = 0;
template <int P> double moved(double v) {
  if (g_seed == 0) return v;
  std::uint64_t bits = 0;
  std::memcpy(&bits, &v, sizeof bits);
  bits = (bits ^ g_seed) * 0x9E3779B97F4A7C15;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
  return bits >> 63 ? v + Facts<P>::unit * v : v - Facts<P>::unit * v;
}
// Adds one operation's rounding to the propagated error p; overflow becomes infinity.
template <int P> Real<P> finish(double v, double p, double ulps = 1) {
  using F = Facts<P>;
  if (p == 0 && ulps == 1 && exact<P>(v)) return {v, 0};
  const double size = std::fabs(v), b = p + ulps * (F::unit * size + F::tiny);
  if (size + b <= F::largest) return {moved<P>(v), b};
  if (!(b < kInf) || !F::wide) return {moved<P>(v), kInf};
  if (P != 53 && size - b > F::largest) return {std::copysign(kInf, v), 0};
  return {v, P == 53 ? b : kInf};
}
inline bool alike(double x, double y) { return x == y || (x != x && y != y); }
// Results that are not finite are certain if every corner of the operands' intervals gives them.
template <int P, class F> Real<P> corners(F f, Real<P> a, Real<P> b, double v) {
  bool same = a.b < kInf && b.b < kInf;
  for (int s = 0; s < 4; ++s) same = same && alike(f(a.v + (s & 1 ? a.b : -a.b), b.v + (s & 2 ? b.b : -b.b)), v);
  return {v, same ? 0 : kInf};
}
template <int P> Real<P> operator+(Real<P> a, Real<P> b) {
  const double v = a.v + b.v;
  if (!std::isfinite(v)) return corners([](double x, double y) { return x + y; }, a, b, v);
  return finish<P>(v, a.b + b.b);
}
template <int P> Real<P> operator-(Real<P> a) { return {-a.v, a.b}; }
template <int P> Real<P> operator-(Real<P> a, Real<P> b) { return a + -b; }
template <int P> Real<P> operator*(Real<P> a, Real<P> b) {
  const double v = a.v * b.v;
  if (!std::isfinite(v)) return corners([](double x, double y) { return x * y; }, a, b, v);
  return finish<P>(v, std::fabs(a.v) * b.b + std::fabs(b.v) * a.b + a.b * b.b);
}
template <int P> Real<P> operator/(Real<P> a, Real<P> b) {
  const double v = a.v / b.v, room = std::fabs(b.v) - b.b;
  if (!std::isfinite(v)) return corners([](double x, double y) { return x / y; }, a, b, v);
  if (std::isinf(b.v)) return {v, a.b < kInf ? 0 : kInf};
  if (!(room > 0)) return {moved<P>(v), kInf};
  return finish<P>(v, (a.b + std::fabs(v) * b.b) / room);
}
// max and min propagate NaN; they are continuous, so their interval is made of the operands' ends.
inline double max_of(double x, double y) { return x != x ? x : y != y ? y : x > y ? x : y; }
inline double min_of(double x, double y) { return x != x ? x : y != y ? y : x < y ? x : y; }
template <int P, class F> Real<P> continuous(F f, Real<P> a, Real<P> b) {
  const double v = f(a.v, b.v);
  if (!(a.b < kInf) || !(b.b < kInf)) return {v, kInf};
  if (!std::isfinite(v)) return corners(f, a, b, v);
  const double up = f(a.v + a.b, b.v + b.b) - v, down = v - f(a.v - a.b, b.v - b.b);
  return {v, up > down ? up : down};
}
template <int P> Real<P> max(Real<P> a, Real<P> b) { return continuous(max_of, a, b); }
template <int P> Real<P> min(Real<P> a, Real<P> b) { return continuous(min_of, a, b); }
template <int P> Real<P> abs(Real<P> a) { return {std::fabs(a.v), a.b}; }
)";

const char* const kFmaxFmin = R"(// C's fmax and fmin: the other operand where one is NaN.
template <int P> Real<P> fmax(Real<P> a, Real<P> b) { return continuous([](double x, double y) { return std::fmax(x, y); }, a, b); }
template <int P> Real<P> fmin(Real<P> a, Real<P> b) { return continuous([](double x, double y) { return std::fmin(x, y); }, a, b); }
)";

const char* const kMath =
    R"(// A mathematical function within `ulps` half ulps; monotone between the ends of the operand's interval.
template <int P, class F> Real<P> math(F f, Real<P> a, double ulps = 8) {
  const double v = f(a.v);
  if (!(a.b < kInf)) return {v, kInf};
  if (a.b == 0) return std::isfinite(v) && std::isfinite(a.v) ? finish<P>(v, 0, ulps) : Real<P>{v, 0};
  const double low = f(a.v - a.b), high = f(a.v + a.b);
  if (!std::isfinite(v)) return {v, alike(low, v) && alike(high, v) ? 0 : kInf};
  if (!std::isfinite(a.v)) return {v, 0};
  if (!std::isfinite(low) || !std::isfinite(high)) return {v, kInf};
  return finish<P>(v, std::fmax(std::fabs(low - v), std::fabs(high - v)), ulps);
}
// floor, round, sign, ...: certain unless the interval crosses a step.
template <int P, class F> Real<P> step(F f, Real<P> a) { return {f(a.v), a.b == 0 || (a.b < kInf && f(a.v - a.b) == f(a.v + a.b)) ? 0 : kInf}; }
inline double sigmoid_of(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : x != x ? x : std::exp(x) / (1 + std::exp(x)); }
inline double sign_of(double x) { return x != x ? x : (x > 0) - (x < 0); }
// Sine and cosine are not monotone, but move no further than their operand.
template <int P, class F> Real<P> wave(F f, Real<P> a) { return std::isfinite(f(a.v)) ? finish<P>(f(a.v), a.b, 8) : Real<P>{f(a.v), a.b < kInf ? 0 : kInf}; }
)";

const char* const kPower = R"(template <int P> Real<P> pow(Real<P> a, Real<P> b) {
  const auto f = [](double x, double y) { return std::pow(x, y); };
  const double v = f(a.v, b.v);
  if (!std::isfinite(v)) return corners(f, a, b, v);
  double p = 0;
  for (int s = 0; s < 4 && a.b + b.b > 0; ++s) p = std::fmax(p, std::fabs(f(a.v + (s & 1 ? a.b : -a.b), b.v + (s & 2 ? b.b : -b.b)) - v));
  if (p == 0 && b.v == std::nearbyint(b.v) && std::fabs(b.v) <= 64 && exact<P>(v)) return {v, 0};
  return finish<P>(v, a.b + b.b < kInf ? p : kInf, 8 + 2 * (a.v == 0 ? 0 : std::fabs(b.v * std::log(std::fabs(a.v)))));
}
)";

const char* const kRemainder =
    R"(// Remainders jump where the quotient crosses an integer; `whole` is std::trunc (fmod) or std::floor.
template <int P, class F> Real<P> remainder(F whole, Real<P> a, Real<P> b) {
  const auto f = [&](double x, double y) { return whole(-0.5) == 0 ? std::fmod(x, y) : x - y * std::floor(x / y); };
  const double v = f(a.v, b.v), room = std::fabs(b.v) - b.b, q = a.v / b.v;
  if (!std::isfinite(v)) return corners(f, a, b, v);
  if (a.b == 0 && b.b == 0) return finish<P>(v, 0);
  const double slack = (a.b + std::fabs(q) * b.b) / room;
  if (!(room > 0) || whole(q - slack) != whole(q + slack)) return {v, kInf};
  return finish<P>(v, a.b + std::fabs(q) * b.b);
}
)";

const char* const kWhole = R"(// An integer or truth value; b = infinity where rounding may change it.
struct Whole { std::int64_t v = 0; double b = 0; };
inline double worse(Whole a, Whole b) { return a.b > b.b ? a.b : b.b; }
template <class T> std::int64_t wrapped(std::uint64_t x) { return static_cast<std::int64_t>(static_cast<T>(x)); }
template <int P> Whole compare(Real<P> a, Real<P> b, bool result) {
  const double slack = a.b + b.b;
  return {result, slack > 0 && (!(slack < kInf) || std::fabs(a.v - b.v) <= slack) ? kInf : 0};
}
template <int P> Whole less(Real<P> a, Real<P> b) { return compare(a, b, a.v < b.v); }
template <int P> Whole less_equal(Real<P> a, Real<P> b) { return compare(a, b, a.v <= b.v); }
template <int P> Whole greater(Real<P> a, Real<P> b) { return compare(a, b, a.v > b.v); }
template <int P> Whole greater_equal(Real<P> a, Real<P> b) { return compare(a, b, a.v >= b.v); }
template <int P> Whole equal(Real<P> a, Real<P> b) { return compare(a, b, a.v == b.v); }
template <int P> Whole not_equal(Real<P> a, Real<P> b) { return compare(a, b, a.v != b.v); }
template <int P> Whole is_nan(Real<P> a) { return {a.v != a.v, a.b < kInf ? 0 : kInf}; }
template <int P> Whole is_inf(Real<P> a) { return {std::isinf(a.v), a.b < kInf ? 0 : kInf}; }
template <int P> Real<P> select(Whole c, Real<P> a, Real<P> b) {
  const Real<P> chosen = c.v ? a : b;
  if (c.b == 0) return chosen;
  const double gap = std::fabs(a.v - b.v);   // where both agree within their bounds, the choice is continuous
  return {chosen.v, gap <= a.b + b.b ? gap + std::fmax(a.b, b.b) : kInf};
}
inline Whole select(Whole c, Whole a, Whole b) { return {c.v ? a.v : b.v, c.b == 0 ? (c.v ? a.b : b.b) : a.v == b.v ? worse(a, b) : kInf}; }
inline Whole both(Whole a, Whole b) { return {a.v && b.v, (a.b == 0 && !a.v) || (b.b == 0 && !b.v) ? 0 : worse(a, b)}; }
inline Whole either(Whole a, Whole b) { return {a.v || b.v, (a.b == 0 && a.v) || (b.b == 0 && b.v) ? 0 : worse(a, b)}; }
template <int P> Real<P> to_real(Whole a) { return {P == 24 ? static_cast<float>(a.v) : rounded<P>(static_cast<double>(a.v)), a.b}; }
template <int P> Real<P> to_real_unsigned(Whole a) {
  const std::uint64_t u = static_cast<std::uint64_t>(a.v);
  return {P == 24 ? static_cast<float>(u) : rounded<P>(static_cast<double>(u)), a.b};
}
template <int P, int Q> Real<P> to_real(Real<Q> a) {   // rounds to P bits
  const double v = rounded<P>(a.v);
  if (a.b == 0 || !(a.b < kInf)) return {v, a.b};
  if (!std::isfinite(v)) return {v, alike(rounded<P>(a.v - a.b), rounded<P>(a.v + a.b)) ? 0 : kInf};
  if (std::fabs(a.v) + a.b > Facts<P>::largest) return {v, kInf};
  return {v, a.b + 2 * Facts<P>::unit * std::fabs(a.v) + Facts<P>::tiny};
}
template <class T> std::int64_t saturated(double x) {   // truncates; NaN gives 0
  if (x != x) return 0;
  if (x <= static_cast<double>(std::numeric_limits<T>::min())) return static_cast<std::int64_t>(std::numeric_limits<T>::min());
  if (x >= std::ldexp(1.0, std::numeric_limits<T>::digits)) return static_cast<std::int64_t>(std::numeric_limits<T>::max());
  return static_cast<std::int64_t>(static_cast<T>(x));
}
template <class T, int P> Whole to_whole(Real<P> a) {
  const std::int64_t v = saturated<T>(a.v);
  return {v, a.b == 0 || (a.b < kInf && saturated<T>(a.v - a.b) == v && saturated<T>(a.v + a.b) == v) ? 0 : kInf};
}
)";

const char* const kIntegers =
    R"(// Integers wrap in their dtype T; x / 0 and x % 0 are 0, MIN / -1 is MIN; shift counts are taken modulo the width.
template <class T> T quotient(T a, T b) { return b == 0 ? T(0) : std::numeric_limits<T>::is_signed && b == T(-1) ? static_cast<T>(0 - static_cast<std::uint64_t>(a)) : static_cast<T>(a / b); }
template <class T> T residue(T a, T b) { return b == 0 || (std::numeric_limits<T>::is_signed && b == T(-1)) ? T(0) : static_cast<T>(a % b); }
template <class T> T floor_quotient(T a, T b) { return static_cast<T>(quotient(a, b) - (residue(a, b) != 0 && (a < 0) != (b < 0))); }
template <class T> T floor_residue(T a, T b) { const T r = residue(a, b); return r != 0 && (r < 0) != (b < 0) ? static_cast<T>(r + b) : r; }
template <class T> std::int64_t power(T a, std::int64_t e) {
  if (e < 0 && std::numeric_limits<T>::is_signed) return a == 1 ? 1 : a == T(-1) ? (e % 2 ? -1 : 1) : 0;
  std::uint64_t x = static_cast<std::uint64_t>(a), y = 1;
  for (std::uint64_t n = static_cast<std::uint64_t>(e); n; n >>= 1, x *= x) if (n & 1) y *= x;
  return wrapped<T>(y);
}
template <class T, class F> Whole calc(F f, Whole a, Whole b) { return {static_cast<std::int64_t>(f(static_cast<T>(a.v), static_cast<T>(b.v))), worse(a, b)}; }
template <class T, class F> Whole calc(F f, Whole a) { return {static_cast<std::int64_t>(static_cast<T>(f(static_cast<T>(a.v)))), a.b}; }
template <class T> Whole convert(Whole a) { return {wrapped<T>(static_cast<std::uint64_t>(a.v)), a.b}; }
template <class T> Whole add(Whole a, Whole b) { return {wrapped<T>(static_cast<std::uint64_t>(a.v) + static_cast<std::uint64_t>(b.v)), worse(a, b)}; }
template <class T> Whole sub(Whole a, Whole b) { return {wrapped<T>(static_cast<std::uint64_t>(a.v) - static_cast<std::uint64_t>(b.v)), worse(a, b)}; }
template <class T> Whole mul(Whole a, Whole b) { return {wrapped<T>(static_cast<std::uint64_t>(a.v) * static_cast<std::uint64_t>(b.v)), worse(a, b)}; }
template <class T> Whole neg(Whole a) { return {wrapped<T>(0 - static_cast<std::uint64_t>(a.v)), a.b}; }
template <class T> Whole shift_left(Whole a, Whole b) { return {wrapped<T>(static_cast<std::uint64_t>(a.v) << (b.v & (std::int64_t(sizeof(T)) * 8 - 1))), worse(a, b)}; }
template <class T> Whole shift_right(Whole a, Whole b) { return {static_cast<std::int64_t>(static_cast<T>(static_cast<T>(a.v) >> (b.v & (std::int64_t(sizeof(T)) * 8 - 1)))), worse(a, b)}; }
)";

}  // namespace facet::naive
