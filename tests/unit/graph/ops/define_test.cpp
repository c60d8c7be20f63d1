// The texts that operators become, and the complaints about wrong calls.
#include <gtest/gtest.h>

#include "src/frontend/equations.hpp"
#include "src/ops/op_table.hpp"
#include "src/ops/samples.hpp"

namespace facet {
namespace {

Attribute number(std::int64_t v) { return Attribute{v}; }
Attribute list(std::vector<std::int64_t> v) {
  std::vector<Attribute> items;
  for (const std::int64_t x : v) items.push_back(number(x));
  return Attribute{items};
}

// The definition of `op` on operands given as texts; N and M are symbols.
Result<OpDefinition> defined(const std::string& op, const std::vector<std::string>& operands, Attributes attrs = {},
                             int outputs = 1) {
  Program p;
  p.symbols = {{"N", 1, 4096, 64, {}}, {"M", 1, 64, 8, {}}};
  Node node;
  node.op = op;
  node.attrs = std::move(attrs);
  node.place.pointer = "/ops/0";
  for (int k = 0; k < outputs; ++k) node.out.push_back("z" + std::to_string(k));
  OpCall call{node, {}, p};
  for (std::size_t k = 0; k < operands.size(); ++k) {
    if (operands[k].empty()) {
      call.operands.push_back(Tensor{});
      continue;
    }
    const Result<Tensor> t = parse_tensor(operands[k], "x" + std::to_string(k), {"N", "M"});
    EXPECT_TRUE(t.ok()) << operands[k];
    call.operands.push_back(*t);
  }
  return define(call);
}

std::string lines_of(const Result<OpDefinition>& d) {
  if (!d) return to_text(d.errors());
  std::string text;
  for (const std::string& l : d->lines) text += l + "\n";
  return text;
}

std::string shape_of(const Result<OpDefinition>& d, std::size_t k = 0) {
  if (!d) return to_text(d.errors());
  std::string text = to_text(d->outs[k].dtype) + "[";
  for (std::size_t a = 0; a < d->outs[k].shape.size(); ++a) text += (a ? ", " : "") + to_text(d->outs[k].shape[a]);
  return text + "]";
}

struct Refused {
  std::string code, pointer;
};
Refused refused(const Result<OpDefinition>& d) {
  if (d) return {"accepted", ""};
  return {code_name(d.errors()[0].code), d.errors()[0].place.pointer};
}

// The definition parses to typed equations, and what they say about dtypes and shapes is what the definition says.
void expect_parses(const OpCall& call, const OpDefinition& d, const std::string& what) {
  EquationContext context;
  context.program = &call.program;
  context.local_prefix = "z0";
  context.operator_text = true;
  for (std::size_t k = 0; k < call.operands.size(); ++k)
    if (!call.operands[k].name.empty()) context.tensors["a" + std::to_string(k)] = &call.operands[k];
  for (std::size_t k = 0; k < call.node.out.size(); ++k) {
    if (std::count(d.nest_outs.begin(), d.nest_outs.end(), d.outs[k].name)) continue;  // parsed by elaborate
    context.outs.push_back(d.outs[k].name);
    context.declared[d.outs[k].name] = &d.outs[k];
  }
  if (d.lines.empty() && !d.nest.empty()) return;
  const Result<ParsedEquations> parsed = parse_equations(d.lines, context);
  std::string lines;
  for (const std::string& l : d.lines) lines += "  " + l + "\n";
  EXPECT_TRUE(parsed.ok()) << what << "\n" << lines << (parsed ? "" : to_text(parsed.errors()));
}

TEST(Define, EverySampleOfEveryOperator) {
  for (const OpDef* op : all_ops()) {
    EXPECT_FALSE(op->samples.empty()) << op->name;
    for (const OpSample& s : op->samples) {
      const Result<Program> p = sample_program(*op, s);
      ASSERT_TRUE(p.ok()) << op->name;
      const Result<OpDefinition> d = define(call_of(*p, p->nodes[0]));
      ASSERT_TRUE(d.ok()) << op->name << ": " << (d ? "" : to_text(d.errors()));
      expect_parses(call_of(*p, p->nodes[0]), *d, op->name);
    }
  }
}

TEST(Define, Matmul) {
  EXPECT_EQ(lines_of(defined("matmul", {"f32[N, 784]", "f32[784, 512]"})),
            "y0[i, j] = sum[k](a0[i, k] * a1[k, j]) for i in 0..N, j in 0..512, k in 0..784\n");
  EXPECT_EQ(
      lines_of(defined("matmul", {"f32[2, 1, 3, 4]", "f32[5, 4, 2]"})),
      "y0[b, b2, i, j] = sum[k](a0[b, 0, i, k] * a1[b2, k, j]) for b in 0..2, b2 in 0..5, i in 0..3, j in 0..2, k in 0..4\n");
  EXPECT_EQ(lines_of(defined("matmul", {"f32[4]", "f32[4]"})), "y0[] = sum[k](a0[k] * a1[k]) for k in 0..4\n");
  EXPECT_EQ(lines_of(defined("matmul", {"bf16[2, 4]", "bf16[4, 3]"})),
            "y0[i, j] = cast(bf16, sum[k](cast(f32, a0[i, k]) * cast(f32, a1[k, j]))) for i in 0..2, j in 0..3, k in 0..4\n");
  EXPECT_EQ(shape_of(defined("matmul", {"i8[2, 4]", "i8[4, 3]"})), "i32[2, 3]");
  EXPECT_EQ(refused(defined("matmul", {"f32[2, 4]", "f32[3, 4]"})).code, "operand-shapes");
  EXPECT_EQ(refused(defined("matmul", {"f32[2, N]", "f32[M, 4]"})).code, "operand-shapes");
  EXPECT_EQ(refused(defined("matmul", {"f32[]", "f32[4]"})).pointer, "/ops/0/in/0");
}

TEST(Define, BroadcastingOfSymbolicExtents) {
  EXPECT_EQ(lines_of(defined("add", {"f32[N, 4]", "f32[4]"})), "y0[i, j] = a0[i, j] + a1[j] for i in 0..N, j in 0..4\n");
  EXPECT_EQ(lines_of(defined("add", {"f32[N + 1, 1]", "f32[1 + N, M]"})),
            "y0[i, j] = a0[i, 0] + a1[i, j] for i in 0..N + 1, j in 0..M\n");
  EXPECT_EQ(refused(defined("add", {"f32[N]", "f32[M]"})).code, "broadcast");
  EXPECT_EQ(refused(defined("add", {"f32[2]", "f32[3]"})).code, "broadcast");
}

TEST(Define, DtypesDoNotMix) {
  EXPECT_EQ(refused(defined("add", {"f32[2]", "f64[2]"})).code, "operand-dtypes-differ");
  EXPECT_EQ(refused(defined("add", {"bool[2]", "bool[2]"})).code, "operand-dtype");
  EXPECT_EQ(refused(defined("where", {"f32[2]", "f32[2]", "f32[2]"})).pointer, "/ops/0/in/0");
  EXPECT_EQ(refused(defined("mod", {"f32[2]", "f32[2]"})).pointer, "/ops/0/attrs/fmod");
}

TEST(Define, AttributesAreChecked) {
  EXPECT_EQ(refused(defined("softmax", {"f32[2, 3]"}, {{"axes", number(1)}})).code, "unknown-attribute");
  EXPECT_EQ(refused(defined("softmax", {"f32[2, 3]"}, {{"axis", Attribute{std::string("x")}}})).code, "bad-attribute-kind");
  const Refused range = refused(defined("softmax", {"f32[2, 3]"}, {{"axis", number(2)}}));
  EXPECT_EQ(range.code, "axis-out-of-range");
  EXPECT_EQ(range.pointer, "/ops/0/attrs/axis");
  EXPECT_EQ(refused(defined("reduce_sum", {"f32[2, 3]"}, {{"axes", list({0, -2})}})).code, "repeated-axis");
  EXPECT_EQ(refused(defined("max_pool", {"f32[1, 1, 4]"})).code, "missing-attribute");
  EXPECT_EQ(refused(defined("conv", {"f32[1, 1, 4]", "f32[1, 1, 2]"}, {{"auto_pad", Attribute{std::string("SAME")}}})).code,
            "bad-attribute-value");
  const Result<OpDefinition> many = defined("softmax", {"f32[2, 3]"}, {{"axes", number(1)}, {"axis", Attribute{true}}});
  ASSERT_FALSE(many.ok());
  EXPECT_EQ(many.errors().size(), 2u);
}

TEST(Define, CountsAndNames) {
  EXPECT_EQ(refused(defined("matmul", {"f32[2, 3]"})).code, "op-operand-count");
  EXPECT_EQ(refused(defined("relu", {"f32[2]"}, {}, 2)).code, "op-output-count");
  EXPECT_EQ(refused(defined("add", {"f32[2]", ""})).code, "op-operand-omitted");
  const Result<OpDefinition> d = defined("MatMul", {"f32[2, 3]", "f32[3, 2]"});
  ASSERT_FALSE(d.ok());
  EXPECT_EQ(code_name(d.errors()[0].code), "unknown-op");
  EXPECT_NE(to_text(d.errors()).find("matmul"), std::string::npos);
}

TEST(Define, ReductionKeepsAxesByDefault) {
  EXPECT_EQ(shape_of(defined("reduce_sum", {"f32[N, 3]"})), "f32[1, 1]");
  EXPECT_EQ(shape_of(defined("reduce_sum", {"i8[N, 3]"}, {{"axes", list({-1})}, {"keepdims", number(0)}})), "i32[N]");
  EXPECT_EQ(lines_of(defined("reduce_mean", {"f32[N, 3]"}, {{"axes", list({0})}, {"keepdims", number(0)}})),
            "y0[j] = sum[i](a0[i, j]) / (cast(f32, N)) for j in 0..3, i in 0..N\n");
}

TEST(Define, ConvolutionAndPool) {
  EXPECT_EQ(
      lines_of(defined("conv", {"f32[1, 4, 5, 5]", "f32[6, 2, 3, 3]"}, {{"group", number(2)}, {"pads", list({1, 0, 1, 0})}})),
      "y0[n, m, p, q] = sum[c, r, s](a0[n, 2 * (m / 3) + c, p + r - 1, q + s ? 0.0] * a1[m, c, r, s]) for n in 0..1, m in 0..6, p in "
      "0..5, q in 0..3, c in 0..2, r in 0..3, s in 0..3\n");
  EXPECT_EQ(shape_of(defined("conv", {"f32[N, 1, N]", "f32[2, 1, 3]"}, {{"strides", list({2})}})),
            "f32[N, 2, (N + 1) / 2 - 1]");
  EXPECT_EQ(lines_of(defined("max_pool", {"i32[1, 1, 4]"}, {{"kernel_shape", list({3})}, {"pads", list({1, 1})}})),
            "y0[n, c, p] = max[r](a0[n, c, p + r - 1 ? -2147483648]) for n in 0..1, c in 0..1, p in 0..4, r in 0..3\n");
  EXPECT_EQ(shape_of(defined("max_pool", {"f32[1, 1, 5]"},
                             {{"kernel_shape", list({2})}, {"strides", list({2})}, {"ceil_mode", number(1)}})),
            "f32[1, 1, 3]");
  EXPECT_EQ(refused(defined("conv", {"f32[1, 3, 5]", "f32[2, 2, 3]"})).code, "operand-shapes");
  EXPECT_EQ(refused(defined("conv", {"f32[1, 3, 5]", "f32[2, 3, 7]"})).code, "operand-shapes");
}

TEST(Define, ReshapeKeepsSubscriptsSimple) {
  const auto reshaped = [](const std::string& x, std::vector<std::int64_t> shape) {
    return lines_of(defined("reshape", {x}, {{"shape", list(std::move(shape))}}));
  };
  EXPECT_EQ(reshaped("f32[N, 784]", {0, 28, 28}), "y0[i, j, k] = a0[i, 28 * j + k] for i in 0..N, j in 0..28, k in 0..28\n");
  EXPECT_EQ(reshaped("f32[N, 28, 28]", {0, -1}), "y0[i, j] = a0[i, j / 28, j % 28] for i in 0..N, j in 0..784\n");
  EXPECT_EQ(reshaped("f32[N, 4]", {-1}), "y0[i] = a0[i / 4, i % 4] for i in 0..4 * N\n");
  EXPECT_EQ(reshaped("f32[2, 6, 5]", {2, 2, 3, 5}),
            "y0[i, j, k, l] = a0[i, 3 * j + k, l] for i in 0..2, j in 0..2, k in 0..3, l in 0..5\n");
  EXPECT_EQ(reshaped("f32[1, 6, 1]", {6}), "y0[i] = a0[0, i, 0] for i in 0..6\n");
  EXPECT_EQ(refused(defined("reshape", {"f32[4, 3]"}, {{"shape", list({5, -1})}})).code, "bad-attribute-value");
  EXPECT_EQ(refused(defined("reshape", {"f32[4, 3]"}, {{"shape", list({5, 3})}})).code, "operand-shapes");
  EXPECT_EQ(refused(defined("reshape", {"f32[4, N]"}, {{"shape", list({-1})}})).code, "not-affine-op");
}

TEST(Define, SliceFollowsTheEnds) {
  EXPECT_EQ(lines_of(defined("slice", {"f32[N, 4]"}, {{"starts", list({1})}, {"ends", list({-1})}, {"axes", list({1})}})),
            "y0[i, j] = a0[i, j + 1] for i in 0..N, j in 0..2\n");
  EXPECT_EQ(lines_of(defined("slice", {"f32[5]"}, {{"starts", list({-1})}, {"ends", list({-100})}, {"steps", list({-2})}})),
            "y0[i] = a0[4 - 2 * i] for i in 0..3\n");
  EXPECT_EQ(refused(defined("slice", {"f32[N]"}, {{"starts", list({3})}, {"ends", list({100000})}})).code,
            "bad-attribute-value");
}

TEST(Define, ConcatPartsAreDisjoint) {
  EXPECT_EQ(lines_of(defined("concat", {"f32[N]", "f32[M]"}, {{"axis", number(0)}})),
            "y0[i] = a0[i] where i < N for i in 0..M + N\ny0[i] = a1[i - N] where i >= N for i in 0..M + N\n");
}

// Extents of 1 beside symbolic ones are no strides (squeeze of [1, N, 4] was refused).
TEST(Define, UnitAxesOfReshapes) {
  EXPECT_EQ(lines_of(defined("squeeze", {"f32[1, N, 4]"}, {{"axes", list({0})}})),
            "y0[i, j] = a0[0, i, j] for i in 0..N, j in 0..4\n");
  EXPECT_EQ(lines_of(defined("unsqueeze", {"f32[N, M]"}, {{"axes", list({0, 2})}})),
            "y0[i, j, k, l] = a0[j, l] for i in 0..1, j in 0..N, k in 0..1, l in 0..M\n");
  EXPECT_EQ(lines_of(defined("squeeze", {"f32[N, 1, M, 1]"})), "y0[i, j] = a0[i, 0, j, 0] for i in 0..N, j in 0..M\n");
}

}  // namespace
}  // namespace facet
