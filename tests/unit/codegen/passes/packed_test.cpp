// Trees as scanning makes them: unshifted point loops, two levels of tiles, a
// packed operand, init in the first tile of k.
#include <gmock/gmock.h>

#include "unit/codegen/passes/trees.hpp"

namespace facet::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct TileSizes {
  std::int64_t mc, nc, kc, mr, nr;
  int width;
};

ExprPtr times(std::int64_t c, const std::string& name) { return mul(idx(c), ix(name)); }

LoopPtr points(const std::string& name, const ExprPtr& extent, std::int64_t size, const std::string& tile, LoopList body,
               LoopKind kind = LoopKind::kSerial, int width = 0) {
  return loop(name, times(size, tile), least(extent, add(times(size, tile), idx(size))), std::move(body), kind, width);
}

LoopProgram packed_matmul(const TileSizes& t) {
  const ExprPtr M = ix("M"), N = ix("N"), K = ix("K");
  const ExprPtr j = sub(ix("j"), times(t.nc, "jt")), k = sub(ix("k"), times(t.kc, "kt"));
  const std::vector<ExprPtr> packed = {binary(Op::kFloorDiv, j, idx(t.nr)), k, binary(Op::kFloorMod, j, idx(t.nr))};
  const auto tile = [&](LoopPtr statement) {
    return points("i", M, t.mr, "i2", {points("j", N, t.nr, "j2", {std::move(statement)}, LoopKind::kVector, t.width)},
                  LoopKind::kUnroll);
  };
  const LoopPtr copy =
      points("k", K, t.kc, "kt",
             {points("j", N, t.nc, "jt", {put("bp", packed, rd("b", {ix("k"), ix("j")}))}, LoopKind::kVector, t.width)});
  const LoopPtr init = guard(binary(Op::kEq, ix("kt"), idx(0)), {tile(put("h0", {ix("i"), ix("j")}, f32(0)))});
  const LoopPtr multiply =
      points("k", K, t.kc, "kt", {tile(update("h0", {ix("i"), ix("j")}, mul(rd("a", {ix("i"), ix("k")}), rd("bp", packed))))});
  const std::int64_t rows = t.mc / t.mr, columns = t.nc / t.nr;
  const LoopPtr tiles = loop(
      "i2", times(rows, "it"), least(ceil_div(M, t.mr), add(times(rows, "it"), idx(rows))),
      {loop("j2", times(columns, "jt"), least(ceil_div(N, t.nr), add(times(columns, "jt"), idx(columns))), {init, multiply})});
  const LoopPtr nest = loop(
      "it", idx(0), ceil_div(M, t.mc),
      {loop("jt", idx(0), ceil_div(N, t.nc),
            {loop("kt", idx(0), ceil_div(K, t.kc), {local("bp", {idx(t.nc / t.nr), idx(t.kc), idx(t.nr)}), copy, tiles})})},
      LoopKind::kParallel);
  return program({"M", "N", "K"}, {array("a", {M, K}), array("b", {K, N}), array("h0", {M, N}, BufferRole::kOutput)}, {nest});
}

TEST(Packed, AllSizes) {
  const LoopProgram p = packed_matmul({6, 16, 4, 3, 8, 4});
  const LoopProgram q = lowered(p);
  for (const std::int64_t m : {1, 3, 5, 6, 13})
    for (const std::int64_t n : {1, 7, 8, 16, 37})
      for (const std::int64_t k : {1, 4, 9}) expect_same(p, q, {{"M", m}, {"N", n}, {"K", k}});
}

TEST(Packed, TheTileIndexIsResolved) {
  const std::string text = to_text(lowered(packed_matmul({6, 16, 4, 3, 8, 4})).kernels[0].body);
  EXPECT_THAT(text, HasSubstr("bp[j2 - 2 * jt, k - 4 * kt, 0]:4"));
  EXPECT_THAT(text, Not(HasSubstr("iota4(8")));
}

}  // namespace
}  // namespace facet::test
