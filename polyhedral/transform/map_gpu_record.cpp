// The record of map_gpu: its arguments and its page.
#include "polyhedral/transform/map_gpu_parts.hpp"
#include "polyhedral/transform/transform.hpp"

namespace facet {

extern const Transform kMapGpu;
const Transform kMapGpu = {
    "map_gpu",
    "Loops go to the grid and to the threads of a block of a GPU; the last of each list runs along x. After all other steps.",
    {{"statement", "statement", true, "a statement inside the loops"},
     {"grid", "loops", false, "directly nested loops whose iterations, or pieces of them, are blocks"},
     {"block", "loops", false,
      "loops shared by the threads of a block: of the grid, or a nest inside them, or a reduction and a loop of the grid"},
     {"threads", "ints", false, "threads along each loop of `block`; with `stage`, of the tile's rows and columns: [16, 16]"},
     {"points", "ints", false, "iterations of one thread along each loop of `block`, at most 1024; 1 when not given"},
     {"adjacent", "ints", false,
      "inside the grid's loops: how many of a thread's points along each loop are neighbours; 1 when not given"},
     {"warps", "ints", false, "instead of `threads`, inside the grid's loops: warps along each loop of `block`"},
     {"lanes", "ints", false, "and lanes of a warp along each, 32 together; [1] gives every iteration a warp"},
     {"stage", "loops", false, "all loops of a sum of products, whose operands go through shared memory"},
     {"depth", "int", false, "iterations of the staged loops at a time: 8, 16 or 32; 8 when not given"},
     {"split", "loops", false, "a reduction's loop cut into parts for as many blocks; a second kernel combines the results"},
     {"parts", "int", false, "how many parts, at most 65535"},
     {"reduction", "text", false, "atomic: loops of the grid may carry reductions, each update is one action"}},
    apply_map_gpu,
    {"for i  for j  S(i, j)", "block i { thread j  S(i, j) }", "bind (TVM), gpu_blocks and gpu_threads (Halide)",
     "loops that carry a dependence, more threads than a block has; atomic updates that the numerics (see `parallelize`) or a GPU "
     "do not have"},
    "cuda"};

}  // namespace facet
