// Pools that sum: average and Lp pools, global pools, adaptive pools.
#include "src/ops/pool_loops.hpp"
#include "src/ops/simple_def.hpp"

namespace facet {

namespace {

// Number of taps of window p with low <= p*stride - begin + r*dilation < high, as an integer text.
std::string tap_count(const Window& w, const Loop& p, const ExprPtr& low, const ExprPtr& high) {
  const ExprPtr base = normal(w.at(p.index(), idx(0)));
  const ExprPtr last = idx_floordiv(normal(idx_sub(idx_sub(high, idx(1)), base)), w.dilation);
  const ExprPtr first = idx_floordiv(normal(idx_add(idx_sub(low, base), idx(w.dilation - 1))), w.dilation);
  return "(min(" + to_text(last) + ", " + std::to_string(w.kernel - 1) + ") - max(" + to_text(first) + ", 0) + 1)";
}

// What the sum is divided by: the taps inside the input, or (count_include_pad) inside input and declared padding.
std::string divisor(OpBuilder& b, const PoolLoops& p, DType acc) {
  const bool with_pad = b.flag("count_include_pad");
  std::string text;
  double constant = 1;
  for (std::size_t a = 0; a < p.windows.size(); ++a) {
    const Window& w = p.windows[a];
    Window widened = w;  // leaves the padded input only by ceil_mode
    widened.input = normal(idx_add(w.input, idx(w.begin + w.end)));
    widened.begin = widened.end = 0;
    if (!(with_pad ? widened : w).leaves_input()) {
      constant *= static_cast<double>(w.kernel);
      continue;
    }
    const ExprPtr low = with_pad ? idx(-w.begin) : idx(0), high = with_pad ? normal(idx_add(w.input, idx(w.end))) : w.input;
    text += (text.empty() ? "" : " * ") + ("cast(" + to_text(acc) + ", " + tap_count(w, p.left[a + 2], low, high) + ")");
  }
  if (text.empty()) return number_text(acc, constant);
  return in_parens(constant == 1 ? text : number_text(acc, constant) + " * " + text);
}

void define_average(OpBuilder& b) {
  const PoolLoops p = pool_loops(b);
  if (b.failed()) return;
  const DType in = b.dtype(), acc = accumulator(b, in);
  const std::string sum = reduction("sum", p.taps, cast_text(acc, in, ref("a0", p.read, p.padded ? "0.0" : "")));
  b.out(0, in, p.shape);
  b.line("y0", p.left, cast_text(in, acc, sum + " / " + divisor(b, p, acc)), p.taps);
}

// (sum |x|^p)^(1/p) of `element`, of dtype acc.
std::string lp_norm(const OpBuilder& b, const Loops& taps, const std::string& element, DType acc) {
  const std::int64_t p = b.integer("p");
  if (p == 1) return reduction("sum", taps, "abs(" + element + ")");
  if (p == 2) return "sqrt(" + reduction("sum", taps, element + " * " + element) + ")";
  const std::string power = number_text(acc, static_cast<double>(p)), root = number_text(acc, 1.0 / static_cast<double>(p));
  return "pow(" + reduction("sum", taps, "pow(abs(" + element + "), " + power + ")") + ", " + root + ")";
}

bool good_p(OpBuilder& b) {
  if (b.integer("p") < 1) b.bad_value("p", "must be positive");
  return !b.failed();
}

void define_lp(OpBuilder& b) {
  if (!good_p(b)) return;
  const PoolLoops p = pool_loops(b);
  if (b.failed()) return;
  const DType in = b.dtype(), acc = accumulator(b, in);
  b.out(0, in, p.shape);
  b.line("y0", p.left,
         cast_text(in, acc, lp_norm(b, p.taps, cast_text(acc, in, ref("a0", p.read, p.padded ? "0.0" : "")), acc)), p.taps);
}

enum class Global { kAverage, kMax, kLp };

void define_global(OpBuilder& b, Global kind) {
  if (!b.expect_rank(0, 3) || (kind == Global::kLp && !good_p(b))) return;
  Loops left = {b.loop("n", b.dim(0, 0)), b.loop("c", b.dim(0, 1))}, taps;
  Shape shape = {b.dim(0, 0), b.dim(0, 1)}, spatial;
  Subscripts read = indices_of(left);
  for (int a = 2; a < b.rank(0); ++a) {
    taps.push_back(b.loop("r", b.dim(0, a)));
    read.push_back(taps.back().index());
    left.push_back(b.loop("u", idx(1)));
    shape.push_back(idx(1));
    spatial.push_back(b.dim(0, a));
  }
  const DType in = b.dtype(), acc = kind == Global::kMax ? in : accumulator(b, in);
  const std::string element = cast_text(acc, in, ref("a0", read));
  std::string value = kind == Global::kMax  ? reduction("max", taps, element)
                      : kind == Global::kLp ? lp_norm(b, taps, element, acc)
                                            : "";
  if (kind == Global::kAverage) value = reduction("sum", taps, element) + " / " + in_parens(extent_text(acc, spatial));
  b.out(0, in, shape);
  b.line("y0", left, cast_text(in, acc, value), taps);
}

// Window p of an axis covers floor(p*n/m) .. ceil((p+1)*n/m).
void define_adaptive(OpBuilder& b, bool average) {
  if (!b.expect_rank(0, 3, 5)) return;
  const std::vector<std::int64_t> sizes = per_axis(b, "output_size", b.shape(0).size() - 2, 1, 1);
  if (b.failed()) return;
  static const char* const places[] = {"p", "q", "v"};
  static const char* const names[] = {"r", "s", "t"};
  Loops left = {b.loop("n", b.dim(0, 0)), b.loop("c", b.dim(0, 1))}, taps;
  Shape shape = {b.dim(0, 0), b.dim(0, 1)};
  Subscripts read = indices_of(left);
  std::vector<std::string> conditions;
  const DType in = b.dtype(), acc = average ? accumulator(b, in) : in;
  std::string count;
  for (std::size_t a = 0; a < sizes.size(); ++a) {
    const std::optional<std::int64_t> n = constant_of(b.shape(0)[a + 2]);
    const std::int64_t m = sizes[a];
    if (!n || *n < 1) return b.not_affine("adaptive windows over the extent " + to_text(b.shape(0)[a + 2]));
    std::int64_t widest = 0;
    for (std::int64_t p = 0; p < std::min<std::int64_t>(m, 65536); ++p)
      widest = std::max(widest, ((p + 1) * *n + m - 1) / m - p * *n / m);
    left.push_back(b.loop(places[a], idx(m)));
    taps.push_back(b.loop(names[a], idx(widest)));
    shape.push_back(idx(m));
    const ExprPtr p = left.back().index(), first = idx_floordiv(normal(idx_mul(idx(*n), p)), m);
    const ExprPtr end = idx_floordiv(normal(idx_add(idx_mul(idx(*n), p), idx(*n + m - 1))), m);
    read.push_back(idx_add(normal(first), taps.back().index()));
    const bool even = *n % m == 0;
    if (!even) conditions.push_back(to_text(read.back()) + " < " + to_text(end));
    count += (count.empty() ? "" : " * ") +
             (even ? number_text(acc, static_cast<double>(*n / m))
                   : "cast(" + to_text(acc) + ", " + to_text(end) + " - " + in_parens(to_text(first)) + ")");
  }
  const std::string element = cast_text(acc, in, ref("a0", read));
  b.out(0, in, shape);
  b.line("y0", left,
         average ? cast_text(in, acc, reduction("sum", taps, element) + " / " + in_parens(count))
                 : reduction("max", taps, element),
         taps, conditions);
}

Attribute ints(std::vector<int> v) { return as_attribute(v); }

OpDef pool(const std::string& name, const std::string& summary, DTypes dtypes, std::vector<AttrDef> attributes,
           std::function<void(OpBuilder&)> define) {
  OpDef def = simple_def("pool", name, summary, dtypes, std::move(attributes), std::move(define));
  def.tolerance = Tolerance::kSum;
  return def;
}

std::vector<AttrDef> window_pool_attributes() {
  std::vector<AttrDef> list = window_attributes();
  list.insert(list.begin(), required_attr("kernel_shape", AttrKind::kInts, "extents of the window"));
  list.push_back(flag_attr("ceil_mode", false, "1: the number of windows is rounded up"));
  list.push_back(acc_attribute());
  return list;
}

}  // namespace

void add_mean_pools(std::vector<OpDef>& table) {
  OpDef average = pool("average_pool", "mean of each window of x [n, c, ...], 1-D to 3-D", DTypes::kFloat,
                       window_pool_attributes(), define_average);
  average.attributes.push_back(flag_attr("count_include_pad", false, "1: padding counts as elements"));
  average.samples = {{{"f32[1, 2, 5, 6]"}, {{"kernel_shape", ints({2, 3})}, {"strides", ints({2, 1})}}},
                     {{"f32[1, 1, 2, 2]"},
                      {{"kernel_shape", ints({2, 2})}, {"pads", ints({0, 0, 1, 1})}, {"count_include_pad", as_attribute(1)}}},
                     {{"f32[1, 1, 7]"}, {{"kernel_shape", ints({3})}, {"pads", ints({1, 1})}, {"dilations", ints({2})}}},
                     {{"f32[1, 1, 6, 6]"},
                      {{"kernel_shape", ints({3, 3})},
                       {"strides", ints({2, 2})},
                       {"ceil_mode", as_attribute(1)},
                       {"pads", ints({1, 0, 0, 0})},
                       {"count_include_pad", as_attribute(1)}}},
                     {{"f32[1, 1, 3, 4, 5]"}, {{"kernel_shape", ints({2, 2, 2})}, {"auto_pad", as_attribute("SAME_LOWER")}}}};
  table.push_back(std::move(average));

  OpDef lp =
      pool("lp_pool", "(sum |x|^p)^(1/p) of each window of x [n, c, ...]", DTypes::kFloat, window_pool_attributes(), define_lp);
  lp.attributes.push_back(int_attr("p", 2, "the exponent"));
  lp.samples = {{{"f32[1, 2, 5, 6]"}, {{"kernel_shape", ints({2, 3})}}},
                {{"f32[1, 2, 6]"},
                 {{"kernel_shape", ints({3})}, {"p", as_attribute(3)}, {"strides", ints({2})}, {"pads", ints({1, 0})}}}};
  table.push_back(std::move(lp));

  const OpSample plain{{"f32[2, 3, 4, 5]"}, {}}, line{{"f32[1, 2, 7]"}, {}};
  table.push_back(pool("global_average_pool", "mean over the spatial axes", DTypes::kFloat, {acc_attribute()},
                       [](OpBuilder& b) { define_global(b, Global::kAverage); }));
  table.back().samples = {plain, line};
  table.push_back(pool("global_max_pool", "largest element over the spatial axes", DTypes::kNumber, {},
                       [](OpBuilder& b) { define_global(b, Global::kMax); }));
  table.back().samples = {plain, line};
  table.back().tolerance = Tolerance::kExact;
  table.push_back(pool("global_lp_pool", "(sum |x|^p)^(1/p) over the spatial axes", DTypes::kFloat,
                       {int_attr("p", 2, "the exponent"), acc_attribute()},
                       [](OpBuilder& b) { define_global(b, Global::kLp); }));
  table.back().samples = {plain, {{"f32[1, 2, 7]"}, {{"p", as_attribute(1)}}}};

  const AttrDef size = required_attr("output_size", AttrKind::kInts, "number of windows, per spatial axis");
  const std::vector<OpSample> adaptive = {{{"f32[1, 2, 6, 7]"}, {{"output_size", ints({3, 3})}}},
                                          {{"f32[1, 2, 5]"}, {{"output_size", ints({7})}}}};
  table.push_back(pool("adaptive_average_pool", "mean over windows that share the axes evenly", DTypes::kFloat,
                       {size, acc_attribute()}, [](OpBuilder& b) { define_adaptive(b, true); }));
  table.back().aliases = {"adaptive_avg_pool"};
  table.back().samples = adaptive;
  table.push_back(pool("adaptive_max_pool", "largest element of windows that share the axes evenly", DTypes::kNumber, {size},
                       [](OpBuilder& b) { define_adaptive(b, false); }));
  table.back().samples = adaptive;
  table.back().tolerance = Tolerance::kExact;
}

}  // namespace facet
