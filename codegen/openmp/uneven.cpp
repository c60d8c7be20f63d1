// Uneven loops: a triangle's iterations grow or shrink, threads take them one by one, the longest first.
//
//     for it  for jr in 0 .. min(N / 24, it + it / 2)      the extent moves with `it`: uneven, it grows
//     for it  for i in 32 it .. min(32 it + 32, N)         bounded by a constant: a tile, cut at the end at most
//
// What is left to the last thread at the end is one iteration at most, and the shortest where the longest come first.
#include "codegen/openmp/uneven.hpp"

#include "codegen/passes/linear.hpp"

namespace facet {

namespace {

using passes::mentions;

Growth of_sign(std::int64_t sign) { return sign > 0 ? Growth::kGrows : Growth::kShrinks; }

std::optional<Growth> both(std::optional<Growth> a, std::optional<Growth> b) {
  if (!a || !b) return a ? a : b;
  return *a == *b ? a : std::optional(Growth::kOther);
}

// How a linear form moves with the index.
std::optional<Growth> growth_of(const passes::Linear& form, const std::string& index) {
  std::optional<Growth> all;
  for (const passes::Term& t : form.terms) {
    if (!mentions(t.atom, index)) continue;
    Growth own = Growth::kOther;
    if (t.atom->op == Op::kIndex) own = of_sign(t.coefficient);
    if (t.atom->op == Op::kFloorDiv && !mentions(t.atom->args[1], index))
      own = growth_of(passes::scaled(passes::to_linear(t.atom->args[0]), t.coefficient > 0 ? 1 : -1), index).value_or(own);
    all = both(all, own);
  }
  return all;
}

// The extent is the least of the differences between an upper and a lower bound.
std::optional<Growth> growth_of(const For& f, const std::string& index) {
  std::optional<Growth> all;
  for (const ExprPtr& upper : passes::operands_of(Op::kMin, f.upper))
    for (const ExprPtr& lower : passes::operands_of(Op::kMax, f.lower)) {
      const passes::Linear extent = passes::difference(upper, lower);
      if (extent.is_constant()) return std::nullopt;
      all = both(all, growth_of(extent, index));
    }
  return all;
}

}  // namespace

std::optional<Growth> growth_of(const LoopList& body, const std::string& index) {
  std::optional<Growth> all;
  for (const LoopPtr& n : body) {
    if (const For* f = std::get_if<For>(&n->node)) {
      all = both(all, both(growth_of(*f, index), growth_of(f->body, index)));
    } else if (const If* i = std::get_if<If>(&n->node)) {
      all = both(all, growth_of(i->then, index));
      // The otherwise of a tail guard is the partial tile: it runs once.
      if (!i->is_tail_guard) all = both(all, growth_of(i->otherwise, index));
    }
  }
  return all;
}

}  // namespace facet
