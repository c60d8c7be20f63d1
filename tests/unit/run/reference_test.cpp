// The reference interpreter: values, NaN and integer rules, undefined elements, gathers, loops, bounds and ambiguity.
#include "src/run/reference.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "support/hand_made.hpp"

namespace facet {
namespace {

using namespace facet::test;  // NOLINT

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// y[i] = value(i) for i < n of an f32 x, as the only equation.
ReferenceTensor map_of(DType from, const std::vector<double>& x, DType to, const ExprPtr& value) {
  Program p;
  const std::int64_t n = static_cast<std::int64_t>(x.size());
  add_tensor(p, "x", from, {idx(n)}, true);
  add_tensor(p, "y", to, {idx(n)});
  add_equation(p, equation("y", {range("i", n)}, value));
  p.outputs = {"y"};
  Result<ReferenceRun> run = run_reference(p, {}, {{"x", host(from, {n}, x)}});
  EXPECT_TRUE(run.ok()) << to_text(run.errors());
  return run->outputs.at("y");
}

ExprPtr x_at(DType d = DType::kF32) { return read("x", d, {index("i")}); }
bool ambiguous(const ReferenceTensor& t, std::size_t i) { return !t.bounds.empty() && std::isinf(t.bounds[i]); }

TEST(Reference, MatmulValuesAndBounds) {
  const Program p = matmul_program();
  const HostTensors in = {{"a", host(DType::kF32, {2, 3}, {1, 2, 3, 4, 5, 6})},
                          {"b", host(DType::kF32, {3, 2}, {1, 0.1, 0, 1, 1, 0})}};
  Result<ReferenceRun> run = run_reference(p, {{"M", 2}, {"N", 2}, {"K", 3}}, in);
  ASSERT_TRUE(run.ok());
  const ReferenceTensor& c = run->outputs.at("c");
  EXPECT_EQ(c.floats[0], 4);
  EXPECT_NEAR(c.floats[1], 2.1, 1e-6);
  ASSERT_EQ(c.bounds.size(), 4U);
  EXPECT_EQ(c.bounds[0], 0) << "integers are exact in every order";
  EXPECT_GT(c.bounds[1], 0x1p-26);
  EXPECT_LT(c.bounds[1], 1e-5);
  EXPECT_TRUE(c.defined.empty());
}

TEST(Reference, EmptyContractionIsZero) {
  const Program p = matmul_program();
  Result<ReferenceRun> run = run_reference(p, {{"M", 4}, {"N", 4}, {"K", 0}},
                                           {{"a", host(DType::kF32, {4, 0}, {})}, {"b", host(DType::kF32, {0, 4}, {})}});
  ASSERT_TRUE(run.ok());
  for (const double v : run->outputs.at("c").floats) EXPECT_EQ(v, 0);
}

TEST(Reference, MaxPropagatesNanFromEitherSide) {
  const ReferenceTensor y =
      map_of(DType::kF32, {kNaN, -3, 2}, DType::kF32, binary(Op::kMax, literal(DType::kF32, 0.5), x_at()));
  EXPECT_TRUE(std::isnan(y.floats[0]));
  EXPECT_EQ(y.floats[1], 0.5);
  const ReferenceTensor z =
      map_of(DType::kF32, {kNaN, -3, 2}, DType::kF32, binary(Op::kCFMax, literal(DType::kF32, 0.5), x_at()));
  EXPECT_EQ(z.floats[0], 0.5);
}

TEST(Reference, SelectIsAChoice) {
  const ExprPtr c = binary(Op::kGt, x_at(), literal(DType::kF32, 0));
  const ExprPtr value = select(c, x_at(), binary(Op::kDiv, literal(DType::kF32, 0), literal(DType::kF32, 0)));
  const ReferenceTensor y = map_of(DType::kF32, {1, 3}, DType::kF32, value);
  EXPECT_EQ(y.floats[0], 1);
  EXPECT_EQ(y.floats[1], 3);
  EXPECT_FALSE(ambiguous(y, 0));
}

TEST(Reference, RoundedF64ResultsAreNotExact) {
  const ReferenceTensor third =
      map_of(DType::kF64, {1, 6}, DType::kF64, binary(Op::kDiv, x_at(DType::kF64), literal(DType::kF64, 3)));
  ASSERT_EQ(third.bounds.size(), 2U);
  EXPECT_GT(third.bounds[0], 0) << "a kernel may contract or reorder what follows";
  EXPECT_EQ(third.bounds[1], 0) << "6 / 3 is 2 for everyone";
}

TEST(Reference, LiteralsAreValuesOfTheirDtype) {
  const ReferenceTensor y = map_of(DType::kF32, {1}, DType::kF32, binary(Op::kMul, x_at(), literal(DType::kF32, 0.1)));
  EXPECT_EQ(y.floats[0], static_cast<double>(0.1F));
}

TEST(Reference, IntegersWrapAndDivideByZeroGivesZero) {
  const ExprPtr x = x_at(DType::kU8);
  EXPECT_EQ(map_of(DType::kU8, {128}, DType::kU8, binary(Op::kAdd, x, x)).ints[0], 0);
  const ExprPtr w = x_at(DType::kI32);
  const ReferenceTensor d = map_of(DType::kI32, {0, -7}, DType::kI32, binary(Op::kTruncDiv, int_literal(DType::kI32, 5), w));
  EXPECT_EQ(d.ints[0], 0);
  EXPECT_EQ(d.ints[1], 0);
  const ReferenceTensor f = map_of(DType::kI32, {-7, 7}, DType::kI32, binary(Op::kFloorMod, w, int_literal(DType::kI32, 4)));
  EXPECT_EQ(f.ints[0], 1);
  EXPECT_EQ(f.ints[1], 3);
  const ReferenceTensor m =
      map_of(DType::kI32, {-2147483648.0}, DType::kI32, binary(Op::kTruncDiv, w, int_literal(DType::kI32, -1)));
  EXPECT_EQ(m.ints[0], -2147483648LL);
  const ReferenceTensor s = map_of(DType::kI32, {1}, DType::kI32, binary(Op::kShl, w, int_literal(DType::kI32, 33)));
  EXPECT_EQ(s.ints[0], 2);
}

TEST(Reference, CastsSaturateAndRound) {
  const ReferenceTensor y = map_of(DType::kF32, {300.9, -5.9, kNaN, kInf}, DType::kI8, cast(DType::kI8, x_at()));
  EXPECT_EQ(y.ints, (std::vector<std::int64_t>{127, -5, 0, 127}));
  const ReferenceTensor h = map_of(DType::kF32, {3.14}, DType::kBF16, cast(DType::kBF16, x_at()));
  EXPECT_EQ(h.floats[0], 3.140625);
}

TEST(Reference, EmptyAndNanReductions) {
  Program p;
  add_tensor(p, "x", DType::kF32, {idx(3)}, true);
  add_tensor(p, "m", DType::kF32, {});
  add_tensor(p, "e", DType::kF32, {});
  add_tensor(p, "g", DType::kI64, {});
  const ExprPtr x = read("x", DType::kF32, {index("k")});
  add_equation(p, equation("m", {}, reduction(ReduceKind::kMax, DType::kF32, {range("k", 3)}, x)));
  add_equation(p, equation("e", {}, reduction(ReduceKind::kMin, DType::kF32, {range("k", 0)}, x)));
  add_equation(p, equation("g", {}, reduction(ReduceKind::kArgMax, DType::kI64, {range("k", 3)}, x)));
  p.outputs = {"m", "e", "g"};
  Result<ReferenceRun> run = run_reference(p, {}, {{"x", host(DType::kF32, {3}, {7, kNaN, 9})}});
  ASSERT_TRUE(run.ok());
  EXPECT_TRUE(std::isnan(run->outputs.at("m").floats[0]));
  EXPECT_EQ(run->outputs.at("e").floats[0], kInf);
  EXPECT_EQ(run->outputs.at("g").ints[0], 1);
}

TEST(Reference, ArgmaxOverNothingIsRefused) {
  Program p;
  add_tensor(p, "x", DType::kF32, {idx(3)}, true);
  add_tensor(p, "g", DType::kI64, {});
  add_equation(
      p, equation("g", {}, reduction(ReduceKind::kArgMax, DType::kI64, {range("k", 0)}, read("x", DType::kF32, {index("k")}))));
  p.outputs = {"g"};
  EXPECT_FALSE(run_reference(p, {}, {{"x", host(DType::kF32, {3}, {7, 8, 9})}}).ok());
}

TEST(Reference, ArgmaxTies) {
  const auto argmax = [](const ExprPtr& body, const std::vector<double>& x) {
    Program p;
    add_tensor(p, "x", DType::kF32, {idx(3)}, true);
    add_tensor(p, "g", DType::kI64, {});
    add_equation(p, equation("g", {}, reduction(ReduceKind::kArgMax, DType::kI64, {range("i", 3)}, body)));
    p.outputs = {"g"};
    return run_reference(p, {}, {{"x", host(DType::kF32, {3}, x)}})->outputs.at("g");
  };
  const ReferenceTensor exact = argmax(x_at(), {2, 5, 5});
  EXPECT_EQ(exact.ints[0], 1);
  EXPECT_FALSE(ambiguous(exact, 0)) << "exact ties go to the first";
  EXPECT_TRUE(ambiguous(argmax(unary(Op::kExp, x_at()), {0.3, 0.7, 0.7}), 0)) << "computed ties may turn over";
  EXPECT_FALSE(ambiguous(argmax(unary(Op::kExp, x_at()), {0.3, 0.7, 0.6}), 0));
}

TEST(Reference, StepsNearTheirEdgeAreAmbiguous) {
  const ExprPtr y = unary(Op::kFloor, binary(Op::kMul, unary(Op::kExp, x_at()), literal(DType::kF32, 1)));
  const ReferenceTensor t = map_of(DType::kF32, {0, 0.5}, DType::kF32, y);
  EXPECT_TRUE(ambiguous(t, 0)) << "exp(0) may be computed as 1 - ulp";
  EXPECT_FALSE(ambiguous(t, 1));
  EXPECT_EQ(t.floats[1], 1);
}

TEST(Reference, ReluAsAChoiceIsNotAmbiguous) {
  const ExprPtr z = binary(Op::kSub, unary(Op::kExp, x_at()), literal(DType::kF32, 1));
  const ReferenceTensor t =
      map_of(DType::kF32, {0}, DType::kF32, select(binary(Op::kGt, z, literal(DType::kF32, 0)), z, literal(DType::kF32, 0)));
  EXPECT_FALSE(ambiguous(t, 0));
  EXPECT_GT(t.bounds[0], 0);
}

TEST(Reference, PadsAndGathers) {
  Program p;
  add_tensor(p, "x", DType::kF32, {idx(5)}, true);
  add_tensor(p, "id", DType::kI64, {idx(4)}, true);
  add_tensor(p, "y", DType::kF32, {idx(4)});
  add_tensor(p, "z", DType::kF32, {idx(4)});
  add_equation(p, equation("y", {range("i", 4)}, read("x", DType::kF32, {read("id", DType::kI64, {index("i")})})));
  add_equation(p,
               equation("z", {range("i", 4)}, read("x", DType::kF32, {idx_sub(index("i"), idx(1))}, literal(DType::kF32, -9))));
  p.outputs = {"y", "z"};
  const HostTensors in = {{"x", host(DType::kF32, {5}, {10, 11, 12, 13, 14})}, {"id", host(DType::kI64, {4}, {4, -1, 5, 0})}};
  Result<ReferenceRun> run = run_reference(p, {}, in);
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->outputs.at("y").floats, (std::vector<double>{14, 10, 14, 10}));
  EXPECT_EQ(run->outputs.at("z").floats, (std::vector<double>{-9, 10, 11, 12}));
  EXPECT_EQ(run->gather_count, 2);
  ASSERT_EQ(run->gathers.size(), 2U);
  EXPECT_NE(run->gathers[0].find("y[1]"), std::string::npos) << run->gathers[0];
}

TEST(Reference, ReadsOutsideAndUndefinedElementsAreRefused) {
  Program p;
  add_tensor(p, "x", DType::kF32, {idx(4)}, true);
  add_tensor(p, "t", DType::kF32, {idx(4)});
  add_tensor(p, "y", DType::kF32, {idx(4)});
  Program outside = p;
  outside.outputs = {"y"};
  add_equation(outside, equation("y", {range("i", 4)}, read("x", DType::kF32, {idx_add(index("i"), idx(1))})));
  const HostTensors in = {{"x", host(DType::kF32, {4}, {1, 2, 3, 4})}};
  EXPECT_FALSE(run_reference(outside, {}, in).ok());
  p.outputs = {"y"};
  add_equation(p, equation("t", {range("i", 4)}, x_at(), {binary(Op::kLt, index("i"), idx(3))}));
  add_equation(p, equation("y", {range("i", 4)}, read("t", DType::kF32, {index("i")})));
  Result<ReferenceRun> run = run_reference(p, {}, in);
  ASSERT_FALSE(run.ok());
  EXPECT_NE(to_text(run.errors()).find("y[3]"), std::string::npos) << to_text(run.errors());
}

TEST(Reference, LoopsRunInOrderAndRoundStores) {
  // for (i = 1; i < 4; i++) A[i] = A[i-1] * 0.1 + A[i]: every store is an f32.
  Program p;
  add_tensor(p, "A", DType::kF32, {idx(4)}, true);
  const ExprPtr a = read("A", DType::kF32, {index("i")});
  const ExprPtr before = read("A", DType::kF32, {idx_sub(index("i"), idx(1))});
  const ExprPtr value = binary(Op::kAdd, binary(Op::kMul, before, literal(DType::kF32, 0.1)), a);
  add_loops(p, {}, {"A"}, {}, {for_loop("i", idx(1), idx(4), {assign("A", {index("i")}, value)})});
  p.outputs = {"A"};
  Result<ReferenceRun> run = run_reference(p, {}, {{"A", host(DType::kF32, {4}, {1, 2, 3, 4})}});
  ASSERT_TRUE(run.ok());
  const std::vector<double>& got = run->outputs.at("A").floats;
  EXPECT_EQ(got[0], 1);
  EXPECT_NEAR(got[3], 4.321, 1e-5);
  EXPECT_EQ(got[3], static_cast<float>(got[3]));
}

TEST(Reference, DownwardLoopsAndSumUpdates) {
  // s = 0; for (i = 3; i > -1; i--) s += 0.1 * i; R[0] = s
  Program p;
  add_tensor(p, "R", DType::kF32, {idx(1)});
  add_tensor(p, "R.s", DType::kF32, {}).local = true;
  LoopStatement declare;
  declare.kind = LoopStatement::Kind::kDeclare;
  declare.name = "R.s";
  declare.value = literal(DType::kF32, 0);
  const ExprPtr term = binary(Op::kMul, cast(DType::kF32, index("i")), literal(DType::kF32, 0.1));
  add_loops(p, {}, {}, {"R"},
            {declare, for_loop("i", idx(3), idx(-1), {sum_update("R.s", DType::kF32, {}, term)}, -1),
             assign("R", {idx(0)}, read("R.s", DType::kF32, {}))});
  p.outputs = {"R"};
  Result<ReferenceRun> run = run_reference(p, {}, {});
  ASSERT_TRUE(run.ok()) << to_text(run.errors());
  EXPECT_NEAR(run->outputs.at("R").floats[0], 0.6, 1e-6);
  EXPECT_GT(run->outputs.at("R").bounds[0], 0x1p-26);
  EXPECT_LT(run->outputs.at("R").bounds[0], 1e-6);
}

TEST(Reference, OutElementsNeverWrittenStayUndefined) {
  Program p;
  add_tensor(p, "R", DType::kF32, {idx(3)});
  add_loops(p, {}, {}, {"R"}, {assign("R", {idx(1)}, literal(DType::kF32, 2))});
  p.outputs = {"R"};
  Result<ReferenceRun> run = run_reference(p, {}, {});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->outputs.at("R").defined, (std::vector<std::uint8_t>{0, 1, 0}));
}

TEST(Reference, InfinitiesAreExact) {
  // exp(x - max x) with a -inf, as in a masked softmax.
  const ReferenceTensor t =
      map_of(DType::kF32, {-kInf, 1}, DType::kF32, unary(Op::kExp, binary(Op::kSub, x_at(), literal(DType::kF32, 0.1))));
  EXPECT_EQ(t.floats[0], 0);
  EXPECT_FALSE(ambiguous(t, 0));
  const ReferenceTensor big = map_of(DType::kF32, {100}, DType::kF32, unary(Op::kExp, x_at()));
  EXPECT_EQ(big.floats[0], kInf) << "an f32 kernel overflows";
}

TEST(Reference, PredictsWork) {
  const double ops = predicted_operations(matmul_program(), {{"M", 10}, {"N", 10}, {"K", 10}});
  EXPECT_GE(ops, 3000);
  EXPECT_LE(ops, 6000);
}

}  // namespace
}  // namespace facet
