// conv: a sum over the channels of a group and the taps of a window; reads outside the input give 0.
#include "src/ops/windows.hpp"

namespace facet {

namespace {

// kernel_shape when given must agree with the weight's trailing extents, which must be constants.
std::vector<std::int64_t> kernel_of(OpBuilder& b) {
  std::vector<std::int64_t> kernel;
  for (int a = 2; a < b.rank(1); ++a) {
    const std::optional<std::int64_t> k = constant_of(b.dim(1, a));
    if (!k) b.not_affine("the weight's window extent " + to_text(b.dim(1, a)) + " must be a constant");
    kernel.push_back(k.value_or(1));
  }
  const std::vector<std::int64_t> said = b.integers("kernel_shape");
  if (!said.empty() && said != kernel) b.bad_value("kernel_shape", "differs from the weight " + shape_text(b.shape(1)));
  return kernel;
}

// Subscript of the input channel: group of output channel m times its channels, plus c.
ExprPtr channel_of(const ExprPtr& m, std::int64_t groups, const ExprPtr& out_channels, const ExprPtr& group_channels,
                   const ExprPtr& c) {
  if (groups == 1) return c;
  const std::int64_t per_group = *constant_of(out_channels) / groups;
  return idx_add(idx_mul(group_channels, idx_floordiv(m, per_group)), c);
}

bool check_conv(OpBuilder& b, std::int64_t groups) {
  if (!b.expect_rank(0, 3, 5) || !b.expect_rank(1, b.rank(0), b.rank(0)) || (b.has(2) && !b.expect_rank(2, 1, 1))) return false;
  const ExprPtr channels = b.dim(0, 1), m = b.dim(1, 0), c = b.dim(1, 1);
  if (groups < 1) {
    b.bad_value("group", "must be positive");
  } else if (!same_dim(channels, idx_mul(idx(groups), c))) {
    b.bad_shapes(1, "x has " + to_text(channels) + " channels, the weight " + shape_text(b.shape(1)) + " with group " +
                        std::to_string(groups) + " takes " + to_text(normal(idx_mul(idx(groups), c))));
  } else if (groups > 1 && (!constant_of(m) || *constant_of(m) % groups != 0 || !constant_of(c))) {
    b.bad_value("group", to_text(m) + " output channels are not a constant multiple of " + std::to_string(groups));
  } else if (b.has(2) && !same_dim(b.dim(2, 0), m)) {
    b.bad_shapes(2, "the bias has " + to_text(b.dim(2, 0)) + " elements, the weight gives " + to_text(m) + " channels");
  }
  return !b.failed();
}

void define_conv(OpBuilder& b) {
  const std::int64_t groups = b.integer("group");
  if (!check_conv(b, groups)) return;
  const std::vector<std::int64_t> kernel = kernel_of(b);
  if (b.failed()) return;
  const Windows windows = windows_of(b, kernel, 2);
  if (b.failed()) return;
  Loops left = {b.loop("n", b.dim(0, 0)), b.loop("m", b.dim(1, 0))};
  Loops reduced = {b.loop("c", b.dim(1, 1))};
  const Loops at = position_loops(b, windows), taps = tap_loops(b, windows);
  left.insert(left.end(), at.begin(), at.end());
  // A window of one tap is no loop: what is left may be a matrix product.
  std::vector<ExprPtr> tap;
  for (std::size_t a = 0; a < windows.size(); ++a) {
    if (windows[a].kernel != 1) reduced.push_back(taps[a]);
    tap.push_back(windows[a].kernel != 1 ? taps[a].index() : idx(0));
  }
  Subscripts x = {left[0].index(), channel_of(left[1].index(), groups, b.dim(1, 0), b.dim(1, 1), reduced[0].index())};
  Subscripts w = {left[1].index(), reduced[0].index()};
  bool padded = false;
  Shape shape = {b.dim(0, 0), b.dim(1, 0)};
  for (std::size_t a = 0; a < windows.size(); ++a) {
    x.push_back(windows[a].at(at[a].index(), tap[a]));
    w.push_back(tap[a]);
    padded = padded || windows[a].leaves_input();
    shape.push_back(windows[a].output);
  }
  const DType in = b.dtype(), acc = accumulator(b, in), result = sum_result(in);
  std::string value =
      reduction("sum", reduced,
                cast_text(acc, in, ref("a0", x, padded ? number_text(in, 0) : "")) + " * " + cast_text(acc, in, ref("a1", w)));
  if (b.has(2)) value += " + " + cast_text(acc, in, ref("a2", {left[1].index()}));
  b.out(0, result, shape);
  b.line("y0", left, cast_text(result, acc, value), reduced);
}

}  // namespace

void add_convolutions(std::vector<OpDef>& table) {
  OpDef conv;
  conv.name = "conv";
  conv.family = "contraction";
  conv.summary = "convolution (cross-correlation) of x [n, c, ...] with a weight [m, c/group, ...], 1-D to 3-D";
  conv.operands = {
      {"x", DTypes::kNumber, 'T', false}, {"weight", DTypes::kNumber, 'T', false}, {"bias", DTypes::kNumber, 'T', true}};
  conv.outputs = {"y"};
  conv.attributes = window_attributes();
  conv.attributes.push_back(int_attr("group", 1, "channels are cut into that many independent groups"));
  conv.attributes.push_back(optional_attr("kernel_shape", AttrKind::kInts, "must agree with the weight"));
  conv.attributes.push_back(acc_attribute());
  conv.tolerance = Tolerance::kSum;
  const auto ints = [](std::vector<int> v) { return as_attribute(v); };
  conv.samples = {{{"f32[1, 2, 5, 6]", "f32[3, 2, 3, 3]"}, {}},
                  {{"f32[2, 2, 7]", "f32[3, 2, 3]", "f32[3]"}, {{"strides", ints({2})}, {"pads", ints({1, 2})}}},
                  {{"f32[1, 4, 5, 5]", "f32[6, 2, 3, 2]", "f32[6]"},
                   {{"group", as_attribute(2)}, {"dilations", ints({2, 1})}, {"pads", ints({2, 0, 1, 1})}}},
                  {{"f32[1, 3, 6, 6]", "f32[3, 1, 3, 3]"},
                   {{"group", as_attribute(3)}, {"auto_pad", as_attribute("SAME_LOWER")}, {"strides", ints({2, 2})}}},
                  {{"f32[1, 1, 3, 4, 5]", "f32[2, 1, 2, 2, 2]"}, {{"auto_pad", as_attribute("SAME_UPPER")}}},
                  {{"f32[2, 3, 5, 7]", "f32[4, 3, 1, 1]", "f32[4]"}, {}},
                  {{"f32[0, 2, 5]", "f32[3, 2, 3]"}, {}}};
  conv.define = define_conv;
  table.push_back(std::move(conv));
}

}  // namespace facet
