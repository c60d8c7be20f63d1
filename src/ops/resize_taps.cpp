// An output position x = w + f (w whole, 0 <= f < 1) is a sum over the neighbours w + first + q of weight K(s |first + q - f|):
//
//     linear  K(t) = max(0, 1 - t)
//     cubic   K(t) = (A + 2) t^3 - (A + 3) t^2 + 1  for t <= 1,  A t^3 - 5 A t^2 + 8 A t - 4 A  for t < 2,  else 0
//
// s is 1, or with antialias and a scale below 1 that scale: the kernel is as wide as what one output stands for. The weights of
// an axis are a small array over (output position, q), divided by their sum where that need not be 1 (antialias, positions
// outside left out). One axis after another, each a local array, so that the cost grows with the number of axes instead of
// with its power. Keys, "Cubic convolution interpolation for digital image processing", 1981.
#include "src/ops/resize_taps.hpp"

namespace facet {

namespace {

Loops loops_to(OpBuilder& b, const std::vector<Scale>& scales) {
  Shape shape;
  for (const Scale& s : scales) shape.push_back(s.output);
  return b.loops(shape);
}

Shape output_of(const std::vector<Scale>& scales) {
  Shape shape;
  for (const Scale& s : scales) shape.push_back(s.output);
  return shape;
}

// The walk over the axes that change: `value` makes the text of an element from the array before it.
template <class Value>
void along_axes(OpBuilder& b, const std::vector<Scale>& scales, const std::vector<Position>& positions, const Value& value) {
  const DType in = b.dtype(), wide = wide_float(in);
  const Loops finals = loops_to(b, scales);
  b.out(0, in, output_of(scales));
  std::vector<std::size_t> axes;
  for (std::size_t a = 0; a < scales.size(); ++a)
    if (scales[a].changes()) axes.push_back(a);
  if (axes.empty()) return b.line("y0", finals, ref("a0", indices_of(finals)));
  Shape shape = b.shape(0);
  std::string source = "a0";
  DType source_type = in;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const std::size_t a = axes[k];
    shape[a] = scales[a].output;
    Loops l = finals;
    for (std::size_t x = 0; x < l.size(); ++x) l[x].extent = normal(shape[x]);
    const auto read = [&](const ExprPtr& at) {
      Subscripts s = indices_of(l);
      s[a] = at;
      return cast_text(wide, source_type, ref(source, s));
    };
    const bool last = k + 1 == axes.size();
    const std::string target = last ? "y0" : b.local("along");
    Loops reduced;
    const std::string text = value(a, l[a], read, &reduced);
    b.line(target, l, last ? framed(b, scales, positions, l, cast_text(in, wide, text)) : text, reduced);
    source = target;
    source_type = wide;
  }
}

struct Kernel {
  bool cubic = false, excludes = false;
  double coefficient = -0.75;
  std::int64_t up = 1, down = 1;  // the stretch s = up / down
  std::int64_t first = 0, count = 2;
  double stretch() const { return static_cast<double>(up) / static_cast<double>(down); }
  bool sums_to_one() const { return !excludes && up == down; }
};

Kernel kernel_of(const OpBuilder& b, const Scale& s) {
  Kernel k;
  k.cubic = b.word("mode") == "cubic";
  k.excludes = b.flag("exclude_outside");
  k.coefficient = b.number("cubic_coeff_a");
  if (b.flag("antialias") && s.up < s.down) k.up = s.up, k.down = s.down;
  const std::int64_t reach = (k.cubic ? 2 : 1) * k.down;
  k.first = 1 - (reach + k.up - 1) / k.up;  // floor(-reach / up) + 1
  k.count = 2 - 2 * k.first;
  return k;
}

// K of `away`; the pieces of the cubic one are told apart by whole numbers: away = |parts| s / d.
std::string kernel_text(const Kernel& k, DType t, const std::string& away, const ExprPtr& parts, std::int64_t d) {
  if (!k.cubic) return "max(0.0, 1.0 - " + away + ")";
  const auto n = [&](double factor, double plus) { return "(" + number_text(t, factor * k.coefficient + plus) + ")"; };
  const std::string near = "(" + n(1, 2) + " * " + away + " - " + n(1, 3) + ") * " + away + " * " + away + " + 1.0";
  const std::string far =
      "((" + n(1, 0) + " * " + away + " - " + n(5, 0) + ") * " + away + " + " + n(8, 0) + ") * " + away + " - " + n(4, 0);
  const auto within = [&](std::int64_t limit) {
    const std::string scaled = to_text(idx_mul(idx(k.up), parts)), edge = std::to_string(limit * d * k.down);
    return scaled + " <= " + edge + " and " + scaled + " >= -" + edge;
  };
  return "select(" + within(1) + ", " + near + ", select(" + within(2) + ", " + far + ", 0.0))";
}

// The array of weights over (i, q).
std::string weights_of(OpBuilder& b, const Kernel& k, const Scale& s, const Position& p, const Loop& i, const Loop& q) {
  const DType t = wide_float(b.dtype());
  const std::string away = b.local("away"), weight = b.local("weight");
  const Loops l = {i, q};
  const std::string at = ref(away, indices_of(l));
  // d (first + q) - ((a i + b) mod d), whole numbers, times s / d.
  const ExprPtr parts = idx_sub(normal(idx_add(idx_mul(idx(p.d), q.index()), idx(p.d * k.first))), remainder_at(p, i));
  b.line(away, l,
         "abs(cast(" + to_text(t) + ", " + to_text(parts) + ")) * " + number_text(t, k.stretch() / static_cast<double>(p.d)));
  std::string value = kernel_text(k, t, at, parts, p.d);
  if (k.excludes) {
    const std::string place = to_text(plain_floor_at(p, i, k.first, q.index()));
    value = "select(" + place + " >= 0 and " + place + " < " + to_text(s.input) + ", " + value + ", 0.0)";
  }
  b.line(weight, l, value);
  if (k.sums_to_one()) return weight;
  const std::string total = b.local("total"), share = b.local("share");
  b.line(total, {i}, reduction("sum", {q}, ref(weight, indices_of(l))), {q});
  b.line(share, l, ref(weight, indices_of(l)) + " / " + ref(total, {i.index()}));
  return share;
}

}  // namespace

void resize_linear(OpBuilder& b, const std::vector<Scale>& scales, const std::vector<Position>& positions) {
  const DType wide = wide_float(b.dtype());
  along_axes(b, scales, positions, [&](std::size_t a, const Loop& i, const auto& read, Loops*) {
    const Position& p = positions[a];
    const std::string x0 = read(floor_at(p, i, scales[a].input, 0));
    if (p.d == 1) return x0;
    const std::string x1 = read(floor_at(p, i, scales[a].input, 1));
    return x0 + " + (" + x1 + " - " + x0 + ") * (cast(" + to_text(wide) + ", " + to_text(remainder_at(p, i)) + ") * " +
           number_text(wide, 1.0 / static_cast<double>(p.d)) + ")";
  });
}

void resize_by_kernel(OpBuilder& b, const std::vector<Scale>& scales, const std::vector<Position>& positions) {
  along_axes(b, scales, positions, [&](std::size_t a, const Loop& i, const auto& read, Loops* reduced) {
    const Kernel k = kernel_of(b, scales[a]);
    const Loop q = b.loop("q", idx(k.count));
    const std::string weights = weights_of(b, k, scales[a], positions[a], i, q);
    *reduced = {q};
    const ExprPtr at = floor_at(positions[a], i, scales[a].input, k.first, q.index(), k.count - 1);
    return reduction("sum", {q}, ref(weights, {i.index(), q.index()}) + " * " + read(at));
  });
}

}  // namespace facet
