// The range of the integer dtypes, as int64 (u64 as its bit pattern): what a maximum or minimum over nothing gives (contract
// P9).
#pragma once

#include <cstdint>

#include "facet/expr.hpp"

namespace facet {

std::int64_t lowest_of(DType type);
std::int64_t highest_of(DType type);

}  // namespace facet
