// Vector loops directly inside each other are one, and what they leave in parts is stored in whole vectors.
#include <gmock/gmock.h>

#include "unit/codegen/passes/trees.hpp"

namespace facet::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kRow = 24;

// y[d, r, a] = sum over k of p[d / 2, k, d mod 2, a] * b[r, k] in tiles of 2 d; stored in parts of 8. The last dimension of p
// has `room` more elements than the loop walks.
LoopProgram tiles(std::int64_t room = 0) {
  const ExprPtr d = ix("d"), r = ix("r"), a = ix("a"), first = mul(idx(2), ix("dr"));
  const std::vector<ExprPtr> place{r, sub(d, first), a};
  const auto lanes = [&](LoopPtr s, LoopKind outer, int width) {
    const LoopPtr inner = loop("a", idx(0), idx(kRow), {std::move(s)}, LoopKind::kVector, width);
    return loop("d", first, add(first, idx(2)), {inner}, outer, outer == LoopKind::kVector ? width : 0);
  };
  const auto rows = [&](LoopPtr s) { return loop("r", idx(0), idx(4), {std::move(s)}, LoopKind::kUnroll); };
  const ExprPtr term = mul(rd("p", {ix("dr"), ix("k"), sub(d, first), a}), rd("b", {r, ix("k")}));
  const LoopPtr init = rows(lanes(put("t", place, f32(0)), LoopKind::kVector, 16));
  const LoopPtr sums = loop("k", idx(0), idx(3), {rows(lanes(update("t", place, term), LoopKind::kVector, 16))});
  const LoopPtr store = rows(lanes(put("y", {d, r, a}, rd("t", place)), LoopKind::kUnroll, 8));
  return program({},
                 {array("p", {idx(3), idx(3), idx(2), idx(kRow + room)}), array("b", {idx(4), idx(3)}),
                  array("y", {idx(6), idx(4), idx(kRow)}, BufferRole::kOutput)},
                 {loop("dr", idx(0), idx(3), {local("t", {idx(4), idx(2), idx(kRow)}), init, sums, store})});
}

TEST(JoinLanes, VectorsGoOnFromRowToRow) {
  const LoopProgram before = tiles(), after = lowered(before);
  expect_same(before, after, {});
  const std::string text = to_text(after);
  EXPECT_THAT(text, Not(HasSubstr("active")));  // no vector is masked
  EXPECT_THAT(text, Not(HasSubstr("allocate")));
  EXPECT_THAT(text, HasSubstr("concat("));
  std::map<int, int> stores;  // by lanes
  passes::walk_nodes(after.kernels[0].body, [&](const LoopPtr& n) {
    if (const Store* s = passes::as<Store>(n)) ++stores[s->lanes];
  });
  EXPECT_EQ(stores, (std::map<int, int>{{16, 12}})) << text;
}

// Rows of the operand that do not follow each other: the outer loop is unrolled.
TEST(JoinLanes, RowsApartStayApart) {
  PassLog log;
  const LoopProgram before = tiles(8), after = lowered(before, &log);
  expect_same(before, after, {});
  EXPECT_TRUE(refused(log, "lanes"));
}

// Beside its element 0 a padded row has the padding, not the end of the row before.
TEST(JoinLanes, BuffersWithPaddingKeepTheirRows) {
  PassLog log;
  LoopProgram before = tiles();
  Expr shifted = *rd("p", {idx(0), idx(0), idx(1), sub(ix("c"), idx(1))});
  shifted.pad = f32(7);
  before.buffers.push_back(array("z", {idx(kRow)}, BufferRole::kOutput));
  before.kernels[0].body.push_back(
      loop("c", idx(0), idx(kRow), {put("z", {ix("c")}, std::make_shared<const Expr>(std::move(shifted)))}));
  const LoopProgram after = lowered(before, &log);
  expect_same(before, after, {});
  EXPECT_TRUE(refused(log, "lanes"));
}

}  // namespace
}  // namespace facet::test
