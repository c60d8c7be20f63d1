// whole_lines: halves of vectors become whole ones; one that goes on into the next row says so.
#include "codegen/passes/context.hpp"
#include "unit/codegen/passes/trees.hpp"

namespace facet::test {
namespace {

// The upper or lower half of the named vector of 16 lanes.
ExprPtr half(std::int64_t first) {
  Expr e;
  e.op = Op::kExtract;
  e.type = DType::kF32;
  e.lanes = 8;
  e.int_value = first;
  e.args = {value_of("t", DType::kF32, 16)};
  return std::make_shared<const Expr>(std::move(e));
}

LoopPtr store_half(std::vector<ExprPtr> at, std::int64_t first) {
  Store s;
  s.statement = s.buffer = "c";
  s.subscripts = std::move(at);
  s.value = half(first);
  s.lanes = 8;
  return make_loop(std::move(s));
}

std::vector<Store> joined(const LoopPtr& a, const LoopPtr& b) {
  const LoopProgram p = program({}, {array("c", {idx(2), idx(24)}, BufferRole::kOutput)}, {a, b});
  CpuMachine machine;
  machine.vector_bytes = 64;
  passes::Context context = passes::make_context(p, machine, nullptr);
  passes::enter_kernel(context, p.kernels[0]);
  std::vector<Store> stores;
  for (const LoopPtr& n : passes::whole_lines(p.kernels[0].body, context)) stores.push_back(std::get<Store>(n->node));
  return stores;
}

TEST(WholeLines, AVectorThatGoesOnIntoTheNextRowSaysSo) {
  const std::vector<Store> s = joined(store_half({idx(0), idx(16)}, 0), store_half({idx(1), idx(0)}, 8));
  ASSERT_EQ(s.size(), 1U);
  EXPECT_EQ(s[0].lanes, 16);
  EXPECT_TRUE(s[0].runs_on);
  EXPECT_EQ(to_text(s[0].subscripts[1]), "16");
}

TEST(WholeLines, AVectorInsideARowDoesNot) {
  const std::vector<Store> s = joined(store_half({idx(0), idx(0)}, 0), store_half({idx(0), idx(8)}, 8));
  ASSERT_EQ(s.size(), 1U);
  EXPECT_EQ(s[0].lanes, 16);
  EXPECT_FALSE(s[0].runs_on);
}

TEST(WholeLines, WhatDoesNotFollowStaysApart) {
  EXPECT_EQ(joined(store_half({idx(0), idx(0)}, 0), store_half({idx(1), idx(0)}, 8)).size(), 2U);
}

}  // namespace
}  // namespace facet::test
