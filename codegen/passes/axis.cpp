// Axes: requested loops (kUnroll, kVector, loops of a GPU block) of constant extent that other bounds cut short at the edges of
// the domain.
#include "codegen/passes/tiles.hpp"

namespace facet::passes {

namespace {

// Longer vector loops are not register tiles: form_tiles gives them a loop over
// whole vectors and a masked rest anyway.
constexpr std::int64_t kMaxTileVectors = 4;

bool shared_by_threads(const For& f) {
  return f.kind == LoopKind::kMapped && f.gpu.block >= 0 && f.gpu.grid < 0 && !f.gpu.reduces;
}

}  // namespace

bool same_extent(const For& a, const For& b) { return same(a.lower, b.lower) && same(a.upper, b.upper); }

std::optional<Axis> axis_of(const For& f) {
  if ((f.kind != LoopKind::kUnroll && f.kind != LoopKind::kVector && !shared_by_threads(f)) || f.step != 1) return std::nullopt;
  if (difference(f.upper, f.lower).is_constant()) return std::nullopt;
  const std::vector<ExprPtr> lowers = operands_of(Op::kMax, f.lower);
  const std::vector<ExprPtr> uppers = operands_of(Op::kMin, f.upper);
  std::optional<Axis> best;
  std::size_t best_l = 0, best_u = 0;
  for (std::size_t l = 0; l < lowers.size(); ++l) {
    for (std::size_t u = 0; u < uppers.size(); ++u) {
      const Linear extent = difference(uppers[u], lowers[l]);
      if (!extent.is_constant() || extent.constant <= 0 || (best && best->extent <= extent.constant)) continue;
      best = Axis{f, lowers[l], extent.constant, nullptr};
      best_l = l;
      best_u = u;
    }
  }
  if (!best) return std::nullopt;
  if (f.kind == LoopKind::kUnroll && f.width > 0 && f.width < best->extent) return std::nullopt;
  if (f.kind == LoopKind::kVector && best->extent > kMaxTileVectors * std::max(1, f.width)) return std::nullopt;
  const auto require = [&](const ExprPtr& condition) {
    best->full = best->full ? binary(Op::kAnd, best->full, condition) : condition;
  };
  for (std::size_t l = 0; l < lowers.size(); ++l)
    if (l != best_l) require(binary(Op::kLe, lowers[l], best->lower));
  for (std::size_t u = 0; u < uppers.size(); ++u)
    if (u != best_u) require(binary(Op::kLe, to_expr(sum(to_linear(best->lower), constant_form(best->extent))), uppers[u]));
  return best;
}

}  // namespace facet::passes
