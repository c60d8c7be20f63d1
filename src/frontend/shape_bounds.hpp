// Contract P7: no extent is negative and no element count reaches 2^63 for any allowed value of the symbols.
#pragma once

#include <string>

#include "facet/program.hpp"

namespace facet {

// A witness, "2*N-5 is -1 at N = 2", or "" when no extent can be negative. Exact for linear extents without assumptions and for
// programs with few symbol values; otherwise a witness is searched among corners and what is not found is left to the analysis.
std::string negative_extent(const Tensor& tensor, const Program& program);

// "more than 2^63 at N = 4096, M = ..." or "".
std::string excessive_size(const Tensor& tensor, const Program& program);

}  // namespace facet
