// The naive print of a program, compiled plainly, says what the interpreter says: values, bounds and ambiguity.
#include "src/run/naive.hpp"

#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "facet/loop_walk.hpp"

#include "src/frontend/json.hpp"
#include "src/graph/elaborate.hpp"
#include "src/ops/op_table.hpp"
#include "src/ops/samples.hpp"
#include "src/run/inputs.hpp"
#include "src/run/verify.hpp"
#include "support/hand_made.hpp"
#include "support/naive_support.hpp"

namespace facet {
namespace {

using namespace facet::test;  // NOLINT

Program read_text(const std::string& text, const std::string& file = "test.json") {
  Result<Program> program = read_program(text, file);
  EXPECT_TRUE(program.ok()) << to_text(program.errors());
  Result<Program> elaborated = elaborate(*program);
  EXPECT_TRUE(elaborated.ok()) << to_text(elaborated.errors());
  return *elaborated;
}

void expect_naive_agrees(const Program& p, const SymbolValues& symbols) {
  Result<HostTensors> in = make_inputs(p, symbols, 5, {});
  ASSERT_TRUE(in.ok()) << to_text(in.errors());
  Result<ReferenceRun> interpreted = run_reference(p, symbols, *in);
  ASSERT_TRUE(interpreted.ok()) << to_text(interpreted.errors());
  Result<ReferenceRun> compiled = compile_and_run_naive(p, symbols, *in);
  ASSERT_TRUE(compiled.ok()) << to_text(compiled.errors());
  expect_same_run(*interpreted, *compiled);
}

TEST(Naive, MatmulText) {
  const std::string text = print_naive(matmul_program());
  EXPECT_NE(text.find("sum_0.add((a(i, k_2) * b(k_2, j)));"), std::string::npos) << text.substr(text.find("struct Naive"));
  EXPECT_EQ(text.find("ArgReal"), std::string::npos) << "only the helpers a program uses";
}

TEST(Naive, Equations) {
  expect_naive_agrees(read_text(R"json({"facet": 1, "name": "class", "symbols": {"N": {"min": 0, "max": 99, "default": 9}},
    "tensors": {"x": {"dtype": "f32", "shape": ["N", 7]}, "int": {"dtype": "i32", "shape": ["N"]}, "h": {"dtype": "f16", "shape": ["N"]},
                "u": {"dtype": "u8", "shape": ["N"], "sample": {"integers": [0, 255]}}, "e": {"dtype": "bf16", "shape": [0]}},
    "inputs": ["x", "int", "h", "u", "e"],
    "ops": [{"op": "compute", "in": ["x", "int", "h", "u", "e"],
             "out": ["s", "m", "g", "t", "q", "w", "v", "z", "n", "f", "d", "p", "b"],
      "def": ["s[i] = sum[k](exp(x[i, k]) * x[i, k])",
              "m[i] = max[k](x[i, k]) where k <= i",
              "g[i] = argmax[k](x[i, k] * x[i, k])",
              "t[i] = int[i] / 3 + int[i] % 4 - int[i] * int[i]",
              "q[i, k] = select(x[i, k] > 0.5, tanh(x[i, k]), x[i, k - 1 ? 0.25])",
              "w[i] = x[int[i] + 0, 3]",
              "v[i] = cast(i32, floor(x[i, 0] * 10.0)) + cast(i32, u[i])",
              "z[i] = cast(f16, cast(f32, h[i]) * 3.0) + h[i]",
              "n[] = min[i](e[i])",
              "f[i] = u[i] * u[i] + u[i]",
              "d[i] = any[k](x[i, k] > 0.9 and x[i, k] < 0.95)",
              "p[i] = prod[k](x[i, k] / 2.0) + pow(abs(x[i, 1]), 1.5) + sqrt(abs(x[i, 2]))",
              "b[i] = sum[k, l](x[i, k] * x[i, l]) where l < k for k in 0..7, l in 0..7"]}],
    "outputs": ["s", "m", "g", "t", "q", "w", "v", "z", "n", "f", "d", "p", "b"]})json"),
                      {{"N", 9}});
}

// A stable filter of order two: running bounds grow like 1.8^i where the values stay near 1.
Program filter_program() {
  return read_text(R"json({"facet": 1, "name": "filter", "symbols": {"N": {"min": 3, "max": 999, "default": 300}},
    "tensors": {"x": {"dtype": "f32", "shape": ["N"]}, "y": {"dtype": "f32", "shape": ["N"]}, "q": {"dtype": "f64", "shape": ["N"]}},
    "inputs": ["x"],
    "ops": [{"op": "loops", "in": ["N", "x"], "out": ["y", "q"],
      "code": ["y[0] = x[0]; y[1] = x[1]; q[0] = 1.0;",
               "for (int i = 2; i < N; i++) y[i] = x[i] + 1.2f * y[i-1] - 0.6f * y[i-2];",
               "for (int i = 1; i < N; i++) q[i] = (x[i] - 2.0 * q[i-1]) / (3.0 - q[i-1] / (1.0 + q[i-1] * q[i-1]));"]}],
    "outputs": ["y", "q"]})json");
}

TEST(Naive, RecurrencesHaveBoundsThatTell) {
  const Program p = filter_program();
  const SymbolValues sizes = {{"N", 300}};
  expect_naive_agrees(p, sizes);
  const HostTensors in = *make_inputs(p, sizes, 5, {});
  const ReferenceRun run = *run_reference(p, sizes, in);
  for (const auto& [name, most] : {std::pair<std::string, float>{"y", 1e-4F}, {"q", 1e-11F}})
    for (const float b : run.outputs.at(name).bounds) ASSERT_LE(b, most) << name;
  // The filter as an f32 kernel would compute it is within them; one with a coefficient slightly off is not.
  const auto kernel = [&](float c) {
    HostTensors results = outputs_of(run);
    HostTensor& y = results.at("y");
    for (std::int64_t i = 2; i < 300; ++i)
      y.set(i, static_cast<float>(in.at("x").get(i)) + c * static_cast<float>(y.get(i - 1)) -
                   0.6F * static_cast<float>(y.get(i - 2)));
    return verify(p, run, results, true).verified;
  };
  EXPECT_TRUE(kernel(1.2F));
  EXPECT_FALSE(kernel(1.2005F));
}

TEST(Naive, Loops) {
  expect_naive_agrees(read_text(R"json({"facet": 1, "name": "nest", "symbols": {"N": {"min": 1, "max": 99, "default": 12}},
    "tensors": {"A": {"dtype": "f32", "shape": ["N", "N"], "sample": "spd"}, "R": {"dtype": "f64", "shape": ["N"]}, "x": {"dtype": "f32", "shape": ["N"]}},
    "inputs": ["A", "x"],
    "ops": [{"op": "loops", "in": ["N", "x"], "inout": "A", "out": "R",
      "code": ["for (int i = 0; i < N; i++) {",
               "  for (int j = 0; j < i; j++) {",
               "    for (int k = 0; k < j; k++) A[i][j] -= A[i][k] * A[j][k];",
               "    A[i][j] /= A[j][j];",
               "  }",
               "  for (int k = 0; k < i; k++) A[i][i] -= A[i][k] * A[i][k];",
               "  A[i][i] = sqrtf(A[i][i]);",
               "}",
               "for (int i = N - 1; i >= 0; i--) {",
               "  double s = 0;",
               "  for (int j = 0; j < N; j += 2) s += A[i][j] * x[j];",
               "  if (i % 2 == 0) R[i] = s; else R[i] = fmax(s, x[i]);",
               "}"]}],
    "outputs": ["A", "R"]})json"),
                      {{"N", 12}});
}

// Every operator's first sample, as nodes of one program (one compilation).
TEST(Naive, Operators) {
  Program all;
  all.name = "operators";
  int n = 0;
  for (const OpDef* op : all_ops()) {
    if (op->samples.empty()) continue;
    Result<Program> one = sample_program(*op, op->samples.front());
    ASSERT_TRUE(one.ok()) << op->name << to_text(one.errors());
    Result<Program> p = elaborate(*one);
    ASSERT_TRUE(p.ok()) << op->name << to_text(p.errors());
    const std::string prefix = "op" + std::to_string(n++) + "_";
    const std::function<ExprPtr(const ExprPtr&)> renamed = [&](const ExprPtr& e) -> ExprPtr {
      if (!e) return e;
      return rewrite(e, [&](const ExprPtr& node) -> ExprPtr {
        if (node->op != Op::kRead) return node;
        Expr copy = *node;
        copy.name = prefix + copy.name;
        return std::make_shared<const Expr>(copy);
      });
    };
    for (const Symbol& s : p->symbols)
      for (auto& [name, tensor] : p->tensors)
        for (ExprPtr& extent : tensor.shape) extent = substitute(extent, {{s.name, idx(s.value)}});
    for (const std::string& name : p->tensor_order) {
      Tensor t = p->tensor(name);
      t.name = prefix + name;
      all.tensor_order.push_back(t.name);
      all.tensors[t.name] = t;
    }
    for (const std::string& name : p->inputs) all.inputs.push_back(prefix + name);
    for (const std::string& name : p->outputs) all.outputs.push_back(prefix + name);
    for (Node node : p->nodes) {
      for (std::string& name : node.out) name = prefix + name;
      for (Equation& q : node.equations) {
        q.tensor = prefix + q.tensor;
        std::vector<std::pair<std::string, ExprPtr>> sizes;
        for (const Symbol& s : p->symbols) sizes.push_back({s.name, idx(s.value)});
        const auto fixed = [&](const ExprPtr& e) { return substitute(renamed(e), sizes); };
        for (Range& r : q.indices) r.lower = fixed(r.lower), r.upper = fixed(r.upper);
        for (ExprPtr& c : q.conditions) c = fixed(c);
        q.value = fixed(q.value);
      }
      rename_tensors(&node.loops, [&](const std::string& name) { return prefix + name; });
      all.nodes.push_back(node);
    }
  }
  EXPECT_GT(n, 20);
  expect_naive_agrees(all, {});
}

}  // namespace
}  // namespace facet
