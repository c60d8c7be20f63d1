// The sweep: every operator in every dtype and kind of shape, in the GPU-mode interpreter and as compiled kernels.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "src/driver/gpu_selftest.hpp"
#include "src/driver/options.hpp"

namespace facet {

// All cases, or `sample` of them chosen by the seed (0: all). `name` restricts them to one operator ("": all).
std::vector<GpuCase> sweep_programs(std::int64_t sample, std::uint64_t seed, const std::string& name = "");

// The cases as host kernels on 1 and 2 threads, hundreds to a compile; results in their order. An error is a missing compiler.
Result<std::vector<GpuCaseResult>> check_compiled(const std::vector<GpuCase>& cases, const Options& options,
                                                  const std::function<void(const std::string&)>& progress);

}  // namespace facet
