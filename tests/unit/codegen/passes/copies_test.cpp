// Padded copies have their zeros apart, quotients within a tile resolve, and what a tile stores is prefetched.
#include <gmock/gmock.h>

#include "unit/codegen/passes/trees.hpp"

namespace facet {
namespace {

using namespace facet::test;
using testing::HasSubstr;
using testing::Not;

// t[i / 14, k, i % 14] = a[i, k], zero past M, in panels of 14 rows.
LoopProgram packed_rows() {
  const ExprPtr panels = ceil_div(ix("M"), 14), i = ix("i");
  const LoopPtr copy =
      put("t", {binary(Op::kFloorDiv, i, idx(14)), ix("k"), binary(Op::kFloorMod, i, idx(14))}, rd("a", {i, ix("k")}, f32(0)));
  const ExprPtr low = mul(idx(14), ix("p"));
  return program({"M", "K"}, {array("a", {ix("M"), ix("K")}), array("t", {panels, ix("K"), idx(14)}, BufferRole::kOutput)},
                 {loop("p", idx(0), panels, {loop("i", low, add(low, idx(14)), {loop("k", idx(0), ix("K"), {copy})})})});
}

LoopProgram lowered(const LoopProgram& p) { return lower_for_cpu(p, wide_machine(), nullptr); }

TEST(SplitPadding, CopiesAndZerosHaveLoopsOfTheirOwn) {
  EXPECT_EQ(to_text(lowered(packed_rows()).kernels[0].body), R"(for p in 0..tdiv(M + 13, 14)
  for i in 14 * p..min(14 * p + 14, M)
    for k in 0..K
      t[p, k, i - 14 * p] = a[i, k]  # t
  for i in min(14 * p + 14, M)..14 * p + 14
    for k in 0..K
      t[p, k, i - 14 * p] = 0.0  # t
)");
}

TEST(SplitPadding, ChangesNothing) {
  const LoopProgram p = packed_rows(), q = lowered(p);
  for (const std::int64_t m : {0, 1, 13, 14, 15, 29})
    for (const std::int64_t k : {0, 1, 5}) expect_same(p, q, {{"M", m}, {"K", k}});
}

// A window's rows: padding on both sides, in both directions.
TEST(SplitPadding, BothSidesOfBothDirections) {
  const LoopPtr copy = put("t", {add(ix("y"), idx(1)), add(ix("x"), idx(2))}, rd("a", {ix("y"), ix("x")}, f32(0)));
  const LoopProgram p =
      program({"H", "W"},
              {array("a", {ix("H"), ix("W")}), array("t", {add(ix("H"), idx(2)), add(ix("W"), idx(6))}, BufferRole::kOutput)},
              {loop("y", idx(-1), add(ix("H"), idx(1)), {loop("x", idx(-2), add(ix("W"), idx(4)), {copy})})});
  const LoopProgram q = lowered(p);
  EXPECT_THAT(to_text(q.kernels[0].body), Not(HasSubstr("?")));
  for (const std::int64_t h : {0, 1, 4})
    for (const std::int64_t w : {0, 1, 3, 9}) expect_same(p, q, {{"H", h}, {"W", w}});
}

// Padding with another value, reads that move by two, and statements beside the copy stay as they are.
TEST(SplitPadding, LeavesOthersAlone) {
  const auto text = [&](const ExprPtr& value, bool beside) {
    LoopList body{put("t", {ix("i")}, value)};
    if (beside) body.push_back(put("u", {ix("i")}, rd("t", {ix("i")})));
    return to_text(lowered(program({"M", "N"},
                                   {array("a", {ix("M")}), array("t", {ix("N")}, BufferRole::kOutput),
                                    array("u", {ix("N")}, BufferRole::kOutput)},
                                   {loop("i", idx(0), ix("N"), std::move(body))}))
                       .kernels[0]
                       .body);
  };
  EXPECT_THAT(text(rd("a", {ix("i")}, f32(0)), false), Not(HasSubstr("?")));
  EXPECT_THAT(text(rd("a", {ix("i")}, f32(1)), false), HasSubstr("?"));
  EXPECT_THAT(text(rd("a", {mul(idx(2), ix("i"))}, f32(0)), false), HasSubstr("?"));
  EXPECT_THAT(text(rd("a", {ix("i")}, f32(0)), true), HasSubstr("?"));
}

// sums[i] in vectors of j over all k, stored once.
LoopPtr row_of_sums(const ExprPtr& columns, bool stream) {
  Store last = *passes::as<Store>(put("c", {ix("i"), ix("j")}, rd("s", {ix("j")})));
  last.stream = stream;
  return loop(
      "i", idx(0), ix("M"),
      {local("s", {idx(4096)}), loop("j", idx(0), columns, {put("s", {ix("j")}, f32(0))}, LoopKind::kVector, 16),
       loop("k", idx(0), ix("K"),
            {loop("j", idx(0), columns, {update("s", {ix("j")}, mul(rd("a", {ix("i"), ix("k")}), rd("b", {ix("k"), ix("j")})))},
                  LoopKind::kVector, 16)}),
       loop("j", idx(0), columns, {make_loop(std::move(last))}, LoopKind::kVector, 16)});
}

std::string lowered_sums(const ExprPtr& columns, bool stream) {
  return to_text(lowered(program({"M", "N", "K"},
                                 {array("a", {ix("M"), ix("K")}), array("b", {ix("K"), ix("N")}),
                                  array("c", {ix("M"), idx(4096)}, BufferRole::kOutput)},
                                 {row_of_sums(columns, stream)}))
                     .kernels[0]
                     .body);
}

TEST(Prefetch, WhatATileIsStoredTo) {
  const std::string text = lowered_sums(idx(32), false);
  EXPECT_THAT(text, HasSubstr("prefetch c[i, 0]"));
  EXPECT_THAT(text, HasSubstr("prefetch c[i, 16]"));
  EXPECT_LT(text.find("prefetch"), text.find("for k")) << text;
}

TEST(Prefetch, NotWhatGoesPastTheCachesNorWholeRows) {
  EXPECT_THAT(lowered_sums(idx(32), true), Not(HasSubstr("prefetch")));
  EXPECT_THAT(lowered_sums(ix("N"), false), Not(HasSubstr("prefetch")));
}

}  // namespace
}  // namespace facet
