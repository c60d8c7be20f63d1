// run_on_cuda: a scheduled program on the GPU at hand, from host tensors to host tensors, with the facts for the report.
#pragma once

#include <string>
#include <vector>

#include "codegen/cuda/print.hpp"
#include "codegen/cuda/runner.hpp"
#include "codegen/passes/passes.hpp"
#include "facet/host_tensor.hpp"
#include "facet/loop_ast.hpp"

namespace facet {

struct CudaRunRequest {
  const LoopProgram* program = nullptr;  // scheduled; nests without GPU steps are mapped by map_to_gpu
  SymbolValues symbols;
  const HostTensors* tensors = nullptr;  // inputs, in-out arrays and weights
  std::string arch;                      // "sm_90"; "" is the device's
  CudaCompiler compiler = CudaCompiler::kAny;
  bool time = false;
  int warm_up = 3, repeats = 20;  // of the timing
};

struct CudaRunReport {
  HostTensors outputs;
  CudaDevice device;
  CudaModule module;
  std::string compiler;  // "nvrtc 13.0"
  double compile_ms = 0;
  double time_ms = 0;                  // median of the whole program; 0 unless timed
  std::vector<double> kernel_ms;       // of each kernel of module.kernels
  std::vector<CudaKernelFacts> facts;  // registers, local and shared bytes of each kernel, prepare kernels first
  PassLog mapping;
};

// Outputs are those of the first run; timing comes after it (in-out arrays go on changing, so they are not read back again).
// Errors: kNoGpu (exit 3) with the reason, compilers, launches, memory.
Result<CudaRunReport> run_on_cuda(const CudaRunRequest& request);

// The module alone: map, print, weights as arguments.
Result<CudaModule> cuda_module(const LoopProgram& program, const GpuMachine& machine, PassLog* log);

}  // namespace facet
