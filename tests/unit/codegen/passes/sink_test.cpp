// Register tiles at an array's border: what full tiles store straight away, partial ones take from memory.
#include <gmock/gmock.h>

#include "codegen/passes/context.hpp"
#include "unit/codegen/passes/trees.hpp"

namespace facet::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ExprPtr named(const std::string& name) { return value_of(name, DType::kF32); }
LoopPtr let(const std::string& name, double value) { return make_loop(Let{name, DType::kF32, 1, f32(value), false}); }

LoopPtr partial() { return loop("r", idx(0), ix("n"), {put("y", {ix("r")}, rd("t", {ix("r")}))}); }

std::string sunk(const LoopList& body) { return to_text(passes::sink_stores(body)); }

TEST(SinkStores, OnlyTheBranchThatReadsTheArrayFillsIt) {
  const LoopList body = {local("t", {idx(2)}), let("a", 1), put("t", {idx(0)}, named("a")), put("t", {idx(1)}, named("a")),
                         guard(less(idx(1), ix("n")), {put("y", {idx(0)}, named("a"))}, {partial()})};
  const LoopList out = passes::sink_stores(body);
  ASSERT_EQ(out.size(), 3u) << to_text(out);
  const If* branches = passes::as<If>(out.back());
  EXPECT_EQ(branches->then.size(), 1u);
  EXPECT_EQ(branches->otherwise.size(), 3u);
}

TEST(SinkStores, BranchesInsideBranchesToo) {
  const LoopPtr inner = guard(less(idx(2), ix("n")), {put("y", {idx(0)}, named("a"))}, {partial()});
  const LoopList body = {local("t", {idx(2)}), let("a", 1), put("t", {idx(0)}, named("a")),
                         guard(less(idx(1), ix("n")), {put("y", {idx(1)}, named("a"))}, {inner})};
  const LoopList out = passes::sink_stores(body);
  const If* outer = passes::as<If>(out.back());
  const If* last = passes::as<If>(outer->otherwise.back());
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(outer->otherwise.size(), 1u);
  EXPECT_EQ(last->then.size(), 1u);
  EXPECT_EQ(last->otherwise.size(), 2u);
}

// What is read behind the if, asked by it, kept for the next iteration or made from memory stays where it is.
TEST(SinkStores, WhatOthersReadStays) {
  const auto kept = [](const LoopList& body) { return passes::sink_stores(body).size() == body.size(); };
  const LoopPtr store = put("t", {idx(0)}, named("a")), branches = guard(less(idx(1), ix("n")), {}, {partial()});
  EXPECT_TRUE(kept({local("t", {idx(2)}), let("a", 1), store, branches, put("z", {idx(0)}, rd("t", {idx(0)}))}));
  EXPECT_TRUE(kept({local("t", {idx(2)}), let("a", 1), store, guard(less(rd("t", {idx(0)}), f32(1)), {}, {partial()})}));
  EXPECT_TRUE(kept({local("t", {idx(2)}), put("t", {idx(0)}, rd("x", {idx(0)})), branches}));
  EXPECT_TRUE(kept({local("t", {idx(2)}), let("a", 1), update("t", {idx(0)}, named("a")), branches}));
  const LoopList turns = {local("t", {idx(2)}), loop("i", idx(0), idx(4), {let("a", 1), store, branches})};
  EXPECT_EQ(sunk(turns), to_text(turns));
}

// y[3 * it + 0..3, 8 * jt ..] = register tile of x summed over k, where neither extent need divide.
LoopProgram tile_program() {
  const ExprPtr M = ix("M"), N = ix("N");
  const auto tile = [&](const char* i, const char* j, LoopPtr statement) {
    const ExprPtr i0 = mul(idx(3), ix("it")), j0 = mul(idx(8), ix("jt"));
    return loop(i, i0, least(M, add(i0, idx(3))),
                {loop(j, j0, least(N, add(j0, idx(8))), {std::move(statement)}, LoopKind::kVector, 4)}, LoopKind::kUnroll);
  };
  const std::vector<ExprPtr> place = {sub(ix("i"), mul(idx(3), ix("it"))), sub(ix("j"), mul(idx(8), ix("jt")))};
  const LoopPtr sum = loop("k", idx(0), ix("K"),
                           {tile("i", "j", update("t", place, mul(rd("a", {ix("i"), ix("k")}), rd("b", {ix("k"), ix("j")}))))});
  const LoopPtr nest = loop("it", idx(0), ceil_div(M, 3),
                            {loop("jt", idx(0), ceil_div(N, 8),
                                  {local("t", {idx(3), idx(8)}), tile("i", "j", put("t", place, f32(0))), sum,
                                   tile("i", "j", put("y", {ix("i"), ix("j")}, rd("t", place)))})});
  return program({"M", "N", "K"}, {array("a", {M, ix("K")}), array("b", {ix("K"), N}), array("y", {M, N}, BufferRole::kOutput)},
                 {nest});
}

TEST(SinkStores, TilesAtEveryBorderAreRight) {
  const LoopProgram p = tile_program(), q = lowered(p);
  for (const std::int64_t m : {1, 3, 4, 6})
    for (const std::int64_t n : {1, 3, 4, 7, 8, 9, 15, 16})
      for (const std::int64_t k : {0, 1, 5}) expect_same(p, q, {{"M", m}, {"N", n}, {"K", k}});
}

// Where b has room for whole tiles and only columns are left over, their vectors are stored in some lanes: the tile needs no
// memory.
TEST(SinkStores, LanesLeftOverNeedNoMemory) {
  LoopProgram p = tile_program();
  p.buffers[1].extents[1] = idx(24);
  const auto fixed = [](const ExprPtr& e) { return substitute(e, {{"M", idx(6)}, {"N", idx(21)}, {"K", idx(5)}}); };
  p.symbols.clear();
  for (Buffer& b : p.buffers)
    for (ExprPtr& e : b.extents) e = fixed(e);
  std::function<LoopList(const LoopList&)> all = [&](const LoopList& body) {
    LoopList out;
    for (const LoopPtr& n : body) out.push_back(passes::rebuild(n, fixed, all));
    return out;
  };
  p.kernels[0].body = all(p.kernels[0].body);
  const LoopProgram q = lowered(p);
  EXPECT_THAT(to_text(q.kernels[0].body), Not(HasSubstr("allocate")));
  expect_same(p, q, {});
}

}  // namespace
}  // namespace facet::test
