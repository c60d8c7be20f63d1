// Register tiles: peeling, unrolling, vectors, accumulators, on matmul-shaped
// trees.
#include <gmock/gmock.h>

#include "codegen/passes/context.hpp"
#include "unit/codegen/passes/trees.hpp"

namespace facet::test {
namespace {

using ::testing::HasSubstr;

// h0[M, N] = a[M, K] b[K, N] tiled mr x nr, init before k, epilogue h = max(h0
// + bias, 0) after it.
LoopProgram matmul(int mr, int nr, int width, ExprPtr M = ix("M"), ExprPtr N = ix("N")) {
  const ExprPtr i = add(mul(idx(mr), ix("i2")), ix("i")), j = add(mul(idx(nr), ix("j2")), ix("j"));
  const auto tile = [&](LoopPtr statement) {
    const ExprPtr rows = least(idx(mr), sub(M, mul(idx(mr), ix("i2"))));
    const ExprPtr columns = least(idx(nr), sub(N, mul(idx(nr), ix("j2"))));
    return loop("i", idx(0), rows, {loop("j", idx(0), columns, {statement}, LoopKind::kVector, width)}, LoopKind::kUnroll);
  };
  const LoopPtr init = tile(put("h0", {i, j}, f32(0)));
  const LoopPtr body =
      loop("k", idx(0), ix("K"), {tile(update("h0", {i, j}, mul(rd("a", {i, ix("k")}), rd("b", {ix("k"), j}))))});
  const LoopPtr end = tile(put("h", {i, j}, most(add(rd("h0", {i, j}), rd("bias", {j})), f32(0))));
  LoopList nest{
      loop("i2", idx(0), ceil_div(M, mr), {loop("j2", idx(0), ceil_div(N, nr), {init, body, end})}, LoopKind::kParallel)};
  return program({"M", "N", "K"},
                 {array("a", {M, ix("K")}), array("b", {ix("K"), N}), array("bias", {N}),
                  array("h0", {M, N}, BufferRole::kOutput), array("h", {M, N}, BufferRole::kOutput)},
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
  EXPECT_EQ(lets, 16);  // 14 rows of a, 2 vectors of b: each loaded once
  EXPECT_EQ(stores, 0);
}

TEST(Tiles, GoldenFullTile) {
  const LoopProgram p = matmul(2, 4, 4, idx(8), idx(16));
  EXPECT_EQ(to_text(lowered(p).kernels[0].body), R"(for i2 in 0..4 parallel
  for j2 in 0..4
    var h0_0: f32x4 = splat4(0.0)
    var h0_1: f32x4 = splat4(0.0)
    prefetch h0[2 * i2, 4 * j2]
    prefetch h0[2 * i2 + 1, 4 * j2]
    prefetch h[2 * i2, 4 * j2]
    prefetch h[2 * i2 + 1, 4 * j2]
    for k in 0..K
      let b_v: f32x4 = b[k, 4 * j2]:4
      h0_0 = fma(splat4(a[2 * i2, k]), b_v, h0_0)
      h0_1 = fma(splat4(a[2 * i2 + 1, k]), b_v, h0_1)
    h0[2 * i2, 4 * j2]:4 = h0_0  # h0
    h0[2 * i2 + 1, 4 * j2]:4 = h0_1  # h0
    let bias_v: f32x4 = bias[4 * j2]:4
    h[2 * i2, 4 * j2]:4 = max(h0_0 + bias_v, splat4(0.0))  # h
    h[2 * i2 + 1, 4 * j2]:4 = max(h0_1 + bias_v, splat4(0.0))  # h
)");
}

TEST(Tiles, PartialTilesAreMaskedInTheVectorAndShorterInTheUnrolledAxis) {
  const std::string text = to_text(lowered(matmul(14, 32, 16)).kernels[0].body);
  EXPECT_THAT(text, HasSubstr("if 14 <= M - 14 * i2  # tail"));
  EXPECT_THAT(text, HasSubstr("if 32 <= N - 32 * j2  # tail"));
  EXPECT_THAT(text, HasSubstr("step 4"));
  EXPECT_THAT(text, HasSubstr("iota16(0) < splat16(N - 32 * j2)"));
}

// The rows that a constant extent leaves over are a tile of their own: 7 rows in tiles of 4 are 4 and 3, each with all its
// accumulators in one loop over k.
TEST(Tiles, RowsLeftOverOfAConstantExtentAreOneTile) {
  const std::string text = to_text(lowered(matmul(4, 8, 8, idx(7), idx(16))).kernels[0].body);
  EXPECT_THAT(text, ::testing::Not(HasSubstr("step")));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("ib")));
  std::vector<int> accumulators;
  passes::walk_nodes(lowered(matmul(4, 8, 8, idx(7), idx(16))).kernels[0].body, [&](const LoopPtr& n) {
    const For* f = passes::as<For>(n);
    if (!f || f->iterator != "k") return;
    const auto sets = [](const LoopPtr& b) { return passes::as<Set>(b) != nullptr; };
    accumulators.push_back(static_cast<int>(std::count_if(f->body.begin(), f->body.end(), sets)));
  });
  EXPECT_EQ(accumulators, (std::vector<int>{4, 3}));
}

TEST(Tiles, RowsLeftOverOfAllConstantExtents) {
  for (const int mr : {2, 3, 4, 5, 8})
    for (std::int64_t m = 1; m < 12; ++m) {
      const LoopProgram p = matmul(mr, 8, 4, idx(m));
      for (const std::int64_t n : {7, 8}) expect_same(p, lowered(p), {{"M", m}, {"N", n}, {"K", 3}});
    }
}

// Two bounds that cut the tile short may leave different numbers of rows over: short runs again.
TEST(Tiles, RowsLeftOverOfTwoExtentsAreShortRuns) {
  const ExprPtr i = add(mul(idx(4), ix("i2")), ix("i"));
  const ExprPtr rows = least(idx(4), least(sub(idx(9), mul(idx(4), ix("i2"))), sub(ix("M"), mul(idx(4), ix("i2")))));
  const auto tile = [&](LoopPtr statement) { return loop("i", idx(0), rows, {statement}, LoopKind::kUnroll); };
  const LoopPtr sums = loop("k", idx(0), ix("K"), {tile(update("h", {i}, mul(rd("a", {i, ix("k")}), f32(2))))});
  LoopList nest{loop("i2", idx(0), idx(3), {tile(put("h", {i}, f32(0))), sums})};
  const LoopProgram p = program({"M", "K"}, {array("a", {idx(9), ix("K")}), array("h", {idx(9)}, BufferRole::kOutput)}, nest);
  const LoopProgram q = lowered(p);
  EXPECT_THAT(to_text(q.kernels[0].body), HasSubstr("step 2"));
  for (std::int64_t m = 0; m < 12; ++m) expect_same(p, q, {{"M", m}, {"K", 2}});
}

// An accumulator tile that lives in a local array: h0 is needed in the tile
// only.
TEST(Tiles, LocalAccumulatorArrayVanishes) {
  LoopProgram p = matmul(2, 8, 4, idx(4), idx(16));
  const For* rows = passes::as<For>(p.kernels[0].body[0]);
  For columns = *passes::as<For>(rows->body[0]);
  std::erase_if(p.buffers, [](const Buffer& b) { return b.name == "h0"; });
  columns.body.insert(columns.body.begin(), local("h0", {idx(4), idx(16)}));
  For outer = *rows;
  outer.body = {make_loop(columns)};
  p.kernels[0].body = {make_loop(outer)};
  const LoopProgram q = lowered(p);
  passes::walk_nodes(q.kernels[0].body, [](const LoopPtr& n) { EXPECT_FALSE(passes::as<Allocate>(n)); });
  expect_same(p, q, {{"M", 4}, {"N", 16}, {"K", 5}});
}

// Rows depend on each other: unrolling keeps the order, and partial tiles are
// not interleaved.
// A copy into a tile that every iteration makes anew, behind a loop of its own: loading the tile in front of the loops would
// read what nothing has written (random promotions of the fuzzer did).
TEST(Tiles, APlaceThatEveryIterationOverwritesIsNotLoadedBefore) {
  LoopProgram p;
  p.name = "copy";
  p.buffers = {array("x", {idx(8)}), array("tile", {idx(1)}, BufferRole::kWorkspace),
               array("y", {idx(8)}, BufferRole::kOutput)};
  Kernel k;
  k.name = "k0";
  k.buffers = {"x", "tile", "y"};
  k.body = {loop("i", idx(0), idx(8),
                 {loop("j", idx(0), idx(6),
                       {put("tile", {idx(0)}, rd("x", {ix("i")})),
                        update("y", {ix("i")}, mul(rd("tile", {idx(0)}), rd("tile", {idx(0)})))})})};
  p.kernels = {k};
  passes::Context context = passes::make_context(p, CpuMachine{}, nullptr);
  const std::string text = to_text(passes::keep_in_registers(k.body, context));
  EXPECT_EQ(text.find("= tile[0]"), std::string::npos) << text;
}

TEST(Tiles, DependentRowsAreNotJammed) {
  const ExprPtr i = add(mul(idx(4), ix("i2")), ix("i"));
  const LoopPtr nest = loop(
      "i2", idx(0), ceil_div(ix("M"), 4),
      {loop(
          "i", idx(0), least(idx(4), sub(ix("M"), mul(idx(4), ix("i2")))),
          {loop("j", idx(0), ix("N"), {put("x", {add(i, idx(1)), ix("j")}, add(rd("x", {i, add(ix("j"), idx(1))}), f32(1)))})},
          LoopKind::kUnroll)});
  const LoopProgram p =
      program({"M", "N"}, {array("x", {add(ix("M"), idx(1)), add(ix("N"), idx(1))}, BufferRole::kInOut)}, {nest});
  PassLog log;
  const LoopProgram q = lowered(p, &log);
  EXPECT_TRUE(refused(log, "jam"));
  for (const std::int64_t m : {0, 1, 3, 4, 9}) expect_same(p, q, {{"M", m}, {"N", 6}});
}

// Rows that are added to one vector: whose order numerics leave open, they run side by side, those of a partial tile too.
TEST(Tiles, RowsThatAddToOneVectorAreJammed) {
  const ExprPtr i = add(mul(idx(4), ix("i2")), ix("i"));
  const auto tiles_of = [&](ExprPtr value) {
    return loop("i2", idx(0), ceil_div(ix("M"), 4),
                {loop("i", idx(0), least(idx(4), sub(ix("M"), mul(idx(4), ix("i2")))),
                      {loop("j", idx(0), ix("N"), {update("y", {ix("j")}, std::move(value))})}, LoopKind::kUnroll)});
  };
  const std::vector<Buffer> buffers = {array("x", {ix("M"), ix("N")}), array("y", {ix("N")}, BufferRole::kInOut)};
  LoopProgram p = program({"M", "N"}, buffers, {tiles_of(rd("x", {i, ix("j")}))});
  PassLog log, strict, reads;
  const LoopProgram q = lowered(p, &log);
  EXPECT_FALSE(refused(log, "jam"));
  EXPECT_NE(to_text(q.kernels[0].body).find("rest of i, 2 at a time"), std::string::npos) << to_text(q.kernels[0].body);
  for (const std::int64_t m : {0, 1, 3, 4, 9, 11}) expect_same(p, q, {{"M", m}, {"N", 6}});
  p.numerics.reassociate = Numerics::Reassociate::kStrict;
  lowered(p, &strict);
  EXPECT_TRUE(refused(strict, "jam"));
  const LoopProgram meets = program({"M", "N"}, buffers, {tiles_of(mul(rd("x", {i, ix("j")}), rd("y", {idx(0)})))});
  lowered(meets, &reads);
  EXPECT_TRUE(refused(reads, "jam"));
}

TEST(Tiles, UnrollByAFactorLeavesARest) {
  const LoopPtr nest = loop("i", idx(0), ix("N"), {update("s", {idx(0)}, rd("a", {ix("i")}))}, LoopKind::kUnroll, 4);
  const LoopProgram p = program({"N"}, {array("a", {ix("N")}), array("s", {idx(1)}, BufferRole::kInOut)}, {nest});
  const LoopProgram q = lowered(p);
  for (const std::int64_t n : {0, 1, 3, 4, 5, 11}) expect_same(p, q, {{"N", n}});
}

TEST(Tiles, UnrollWithoutConstantExtentIsRefused) {
  const LoopPtr nest = loop("i", idx(0), ix("N"), {put("c", {ix("i")}, rd("a", {ix("i")}))}, LoopKind::kUnroll);
  const LoopProgram p = program({"N"}, {array("a", {ix("N")}), array("c", {ix("N")}, BufferRole::kOutput)}, {nest});
  PassLog log;
  const LoopProgram q = lowered(p, &log);
  EXPECT_TRUE(refused(log, "unroll"));
  expect_same(p, q, {{"N", 5}});
}

// A[i, j] += A[i, k] * A[k, j] for i, j in tile t and the k before it, as in a factorization; `last` moves the last k into it.
LoopProgram in_place_product(int last) {
  const ExprPtr t = mul(idx(4), ix("t")), end = least(add(t, idx(4)), ix("N"));
  const LoopPtr sum = update("A", {ix("i"), ix("j")}, mul(rd("A", {ix("i"), ix("k")}), rd("A", {ix("k"), ix("j")})));
  const LoopPtr tile = loop("i", t, end, {loop("j", t, end, {sum}, LoopKind::kVector, 4)}, LoopKind::kUnroll);
  LoopList nest{loop("t", idx(0), ceil_div(ix("N"), 4), {loop("k", idx(0), add(t, idx(last)), {tile})})};
  return program({"N"}, {array("A", {ix("N"), ix("N")}, BufferRole::kInOut)}, nest);
}

int stores_in_k(const LoopProgram& q) {
  int stores = 0;
  passes::walk_nodes(q.kernels[0].body, [&](const LoopPtr& n) {
    const For* f = passes::as<For>(n);
    if (!f || f->iterator != "k") return;
    passes::walk_nodes(f->body, [&](const LoopPtr& m) { stores += passes::as<Store>(m) != nullptr; });
  });
  return stores;
}

// What is read never meets what is written: its column, or its row, lies before the tile.
TEST(Tiles, InPlaceProductsOfOtherTilesStayInRegisters) {
  const LoopProgram p = in_place_product(0), q = lowered(p);
  for (const std::int64_t n : {1, 4, 7, 12, 13}) expect_same(p, q, {{"N", n}});
  EXPECT_EQ(stores_in_k(q), 0);
}

// One k of the tile itself is among them: its row is written while others read it.
TEST(Tiles, InPlaceProductsOfTheSameTileDoNot) {
  const LoopProgram p = in_place_product(1), q = lowered(p);
  EXPECT_GT(stores_in_k(q), 0);
}

}  // namespace
}  // namespace facet::test
