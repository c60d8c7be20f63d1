// CudaModule: a printed Module and what is needed to launch its kernels through the driver.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "facet/loop_ast.hpp"
#include "facet/module.hpp"

namespace facet {

// One kernel function: its arguments are pointers to `buffers`, then the `symbols` as 64-bit integers, iterators of its host
// loops among them.
struct CudaLaunch {
  std::string entry;
  std::vector<For> host;        // as in Kernel
  std::array<ExprPtr, 3> grid;  // of symbols and host iterators; a zero means nothing to do
  std::array<std::int64_t, 3> block = {1, 1, 1};
  std::int64_t shared_bytes = 0;  // dynamic shared memory
  std::vector<std::string> buffers;
  std::vector<std::string> symbols;
};

struct CudaModule {
  Module module;
  std::vector<Buffer> buffers;  // global ones, in the order of LoopProgram::buffers
  std::vector<CudaLaunch> prepare, kernels;
};

// Bytes that a buffer takes for given symbol values; at least 1, so that every buffer has an address.
std::int64_t bytes_of(const Buffer& buffer, const SymbolValues& symbols);

}  // namespace facet
