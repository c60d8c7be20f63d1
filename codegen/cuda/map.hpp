// map_to_gpu: a scheduled loop tree, its loops mapped by recipe steps -> kernels with block and thread loops.
//
// Nothing is chosen here: a kMapped loop goes where its GpuPlace says. Each top-level nest of a kernel becomes one GPU kernel,
// in order; a plain loop around grid loops becomes a host loop of the kernels inside. Statements outside of loops share a
// kernel with each other and with a nest of one block beside them. By the places of its loops a nest is done as
//   tiles    staged sums of products: tiles in shared memory and registers
//   columns  threads share the reduction of each of a block's points
//   rows     inner loops are strided over a block's threads, reductions are partial sums and a collective, what remains is done
//            by one thread or by each on its own copy; barriers stand between conflicting accesses only
//   points   an iteration of the grid's loops, or a few, a thread
//   one      what has no mapped loop runs in one thread
// Kernels that already have block or thread loops are left as they are.
#pragma once

#include "codegen/passes/passes.hpp"
#include "facet/loop_ast.hpp"
#include "facet/machine.hpp"

namespace facet {

// Local arrays that outlive their kernel become workspace. The log says how each nest was mapped, and what was not possible.
LoopProgram map_to_gpu(const LoopProgram& program, const GpuMachine& machine, PassLog* log);

}  // namespace facet
