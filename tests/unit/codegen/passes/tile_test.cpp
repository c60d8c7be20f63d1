// Register tiles: peeling, unrolling, vectors, accumulators, on matmul-shaped trees.
#include <gmock/gmock.h>

#include "unit/codegen/passes/trees.hpp"

namespace facet::test {
namespace {

using ::testing::HasSubstr;

// h0[M, N] = a[M, K] b[K, N] tiled mr x nr, init before k, epilogue h = max(h0 + bias, 0) after it.
LoopProgram matmul(int mr, int nr, int width) {
  const ExprPtr i = add(mul(idx(mr), ix("i2")), ix("i")), j = add(mul(idx(nr), ix("j2")), ix("j"));
  const auto tile = [&](LoopPtr statement) {
    const ExprPtr rows = least(idx(mr), sub(ix("M"), mul(idx(mr), ix("i2"))));
    const ExprPtr columns = least(idx(nr), sub(ix("N"), mul(idx(nr), ix("j2"))));
    return loop("i", idx(0), rows, {loop("j", idx(0), columns, {statement}, LoopKind::kVector, width)}, LoopKind::kUnroll);
  };
  const LoopPtr init = tile(put("h0", {i, j}, f32(0)));
  const LoopPtr body = loop("k", idx(0), ix("K"), {tile(update("h0", {i, j}, mul(rd("a", {i, ix("k")}), rd("b", {ix("k"), j}))))});
  const LoopPtr end = tile(put("h", {i, j}, most(add(rd("h0", {i, j}), rd("bias", {j})), f32(0))));
  LoopList nest{loop("i2", idx(0), ceil_div(ix("M"), mr), {loop("j2", idx(0), ceil_div(ix("N"), nr), {init, body, end})}, LoopKind::kParallel)};
  return program({"M", "N", "K"},
                 {array("a", {ix("M"), ix("K")}), array("b", {ix("K"), ix("N")}), array("bias", {ix("N")}),
                  array("h0", {ix("M"), ix("N")}, BufferRole::kOutput), array("h", {ix("M"), ix("N")}, BufferRole::kOutput)},
                 nest);
}

TEST(Tiles, MatmulAllSizes) {
  const LoopProgram p = matmul(3, 8, 4);
  PassLog log;
  const LoopProgram q = lowered(p, &log);
  for (const std::int64_t m : {0, 1, 2, 3, 5, 7})
    for (const std::int64_t n : {0, 1, 4, 7, 8, 19})
      for (const std::int64_t k : {0, 1, 3}) expect_same(p, q, {{"M", m}, {"N", n}, {"K", k}});
}

TEST(Tiles, WideTileAllSizes) {
  const LoopProgram p = matmul(14, 32, 16);
  const LoopProgram q = lowered(p);
  for (const std::int64_t m : {14, 13, 29})
    for (const std::int64_t n : {32, 33, 70}) expect_same(p, q, {{"M", m}, {"N", n}, {"K", 5}});
}

TEST(Tiles, FullTileKeepsEveryAccumulatorInAValue) {
  const LoopProgram q = lowered(matmul(14, 32, 16));
  // The first loop over k is the full tile's.
  const For* k = nullptr;
  passes::walk_nodes(q.kernels[0].body, [&](const LoopPtr& n) {
    const For* f = passes::as<For>(n);
    if (f && f->iterator == "k" && !k) k = f;
  });
  ASSERT_TRUE(k);
  int sets = 0, lets = 0, stores = 0, fmas = 0;
  for (const LoopPtr& n : k->body) {
    if (const Set* s = passes::as<Set>(n)) {
      ++sets;
      fmas += s->value->op == Op::kFma && s->value->lanes == 16;
    }
    lets += passes::as<Let>(n) != nullptr;
    stores += passes::as<Store>(n) != nullptr;
  }
  EXPECT_EQ(sets, 28);
  EXPECT_EQ(fmas, 28);
  EXPECT_EQ(lets, 16);   // 14 rows of a, 2 vectors of b: each loaded once
  EXPECT_EQ(stores, 0);
}

TEST(Tiles, GoldenSmall) {
  const LoopProgram q = lowered(matmul(2, 4, 4));
  std::cout << to_text(q.kernels[0].body) << std::endl;
}

}  // namespace
}  // namespace facet::test
