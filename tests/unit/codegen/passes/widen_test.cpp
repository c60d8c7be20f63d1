// Tiles that stay local run past the end of the domain; everything that could be seen does not.
#include <gmock/gmock.h>

#include "unit/codegen/passes/trees.hpp"

namespace facet::test {
namespace {

// c[M] = sum of a over K in tiles of 6 rows kept in `t`; `a` has room for whole tiles when `room`.
LoopProgram sums(bool room, ExprPtr stored_rows = nullptr) {
  const ExprPtr M = ix("M"), i = ix("i"), base = mul(idx(6), ix("it"));
  const ExprPtr end = least(M, add(base, idx(6)));
  const ExprPtr at = sub(i, base);
  const auto rows = [&](LoopPtr s, LoopKind kind) { return loop("i", base, end, {s}, kind); };
  const LoopPtr init = rows(put("t", {at}, f32(0)), LoopKind::kUnroll);
  const LoopPtr body = loop("k", idx(0), ix("K"), {rows(update("t", {at}, rd("a", {ix("k"), i})), LoopKind::kUnroll)});
  const LoopPtr store = loop("i", base, stored_rows ? least(stored_rows, end) : end, {put("c", {i}, rd("t", {at}))});
  const ExprPtr width = room ? mul(idx(6), ceil_div(M, 6)) : M;
  return program({"M", "K"}, {array("a", {ix("K"), width}), array("c", {M}, BufferRole::kOutput)},
                 {loop("it", idx(0), ceil_div(M, 6), {local("t", {idx(6)}), init, body, store})});
}

int micro_kernels(const LoopProgram& p) {
  int count = 0;
  passes::walk_nodes(p.kernels[0].body, [&](const LoopPtr& n) {
    const For* f = passes::as<For>(n);
    count += f && f->iterator == "k";
  });
  return count;
}

TEST(Widen, OneVersionOfATileWithRoom) {
  const LoopProgram p = sums(true);
  PassLog log;
  const LoopProgram q = lowered(p, &log);
  EXPECT_EQ(micro_kernels(q), 1) << to_text(q);
  for (const std::int64_t m : {0, 1, 5, 6, 7, 12, 17})
    for (const std::int64_t k : {0, 1, 3}) expect_same(p, q, {{"M", m}, {"K", k}});
}

TEST(Widen, NoReadPastABuffersEnd) {
  const LoopProgram p = sums(false);
  const LoopProgram q = lowered(p);
  EXPECT_GT(micro_kernels(q), 1) << to_text(q);
  for (const std::int64_t m : {1, 6, 8}) expect_same(p, q, {{"M", m}, {"K", 2}});
}

// A store with other bounds may see what lies past the end of the sums.
TEST(Widen, NotWhereOthersWalkTheTileDifferently) {
  const LoopProgram p = sums(true, add(ix("M"), idx(0)));
  const LoopProgram q = lowered(p);
  for (const std::int64_t m : {1, 6, 8}) expect_same(p, q, {{"M", m}, {"K", 2}});
  LoopProgram moved = sums(true);
  For* outer = &std::get<For>(const_cast<LoopNode*>(moved.kernels[0].body[0].get())->node);
  outer->body.push_back(loop("r", idx(0), idx(6),
                             {guard(less(add(mul(idx(6), ix("it")), ix("r")), ix("M")),
                                    {put("c", {add(mul(idx(6), ix("it")), ix("r"))}, rd("t", {ix("r")}))})}));
  EXPECT_GT(micro_kernels(lowered(moved)), 1);
}

}  // namespace
}  // namespace facet::test
