// atomic_updates: may the updates of a statement that concurrent iterations share be single actions?
#pragma once

#include <string>
#include <vector>

#include "polyhedral/scop.hpp"

namespace facet {

// Copies that are combined in the recipe's order keep to numerics `tree`; atomic updates come in another order on each run,
// which only `free` allows where the operation rounds. A GPU has single actions for some operations and types only.
struct AtomicAnswer {
  std::string why_not;  // empty: they may
  std::vector<std::string> notes;
};
AtomicAnswer may_be_atomic(const Scop& scop, const LoopMark& mark, const Statement& update);

}  // namespace facet
