// Vector loops: what becomes of each statement and expression over lanes, for
// sizes that divide, do not divide, and 0.
#include <gmock/gmock.h>

#include "unit/codegen/passes/trees.hpp"

namespace facet::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

LoopPtr vector_loop(const std::string& name, ExprPtr lower, ExprPtr upper, LoopList body, int width = 4) {
  return loop(name, std::move(lower), std::move(upper), std::move(body), LoopKind::kVector, width);
}
Buffer out(const std::string& name, std::vector<ExprPtr> extents) {
  return array(name, std::move(extents), BufferRole::kOutput);
}
const std::vector<std::int64_t> kSizes = {0, 1, 3, 4, 5, 8, 16, 31, 100};

std::string check(const LoopProgram& p, PassLog* log = nullptr) {
  const LoopProgram q = lowered(p, log);
  for (const std::int64_t n : kSizes) expect_same(p, q, {{"N", n}});
  return to_text(q.kernels[0].body);
}

TEST(Vectors, ElementwiseLoopAndMaskedTail) {
  const LoopProgram p = program({"N"}, {array("a", {ix("N")}), out("c", {ix("N")})},
                                {vector_loop("i", idx(0), ix("N"), {put("c", {ix("i")}, mul(rd("a", {ix("i")}), f32(2)))})});
  EXPECT_EQ(check(p), R"(for i in 0..N - 3 step 4
  c[i]:4 = a[i]:4 * splat4(2.0)  # c
if 4 * tdiv(N, 4) < N  # tail
  let i_rest: i64 = 4 * tdiv(N, 4)
  let i_active: boolx4 = iota4(0) < splat4(N - i_rest)
  c[i_rest]:4{i_active} = a[i_rest]:4{i_active} * splat4(2.0)  # c
)");
}

TEST(Vectors, SumUsesSeveralAccumulatorsJoinedInATree) {
  const LoopProgram p =
      program({"N"}, {array("a", {ix("N")}), out("s", {idx(1)})},
              {put("s", {idx(0)}, f32(1)),
               vector_loop("i", idx(0), ix("N"), {update("s", {idx(0)}, mul(rd("a", {ix("i")}), rd("a", {ix("i")})))})});
  const std::string text = check(p);
  EXPECT_THAT(text, HasSubstr("step 16"));
  EXPECT_THAT(text, HasSubstr("lane_sum(s_sum + s_sum_2 + (s_sum_3 + s_sum_4))"));
}

// Sums side by side have vectors of their own; what all rows add to is loaded and stored once.
TEST(Vectors, RowsSideBySide) {
  const ExprPtr row = add(mul(idx(4), ix("t")), ix("i")), a = rd("a", {row, ix("j")});
  const LoopProgram p = program(
      {"N"},
      {array("a", {idx(8), ix("N")}), array("x", {ix("N")}), array("f", {idx(8)}), out("s", {idx(8)}), out("y", {ix("N")})},
      {loop("z", idx(0), ix("N"), {put("y", {ix("z")}, f32(1))}), loop("z", idx(0), idx(8), {put("s", {ix("z")}, f32(2))}),
       loop("t", idx(0), idx(2),
            {vector_loop("j", idx(0), ix("N"),
                         {loop("i", idx(0), idx(4),
                               {update("s", {row}, mul(a, rd("x", {ix("j")}))), update("y", {ix("j")}, mul(a, rd("f", {row})))},
                               LoopKind::kUnroll)})})});
  const std::string text = check(p);
  EXPECT_THAT(text, HasSubstr("step 8"));
  EXPECT_THAT(text, HasSubstr("s[4 * t + 3] sum= lane_sum(s_sum_4 + s_sum_8)"));
}

// x[i] and x[i + 1] are not certainly others while i runs inside the vector; a sum that is read meanwhile is not one.
TEST(Vectors, SumsThatMeetOtherUsesStayInOrder) {
  const LoopProgram p = program(
      {"N"}, {array("a", {ix("N")}), out("s", {idx(2)}), out("c", {ix("N")})},
      {put("s", {idx(0)}, f32(0)), put("s", {idx(1)}, f32(0)),
       vector_loop("j", idx(0), ix("N"), {update("s", {idx(0)}, rd("a", {ix("j")})), put("c", {ix("j")}, rd("s", {idx(0)}))})});
  PassLog log;
  check(p, &log);
  EXPECT_TRUE(refused(log, "vectorize"));
}

TEST(Vectors, RowMaximum) {
  const LoopProgram p = program(
      {"N"}, {array("a", {idx(3), ix("N")}), out("m", {idx(3)})},
      {loop("r", idx(0), idx(3),
            {put("m", {ix("r")}, f32(-100)),
             vector_loop("i", idx(0), ix("N"), {update("m", {ix("r")}, rd("a", {ix("r"), ix("i")}), ReduceKind::kMax)})})});
  check(p);
}

TEST(Vectors, StrictOrderIsKept) {
  LoopProgram p =
      program({"N"}, {array("a", {ix("N")}), out("s", {idx(1)})},
              {put("s", {idx(0)}, f32(0)), vector_loop("i", idx(0), ix("N"), {update("s", {idx(0)}, rd("a", {ix("i")}))})});
  p.numerics.reassociate = Numerics::Reassociate::kStrict;
  PassLog log;
  const std::string text = check(p, &log);
  EXPECT_TRUE(refused(log, "vectorize"));
  EXPECT_THAT(text, HasSubstr("var s_acc: f32 = 0.0"));  // still in a register
}

TEST(Vectors, OuterLoopWithAReductionInside) {
  const LoopProgram p = program(
      {"N"}, {array("a", {idx(5)}), array("b", {idx(5), ix("N")}), out("c", {ix("N")})},
      {vector_loop(
          "j", idx(0), ix("N"),
          {put("c", {ix("j")}, f32(0)),
           loop("k", idx(0), idx(5), {update("c", {ix("j")}, mul(rd("a", {ix("k")}), rd("b", {ix("k"), ix("j")})))})})});
  EXPECT_THAT(check(p), HasSubstr("var c_acc: f32x4 = splat4(0.0)"));
}

TEST(Vectors, TransposedReadIsAGatherAndTransposedStoreIsOneByOne) {
  const LoopProgram p =
      program({"N"}, {array("a", {ix("N"), idx(3)}), out("c", {ix("N"), idx(3)}), out("d", {ix("N")})},
              {loop("r", idx(0), idx(3),
                    {vector_loop("i", idx(0), ix("N"),
                                 {put("c", {ix("i"), sub(idx(2), ix("r"))}, rd("a", {ix("i"), ix("r")})),
                                  put("d", {sub(sub(ix("N"), idx(1)), ix("i"))}, rd("a", {ix("i"), idx(0)}))})})});
  const std::string text = check(p);
  EXPECT_THAT(text, HasSubstr("a[iota4(i), r]:4"));
  EXPECT_THAT(text, HasSubstr("c_lanes"));
}

// Three reads around a place: the first vector ends where the store meets a border between lines, wherever the row begins.
TEST(Vectors, AStencilsRowsAreStoredFromBorderToBorder) {
  const auto at = [](std::int64_t back) { return rd("a", {ix("r"), sub(add(ix("i"), idx(1)), idx(back))}); };
  const ExprPtr width = add(ix("N"), idx(2));
  LoopProgram p = program({"N"}, {array("a", {idx(5), width}), out("c", {idx(5), width})},
                          {loop("r", idx(0), idx(5),
                                {loop("z", idx(0), width, {put("c", {ix("r"), ix("z")}, f32(9))}),
                                 vector_loop("i", idx(1), add(ix("N"), idx(1)),
                                             {put("c", {ix("r"), ix("i")}, add(add(at(0), at(1)), at(2)))}, 4)})});
  CpuMachine machine = wide_machine();
  machine.vector_bytes = 16;
  const LoopProgram q = lower_for_cpu(p, machine, nullptr);
  for (const std::int64_t n : kSizes) expect_same(p, q, {{"N", n}});
  EXPECT_THAT(to_text(q.kernels[0].body), HasSubstr("let i_rest: i64 = 5 - tmod(r * (N + 2) + 1, 4)"));
}

// A quotient by the vector's own width stands still inside a vector: one element for all lanes (it was read as neighbours).
TEST(Vectors, AQuotientByTheWidthIsOneElement) {
  const LoopProgram p =
      program({"N"}, {array("a", {ix("N")}), out("c", {ix("N")})},
              {vector_loop("i", idx(0), ix("N"),
                           {put("c", {ix("i")}, add(rd("a", {ix("i")}), rd("a", {binary(Op::kFloorDiv, ix("i"), idx(4))})))})});
  check(p);
}

TEST(Vectors, StridedStore) {
  const LoopProgram p = program({"N"}, {array("a", {ix("N")}), out("c", {mul(idx(2), ix("N"))})},
                                {loop("z", idx(0), mul(idx(2), ix("N")), {put("c", {ix("z")}, f32(9))}),
                                 vector_loop("i", idx(0), ix("N"), {put("c", {mul(idx(2), ix("i"))}, rd("a", {ix("i")}))})});
  check(p);
}

TEST(Vectors, PaddedReadsAreMasked) {
  // A correlation of 3 with zero padding, and one padded by 5.
  const auto at = [&](double pad) { return rd("a", {sub(add(ix("i"), ix("t")), idx(1))}, f32(pad)); };
  const LoopProgram p = program({"N"}, {array("a", {ix("N")}), array("w", {idx(3)}), out("c", {ix("N")}), out("d", {ix("N")})},
                                {vector_loop("i", idx(0), ix("N"),
                                             {put("c", {ix("i")}, f32(0)), put("d", {ix("i")}, f32(0)),
                                              loop("t", idx(0), idx(3),
                                                   {update("c", {ix("i")}, mul(at(0), rd("w", {ix("t")}))),
                                                    update("d", {ix("i")}, mul(at(5), rd("w", {ix("t")})))})})});
  check(p);
}

TEST(Vectors, ConditionsBecomeMasks) {
  const LoopProgram p = program(
      {"N"}, {array("a", {ix("N")}), out("c", {ix("N")}), out("s", {idx(1)})},
      {put("s", {idx(0)}, f32(0)),
       vector_loop("i", idx(0), ix("N"),
                   {guard(less(ix("i"), idx(6)), {put("c", {ix("i")}, rd("a", {ix("i")})), update("s", {idx(0)}, f32(1))},
                          {put("c", {ix("i")}, rd("a", {sub(ix("i"), idx(6))}))})})});
  check(p);
}

TEST(Vectors, SelectedReadsStayInside) {
  const LoopProgram p =
      program({"N"}, {array("a", {ix("N")}), array("b", {ix("N"), ix("N")}), out("c", {ix("N")}), out("d", {ix("N"), ix("N")})},
              {vector_loop("i", idx(0), ix("N"),
                           {put("c", {ix("i")}, select(less(idx(0), ix("i")), rd("a", {sub(ix("i"), idx(1))}), f32(7)))}),
               loop("r", idx(0), ix("N"),
                    {vector_loop("j", idx(0), ix("N"),
                                 {put("d", {ix("r"), ix("j")},
                                      select(less(ix("j"), ix("r")), rd("b", {sub(ix("r"), idx(1)), ix("j")}),
                                             rd("b", {ix("r"), idx(0)})))})})});
  check(p);
}

TEST(Vectors, TriangularInnerLoopIsMasked) {
  const LoopProgram p =
      program({"N"}, {array("a", {ix("N"), ix("N")}), out("c", {ix("N")})},
              {vector_loop("j", idx(0), ix("N"),
                           {put("c", {ix("j")}, f32(0)), loop("k", most(idx(0), sub(ix("j"), idx(6))), add(ix("j"), idx(1)),
                                                              {update("c", {ix("j")}, rd("a", {ix("k"), ix("j")}))})})});
  check(p);
}

// One element for all lanes, that lanes past the end, or those that skip it, do not prove to be there.
TEST(Vectors, ReadsOfOneElementStayInside) {
  const LoopProgram bounds =
      program({"N"}, {array("x", {ix("N")}), out("c", {ix("N")})},
              {vector_loop("j", idx(0), ix("N"),
                           {put("c", {ix("j")}, f32(0)),
                            loop("k", idx(0), add(ix("j"), idx(1)), {update("c", {ix("j")}, rd("x", {ix("k")}))})})});
  check(bounds);
  const LoopProgram branch =
      program({"N"}, {array("x", {ix("N")}), out("c", {ix("N")})},
              {vector_loop("j", idx(0), ix("N"),
                           {put("c", {ix("j")}, f32(0)),
                            loop("k", idx(0), add(ix("N"), idx(5)),
                                 {guard(binary(Op::kLe, ix("k"), ix("j")), {update("c", {ix("j")}, rd("x", {ix("k")}))})})})});
  check(branch);
}

TEST(Vectors, TriangularVectorLoop) {
  const LoopProgram p = program(
      {"N"}, {array("a", {ix("N"), ix("N")}), out("c", {ix("N"), ix("N")})},
      {loop("i", idx(0), ix("N"),
            {vector_loop("j", idx(0), add(ix("i"), idx(1)), {put("c", {ix("i"), ix("j")}, rd("a", {ix("j"), ix("i")}))})})});
  check(p);
}

TEST(Vectors, ProducersInLocalArraysBecomeVectorValues) {
  const LoopProgram p =
      program({"N"}, {array("a", {ix("N")}), out("c", {ix("N")})},
              {local("t", {ix("N")}), vector_loop("i", idx(0), ix("N"),
                                                  {put("t", {ix("i")}, add(rd("a", {ix("i")}), f32(1))),
                                                   put("c", {ix("i")}, mul(rd("t", {ix("i")}), rd("t", {ix("i")})))})});
  const std::string text = check(p);
  EXPECT_THAT(text, Not(HasSubstr("alloc")));
  EXPECT_THAT(text, HasSubstr("let t_value: f32x4 = a[i]:4 + splat4(1.0)"));
}

TEST(Vectors, IterationNumbersBecomeLanes) {
  const ExprPtr value = cast(DType::kF32, binary(Op::kFloorMod, ix("i"), idx(3)));
  const LoopProgram p =
      program({"N"}, {out("c", {ix("N")})}, {vector_loop("i", idx(0), ix("N"), {put("c", {ix("i")}, value)})});
  EXPECT_THAT(check(p), HasSubstr("iota4(4 * iv)"));
}

TEST(Vectors, CarriedValueIsRefused) {
  const LoopProgram p = program({"N"}, {array("a", {ix("N")}), out("c", {ix("N")})},
                                {make_loop(Let{"x", DType::kF32, 1, f32(0), true}),
                                 vector_loop("i", idx(0), ix("N"),
                                             {make_loop(Set{"x", add(value_of("x", DType::kF32), rd("a", {ix("i")}))}),
                                              put("c", {ix("i")}, value_of("x", DType::kF32))})});
  PassLog log;
  check(p, &log);
  EXPECT_TRUE(refused(log, "vectorize"));
}

TEST(Vectors, ScanIsRefused) {
  const LoopProgram p = program(
      {"N"}, {array("a", {ix("N")}), out("c", {ix("N")}), out("s", {idx(1)})},
      {put("s", {idx(0)}, f32(0)),
       vector_loop("i", idx(0), ix("N"), {update("s", {idx(0)}, rd("a", {ix("i")})), put("c", {ix("i")}, rd("s", {idx(0)}))})});
  PassLog log;
  check(p, &log);
  EXPECT_TRUE(refused(log, "vectorize"));
}

// Softmax of rows, statistics in local arrays of the row's loop.
TEST(Vectors, RowStatisticsBecomeNamedValues) {
  const auto row = [&](ExprPtr value) { return rd("e", {ix("r"), std::move(value)}); };
  const LoopPtr rows = loop(
      "r", idx(0), idx(3),
      {local("top", {idx(1)}), local("total", {idx(1)}), put("top", {idx(0)}, f32(-std::numeric_limits<double>::infinity())),
       vector_loop("i", idx(0), ix("N"), {update("top", {idx(0)}, rd("a", {ix("r"), ix("i")}), ReduceKind::kMax)}),
       vector_loop("i", idx(0), ix("N"), {put("e", {ix("r"), ix("i")}, sub(rd("a", {ix("r"), ix("i")}), rd("top", {idx(0)})))}),
       put("total", {idx(0)}, f32(0)), vector_loop("i", idx(0), ix("N"), {update("total", {idx(0)}, row(ix("i")))}),
       vector_loop("i", idx(0), ix("N"), {put("c", {ix("r"), ix("i")}, add(row(ix("i")), rd("total", {idx(0)})))})});
  const LoopProgram p =
      program({"N"}, {array("a", {idx(3), ix("N")}), out("e", {idx(3), ix("N")}), out("c", {idx(3), ix("N")})}, {rows});
  const std::string text = check(p);
  EXPECT_THAT(text, Not(HasSubstr("alloc")));
  EXPECT_THAT(text, HasSubstr("let top_value: f32 = lane_max("));
}

TEST(Vectors, ScalarTreeStaysScalar) {
  const LoopProgram p =
      program({"N"}, {array("a", {ix("N")}), out("s", {idx(1)})},
              {put("s", {idx(0)}, f32(0)), loop("i", idx(0), ix("N"), {update("s", {idx(0)}, rd("a", {ix("i")}))})});
  EXPECT_EQ(check(p), R"(var s_acc: f32 = 0.0
for i in 0..N
  s_acc = s_acc + a[i]
s[0] = s_acc  # s
)");
}

}  // namespace
}  // namespace facet::test
