// How a schedule is enumerated (see enumerate.hpp).
#pragma once

#include "polyhedral/enumerate.hpp"
#include "polyhedral/schedule.hpp"

namespace facet {

// `original`: the schedule from which steps made this one; it says which statement a part was cut from. At most `most`
// instances. Throws isl's exceptions: call it inside guarded().
Enumeration enumerate(const Schedule& original, const Schedule& schedule, const SymbolValues& sizes, std::size_t most);

}  // namespace facet
