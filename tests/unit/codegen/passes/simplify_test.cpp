// Index arithmetic and proofs: what must become simpler, and what must not.
#include <gmock/gmock.h>

#include "codegen/passes/context.hpp"
#include "unit/codegen/passes/trees.hpp"

namespace facet::test {
namespace {

using passes::Facts;

Facts facts_of_tile() {  // 0 <= i2 < ceil(M / 14), 0 <= i < min(14, M - 14 i2)
  Facts f({Symbol{"M", 1, 1000, 0, {}}});
  f.add_range("i2", idx(0), ceil_div(ix("M"), 14));
  f.add_range("i", idx(0), least(idx(14), sub(ix("M"), mul(idx(14), ix("i2")))));
  return f;
}
ExprPtr row() { return add(mul(idx(14), ix("i2")), ix("i")); }

TEST(Facts, BoundsOfATile) {
  const Facts f = facts_of_tile();
  EXPECT_TRUE(f.less(row(), ix("M")));
  EXPECT_TRUE(f.at_most(idx(0), row()));
  EXPECT_TRUE(f.less(mul(idx(14), ix("i2")), ix("M")));
  EXPECT_FALSE(f.less(add(row(), idx(1)), ix("M")));
  EXPECT_FALSE(f.less(idx(0), ix("i")));
}

TEST(Facts, ConditionsCount) {
  Facts f = facts_of_tile();
  EXPECT_FALSE(f.at_most(idx(14), sub(ix("M"), mul(idx(14), ix("i2")))));
  f.add_condition(binary(Op::kLe, idx(14), sub(ix("M"), mul(idx(14), ix("i2")))));
  EXPECT_TRUE(f.less(add(mul(idx(14), ix("i2")), idx(13)), ix("M")));
  EXPECT_FALSE(f.less(add(mul(idx(14), ix("i2")), idx(14)), ix("M")));
}

TEST(Facts, NegatedConditionIsNotOverused) {
  Facts f({Symbol{"N", 0, 100000, 0, {}}});
  const ExprPtr rest = sub(ix("N"), mul(idx(4), ix("j")));
  f.add_range("j", idx(0), ceil_div(ix("N"), 4));
  f.add_negation(binary(Op::kLe, idx(4), rest));
  EXPECT_TRUE(f.at_most(rest, idx(3)));
  EXPECT_TRUE(f.less(idx(0), rest));
  EXPECT_FALSE(f.at_most(rest, idx(0)));  // the search must not wrap around
  EXPECT_FALSE(f.at_most(rest, idx(2)));
}

std::string simplified(const ExprPtr& e, const Facts& f) {
  const LoopProgram p = program({"M"}, {array("a", {ix("M")})}, {});
  passes::Context c = passes::make_context(p, wide_machine(), nullptr);
  passes::enter_kernel(c, p.kernels[0]);
  return to_text(passes::simplify_expr(e, f, c));
}

TEST(Simplify, Divisions) {
  const Facts f = facts_of_tile();
  EXPECT_EQ(simplified(binary(Op::kFloorDiv, row(), idx(14)), f), "i2");
  EXPECT_EQ(simplified(binary(Op::kFloorMod, row(), idx(14)), f), "i");
  EXPECT_EQ(simplified(binary(Op::kFloorDiv, row(), idx(7)), f), "2 * i2 + tdiv(i, 7)");
  EXPECT_EQ(simplified(binary(Op::kFloorDiv, add(row(), idx(14)), idx(14)), f), "i2 + 1");
  EXPECT_EQ(simplified(binary(Op::kFloorMod, sub(idx(0), ix("i")), idx(4)), f),
            "-i % 4");  // may be negative: stays
  EXPECT_EQ(simplified(binary(Op::kFloorDiv, mul(idx(48), ix("x")), idx(16)), f), "3 * x");
}

// An iterator that walks one tile from its start: 14*i2 <= r < 14*i2 + 14.
TEST(Simplify, QuotientsWithinATile) {
  Facts f = facts_of_tile();
  f.add_range("r", mul(idx(14), ix("i2")), add(mul(idx(14), ix("i2")), idx(14)));
  f.add_range("s", mul(idx(14), ix("i2")), add(mul(idx(14), ix("i2")), idx(15)));
  EXPECT_EQ(simplified(binary(Op::kFloorDiv, ix("r"), idx(14)), f), "i2");
  EXPECT_EQ(simplified(binary(Op::kFloorMod, ix("r"), idx(14)), f), "r - 14 * i2");
  EXPECT_EQ(simplified(binary(Op::kFloorDiv, ix("s"), idx(14)), f), "tdiv(s, 14)");  // may be the next tile's first
}

TEST(Simplify, MinimaAndConditions) {
  const Facts f = facts_of_tile();
  EXPECT_EQ(simplified(least(idx(14), ix("i")), f), "i");
  EXPECT_EQ(simplified(most(ix("i"), idx(0)), f), "i");
  EXPECT_EQ(simplified(least(ix("M"), idx(500)), f), "min(M, 500)");
  EXPECT_EQ(simplified(less(row(), ix("M")), f), "true");
  EXPECT_EQ(simplified(rd("a", {row()}, f32(0)), f), "a[14 * i2 + i]");
}

TEST(Simplify, DataIsNotRearranged) {
  const ExprPtr data = read("a", DType::kI64, {ix("i")});
  const ExprPtr e = binary(Op::kFloorDiv, add(mul(idx(4), data), idx(4)), idx(4));
  EXPECT_EQ(simplified(e, facts_of_tile()), to_text(e));  // 4 * data may wrap
}

TEST(Simplify, LoopsOfOneAndNone) {
  const LoopProgram p = program({"M"}, {array("a", {ix("M")}), array("c", {ix("M")}, BufferRole::kOutput)},
                                {loop("i", idx(0), ix("M"),
                                      {loop("t", ix("i"), add(ix("i"), idx(1)),
                                            {guard(less(ix("t"), ix("M")), {put("c", {ix("t")}, rd("a", {ix("t")}))})}),
                                       loop("u", idx(3), idx(3), {put("c", {ix("u")}, f32(0))})})});
  const LoopProgram q = lowered(p);
  EXPECT_EQ(to_text(q.kernels[0].body), "for i in 0..M\n  c[i] = a[i]  # c\n");
  expect_same(p, q, {{"M", 3}});
}

TEST(Simplify, CollapsedLoopsStay) {
  const LoopPtr inner = loop("j", idx(0), idx(1), {put("c", {ix("i")}, f32(1))});
  For outer = *passes::as<For>(loop("i", idx(0), ix("M"), {inner}, LoopKind::kParallel));
  outer.collapse = 2;
  const LoopProgram q = lowered(program({"M"}, {array("c", {ix("M")}, BufferRole::kOutput)}, {make_loop(outer)}));
  const For* kept = passes::as<For>(q.kernels[0].body[0]);
  ASSERT_TRUE(kept);
  EXPECT_TRUE(passes::as<For>(kept->body[0]));
}

}  // namespace
}  // namespace facet::test
