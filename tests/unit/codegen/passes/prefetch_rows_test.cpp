// Rows that several sweeps read: which sweep asks for the next row, and for what.
#include <gmock/gmock.h>

#include "unit/codegen/passes/trees.hpp"

namespace facet::test {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Shape {
  std::int64_t rows = 4096, columns = 4096;
  bool first_sweep = true, streamed = false, symbols = false;
};

// A softmax without its sum: x is read twice, y is stored last.
LoopProgram rows_of(const Shape& s) {
  const ExprPtr rows = s.symbols ? ix("M") : idx(s.rows), columns = s.symbols ? ix("N") : idx(s.columns);
  const auto sweep = [&](const std::string& j, LoopPtr node) {
    return loop(j, idx(0), columns, {std::move(node)}, LoopKind::kVector, 16);
  };
  LoopList body = {local("top", {idx(1)}), local("p", {idx(s.columns)}), put("top", {idx(0)}, f32(0))};
  if (s.first_sweep) body.push_back(sweep("r", update("top", {idx(0)}, rd("x", {ix("i"), ix("r")}), ReduceKind::kMax)));
  body.push_back(sweep("j", put("p", {ix("j")}, unary(Op::kExp, sub(rd("x", {ix("i"), ix("j")}), rd("top", {idx(0)}))))));
  LoopPtr last = put("y", {ix("i"), ix("q")}, mul(rd("p", {ix("q")}), rd("w", {ix("q")})));
  Store streamed = *passes::as<Store>(last);
  streamed.stream = s.streamed;
  body.push_back(sweep("q", make_loop(std::move(streamed))));
  LoopProgram p = program(
      {"M", "N"}, {array("x", {rows, columns}), array("w", {columns}), array("y", {rows, columns}, BufferRole::kOutput)},
      {loop("i", idx(0), rows, body, LoopKind::kParallel)});
  p.symbols[0].value = s.rows;
  p.symbols[1].value = s.columns;
  return p;
}

std::string lowered(const Shape& s) {
  CpuMachine m = wide_machine();
  m.caches = {{48 << 10}, {2 << 20}, {32 << 20}};
  return to_text(lower_for_cpu(rows_of(s), m, nullptr).kernels[0].body);
}

TEST(PrefetchRows, TheSweepWithMostWorkAsks) {
  const std::string text = lowered({});
  EXPECT_THAT(text, HasSubstr("prefetch x[i + 1, j]"));
  EXPECT_THAT(text, HasSubstr("prefetch y[i, j]"));
  EXPECT_THAT(text, Not(HasSubstr("prefetch w"))) << "every row has the same weights";
  EXPECT_LT(text.find("for j"), text.find("prefetch"));
  EXPECT_LT(text.rfind("prefetch"), text.find("exp("));
}

TEST(PrefetchRows, WhatIsStreamedIsNotFetched) {
  const std::string text = lowered({4096, 4096, true, true});
  EXPECT_THAT(text, HasSubstr("prefetch x[i + 1, j]"));
  EXPECT_THAT(text, Not(HasSubstr("prefetch y")));
}

TEST(PrefetchRows, SymbolsCountWithTheirDefaults) {
  EXPECT_THAT(lowered({4096, 4096, true, false, true}), HasSubstr("prefetch x[i + 1, j]"));
  EXPECT_THAT(lowered({4096, 64, true, false, true}), Not(HasSubstr("prefetch x")));
}

TEST(PrefetchRows, OneSweepIsLeftToTheHardware) { EXPECT_THAT(lowered({4096, 4096, false}), Not(HasSubstr("prefetch x"))); }
TEST(PrefetchRows, ShortRowsAreLeftToTheHardware) { EXPECT_THAT(lowered({65536, 256}), Not(HasSubstr("prefetch x"))); }
TEST(PrefetchRows, RowsThatPushEachOtherOutAreNot) { EXPECT_THAT(lowered({64, 1 << 18}), Not(HasSubstr("prefetch x"))); }
TEST(PrefetchRows, WhatTheOwnCacheHoldsIsNot) { EXPECT_THAT(lowered({32, 4096}), Not(HasSubstr("prefetch x"))); }

}  // namespace
}  // namespace facet::test
