// Conflicts between touches; two places of a folded array are told apart by the constant distance of their positions.
#include "codegen/cuda/touches.hpp"

#include <algorithm>

#include "codegen/passes/linear.hpp"

namespace facet::gpu {

std::optional<Slot> slot_of(const passes::Access& a) {
  for (std::size_t d = 0; d < a.subscripts.size(); ++d) {
    const ExprPtr& e = a.subscripts[d];
    std::int64_t places = 0;
    const bool modulo = e->op == Op::kFloorMod || e->op == Op::kTruncMod;
    if (!modulo || e->lanes != 1 || !passes::constant_value(e->args[1], &places) || places < 2) continue;
    bool named = false;  // by a value of the body, which may differ where the other access stands
    walk(e->args[0], [&](const Expr& x) { named = named || x.op == Op::kValue; });
    if (!named) return Slot{d, e->args[0], places};
  }
  return std::nullopt;
}

namespace {

// Certainly another place, both in one iteration of the loops around?
bool other_slot(const Touch& a, const Touch& b) {
  if (!a.slot || !b.slot || a.slot->dimension != b.slot->dimension || a.slot->places != b.slot->places) return false;
  const passes::Linear apart = passes::difference(a.slot->at, b.slot->at);
  return apart.is_constant() && apart.constant % a.slot->places != 0;
}

}  // namespace

bool conflict(const Touch& a, const Touch& b) {
  if (a.buffer != b.buffer || (!a.write && !b.write) || other_slot(a, b)) return false;
  return a.owner != b.owner || a.owner == kEvery;
}

std::vector<Touch> later(std::vector<Touch> touches, const For& loop, std::int64_t iterations) {
  const ExprPtr next = idx_add(index(loop.iterator), idx(loop.step * iterations));
  for (Touch& t : touches)
    if (t.slot) t.slot->at = substitute(t.slot->at, {{loop.iterator, next}});
  return touches;
}

std::vector<Touch> seen_from_outside(std::vector<Touch> touches, const For& loop) {
  for (Touch& t : touches)
    if (t.slot && passes::mentions(t.slot->at, loop.iterator)) t.slot.reset();
  return touches;
}

std::int64_t turns_of(const std::vector<Touch>& touches) {
  std::int64_t turns = 1;
  for (const Touch& t : touches)
    if (t.slot) turns = std::max(turns, t.slot->places);
  return turns;
}

}  // namespace facet::gpu
