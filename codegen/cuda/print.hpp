// print_cuda: LoopProgram -> CUDA C++17 source, its C header, and the launches for the driver.
#pragma once

#include <map>
#include <string>

#include "codegen/cuda/module.hpp"
#include "facet/host_tensor.hpp"
#include "facet/loop_ast.hpp"
#include "facet/machine.hpp"
#include "facet/result.hpp"

namespace facet {

struct CudaPrintOptions {
  std::map<std::string, HostTensor> constants;  // weights to embed; the others are arguments
  std::string note;                             // one more line for the head of the source
  GpuMachine machine;                           // shared memory limits
};

// The source needs no header but its own: nvcc compiles kernels and the C interface of the contract, NVRTC and clang
// (-nocudainc -nocudalib) the kernels. Block and thread loops become the launch; a kernel without them runs in one thread.
// Errors: kGpuLaunch (threads, shared memory, see launch_of), internal errors for trees that cannot be spelled.
Result<CudaModule> print_cuda(const LoopProgram& program, const CudaPrintOptions& options = {});

}  // namespace facet
