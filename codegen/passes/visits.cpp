#include "codegen/passes/visits.hpp"

#include <algorithm>

namespace facet::passes {

ExprPtr normal(const ExprPtr& e) { return to_expr(to_linear(e)); }

Visits Visits::inside(const For& f, std::int64_t trips) const {
  return {normal(idx_add(idx_mul(before, idx(trips)), idx_sub(index(f.iterator), f.lower))), count * trips};
}

std::optional<std::int64_t> constant_trips(const For& f) {
  const Linear extent = difference(f.upper, f.lower);
  if (f.step != 1 || f.kind != LoopKind::kSerial || !extent.is_constant() || extent.constant < 1) return std::nullopt;
  return extent.constant;
}

std::optional<std::int64_t> most_trips(const For& f) {
  if (f.step != 1 || f.kind != LoopKind::kSerial) return std::nullopt;
  std::optional<std::int64_t> most;
  for (const ExprPtr& up : operands_of(Op::kMin, f.upper))
    for (const ExprPtr& low : operands_of(Op::kMax, f.lower)) {
      const Linear extent = difference(up, low);
      if (extent.is_constant() && extent.constant > 0) most = std::min(most.value_or(extent.constant), extent.constant);
    }
  return most;
}

bool sums_vectors(const LoopList& body) {
  bool sums = false, other = false;
  walk_nodes(body, [&](const LoopPtr& n) {
    const Set* s = as<Set>(n);
    sums = sums || (s && s->value->lanes > 1);
    other = other || as<Store>(n) || as<Barrier>(n) || as<AsyncCopy>(n) || as<TileOp>(n) || as<Collective>(n);
  });
  return sums && !other;
}

std::int64_t vectors_set(const LoopList& body, std::int64_t times) {
  std::int64_t count = 0;
  for (const LoopPtr& n : body) {
    const For* f = as<For>(n);
    const Set* s = as<Set>(n);
    if (f) count += vectors_set(f->body, constant_trips(*f).value_or(1));
    count += s && s->value->lanes > 1;
  }
  return count * times;
}

ExprPtr spread(const Visits& visits, std::int64_t lines) {
  const std::int64_t times = std::max<std::int64_t>(visits.count / lines, 1);
  return times == 1 ? visits.before : normal(idx_floordiv(visits.before, times));
}

std::int64_t lines_at_once(std::int64_t lines_of_run, std::int64_t all, std::int64_t visits) {
  for (std::int64_t lines = 1; lines <= std::min(kMostAtOnce, lines_of_run); ++lines)
    if (lines_of_run % lines == 0 && visits * lines >= all) return lines;
  return 0;
}

}  // namespace facet::passes
