// What the parts of map_to_gpu share: chains of grid loops, reductions, loops on the grid.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codegen/passes/context.hpp"
#include "facet/loop_ast.hpp"
#include "facet/machine.hpp"

namespace facet::gpu {

struct MapContext {
  const LoopProgram* program = nullptr;
  GpuMachine machine;
  passes::Context passes;       // names in use, the log
  std::vector<Symbol> symbols;  // the program's, and the iterators of the kernel's host loops
};

// Iterations of a strided loop that are unrolled: their loads are under way together. 2048 threads of a multiprocessor with one
// 4-byte load each keep 8 KiB in flight; bandwidth times latency asks for three times as much (4.2 TB/s, 700 ns, 132 of them).
inline constexpr int kInFlight = 4;

inline constexpr std::int64_t kWarp = 32;

// The grid loops of a nest, rectangular, the one along x last, and what lies in the innermost.
struct Chain {
  std::vector<For> loops;  // bodies empty
  LoopList body;
};

bool on_grid(const For& f);   // mapped to the grid, not as a part of a reduction
bool in_block(const For& f);  // mapped to threads
bool holds(const LoopList& body, bool (*wanted)(const For& f));
bool of_symbols(const ExprPtr& e, const MapContext& context);

// The least or greatest value of an index expression over the iterations of `loops`, each within the bounds of those before it;
// null where its form does not tell.
ExprPtr extreme(const ExprPtr& e, const std::vector<For>& loops, bool greatest);
// Bounds that depend on other grid loops become their hull, guarded inside.
Chain chain_of(const LoopPtr& node, MapContext& context);
LoopPtr nest_of(const std::vector<For>& loops, LoopList body);
LoopList without_comments(const LoopList& body);

// Arrays of a part that one thread executes alone: its own, whatever memory a block's would be in.
LoopList own_arrays(const LoopList& body);

ExprPtr trips_of(const For& f);

// `loops` on the grid, the last along x; more than three share z. Their iterators keep their names.
LoopList to_grid(const std::vector<For>& loops, LoopList inner, MapContext& context);

LoopPtr agent_loop(LoopKind kind, const std::string& iterator, ExprPtr trips, LoopList body, const std::string& comment = "");
For counted(const std::string& iterator, ExprPtr trips);
LoopPtr tail_guard(ExprPtr condition, LoopList body);

// Name of the value that an iterator has: from a count, iterator = lower + step * count.
ExprPtr iteration(const For& f, ExprPtr count);

LoopList map_points(const Chain& chain, MapContext& context);
// None when the body is no sum of products.
std::optional<LoopList> map_tiles(const Chain& chain, MapContext& context);
// None when the body is not one reduction.
std::optional<LoopList> map_columns(const Chain& chain, MapContext& context);
// None when a local array is too large for shared memory, or an order would be lost.
std::optional<LoopList> map_block(const Chain& chain, MapContext& context);

// A loop nest around one update of a place that does not change in it: a reduction.
struct ReductionNest {
  Store store;
  std::vector<For> loops;  // along the path to the store, outermost first, bodies empty
};
std::optional<ReductionNest> reduction_of(const LoopPtr& node);

// The store that ends the reduction of nest `node`, where that has an iteration (as far as its loops tell from outside). A
// point without one has no place in the result: what the subscripts name there may be another point's, or nobody's.
LoopPtr where_iterated(const ReductionNest& nest, const LoopPtr& node, LoopPtr store);

// A body of one reduction, and statements that are done once for each point and may as well all follow it.
struct SingleReduction {
  LoopList before, after;
  ReductionNest nest;
  LoopPtr node;  // the nest
};
std::optional<SingleReduction> single_reduction_of(const LoopList& body);

// The steps `recompute` of the recipe; the log says where a tree is not what they were judged on.
LoopList recompute_rows(const LoopList& body, const std::vector<std::string>& arrays, MapContext& context);

// The steps `reuse` of the recipe: arrays, and the outputs whose memory they live in.
LoopList fold_into_outputs(const LoopList& body, const std::vector<std::pair<std::string, std::string>>& reused,
                           MapContext& context);

// A reduction with a split loop in two passes; none when the nest has no such loop.
struct SplitReduction {
  Buffer partial;
  LoopPtr parts, rest;
};
std::optional<SplitReduction> split_reduction(const Chain& chain, MapContext& context);

}  // namespace facet::gpu
