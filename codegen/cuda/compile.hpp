// compile_cuda: CUDA C++ source -> machine code for one architecture, by NVRTC in process, or by nvcc when that is absent.
#pragma once

#include <string>
#include <vector>

#include "facet/result.hpp"

namespace facet {

enum class CudaCompiler { kAny, kNvrtc, kNvcc };

struct CudaCompileOptions {
  std::string arch = "sm_90";  // "sm_80", "sm_90", "sm_90a"
  bool contract = true;        // multiply and add may become one instruction
  bool flush_denormals = false;
  CudaCompiler compiler = CudaCompiler::kAny;
  std::string nvcc;  // path; "" looks for it
};

// Facts about one kernel from ptxas.
struct CudaResources {
  std::string kernel;
  int registers = 0;
  std::int64_t shared_bytes = 0;  // static
  std::int64_t stack_bytes = 0;
  std::int64_t spill_store_bytes = 0, spill_load_bytes = 0;
};

struct CudaBinary {
  std::string cubin;
  std::string compiler;  // "nvrtc 13.0" or "nvcc /usr/local/cuda/bin/nvcc"
  std::string log;       // warnings
  double compile_ms = 0;
};

// kNoCudaCompiler, or kCudaCompile with the log's first lines.
Result<CudaBinary> compile_cuda(const std::string& source, const std::string& file_name, const CudaCompileOptions& options);

// --emit ptx
Result<std::string> compile_ptx(const std::string& source, const std::string& file_name, const CudaCompileOptions& options);

// --emit sass: the disassembly of a cubin by cuobjdump or nvdisasm. kNoCudaCompiler when neither is found.
Result<std::string> disassemble(const std::string& cubin);

// Registers, spills and shared memory of every kernel of the source, from nvcc's report. kNoCudaCompiler without nvcc.
Result<std::vector<CudaResources>> cuda_resources(const std::string& source, const CudaCompileOptions& options);

// Parses `ptxas -v` output: the "Compiling entry function" and "Used N registers" lines.
std::vector<CudaResources> parse_ptxas(const std::string& log);

// $CUDA_HOME/bin/nvcc, $CUDA_PATH, PATH, /usr/local/cuda/bin/nvcc; "" when there is none.
std::string find_cuda_tool(const std::string& name);

}  // namespace facet
