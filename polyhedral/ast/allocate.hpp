// allocate: the buffer of each storage map is declared where every iteration of the loops down to its `at` has its own, before
// its first use.
#pragma once

#include <map>

#include "facet/loop_ast.hpp"
#include "polyhedral/schedule.hpp"

namespace facet {

using LoopIds = std::map<const LoopNode*, int>;  // the schedule tree's loop of each `for` in the loop tree

// `loop_ids` names every `for` of `body` that comes from the tree; loops that isl removed because they run once are missing.
LoopList allocate_storage(const Schedule& schedule, const LoopList& body, const LoopIds& loop_ids);

}  // namespace facet
