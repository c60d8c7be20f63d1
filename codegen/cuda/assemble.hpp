// assemble_ptx: PTX -> machine code by ptxas, with what each kernel takes; disassemble: machine code -> text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "facet/result.hpp"

namespace facet {

// Facts about one kernel from ptxas.
struct CudaResources {
  std::string kernel;
  int registers = 0;              // of a thread
  std::int64_t shared_bytes = 0;  // of a block, static
  std::int64_t stack_bytes = 0;   // of a thread
  std::int64_t spill_store_bytes = 0, spill_load_bytes = 0;
};

struct CudaAssembly {
  std::string cubin;
  std::vector<CudaResources> resources;  // in the order of the PTX
};

// kNoCudaCompiler without ptxas, kProcessFailed when it does not take the text (of a newer version, say).
Result<CudaAssembly> assemble_ptx(const std::string& ptx, const std::string& arch);

// --emit sass: a cubin as text, by nvdisasm (cuobjdump needs it too). kNoCudaCompiler without it.
Result<std::string> disassemble(const std::string& cubin);

// Parses `ptxas -v` output: the "Compiling entry function" and "Used N registers" lines.
std::vector<CudaResources> parse_ptxas(const std::string& log);

}  // namespace facet
