// map_to_gpu: a scheduled loop tree in original nesting -> kernels with block and thread loops.
//
// Policy for loops that no recipe step has mapped. Parallel loops are those marked kParallel (judged by exact dependences) and
// those whose iterations the loop tree itself shows to touch different elements. Each top-level nest of a kernel becomes one
// GPU kernel, in order:
//   points   its outer parallel loops go to the grid and to threads, one point a thread (or a few, for plain elementwise
//            bodies); the loop that runs along memory goes to thread x, so that accesses coalesce
//   rows     when an inner loop runs along memory instead (softmax, normalisation, row sums): one block for each iteration of
//            the outer loops; inner parallel loops are strided over its threads, reductions are partial sums and a collective,
//            what remains is done by one thread or by each on its own copy; barriers stand between conflicting accesses only
//   tiles    sums of products over enough points: tiles in shared memory and registers
//   columns  long reductions for each of few points along memory: 32 threads share a point
//   one      what has no parallel loop runs in one thread
// Kernels that already have block or thread loops are left as they are.
#pragma once

#include "codegen/passes/passes.hpp"
#include "facet/loop_ast.hpp"
#include "facet/machine.hpp"

namespace facet {

// Local arrays that outlive their kernel become workspace. The log says how each nest was mapped, and what was not possible.
LoopProgram map_to_gpu(const LoopProgram& program, const GpuMachine& machine, PassLog* log);

}  // namespace facet
