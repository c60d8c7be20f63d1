// The helpers of OpenMP C++: scalar and GNU vector versions of integer arithmetic, memory access, rounding and conversion.
#pragma once

#include "codegen/prelude.hpp"

namespace facet {

// All helper tables of this target, the shared mathematics included.
PreludeDialect openmp_prelude();

const HelperTable& integer_helpers();
const HelperTable& memory_helpers();
const HelperTable& vector_helpers();      // splat, iota, lane reductions
const HelperTable& rounding_helpers();    // fma, sqrt, floor, bits
const HelperTable& conversion_helpers();  // saturating casts, f16, bf16

}  // namespace facet
