// launch_of: a GPU kernel's block and thread loops -> launch sizes and the body of one thread.
//
// The printer and the interpreter both start from this form, so they agree on what a grid loop means:
//     for i = lo .. hi step s  kBlockX      grid.x = ceil((hi - lo) / s);  i = lo + s * block.x
//     for i = lo .. hi step s  kThreadX     block.x >= its trip count;     i = lo + s * thread.x, guarded where it may fall
//     short
// An axis may have several thread loops (one after another); the block is as wide as the widest. Where a loop is longer than
// its axis may be, the remaining iterations are strided over the grid or block. kWarp is the y axis of a block 32 wide in x.
#pragma once

#include <array>
#include <cstdint>

#include "facet/loop_ast.hpp"
#include "facet/result.hpp"

namespace facet {

struct Launch {
  std::array<ExprPtr, 3> grid;  // of symbols, >= 0; a zero means there is nothing to launch
  std::array<std::int64_t, 3> block = {1, 1, 1};
  // Grid and thread loops are left in it as loops of one iteration, `lower`, whose kIndex "block.x" ... "thread.z" are the
  // agent's coordinates.
  LoopList body;
  std::int64_t threads() const { return block[0] * block[1] * block[2]; }
};

// Does the kernel have a loop on the grid or on threads?
bool has_gpu_axes(const Kernel& kernel);

// The program's symbols and the iterators of the kernel's host loops, with their ranges.
std::vector<Symbol> launch_symbols(const Kernel& kernel, const std::vector<Symbol>& symbols);

// Refuses (kGpuLaunch): more than 1024 threads, two loops on one grid axis, grid bounds that depend on other loops, barriers or
// collectives inside a thread loop that some threads of the block do not execute.
Result<Launch> launch_of(const Kernel& kernel, const std::vector<Symbol>& symbols);

}  // namespace facet
