// gpu_selftest: programs checked on the GPU, or in the GPU-mode interpreter, against the reference, many in one process.
//
// The cases are the samples of the operator table and program files. Each is planned for CUDA, scheduled, mapped, executed and
// verified with seeded inputs; the interpreter's findings (races, unwritten memory, bounds, divergence) count as failures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "facet/program.hpp"
#include "facet/result.hpp"

namespace facet {

enum class GpuExecutor { kInterpreter, kDevice };

struct GpuCase {
  std::string name;  // "softmax, sample 2" | "examples/01_matmul_bias_gelu"
  Program program;   // not elaborated
  SymbolValues symbols;
};

struct GpuCaseResult {
  std::string name;
  bool verified = false;
  std::string reason;  // why not
  double max_abs_error = 0, tolerance = 0;
  int kernels = 0;
  double compile_ms = 0, time_ms = 0;  // device only
};

// Every sample of every operator of the table.
std::vector<GpuCase> operator_cases();
// A program file; symbols take the smaller of their default and `largest`, where their range allows.
Result<GpuCase> file_case(const std::string& path, std::int64_t largest);

// Errors are kNoGpu and the like, which end a whole run; what is wrong with the case is in its result.
Result<GpuCaseResult> check_on_gpu(const GpuCase& test, GpuExecutor executor, std::uint64_t seed, bool time);

}  // namespace facet
