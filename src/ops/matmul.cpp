// Contractions written with plain indices: matmul (batched, broadcast, 1-D operands), gemm, linear.
#include "src/ops/builder.hpp"

namespace facet {

namespace {

// sum over `k` of two operands' reads, accumulated in `acc`.
std::string dot(const OpBuilder& b, const Loops& k, const std::string& x, const std::string& y, DType acc) {
  return reduction("sum", k, cast_text(acc, b.dtype(), x) + " * " + cast_text(acc, b.dtype(), y));
}

Subscripts batch_subscripts(const Shape& batch, const Loops& result) {
  Subscripts s;
  const std::size_t skip = result.size() - batch.size();
  for (std::size_t a = 0; a < batch.size(); ++a)
    s.push_back(same_dim(batch[a], result[skip + a].extent) ? result[skip + a].index() : idx(0));
  return s;
}

Shape all_but_last(const Shape& s, std::size_t n) {
  return Shape(s.begin(), s.end() - static_cast<std::ptrdiff_t>(std::min(n, s.size())));
}

// Which elements of the left operand count.
enum class Triangle { kNone, kLower, kUpper };

// y[.., i, j] = sum[k](a0[.., i, k] * a1[.., k, j]); a 1-D operand has no i (or j). A triangle is a condition on the terms, so
// its zeros are neither read nor multiplied.
void define_product(OpBuilder& b, Triangle triangle) {
  if (!b.expect_rank(0, 1) || !b.expect_rank(1, 1)) return;
  const bool row = b.rank(0) > 1, column = b.rank(1) > 1;
  const Shape batch0 = all_but_last(b.shape(0), 2), batch1 = all_but_last(b.shape(1), 2);
  const ExprPtr depth = b.shape(0).back();
  const ExprPtr depth1 = column ? b.dim(1, b.rank(1) - 2) : b.dim(1, 0);
  if (!same_dim(depth, depth1))
    return b.bad_shapes(1, "the last axis of " + shape_text(b.shape(0)) + " is summed against " +
                               (column ? "the last but one" : "the") + " axis of " + shape_text(b.shape(1)) + ": " +
                               to_text(depth) + " against " + to_text(depth1));
  Shape shape = broadcast_two(b, batch0, batch1, 1);
  if (b.failed()) return;
  Loops left;
  for (const ExprPtr& e : shape) left.push_back(b.loop("b", e));
  Subscripts s0 = batch_subscripts(batch0, left), s1 = batch_subscripts(batch1, left);
  if (row) {
    left.push_back(b.loop("i", b.dim(0, b.rank(0) - 2)));
    s0.push_back(left.back().index());
  }
  if (column) left.push_back(b.loop("j", b.shape(1).back()));
  const Loops k = {b.loop("k", depth)};
  s0.push_back(k[0].index());
  s1.push_back(k[0].index());
  if (column) s1.push_back(left.back().index());
  shape.clear();
  for (const Loop& l : left) shape.push_back(l.extent);
  const DType acc = accumulator(b, b.dtype()), result = sum_result(b.dtype());
  std::vector<std::string> terms;
  if (triangle != Triangle::kNone)
    terms.push_back(k[0].name + (triangle == Triangle::kLower ? " <= " : " >= ") + to_text(s0[s0.size() - 2]));
  b.out(0, result, shape);
  b.line("y0", left, cast_text(result, acc, dot(b, k, ref("a0", s0), ref("a1", s1), acc)), k, terms);
}

void define_matmul(OpBuilder& b) { define_product(b, Triangle::kNone); }

void define_triangular(OpBuilder& b) {
  if (b.expect_rank(0, 2)) define_product(b, b.flag("upper") ? Triangle::kUpper : Triangle::kLower);
}

// y = alpha * A' * B' + beta * C, primes are optional transpositions.
void define_gemm(OpBuilder& b) {
  if (!b.expect_rank(0, 2, 2) || !b.expect_rank(1, 2, 2)) return;
  const bool ta = b.flag("trans_a"), tb = b.flag("trans_b");
  const ExprPtr m = b.dim(0, ta ? 1 : 0), depth = b.dim(0, ta ? 0 : 1), n = b.dim(1, tb ? 0 : 1);
  if (!same_dim(depth, b.dim(1, tb ? 1 : 0)))
    return b.bad_shapes(1, "the summed axes are " + to_text(depth) + " in " + shape_text(b.shape(0)) + " and " +
                               to_text(b.dim(1, tb ? 1 : 0)) + " in " + shape_text(b.shape(1)));
  const Shape shape = {m, n};
  const Loops left = {b.loop("i", m), b.loop("j", n)}, k = {b.loop("k", depth)};
  const ExprPtr i = left[0].index(), j = left[1].index(), kk = k[0].index();
  const DType acc = accumulator(b, b.dtype()), result = sum_result(b.dtype());
  std::string value = dot(b, k, ref("a0", ta ? Subscripts{kk, i} : Subscripts{i, kk}),
                          ref("a1", tb ? Subscripts{j, kk} : Subscripts{kk, j}), acc);
  const bool whole = b.number("alpha") == static_cast<double>(b.integer("alpha")) &&
                     b.number("beta") == static_cast<double>(b.integer("beta"));
  if (!is_float(acc) && !whole) return b.bad_value("alpha", "alpha and beta must be integers for integer operands");
  if (b.number("alpha") != 1) value = number_text(acc, b.number("alpha")) + " * " + value;
  if (b.has(2) && b.number("beta") != 0) {
    if (!same_shape(broadcast_two(b, shape, b.shape(2), 2), shape) && !b.failed())
      b.bad_shapes(2, "C " + shape_text(b.shape(2)) + " does not broadcast to " + shape_text(shape));
    if (b.failed()) return;
    const std::string scale = b.number("beta") == 1 ? "" : number_text(acc, b.number("beta")) + " * ";
    value += " + " + scale + cast_text(acc, b.dtype(2), broadcast_read(b, 2, left));
  }
  b.out(0, result, shape);
  b.line("y0", left, cast_text(result, acc, value), k);
}

// y[.., j] = sum[k](x[.., k] * w[j, k]) + bias[j], the weight as layers store it.
void define_linear(OpBuilder& b) {
  if (!b.expect_rank(0, 1) || !b.expect_rank(1, 2, 2) || (b.has(2) && !b.expect_rank(2, 1, 1))) return;
  const ExprPtr depth = b.shape(0).back(), n = b.dim(1, 0);
  if (!same_dim(depth, b.dim(1, 1)))
    return b.bad_shapes(
        1, "x has " + to_text(depth) + " features, the weight " + shape_text(b.shape(1)) + " takes " + to_text(b.dim(1, 1)));
  if (b.has(2) && !same_dim(b.dim(2, 0), n))
    return b.bad_shapes(2, "the bias has " + to_text(b.dim(2, 0)) + " elements, the weight gives " + to_text(n));
  Shape shape = all_but_last(b.shape(0), 1);
  Loops left;
  for (std::size_t a = 0; a < shape.size(); ++a) left.push_back(b.loop(a + 1 < shape.size() ? "b" : "i", shape[a]));
  Subscripts s0 = indices_of(left);
  left.push_back(b.loop("j", n));
  shape.push_back(n);
  const Loops k = {b.loop("k", depth)};
  s0.push_back(k[0].index());
  const DType acc = accumulator(b, b.dtype()), result = sum_result(b.dtype());
  std::string value = dot(b, k, ref("a0", s0), ref("a1", {left.back().index(), k[0].index()}), acc);
  if (b.has(2)) value += " + " + cast_text(acc, b.dtype(2), ref("a2", {left.back().index()}));
  b.out(0, result, shape);
  b.line("y0", left, cast_text(result, acc, value), k);
}

OpDef contraction(const std::string& name, const std::string& summary, std::vector<OperandDef> operands,
                  void (*define)(OpBuilder&)) {
  OpDef def;
  def.name = name;
  def.family = "contraction";
  def.summary = summary;
  def.operands = std::move(operands);
  def.outputs = {"y"};
  def.tolerance = Tolerance::kSum;
  def.attributes = {acc_attribute()};
  def.define = define;
  return def;
}

}  // namespace

void add_matmul(std::vector<OpDef>& table) {
  const OperandDef a{"a", DTypes::kNumber, 'T', false}, c{"b", DTypes::kNumber, 'T', false};
  OpDef matmul = contraction("matmul", "matrix product; leading axes are batches that broadcast, 1-D operands are vectors",
                             {a, c}, define_matmul);
  matmul.aliases = {"mat_mul"};
  matmul.samples = {{{"f32[4, 5]", "f32[5, 3]"}, {}},
                    {{"f32[2, 3, 4]", "f32[4, 5]"}, {}},
                    {{"f32[2, 1, 3, 4]", "f32[5, 4, 2]"}, {}},
                    {{"f32[4]", "f32[4]"}, {}},
                    {{"f32[4]", "f32[4, 3]"}, {}},
                    {{"f32[3, 4]", "f32[4]"}, {}},
                    {{"f32[4, 0]", "f32[0, 4]"}, {}},
                    {{"bf16[4, 5]", "bf16[5, 3]"}, {}},
                    {{"i8[4, 5]", "i8[5, 3]"}, {}},
                    {{"f32[4, 5]", "f32[5, 3]"}, {{"acc", as_attribute("f64")}}}};
  table.push_back(std::move(matmul));

  OpDef triangular =
      contraction("triangular_matmul", "matrix product with the lower or upper triangle of A; its other elements are not read",
                  {a, c}, define_triangular);
  triangular.aliases = {"trmm"};
  triangular.attributes.push_back(flag_attr("upper", false, "1: the upper triangle"));
  triangular.samples = {{{"f32[4, 4]", "f32[4, 3]"}, {}},
                        {{"f32[2, 3, 5]", "f32[5, 4]"}, {{"upper", as_attribute(1)}}},
                        {{"i8[4, 5]", "i8[5]"}, {}}};
  table.push_back(std::move(triangular));

  OpDef gemm = contraction(
      "gemm", "alpha * A * B + beta * C with optional transpositions",
      {{"a", DTypes::kNumber, 'T', false}, {"b", DTypes::kNumber, 'T', false}, {"c", DTypes::kNumber, 'T', true}}, define_gemm);
  gemm.attributes.push_back(float_attr("alpha", 1, "factor of the product"));
  gemm.attributes.push_back(float_attr("beta", 1, "factor of C"));
  gemm.attributes.push_back(flag_attr("trans_a", false, "A is transposed first"));
  gemm.attributes.push_back(flag_attr("trans_b", false, "B is transposed first"));
  gemm.samples = {{{"f32[4, 5]", "f32[5, 3]"}, {}},
                  {{"f32[4, 5]", "f32[5, 3]", "f32[3]"}, {}},
                  {{"f32[5, 4]", "f32[3, 5]", "f32[4, 1]"},
                   {{"trans_a", as_attribute(1)},
                    {"trans_b", as_attribute(1)},
                    {"alpha", as_attribute(0.5)},
                    {"beta", as_attribute(2.0)}}}};
  table.push_back(std::move(gemm));

  OpDef linear = contraction(
      "linear", "x * W' + bias with W stored as [out, in]",
      {{"x", DTypes::kNumber, 'T', false}, {"weight", DTypes::kNumber, 'T', false}, {"bias", DTypes::kNumber, 'T', true}},
      define_linear);
  linear.samples = {
      {{"f32[4, 5]", "f32[3, 5]"}, {}}, {{"f32[2, 4, 5]", "f32[3, 5]", "f32[3]"}, {}}, {{"f32[5]", "f32[3, 5]", "f32[3]"}, {}}};
  table.push_back(std::move(linear));
}

}  // namespace facet
