// Functions of what a loop does not change: what moves before it, and what must not.
#include <gmock/gmock.h>

#include "codegen/passes/context.hpp"
#include "unit/codegen/passes/trees.hpp"

namespace facet::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string hoisted(LoopList body) {
  const LoopProgram p =
      program({"N"}, {array("a", {ix("N")}), array("s", {}), array("c", {ix("N")}, BufferRole::kOutput)}, std::move(body));
  passes::Context context = passes::make_context(p, wide_machine(), nullptr);
  passes::enter_kernel(context, p.kernels[0]);
  LoopProgram q = p;
  q.kernels[0].body = passes::hoist_costly(p.kernels[0].body, context);
  return to_text(q);
}

ExprPtr power(ExprPtr exponent) { return binary(Op::kPow, f32(0.9), std::move(exponent)); }

TEST(HoistCostly, OnceBeforeTheLoop) {
  const ExprPtr part = sub(f32(1), power(rd("s", {})));
  const std::string text =
      hoisted({loop("i", idx(0), ix("N"), {put("c", {ix("i")}, add(mul(rd("a", {ix("i")}), part), part))})});
  EXPECT_THAT(text, HasSubstr("let fixed: f32 = 1.0 - pow(0.9, s[])"));
  EXPECT_THAT(text, HasSubstr("c[i] = a[i] * fixed + fixed"));
}

TEST(HoistCostly, OutOfBothLoops) {
  const std::string text = hoisted({loop(
      "j", idx(0), idx(4), {loop("i", idx(0), ix("N"), {put("c", {ix("i")}, mul(rd("a", {ix("i")}), power(rd("s", {}))))})})});
  EXPECT_LT(text.find("let fixed"), text.find("for j"));
}

TEST(HoistCostly, WhatTheLoopChangesStays) {
  const auto body = [](ExprPtr value, LoopList more = {}) {
    LoopList list{put("c", {ix("i")}, std::move(value))};
    list.insert(list.end(), more.begin(), more.end());
    return LoopList{loop("i", idx(0), ix("N"), std::move(list))};
  };
  EXPECT_THAT(hoisted(body(power(rd("s", {})), {put("s", {}, f32(2))})), Not(HasSubstr("fixed")));  // stored to
  EXPECT_THAT(hoisted(body(power(cast(DType::kF32, ix("i"))))), Not(HasSubstr("fixed")));           // the iterator
  EXPECT_THAT(hoisted(body(power(rd("a", {idx(3)})))), Not(HasSubstr("fixed")));                    // a[3] may not be there
  EXPECT_THAT(hoisted(body(rd("s", {}))), Not(HasSubstr("fixed")));                                 // costs nothing
}

TEST(HoistCostly, StaysInsideParallelLoops) {
  const std::string text =
      hoisted({loop("i", idx(0), ix("N"), {put("c", {ix("i")}, power(rd("s", {})))}, LoopKind::kParallel)});
  EXPECT_THAT(text, Not(HasSubstr("fixed")));
}

}  // namespace
}  // namespace facet::test
