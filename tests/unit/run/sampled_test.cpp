// Sampled references agree with full ones where they look, look where they should, and give up in time.
#include "src/run/sampled.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "src/run/inputs.hpp"
#include "src/run/verify.hpp"
#include "support/hand_made.hpp"

namespace facet {
namespace {

using namespace facet::test;  // NOLINT

// p = softmax-like: t = a @ b, s[i] = sum_j exp(t[i, j]), y = exp(t) / s.
Program softmax_program() {
  Program p = matmul_program();
  const DType f = DType::kF32;
  add_tensor(p, "s", f, {index("M")});
  add_tensor(p, "y", f, {index("M"), index("N")});
  const ExprPtr e = unary(Op::kExp, read("c", f, {index("i"), index("j")}));
  add_equation(p, equation("s", {range("i", index("M"))}, reduction(ReduceKind::kSum, f, {range("j", index("N"))}, e)));
  add_equation(
      p, equation("y", {range("i", index("M")), range("j", index("N"))}, binary(Op::kDiv, e, read("s", f, {index("i")}))));
  p.outputs = {"y", "c"};
  return p;
}

TEST(Sampled, AgreesWithTheFullReference) {
  const Program p = softmax_program();
  const SymbolValues sizes = {{"M", 40}, {"N", 50}, {"K", 7}};
  const HostTensors in = *make_inputs(p, sizes, 3, {});
  const ReferenceRun full = *run_reference(p, sizes, in);
  SampleOptions options;
  options.count = 300;
  Result<ReferenceRun> some = run_sampled(p, sizes, in, options);
  ASSERT_TRUE(some.ok()) << to_text(some.errors());
  EXPECT_TRUE(some->sampled);
  for (const std::string name : {"y", "c"}) {
    const ReferenceTensor& a = full.outputs.at(name);
    const ReferenceTensor& b = some->outputs.at(name);
    const std::int64_t computed = std::count(b.defined.begin(), b.defined.end(), 1);
    EXPECT_GE(computed, 300);
    EXPECT_LT(computed, 600);
    for (const std::size_t corner : {0, 49, 39 * 50, 2000 - 1}) EXPECT_TRUE(b.defined[corner]);
    for (std::size_t i = 0; i < b.defined.size(); ++i) {
      if (!b.defined[i]) continue;
      ASSERT_EQ(a.floats[i], b.floats[i]) << name << i;
      ASSERT_NEAR(a.bounds[i], b.bounds[i], 1e-5 * a.bounds[i]) << name << i;  // stored as f32 between equations or not
    }
  }
  HostTensors results = outputs_of(full);
  EXPECT_TRUE(verify(p, *some, results, true).verified) << verify(p, *some, results, true).reason;
  EXPECT_TRUE(verify(p, *some, results, true).sampled);
  results.at("y").set(1999, 5);
  EXPECT_FALSE(verify(p, *some, results, true).verified);
}

TEST(Sampled, SmallTensorsAreTakenWhole) {
  const std::vector<std::vector<std::int64_t>> grid = sample_grid({3, 1000, 2}, 10000, 1);
  EXPECT_EQ(grid[0].size(), 3U);
  EXPECT_EQ(grid[1].size(), 1000U);
  EXPECT_EQ(grid[2].size(), 2U);
}

TEST(Sampled, GridsHoldEndsAndTileEdges) {
  const std::vector<std::vector<std::int64_t>> grid = sample_grid({4096, 4096}, 10000, 1);
  for (const std::vector<std::int64_t>& axis : grid) {
    EXPECT_GE(axis.size(), 100U);
    EXPECT_EQ(axis.front(), 0);
    EXPECT_EQ(axis.back(), 4095);
    int edges = 0;
    for (std::size_t k = 1; k < axis.size(); ++k) edges += axis[k] % 8 == 0 && axis[k - 1] == axis[k] - 1;
    EXPECT_GE(edges, 20);
  }
}

TEST(Sampled, GivesUpWithinItsBudget) {
  const Program p = matmul_program();
  const SymbolValues sizes = {{"M", 40}, {"N", 50}, {"K", 100}};
  SampleOptions options;
  options.budget = 1000;
  Result<ReferenceRun> run = run_sampled(p, sizes, *make_inputs(p, sizes, 3, {}), options);
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.errors()[0].code, Code::kOracleTooLarge);
}

TEST(Sampled, LoopsCannotBeSampled) {
  Program p = matmul_program();
  EXPECT_TRUE(can_sample(p));
  add_loops(p, {}, {"a"}, {}, {assign("a", {idx(0), idx(0)}, literal(DType::kF32, 1))});
  EXPECT_FALSE(can_sample(p));
}

}  // namespace
}  // namespace facet
