// run_on_cuda: a printed module on the GPU at hand, from host tensors to host tensors, with the facts for the report.
#pragma once

#include <string>
#include <vector>

#include "codegen/cuda/print.hpp"
#include "codegen/cuda/runner.hpp"
#include "facet/host_tensor.hpp"

namespace facet {

struct CudaRunRequest {
  const CudaModule* module = nullptr;
  SymbolValues symbols;
  const HostTensors* tensors = nullptr;  // inputs, in-out arrays and weights
  CudaRunOptions options;
  int warm_up = 0, repeats = 1;  // of the timing
  bool each_kernel = false;      // time kernels one by one too
};

struct CudaRunReport {
  HostTensors outputs;
  std::string compiler;  // "nvrtc 13.0"
  double compile_ms = 0;
  double time_ms = 0;                  // median of the whole program
  std::vector<double> kernel_ms;       // of each kernel of module.kernels
  std::vector<CudaKernelFacts> facts;  // registers, local and shared bytes of each kernel, prepare kernels first
};

// Compile, upload, run, download, time: in this order, each checked. Outputs are those of the first run; timing comes after it
// (in-out arrays go on changing, so they are not read back again). Errors: kNoGpu (exit 3) with the reason, compilers,
// launches, memory.
Result<CudaRunReport> run_on_cuda(const CudaRunRequest& request);

}  // namespace facet
