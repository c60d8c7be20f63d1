// resize: nearest and linear interpolation along any axes, in exact integer arithmetic.
//
// With sizes known, output position i maps to the rational input position (A*i + B) / D. Its floor is a quasi-affine subscript
// and its fraction ((A*i + B) % D) / D a weight; positions outside are clamped to the border. Linear interpolation goes axis by
// axis, each a local array, so that its cost grows with the number of axes instead of 2^axes.
#include <cmath>
#include <numeric>

#include "src/ops/simple_def.hpp"
#include "src/ops/builder.hpp"

namespace facet {

namespace {

// scale = up / down.
struct Scale {
  std::int64_t up = 1, down = 1;
  ExprPtr input, output;
  bool changes() const { return up != down || !same_dim(input, output); }
};

// The position (a * i + b) / d.
struct Position {
  std::int64_t a = 1, b = 0, d = 1;
};

// The fraction with the smallest denominator within 1e-7 (relative) of a scale, by continued fractions.
bool rational(double value, Scale* s) {
  std::int64_t p0 = 0, q0 = 1, p1 = 1, q1 = 0;
  double x = value;
  for (int k = 0; k < 24; ++k) {
    const double whole = std::floor(x);
    const auto w = static_cast<std::int64_t>(whole);
    const std::int64_t p = w * p1 + p0, q = w * q1 + q0;
    if (q > 1000000) return false;
    p0 = p1, q0 = q1, p1 = p, q1 = q;
    if (std::abs(static_cast<double>(p1) / static_cast<double>(q1) - value) <= 1e-7 * value)
      return s->up = p1, s->down = q1, true;
    x = 1 / (x - whole);
  }
  return false;
}

Scale scale_of(OpBuilder& b, const ExprPtr& extent, const ExprPtr& size, double factor, bool by_size) {
  Scale s;
  s.input = extent;
  if (by_size) {
    s.output = size;
    if (same_dim(extent, size)) return s;
    const std::optional<std::int64_t> in = constant_of(extent), out = constant_of(size);
    if (!in || !out) {
      b.not_affine("resizing extent " + to_text(extent) + " to " + to_text(size) + "; give `scales`");
    } else if (*in < 1 || *out < 1) {
      b.bad_value("sizes", "extents must be positive");
    } else {
      s.up = *out, s.down = *in;
    }
    return s;
  }
  if (!(factor > 0 && factor < 65536) || !rational(factor, &s))
    b.bad_value("scales", "a scale must be a positive number below 65536");
  s.output = normal(idx_floordiv(idx_mul(idx(s.up), extent), s.down));
  return s;
}

Position position_of(OpBuilder& b, const Scale& s) {
  const std::string mode = b.word("coordinate_transformation_mode");
  const std::optional<std::int64_t> in = constant_of(s.input), out = constant_of(s.output);
  const bool needs_sizes = mode == "align_corners" || mode == "pytorch_half_pixel" || mode == "half_pixel_symmetric";
  if (needs_sizes && (!in || !out)) {
    b.not_affine("mode " + mode + " needs constant extents, found " + to_text(s.input));
    return {};
  }
  Position p;
  if (mode == "asymmetric") {
    p = {s.down, 0, s.up};
  } else if (mode == "align_corners") {
    p = *out > 1 ? Position{*in - 1, 0, *out - 1} : Position{0, 0, 1};
  } else {
    p = {2 * s.down, s.down - s.up, 2 * s.up};  // (i + 1/2) * down/up - 1/2
    if (mode == "pytorch_half_pixel" && *out <= 1) p = {0, 0, 1};
    if (mode == "half_pixel_symmetric") p.b += *in * s.up - *out * s.down;  // the rounded size is centred on the exact one
  }
  const std::int64_t g = std::gcd(std::gcd(std::abs(p.a), std::abs(p.b)), p.d);
  return {p.a / g, p.b / g, p.d / g};
}

// floor((a*i + b) / d), clamped into the axis where it can leave it.
ExprPtr floor_at(const Position& p, const Loop& i, const ExprPtr& extent, std::int64_t offset) {
  const ExprPtr e = idx_add(idx_floordiv(normal(idx_add(idx_mul(idx(p.a), i.index()), idx(p.b))), p.d), idx(offset));
  const ExprPtr last = normal(idx_sub(extent, idx(1)));
  const auto value = [&](std::int64_t at) {
    return (p.a * at + p.b >= 0 ? (p.a * at + p.b) / p.d : -((-(p.a * at + p.b) + p.d - 1) / p.d)) + offset;
  };
  const std::optional<std::int64_t> n = constant_of(i.extent), top = constant_of(last);
  const bool high = !n || !top || value(*n - 1) > *top, low = value(0) < 0;
  ExprPtr r = low ? idx_max(e, idx(0)) : e;
  return high ? idx_min(r, last) : r;
}

// The position to round down to, for each rule of rounding.
Position rounding(const std::string& rule, const Position& p) {
  if (rule == "floor") return p;
  if (rule == "ceil") return {p.a, p.b + p.d - 1, p.d};
  if (rule == "round_prefer_ceil") return {2 * p.a, 2 * p.b + p.d, 2 * p.d};
  return {2 * p.a, 2 * p.b + p.d - 1, 2 * p.d};  // ceil(x - 1/2)
}

void interpolate(OpBuilder& b, const std::vector<Scale>& scales, const std::vector<Position>& positions) {
  const DType in = b.dtype(), wide = wide_float(in);
  Shape shape = b.shape(0);
  std::string source = "a0";
  DType source_type = in;
  std::vector<std::size_t> axes;
  for (std::size_t a = 0; a < scales.size(); ++a)
    if (scales[a].changes()) axes.push_back(a);
  const Loops finals = b.loops([&] {
    Shape s;
    for (const Scale& x : scales) s.push_back(x.output);
    return s;
  }());
  Shape out_shape;
  for (const Scale& s : scales) out_shape.push_back(s.output);
  b.out(0, in, out_shape);
  if (axes.empty()) return b.line("y0", finals, ref("a0", indices_of(finals)));
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const std::size_t a = axes[k];
    shape[a] = scales[a].output;
    Loops l = finals;
    for (std::size_t x = 0; x < l.size(); ++x) l[x].extent = normal(shape[x]);
    const Position& p = positions[a];
    Subscripts low = indices_of(l), high = low;
    low[a] = floor_at(p, l[a], scales[a].input, 0);
    high[a] = floor_at(p, l[a], scales[a].input, 1);
    const std::string remainder = to_text(idx_mod(normal(idx_add(idx_mul(idx(p.a), l[a].index()), idx(p.b))), p.d));
    const std::string weight =
        "cast(" + to_text(wide) + ", " + remainder + ") * " + number_text(wide, 1.0 / static_cast<double>(p.d));
    const bool last = k + 1 == axes.size();
    const std::string target = last ? "y0" : b.local("along");
    const std::string x0 = cast_text(wide, source_type, ref(source, low)), x1 = cast_text(wide, source_type, ref(source, high));
    const std::string value = p.d == 1 ? x0 : x0 + " + (" + x1 + " - " + x0 + ") * (" + weight + ")";
    b.line(target, l, last ? cast_text(in, wide, value) : value);
    source = target;
    source_type = wide;
  }
}

void define_resize(OpBuilder& b) {
  std::vector<int> axes = b.axes("axes", b.rank(0));
  const Shape sizes = b.dims("sizes");
  const std::vector<double> factors = b.numbers("scales");
  if (b.failed()) return;
  if (!b.given("axes"))
    for (int a = 0; a < b.rank(0); ++a) axes.push_back(a);
  const bool by_size = b.given("sizes");
  if (by_size == b.given("scales"))
    return b.bad_value(by_size ? "scales" : "sizes", "exactly one of sizes and scales must be given");
  const std::size_t n = by_size ? sizes.size() : factors.size();
  if (n != axes.size())
    return b.bad_value(by_size ? "sizes" : "scales",
                       "has " + std::to_string(n) + " entries for " + std::to_string(axes.size()) + " axes");
  std::vector<Scale> scales;
  for (const ExprPtr& e : b.shape(0)) scales.push_back(Scale{1, 1, e, e});
  std::vector<Position> positions(scales.size());
  for (std::size_t k = 0; k < n; ++k) {
    const auto a = static_cast<std::size_t>(axes[k]);
    scales[a] = scale_of(b, b.shape(0)[a], by_size ? sizes[k] : idx(0), by_size ? 1 : factors[k], by_size);
    if (b.failed()) return;
    if (scales[a].changes()) positions[a] = position_of(b, scales[a]);
  }
  if (b.failed()) return;
  if (b.word("mode") == "linear") {
    if (!is_float(b.dtype()))
      return b.fail(Code::kOperandDtype, "/in/0",
                    {b.def().name, b.operand(0).name, to_text(b.dtype()), "a float for mode linear"});
    return interpolate(b, scales, positions);
  }
  Shape shape;
  for (const Scale& s : scales) shape.push_back(s.output);
  const Loops l = b.loops(shape);
  Subscripts read;
  for (std::size_t a = 0; a < scales.size(); ++a)
    read.push_back(scales[a].changes() ? floor_at(rounding(b.word("nearest_mode"), positions[a]), l[a], scales[a].input, 0)
                                       : l[a].index());
  b.out(0, b.dtype(), shape);
  b.line("y0", l, ref("a0", read));
}

}  // namespace

void add_resize(std::vector<OpDef>& table) {
  OpDef def =
      simple_def("movement", "resize", "x sampled at other sizes, nearest element or linear interpolation", DTypes::kNumber,
                 {text_attr("mode", "nearest", "the interpolation", {"nearest", "linear"}),
                  optional_attr("sizes", AttrKind::kDims, "new extents (this or scales)"),
                  optional_attr("scales", AttrKind::kFloats, "factors (this or sizes)"),
                  optional_attr("axes", AttrKind::kInts, "the axes they belong to; absent: all"),
                  text_attr("coordinate_transformation_mode", "half_pixel", "where the samples lie",
                            {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"}),
                  text_attr("nearest_mode", "round_prefer_floor", "rounding of mode nearest",
                            {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})},
                 define_resize);
  def.tolerance = Tolerance::kMap;
  const auto ints = [](std::vector<int> v) { return as_attribute(v); };
  def.samples = {{{"f32[1, 2, 3, 4]"}, {{"sizes", ints({1, 2, 5, 8})}}},
                 {{"f32[1, 1, 3, 4]"}, {{"scales", ints({2, 2})}, {"axes", ints({2, 3})}, {"mode", as_attribute("linear")}}},
                 {{"f32[4, 6]"},
                  {{"sizes", ints({7, 3})},
                   {"mode", as_attribute("linear")},
                   {"coordinate_transformation_mode", as_attribute("align_corners")}}},
                 {{"f32[5]"},
                  {{"sizes", ints({8})},
                   {"coordinate_transformation_mode", as_attribute("asymmetric")},
                   {"nearest_mode", as_attribute("floor")}}}};
  table.push_back(std::move(def));
}

}  // namespace facet
