// The bounds of values in words, for those who cannot say them by one expression.
#pragma once

#include <string>

#include "polyhedral/isl/isl.hpp"

namespace facet {

// "from 0 or N - 10 to N - 1", of dimension d of what { [o] -> T[v] } reaches: each bound is one of these, as the sizes (and o)
// are.
std::string bounds_text(const isl::map& values, unsigned dimension);

}  // namespace facet
