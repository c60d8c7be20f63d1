// A case of the GPU self-test between its stages.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "codegen/cuda/module.hpp"
#include "facet/host_tensor.hpp"
#include "facet/loop_ast.hpp"
#include "src/driver/gpu_selftest.hpp"
#include "src/run/reference.hpp"

namespace facet {

struct PreparedCase {
  Program program;  // elaborated
  SymbolValues symbols;
  LoopProgram loops;      // mapped
  HostTensors arguments;  // of the loops
  ReferenceRun reference;
};

// Planned, scheduled and mapped for CUDA, with inputs and the reference's results.
Result<PreparedCase> prepare_case(const GpuCase& test, std::uint64_t seed);

// Executed by the GPU-mode interpreter and compared; the result has no name.
GpuCaseResult interpret_case(const PreparedCase& made, std::uint64_t seed);

// The sources of several modules as one file; `modules` with the number that makes its namespace unique. Their entries must
// have different names.
std::string batch_source(const std::vector<std::pair<std::size_t, const CudaModule*>>& modules);

// The verdict on these outputs.
void compare_case(const PreparedCase& made, const HostTensors& outputs, GpuCaseResult* result);

}  // namespace facet
