// A second opinion on a schedule, by counting: what each instance reads must come from the same instances as in the original
// order, what runs at the same time must not touch one place, and every copy must serve somebody.
#pragma once

#include <string>

#include "polyhedral/enumerate.hpp"

namespace facet {

// "" when `schedule` computes what `original` does, at the sizes of both; else what goes wrong first.
std::string counted_violation(const Enumeration& original, const Enumeration& schedule);

}  // namespace facet
