// conv_transpose as a gather: each output element sums the taps that reach it, and only those.
//
// Output p (with the leading padding added, P = p + begin) gets x[i] * w[r] for every i, r with P = i*stride + r*dilation. With
// stride and dilation coprime, r is the solution r0(P) = P * dilation^-1 mod stride plus multiples of stride: r = r0 +
// stride*t, i = (P - dilation*r0) / stride - dilation*t. So the loop over t has ceil(kernel / stride) steps and no condition.
// Otherwise the taps are selected by the condition (P - dilation*r) % stride == 0.
#include <algorithm>
#include <numeric>

#include "src/ops/windows.hpp"

namespace facet {

namespace {

struct Axis {
  Window window;  // begin, end, stride, dilation, kernel; `output` is the result's extent
};

// output = stride*(input - 1) + output_padding + span - begin - end, or begin and end from output_shape or auto_pad.
Axis axis_of(OpBuilder& b, std::size_t a, const Window& base, std::int64_t extra, const std::vector<std::int64_t>& wanted) {
  Axis x{base};
  Window& w = x.window;
  const std::string mode = b.word("auto_pad");
  const ExprPtr full = normal(idx_add(idx_mul(idx(w.stride), idx_sub(w.input, idx(1))), idx(extra + w.span())));
  ExprPtr target;
  if (!wanted.empty()) target = idx(wanted[a]);
  if (wanted.empty() && (mode == "SAME_UPPER" || mode == "SAME_LOWER")) target = normal(idx_mul(idx(w.stride), w.input));
  if (!target) {
    w.output = normal(idx_sub(full, idx(w.begin + w.end)));
    return x;
  }
  const std::optional<std::int64_t> total = constant_of(normal(idx_sub(full, target)));
  if (!total) {
    b.not_affine("output_shape with the symbolic extent " + to_text(w.input));
    return x;
  }
  const std::int64_t half = *total / 2;
  w.begin = mode == "SAME_UPPER" ? half : *total - half;
  w.end = *total - w.begin;
  w.output = target;
  return x;
}

std::vector<Axis> axes_of(OpBuilder& b) {
  const std::size_t n = b.shape(0).size() - 2;
  const std::vector<std::int64_t> strides = per_axis(b, "strides", n, 1, 1), dilations = per_axis(b, "dilations", n, 1, 1),
                                  extra = per_axis(b, "output_padding", n, 0, 0);
  const std::vector<std::int64_t> pads = per_axis(b, "pads", 2 * n, 0, -(std::int64_t{1} << 31));
  const std::vector<std::int64_t> wanted = b.integers("output_shape");
  if (!wanted.empty() && wanted.size() != n)
    b.bad_value("output_shape", "has " + std::to_string(wanted.size()) + " entries, expected " + std::to_string(n));
  std::vector<Axis> axes;
  for (std::size_t a = 0; a < n && !b.failed(); ++a) {
    const std::optional<std::int64_t> kernel = constant_of(b.dim(1, static_cast<int>(a) + 2));
    if (!kernel) {
      b.not_affine("the weight's window extent " + to_text(b.dim(1, static_cast<int>(a) + 2)) + " must be a constant");
      break;
    }
    Window w;
    w.input = b.dim(0, static_cast<int>(a) + 2);
    w.kernel = *kernel;
    w.stride = strides[a];
    w.dilation = dilations[a];
    w.begin = pads[a];
    w.end = pads[n + a];
    axes.push_back(axis_of(b, a, w, extra[a], wanted));
    const std::optional<std::int64_t> high = upper_bound_of(axes.back().window.output, b.program());
    if (!b.failed() && high && *high < 0)
      b.bad_shapes(0, "axis " + std::to_string(a + 2) + " of the result would have a negative extent");
  }
  const std::vector<std::int64_t> said = b.integers("kernel_shape");
  for (std::size_t a = 0; a < axes.size() && !said.empty() && !b.failed(); ++a)
    if (said.size() != n || said[a] != axes[a].window.kernel)
      b.bad_value("kernel_shape", "differs from the weight " + shape_text(b.shape(1)));
  return axes;
}

// Subscripts of one axis for output index p: input i, tap r, the loop over taps and a condition (or "").
struct Taps {
  Loop loop;
  ExprPtr input, tap;
  bool input_leaves = true, tap_leaves = false;
  std::string condition;
};

Taps taps_of(OpBuilder& b, const Window& w, const Loop& p, const std::string& name) {
  Taps t;
  const ExprPtr shifted = normal(idx_add(p.index(), idx(w.begin)));
  if (std::gcd(w.stride, w.dilation) != 1) {
    t.loop = b.loop(name, idx(w.kernel));
    t.tap = t.loop.index();
    const ExprPtr distance = normal(idx_sub(shifted, idx_mul(idx(w.dilation), t.tap)));
    t.input = idx_floordiv(distance, w.stride);
    t.condition = to_text(idx_mod(distance, w.stride)) + " == 0";
    return t;
  }
  t.loop = b.loop(name, idx((w.kernel + w.stride - 1) / w.stride));
  t.tap_leaves = w.kernel % w.stride != 0;
  std::int64_t inverse = 1 % w.stride;
  while (w.stride > 1 && inverse * w.dilation % w.stride != 1) ++inverse;
  const ExprPtr first = w.stride == 1 ? idx(0) : idx_mod(inverse == 1 ? shifted : idx_mul(idx(inverse), shifted), w.stride);
  t.tap = idx_add(idx_mul(idx(w.stride), t.loop.index()), first);
  // dilation 1: (P - P % stride) / stride is P / stride.
  const ExprPtr base = w.dilation == 1 ? idx_floordiv(shifted, w.stride)
                                       : idx_floordiv(idx_sub(shifted, idx_mul(idx(w.dilation), first)), w.stride);
  t.input = idx_sub(base, idx_mul(idx(w.dilation), t.loop.index()));
  return t;
}

bool check(OpBuilder& b, std::int64_t groups) {
  if (!b.expect_rank(0, 3, 5) || !b.expect_rank(1, b.rank(0), b.rank(0)) || (b.has(2) && !b.expect_rank(2, 1, 1))) return false;
  const ExprPtr channels = b.dim(0, 1), per_group = b.dim(1, 1);
  if (groups < 1) {
    b.bad_value("group", "must be positive");
  } else if (!same_dim(channels, b.dim(1, 0))) {
    b.bad_shapes(
        1, "x has " + to_text(channels) + " channels, the weight " + shape_text(b.shape(1)) + " takes " + to_text(b.dim(1, 0)));
  } else if (groups > 1 && (!constant_of(channels) || *constant_of(channels) % groups != 0 || !constant_of(per_group))) {
    b.bad_value("group", to_text(channels) + " channels are not a constant multiple of " + std::to_string(groups));
  } else if (b.has(2) && !same_dim(b.dim(2, 0), normal(idx_mul(idx(groups), per_group)))) {
    b.bad_shapes(2, "the bias has " + to_text(b.dim(2, 0)) + " elements, the result " +
                        to_text(normal(idx_mul(idx(groups), per_group))) + " channels");
  }
  return !b.failed();
}

void define_conv_transpose(OpBuilder& b) {
  const std::int64_t groups = b.integer("group");
  if (!check(b, groups)) return;
  const std::vector<Axis> axes = axes_of(b);
  if (b.failed()) return;
  const ExprPtr per_group = b.dim(1, 1), channels = normal(idx_mul(idx(groups), per_group));
  const std::optional<ExprPtr> group_in = exact_quotient(b.dim(0, 1), idx(groups));
  Shape shape = {b.dim(0, 0), channels};
  Loops left = {b.loop("n", b.dim(0, 0)), b.loop("m", channels)};
  Loops reduced = {b.loop("c", *group_in)};
  static const char* const places[] = {"p", "q", "v"};
  static const char* const taps[] = {"r", "s", "t"};
  for (std::size_t a = 0; a < axes.size(); ++a) {
    left.push_back(b.loop(places[a], axes[a].window.output));
    shape.push_back(axes[a].window.output);
  }
  const ExprPtr m = left[1].index(), c = reduced[0].index();
  const std::int64_t mg = groups == 1 ? 1 : std::max<std::int64_t>(*constant_of(per_group), 1);
  const ExprPtr channel = groups == 1 ? c : idx_add(idx_mul(*group_in, idx_floordiv(m, mg)), c);
  Subscripts x = {left[0].index(), channel}, w = {channel, groups == 1 ? m : idx_mod(m, mg)};
  std::vector<std::string> conditions;
  bool tap_leaves = false;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const Taps t = taps_of(b, axes[a].window, left[a + 2], taps[a]);
    reduced.push_back(t.loop);
    x.push_back(t.input);
    w.push_back(t.tap);
    tap_leaves = tap_leaves || t.tap_leaves;
    if (!t.condition.empty()) conditions.push_back(t.condition);
  }
  const DType in = b.dtype(), acc = accumulator(b, in), result = sum_result(in);
  std::string value = reduction("sum", reduced,
                                cast_text(acc, in, ref("a0", x, number_text(in, 0))) + " * " +
                                    cast_text(acc, in, ref("a1", w, tap_leaves ? number_text(in, 0) : "")));
  if (b.has(2)) value += " + " + cast_text(acc, in, ref("a2", {m}));
  b.out(0, result, shape);
  b.line("y0", left, cast_text(result, acc, value), reduced, conditions);
}

}  // namespace

void add_conv_transpose(std::vector<OpDef>& table) {
  OpDef def;
  def.name = "conv_transpose";
  def.family = "contraction";
  def.summary = "transposed convolution of x [n, c, ...] with a weight [c, m/group, ...], 1-D to 3-D";
  def.operands = {
      {"x", DTypes::kNumber, 'T', false}, {"weight", DTypes::kNumber, 'T', false}, {"bias", DTypes::kNumber, 'T', true}};
  def.outputs = {"y"};
  def.attributes = window_attributes();
  def.attributes.push_back(int_attr("group", 1, "channels are cut into that many independent groups"));
  def.attributes.push_back(optional_attr("kernel_shape", AttrKind::kInts, "must agree with the weight"));
  def.attributes.push_back(
      optional_attr("output_padding", AttrKind::kInts, "added to one side of the result, per spatial axis; absent: 0"));
  def.attributes.push_back(
      optional_attr("output_shape", AttrKind::kInts, "spatial extents of the result; the padding follows from them"));
  def.attributes.push_back(acc_attribute());
  def.tolerance = Tolerance::kSum;
  const auto ints = [](std::vector<int> v) { return as_attribute(v); };
  def.samples = {
      {{"f32[1, 2, 3, 3]", "f32[2, 3, 3, 3]"}, {}},
      {{"f32[1, 2, 4]", "f32[2, 3, 4]", "f32[3]"},
       {{"strides", ints({2})}, {"pads", ints({1, 0})}, {"output_padding", ints({1})}}},
      {{"f32[1, 4, 3, 4]", "f32[4, 2, 3, 2]", "f32[4]"},
       {{"group", as_attribute(2)}, {"strides", ints({2, 3})}, {"dilations", ints({3, 2})}}},
      {{"f32[1, 1, 5]", "f32[1, 1, 3]"}, {{"strides", ints({2})}, {"dilations", ints({2})}}},
      {{"f32[1, 1, 3, 3]", "f32[1, 2, 3, 3]"}, {{"strides", ints({2, 2})}, {"auto_pad", as_attribute("SAME_UPPER")}}},
      {{"f32[1, 1, 3]", "f32[1, 2, 3]"}, {{"strides", ints({3})}, {"output_shape", ints({8})}}}};
  def.define = define_conv_transpose;
  table.push_back(std::move(def));
}

}  // namespace facet
