// The helpers of CUDA C++: device versions of rounding, extrema, conversion, warp and block exchange, atomics.
//
// They are inline PTX or plain C++, and use no cuda_*.h: nvcc, NVRTC and clang (-nocudainc -nocudalib) all compile them.
// Ranges and barriers of the collectives are those of the interpreter, bit for bit.
#pragma once

#include <string>

#include "codegen/prelude.hpp"

namespace facet {

// All helper tables of this target, the shared ones included.
PreludeDialect cuda_prelude();

const HelperTable& cuda_math_helpers();
const HelperTable& cuda_exchange_helpers();

// The text that comes before everything: integer types for NVRTC, CUDA's words for a clang without CUDA's headers.
std::string cuda_environment();

}  // namespace facet
