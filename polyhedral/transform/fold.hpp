// Folding: a dimension of a contracted array has a number of places, which its elements take in turns.
#pragma once

#include <string>
#include <vector>

#include "polyhedral/schedule.hpp"

namespace facet {

// Whoever touches an element runs before the next ones in its place are written.
Dependences turns(const Schedule& schedule, const Array& array, const std::vector<std::int64_t>& places);

}  // namespace facet
