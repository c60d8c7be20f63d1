// max_pool: the largest element of each window. Padding never wins: it is the lowest value of the dtype.
#include "src/ops/pool_loops.hpp"

#include <algorithm>

namespace facet {

PoolLoops pool_loops(OpBuilder& b) {
  PoolLoops p;
  if (!b.expect_rank(0, 3, 5)) return p;
  const std::vector<std::int64_t> kernel = per_axis(b, "kernel_shape", static_cast<std::size_t>(b.rank(0) - 2), 1, 1);
  if (b.failed()) return p;
  p.windows = windows_of(b, kernel, 2);
  if (b.failed()) return p;
  p.left = {b.loop("n", b.dim(0, 0)), b.loop("c", b.dim(0, 1))};
  const Loops at = position_loops(b, p.windows);
  p.taps = tap_loops(b, p.windows);
  p.left.insert(p.left.end(), at.begin(), at.end());
  p.read = {p.left[0].index(), p.left[1].index()};
  p.shape = {b.dim(0, 0), b.dim(0, 1)};
  for (std::size_t a = 0; a < p.windows.size(); ++a) {
    p.read.push_back(p.windows[a].at(at[a].index(), p.taps[a].index()));
    p.shape.push_back(p.windows[a].output);
    p.padded = p.padded || p.windows[a].leaves_input();
  }
  return p;
}

namespace {

// Position of the largest element in the flattened x (the whole tensor, as ONNX counts), from the flattened window position.
void define_indices(OpBuilder& b, const PoolLoops& p) {
  std::int64_t taps = 1;
  for (const Window& w : p.windows) taps *= w.kernel;
  const Loop flat = b.loop("t", idx(taps));
  const std::string best = b.local("best");
  const auto tap_of = [&](const std::string& t, std::size_t a, std::int64_t below) {
    std::string text = below == 1 ? t : t + " / " + std::to_string(below);
    return a == 0 ? text : in_parens(text) + " % " + std::to_string(p.windows[a].kernel);
  };
  std::vector<std::int64_t> below(p.windows.size(), 1);
  for (std::size_t a = p.windows.size(); a-- > 1;) below[a - 1] = below[a] * p.windows[a].kernel;
  std::string read = "a0[" + p.left[0].name + ", " + p.left[1].name;
  for (std::size_t a = 0; a < p.windows.size(); ++a) {
    const Window& w = p.windows[a];
    read += ", " + std::to_string(w.stride) + " * " + p.left[a + 2].name + " + " + std::to_string(w.dilation) + " * (" +
            tap_of(flat.name, a, below[a]) + ")" +
            (w.begin == 0  ? ""
             : w.begin > 0 ? " - " + std::to_string(w.begin)
                           : " + " + std::to_string(-w.begin));
  }
  b.line(best, p.left, reduction("argmax", {flat}, read + (p.padded ? " ? " + lowest_text(b.dtype()) : "") + "]"), {flat});
  // Row-major, or with storage_order 1 the last two spatial axes column-major.
  const std::string at = ref(best, indices_of(p.left));
  std::vector<std::size_t> order;
  for (std::size_t a = 0; a < p.windows.size(); ++a) order.push_back(a);
  if (b.integer("storage_order") == 1) std::reverse(order.begin(), order.end());
  std::string linear = p.left[0].name + " * " + in_parens(to_text(b.dim(0, 1))) + " + " + p.left[1].name;
  for (const std::size_t a : order) {
    const Window& w = p.windows[a];
    linear = in_parens(linear) + " * " + in_parens(to_text(w.input)) + " + (" + std::to_string(w.stride) + " * " +
             p.left[a + 2].name + " + " + std::to_string(w.dilation) + " * (" + tap_of(at, a, below[a]) + ") - " +
             in_parens(std::to_string(w.begin)) + ")";
  }
  b.line("y1", p.left, linear);
}

void define_max_pool(OpBuilder& b) {
  const PoolLoops p = pool_loops(b);
  if (b.failed()) return;
  b.out(0, b.dtype(), p.shape);
  b.line("y0", p.left, reduction("max", p.taps, ref("a0", p.read, p.padded ? lowest_text(b.dtype()) : "")), p.taps);
  if (b.output_count() < 2) return;
  b.out(1, DType::kI64, p.shape);
  if (b.wants(1)) define_indices(b, p);
}

}  // namespace

void add_pools(std::vector<OpDef>& table) {
  OpDef def;
  def.name = "max_pool";
  def.family = "pool";
  def.summary = "largest element of each window of x [n, c, ...], 1-D to 3-D";
  def.operands = {{"x", DTypes::kNumber, 'T', false}};
  def.outputs = {"y", "indices"};
  def.attributes = window_attributes();
  def.attributes.insert(def.attributes.begin(), required_attr("kernel_shape", AttrKind::kInts, "extents of the window"));
  def.attributes.push_back(flag_attr("ceil_mode", false, "1: the number of windows is rounded up"));
  def.attributes.push_back(int_attr("storage_order", 0, "of `indices`: 0 row-major, 1 column-major"));
  def.tolerance = Tolerance::kExact;
  const auto ints = [](std::vector<int> v) { return as_attribute(v); };
  def.samples = {{{"f32[1, 2, 5, 6]"}, {{"kernel_shape", ints({2, 2})}, {"strides", ints({2, 2})}}},
                 {{"f32[1, 2, 5, 6]"},
                  {{"kernel_shape", ints({3, 2})},
                   {"pads", ints({1, 0, 1, 1})},
                   {"strides", ints({2, 1})},
                   {"ceil_mode", as_attribute(1)}}},
                 {{"i32[1, 1, 4, 4]"}, {{"kernel_shape", ints({3, 3})}, {"pads", ints({1, 1, 1, 1})}}},
                 {{"f32[2, 1, 9]"}, {{"kernel_shape", ints({3})}, {"dilations", ints({2})}}},
                 {{"f32[1, 1, 3, 4, 5]"}, {{"kernel_shape", ints({2, 2, 2})}, {"auto_pad", as_attribute("SAME_UPPER")}}}};
  def.define = define_max_pool;
  table.push_back(std::move(def));
}

}  // namespace facet
