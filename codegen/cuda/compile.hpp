// compile_cuda: CUDA C++ source -> machine code for one architecture, by NVRTC in process, or by nvcc when that is absent.
#pragma once

#include <string>
#include <vector>

#include "facet/result.hpp"

namespace facet {

enum class CudaCompiler { kAny, kNvrtc, kNvcc, kClang };

struct CudaCompileOptions {
  std::string arch = "sm_90";  // "sm_80", "sm_90", "sm_90a"
  bool contract = true;        // multiply and add may become one instruction
  bool flush_denormals = false;
  CudaCompiler compiler = CudaCompiler::kAny;  // kClang writes PTX only
  std::string command;                         // of nvcc or clang; "" looks for it
};

struct CudaBinary {
  std::string cubin;
  std::string compiler;  // "nvrtc 13.0" or "nvcc /usr/local/cuda/bin/nvcc"
  std::string log;       // warnings
  double compile_ms = 0;
};

// What a --compiler text means for the target cuda: "" any, "nvrtc", or a command whose last part begins with nvcc or clang.
// kBadCommandLine for others.
Result<CudaCompileOptions> cuda_compiler(const std::string& text);

// kNoCudaCompiler, or kCudaCompile with the log's first lines. With kClang: its PTX through ptxas.
Result<CudaBinary> compile_cuda(const std::string& source, const std::string& file_name, const CudaCompileOptions& options);

struct CudaPtx {
  std::string text;
  std::string compiler;  // as in CudaBinary
};

// --emit ptx. kAny: NVRTC, else nvcc, else clang, which needs no CUDA installation (-nocudainc -nocudalib).
Result<CudaPtx> compile_ptx(const std::string& source, const std::string& file_name, const CudaCompileOptions& options);

// $CUDA_HOME/bin/nvcc, $CUDA_PATH, PATH, /usr/local/cuda/bin/nvcc; "" when there is none.
std::string find_cuda_tool(const std::string& name);

}  // namespace facet
