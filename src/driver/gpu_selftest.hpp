// gpu_selftest: programs checked on the GPU, or in the GPU-mode interpreter, against the reference, many in one process.
//
// The cases are the samples of the operator table and program files. Each is planned for CUDA, scheduled, mapped, executed and
// verified with seeded inputs; the interpreter's findings (races, unwritten memory, bounds, divergence) count as failures. For
// the device, the kernels of many cases are compiled together, some batches at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "facet/program.hpp"
#include "facet/recipe.hpp"
#include "facet/result.hpp"

namespace facet {

struct GpuCase {
  std::string name;  // "softmax, sample 2: f32[4, 8]" | "examples/01_matmul_bias_gelu"
  Program program;   // not elaborated
  SymbolValues symbols;
  SymbolValues planned_for = {};  // typical sizes of the plan; of what is not here: `symbols`
  Recipe recipe = {};             // what of it is given; the planner completes it
};

struct GpuCaseResult {
  std::string name;
  bool verified = false;
  std::string reason;  // why not: what was refused or found, or output, element and values
  double max_abs_error = 0, tolerance = 0;
};

// Every sample of every operator of the table.
std::vector<GpuCase> operator_cases();
// A program file; symbols take the smaller of their default and `largest`, where their range allows.
Result<GpuCase> file_case(const std::string& path, std::int64_t largest);

GpuCaseResult check_in_interpreter(const GpuCase& test, std::uint64_t seed);

// All cases on the device, kGpuBatch of them in one compilation (each case loads its whole batch). Errors are kNoGpu and the
// like, which end a whole run; what is wrong with a case is in its result. `progress` is told what is being done.
inline constexpr std::size_t kGpuBatch = 64;
struct GpuRunReport {
  std::vector<GpuCaseResult> results;  // in the order of the cases
  std::size_t compilations = 0;
  double compile_s = 0;  // of all batches together, by the clock
};
Result<GpuRunReport> check_on_device(const std::vector<GpuCase>& cases, std::uint64_t seed,
                                     const std::function<void(const std::string&)>& progress);

}  // namespace facet
