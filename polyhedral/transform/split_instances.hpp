// What index_set_split and peel share: a loop cut in two by instances.
#pragma once

#include <map>

#include "polyhedral/transform/transform.hpp"

namespace facet {

// The instances of `apart` (by statement; absent: none) leave `loop` and run in a copy of it right before or right after it. A
// statement that has instances in both gets a twin named S + `suffix` there; it keeps its name for the others. Refuses a cut
// that leaves one side empty, and arrays that live in a box inside the loop. `cut`: the argument that says where, "`at` 8".
Schedule split_loop(const Schedule& schedule, Arguments& args, const TreePtr& loop, const std::map<int, isl::set>& apart,
                    bool before, const std::string& suffix, const std::string& cut);

}  // namespace facet
