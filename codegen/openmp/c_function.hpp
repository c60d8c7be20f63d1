// The drop-in C function of an imported program: one source file that can be linked in place of the original function.
#pragma once

#include <string>

#include "facet/module.hpp"
#include "facet/program.hpp"
#include "facet/result.hpp"

namespace facet {

// C++17 with the kernels in it: `extern "C"`, the name and the parameters of program.c_function. Sizes outside the program's
// ranges, arrays that overlap and a lack of memory run the loops as they were written. kNoCFunctionRecord where there is no
// such function. `build`: how the kernels' source is compiled, for the comment that says how to compile this one. The object
// needs nothing of a C++ library: `cc` links it.
Result<std::string> c_function_text(const Program& program, const Module& module, const std::string& build);

}  // namespace facet
