// The host side of a .cu file: workspace, checks, launches, behind the C interface of the contract with a stream.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/cuda/module.hpp"
#include "codegen/interface.hpp"

namespace facet {

// Text that follows the kernels. `launches`: what the driver would do, so both hosts launch alike.
std::string print_cuda_exports(const LoopProgram& program, const Interface& face,
                               const std::map<std::string, std::string>& embedded, const std::vector<CudaLaunch>& prepare,
                               const std::vector<CudaLaunch>& kernels, Diagnostics* errors);

// Words that this target's files use themselves.
std::set<std::string> cuda_reserved_words();

}  // namespace facet
