// Copies between rows and columns: one call, right values for every rest of a square, under both compilers.
#include <gmock/gmock.h>

#include "unit/codegen/support.hpp"

namespace facet {
namespace {

using namespace facet::test;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kPanel = 20;  // of the target: columns lie apart

// t[k, i] = a[i, k] for i in 0..rows, k in 0..columns, either loop outside.
LoopProgram turned(DType type, std::int64_t rows, std::int64_t columns, bool rows_outside) {
  const LoopPtr copy = store("t", {index("k"), index("i")}, read("a", type, {index("i"), index("k")}));
  const auto i = [&](LoopList body) { return loop("i", idx(0), idx(rows), std::move(body)); };
  const auto k = [&](LoopList body) { return loop("k", idx(0), idx(columns), std::move(body)); };
  return program("turned",
                 {buffer("a", type, {idx(rows), idx(columns + 3)}, BufferRole::kInput),
                  buffer("t", type, {idx(columns), idx(kPanel)}, BufferRole::kOutput)},
                 {rows_outside ? i({k({copy})}) : k({i({copy})})});
}

TEST(CopiesAcross, AreRightForEveryRest) {
  for (const std::string& compiler : compilers())
    for (const char* march : {"x86-64", "x86-64-v3"})
      for (const DType type : {DType::kF32, DType::kF64})
        for (const std::int64_t rows : {4, 7, 8, 14, 20})
          for (const std::int64_t columns : {8, 19}) {
            std::vector<double> values;
            for (int v = 0; v < rows * (columns + 3); ++v) values.push_back(v + 1);
            HostTensors t = {{"a", tensor(type, {rows, columns + 3}, values)}, {"t", tensor(type, {columns, kPanel}, {-1})}};
            run(turned(type, rows, columns, columns == 8), compiler, &t, {}, {}, march);
            for (std::int64_t k = 0; k < columns; ++k)
              for (std::int64_t i = 0; i < kPanel; ++i)
                ASSERT_EQ(t["t"].get(k * kPanel + i), i < rows ? t["a"].get(i * (columns + 3) + k) : -1)
                    << compiler << march << to_text(type) << rows << "x" << columns << " at " << k << ", " << i;
          }
}

std::string source_of(const LoopProgram& p) {
  const Result<Module> module = print_openmp(p);
  EXPECT_TRUE(module);
  return module ? module->source.text : "";
}

TEST(CopiesAcross, AreOneCall) {
  EXPECT_THAT(source_of(turned(DType::kF32, 14, 100, true)), HasSubstr("copy_across_f32x8(t, 20, a, 103, 14, 100);"));
  EXPECT_THAT(source_of(turned(DType::kF64, 14, 100, false)), HasSubstr("copy_across_f64x4(t, 20, a, 103, 14, 100);"));
}

// Channels and taps of a filter follow each other on both sides: one run of columns.
TEST(CopiesAcross, TakesLoopsThatFollowEachOtherTogether) {
  const std::vector<ExprPtr> taps{index("c"), index("r")};
  const LoopPtr copy =
      store("t", {index("c"), index("r"), index("m")}, read("a", DType::kF32, {index("m"), index("c"), index("r")}));
  const auto nest = [&](std::int64_t kept) {
    return program("filters",
                   {buffer("a", DType::kF32, {idx(16), idx(5), idx(3)}, BufferRole::kInput),
                    buffer("t", DType::kF32, {idx(5), idx(3), idx(16)}, BufferRole::kOutput)},
                   {loop("m", idx(0), idx(16), {loop("c", idx(0), idx(5), {loop("r", idx(0), idx(kept), {copy})})})});
  };
  EXPECT_THAT(source_of(nest(3)), HasSubstr("copy_across_f32x8(t, 16, a, 15, 16, 15);"));
  EXPECT_THAT(source_of(nest(2)), Not(HasSubstr("copy_across")));  // a gap between the channels
}

// The same with the rows as the lanes of one vector of the target, stored past the caches or not.
LoopProgram turned_vectors(DType type, int lanes, std::int64_t columns, bool stream) {
  Expr iota;
  iota.op = Op::kIota;
  iota.type = DType::kI64;
  iota.lanes = lanes;
  iota.args = {idx(0)};
  Expr rows = *read("a", type, {std::make_shared<const Expr>(iota), index("k")});
  rows.lanes = lanes;
  Store s = std::get<Store>(store("t", {index("k"), idx(0)}, std::make_shared<const Expr>(rows), lanes)->node);
  s.stream = stream;
  return program("turned",
                 {buffer("a", type, {idx(lanes), idx(columns + 3)}, BufferRole::kInput),
                  buffer("t", type, {idx(columns), idx(32)}, BufferRole::kOutput)},
                 {loop("k", idx(0), idx(columns), {make_loop(s)})});
}

TEST(CopiesAcross, VectorsOfTheTargetAreSquaresAsWide) {
  EXPECT_THAT(source_of(turned_vectors(DType::kF32, 16, 96, false)), HasSubstr("copy_across_f32x16(t, 32, a, 99, 16, 96);"));
  EXPECT_THAT(source_of(turned_vectors(DType::kF32, 16, 96, true)), HasSubstr("stream_across_f32x16(t, 32, a, 99, 16, 96);"));
  EXPECT_THAT(source_of(turned_vectors(DType::kF64, 8, 96, true)), HasSubstr("stream_across_f64x8(t, 32, a, 99, 8, 96);"));
  EXPECT_THAT(source_of(turned_vectors(DType::kF32, 16, 4, true)), Not(HasSubstr("_across")));  // mostly empty squares
  for (const std::string& compiler : compilers())
    for (const char* march : {"x86-64", "x86-64-v3"})
      for (const auto& [type, lanes] : {std::pair<DType, int>{DType::kF32, 16}, {DType::kF64, 8}})
        for (const std::int64_t columns : {8, 16, 24, 35}) {
          std::vector<double> values;
          for (int v = 0; v < lanes * (columns + 3); ++v) values.push_back(v + 1);
          HostTensors t = {{"a", tensor(type, {lanes, columns + 3}, values)}, {"t", tensor(type, {columns, 32}, {-1})}};
          run(turned_vectors(type, lanes, columns, true), compiler, &t, {}, {}, march);
          for (std::int64_t k = 0; k < columns; ++k)
            for (std::int64_t i = 0; i < 32; ++i)
              ASSERT_EQ(t["t"].get(k * 32 + i), i < lanes ? t["a"].get(i * (columns + 3) + k) : -1)
                  << compiler << march << to_text(type) << columns << " at " << k << ", " << i;
        }
}

TEST(CopiesAcross, LeaveOtherLoopsAlone) {
  EXPECT_THAT(source_of(turned(DType::kF32, 3, 100, true)), Not(HasSubstr("copy_across")));  // mostly empty squares
  EXPECT_THAT(source_of(turned(DType::kI32, 14, 100, true)), Not(HasSubstr("copy_across")));
  // In place, with a triangle, an update: not copies between rows and columns.
  const auto with = [&](const LoopPtr& s, const ExprPtr& upper) {
    return source_of(program("other",
                             {buffer("a", DType::kF32, {idx(32), idx(32)}, BufferRole::kInput),
                              buffer("t", DType::kF32, {idx(32), idx(32)}, BufferRole::kOutput)},
                             {loop("i", idx(0), idx(32), {loop("k", idx(0), upper, {s})})}));
  };
  const ExprPtr a = read("a", DType::kF32, {index("i"), index("k")});
  EXPECT_THAT(with(store("t", {index("k"), index("i")}, a), idx(32)), HasSubstr("copy_across"));
  EXPECT_THAT(with(store("t", {index("i"), index("k")}, a), idx(32)), Not(HasSubstr("copy_across")));
  EXPECT_THAT(with(store("t", {index("k"), index("i")}, a), index("i")), Not(HasSubstr("copy_across")));
  EXPECT_THAT(with(store("t", {index("k"), index("i")}, read("t", DType::kF32, {index("i"), index("k")})), idx(32)),
              Not(HasSubstr("copy_across")));
  Store sum = std::get<Store>(store("t", {index("k"), index("i")}, a)->node);
  sum.update = ReduceKind::kSum;
  EXPECT_THAT(with(make_loop(sum), idx(32)), Not(HasSubstr("copy_across")));
}

}  // namespace
}  // namespace facet
