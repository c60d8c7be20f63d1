// conv_transpose as a gather: each output element sums the taps that reach it, and only those.
//
// Output p (with the leading padding added, P = p + begin) gets x[i] * w[r] for every i, r with P = i*stride + r*dilation. With
// stride and dilation coprime, r is the solution r0(P) = P * dilation^-1 mod stride plus multiples of stride: r = r0 +
// stride*t, i = (P - dilation*r0) / stride - dilation*t. So the loop over t has ceil(kernel / stride) steps and no condition.
// r0 depends on p mod stride only. So the outputs p = stride*e + o of one class o are a convolution of x with every stride-th
// tap, e walking x in steps of one: the classes are computed side by side, `parts`[o, .., e], and then take their places in y.
// Where stride and dilation are not coprime, the taps are selected by the condition (P - dilation*r) % stride == 0.
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

Taps selected_taps(OpBuilder& b, const Window& w, const Loop& p, const std::string& name) {
  Taps t;
  t.loop = b.loop(name, idx(w.kernel));
  t.tap = t.loop.index();
  const ExprPtr distance = normal(idx_sub(normal(idx_add(p.index(), idx(w.begin))), idx_mul(idx(w.dilation), t.tap)));
  t.input = idx_floordiv(distance, w.stride);
  t.condition = to_text(idx_mod(distance, w.stride)) + " == 0";
  return t;
}

// For output stride * e + o. A stride of 1 has one class: o is not there.
Taps taps_of(OpBuilder& b, const Window& w, const Loop& e, const ExprPtr& o, const std::string& name) {
  Taps t;
  t.loop = b.loop(name, idx((w.kernel + w.stride - 1) / w.stride));
  t.tap_leaves = w.kernel % w.stride != 0;
  std::int64_t inverse = 1 % w.stride;
  while (w.stride > 1 && inverse * w.dilation % w.stride != 1) ++inverse;
  const ExprPtr shifted = normal(o ? idx_add(o, idx(w.begin)) : idx_add(e.index(), idx(w.begin)));
  const ExprPtr first = w.stride == 1 ? idx(0) : idx_mod(inverse == 1 ? shifted : idx_mul(idx(inverse), shifted), w.stride);
  t.tap = idx_add(idx_mul(idx(w.stride), t.loop.index()), first);
  // dilation 1: (P - P % stride) / stride is P / stride.
  const ExprPtr base = w.dilation == 1 ? idx_floordiv(shifted, w.stride)
                                       : idx_floordiv(idx_sub(shifted, idx_mul(idx(w.dilation), first)), w.stride);
  t.input = idx_sub(o ? idx_add(e.index(), base) : base, idx_mul(idx(w.dilation), t.loop.index()));
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

class TransposedConvolution {
 public:
  TransposedConvolution(OpBuilder& b, std::int64_t groups, std::vector<Axis> axes)
      : b_(b), groups_(groups), axes_(std::move(axes)), in_(b.dtype()), acc_(accumulator(b, in_)), result_(sum_result(in_)) {}

  void define() {
    const ExprPtr channels = normal(idx_mul(idx(groups_), b_.dim(1, 1)));
    outputs_ = {b_.loop("n", b_.dim(0, 0)), b_.loop("m", channels)};
    Shape shape = {b_.dim(0, 0), channels};
    static const char* const places[] = {"p", "q", "v"};
    bool classes = false, coprime = true;
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      const Window& w = axes_[a].window;
      outputs_.push_back(b_.loop(places[a], w.output));
      shape.push_back(w.output);
      classes = classes || w.stride > 1;
      coprime = coprime && std::gcd(w.stride, w.dilation) == 1;
    }
    b_.out(0, result_, shape);
    if (classes && coprime) {
      by_classes();
    } else {
      sum("y0", {}, outputs_, outputs_[0].index(), outputs_[1].index(), [&](std::size_t a, const std::string& tap) {
        const Window& w = axes_[a].window;
        return coprime ? taps_of(b_, w, outputs_[a + 2], nullptr, tap) : selected_taps(b_, w, outputs_[a + 2], tap);
      });
    }
  }

 private:
  OpBuilder& b_;
  std::int64_t groups_;
  std::vector<Axis> axes_;
  DType in_, acc_, result_;
  Loops outputs_;

  void by_classes() {
    const std::string parts = b_.local("parts");
    static const char* const names[][2] = {{"o", "e"}, {"g", "f"}, {"l", "h"}};
    Loops classes, steps{b_.loop("n", b_.dim(0, 0)), b_.loop("m", outputs_[1].extent)};
    Subscripts of_class, place{outputs_[0].index(), outputs_[1].index()};
    std::vector<ExprPtr> offsets;
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      const Window& w = axes_[a].window;
      steps.push_back(b_.loop(names[a][1], normal(idx_floordiv(idx_add(w.output, idx(w.stride - 1)), w.stride))));
      place.push_back(w.stride == 1 ? outputs_[a + 2].index() : idx_floordiv(outputs_[a + 2].index(), w.stride));
      offsets.push_back(nullptr);
      if (w.stride == 1) continue;
      classes.push_back(b_.loop(names[a][0], idx(w.stride)));
      offsets.back() = classes.back().index();
      of_class.push_back(idx_mod(outputs_[a + 2].index(), w.stride));
    }
    of_class.insert(of_class.end(), place.begin(), place.end());
    sum(parts, classes, steps, steps[0].index(), steps[1].index(),
        [&](std::size_t a, const std::string& tap) { return taps_of(b_, axes_[a].window, steps[a + 2], offsets[a], tap); });
    b_.line("y0", outputs_, ref(parts, of_class));
  }

  // target[classes, places] = the sum over channels and taps, and the bias.
  template <class TapsOfAxis>
  void sum(const std::string& target, const Loops& classes, const Loops& places, const ExprPtr& n, const ExprPtr& m,
           const TapsOfAxis& taps_of_axis) {
    static const char* const taps[] = {"r", "s", "t"};
    const std::optional<ExprPtr> group_in = exact_quotient(b_.dim(0, 1), idx(groups_));
    Loops reduced = {b_.loop("c", *group_in)};
    const ExprPtr c = reduced[0].index();
    const std::int64_t mg = groups_ == 1 ? 1 : std::max<std::int64_t>(*constant_of(b_.dim(1, 1)), 1);
    const ExprPtr channel = groups_ == 1 ? c : idx_add(idx_mul(*group_in, idx_floordiv(m, mg)), c);
    Subscripts x = {n, channel}, w = {channel, groups_ == 1 ? m : idx_mod(m, mg)};
    std::vector<std::string> conditions;
    bool tap_leaves = false;
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      const Taps t = taps_of_axis(a, taps[a]);
      reduced.push_back(t.loop);
      x.push_back(t.input);
      w.push_back(t.tap);
      tap_leaves = tap_leaves || t.tap_leaves;
      if (!t.condition.empty()) conditions.push_back(t.condition);
    }
    std::string value = reduction("sum", reduced,
                                  cast_text(acc_, in_, ref("a0", x, number_text(in_, 0))) + " * " +
                                      cast_text(acc_, in_, ref("a1", w, tap_leaves ? number_text(in_, 0) : "")));
    if (b_.has(2)) value += " + " + cast_text(acc_, in_, ref("a2", {m}));
    Loops left = classes;
    left.insert(left.end(), places.begin(), places.end());
    b_.line(target, left, cast_text(result_, acc_, value), reduced, conditions);
  }
};

void define_conv_transpose(OpBuilder& b) {
  const std::int64_t groups = b.integer("group");
  if (!check(b, groups)) return;
  std::vector<Axis> axes = axes_of(b);
  if (b.failed()) return;
  TransposedConvolution(b, groups, std::move(axes)).define();
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
