// Runs a compiled naive program: the oracle for sizes that are too large to interpret.
#pragma once

#include <string>

#include "src/run/reference.hpp"

namespace facet {

// Loads the shared library made from print_naive(program) and runs it. The result is what run_reference would give, except that
// undefined elements are NaN (floats) or 0 and not marked.
Result<ReferenceRun> run_naive_library(const std::string& path, const Program& program, const SymbolValues& symbols,
                                       const HostTensors& tensors);

}  // namespace facet
