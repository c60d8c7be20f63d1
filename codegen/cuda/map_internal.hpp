// What the parts of map_to_gpu share: parallel loops, chains of them, sizes for the cost of a choice.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/passes/context.hpp"
#include "facet/loop_ast.hpp"
#include "facet/machine.hpp"

namespace facet::gpu {

struct MapContext {
  const LoopProgram* program = nullptr;
  GpuMachine machine;
  passes::Context passes;  // names in use, the log
  SymbolValues typical;    // default sizes: they decide between correct mappings only
  bool strict = false;     // reductions keep their order
};

// A perfect nest of parallel loops whose bounds are of symbols, and what lies in the innermost.
struct Chain {
  std::vector<For> loops;  // outermost first, bodies empty
  LoopList body;
};

bool is_parallel(const LoopPtr& node);
bool of_symbols(const ExprPtr& e, const LoopProgram& program);
Chain chain_of(const LoopPtr& node, const LoopProgram& program);
LoopList without_comments(const LoopList& body);

ExprPtr trips_of(const For& f);
// For default sizes; bounds that depend on other loops count as `kUnknownTrips`.
double typical_trips(const For& f, const MapContext& context);
inline constexpr double kUnknownTrips = 256;

// How often the body accesses memory with this iterator running along the innermost dimension, for default sizes.
double coalesced_accesses(const LoopList& body, const std::string& iterator, const MapContext& context);

// `loops` on the grid, the last along x; more than three share z. Their iterators keep their names.
LoopList on_grid(const std::vector<For>& loops, LoopList inner, MapContext& context);

LoopPtr agent_loop(LoopKind kind, const std::string& iterator, ExprPtr trips, LoopList body, const std::string& comment = "");

// Name of the value that an iterator has: from a count, iterator = lower + step * count.
ExprPtr iteration(const For& f, ExprPtr count);

LoopList map_points(const Chain& chain, MapContext& context);
// None when the body is no sum of products over enough points.
std::optional<LoopList> map_tiles(const Chain& chain, MapContext& context);
// None unless the body is one long reduction for each of few points along memory.
std::optional<LoopList> map_columns(const Chain& chain, MapContext& context);
// None when a local array is too large for shared memory, or an order would be lost.
std::optional<LoopList> map_rows(const Chain& chain, MapContext& context);

// Is there a loop below the chain that map_rows would spread over threads, and does memory run along it?
bool prefers_rows(const Chain& chain, const MapContext& context);

// A loop nest around one update of a place that does not change in it: a reduction.
struct ReductionNest {
  Store store;
  std::vector<For> loops;  // along the path to the store, outermost first, bodies empty
};
std::optional<ReductionNest> reduction_of(const LoopPtr& node);

// A body of one reduction, and statements that are done once for each point and may as well all follow it.
struct SingleReduction {
  LoopList before, after;
  ReductionNest nest;
  LoopPtr node;  // the nest
};
std::optional<SingleReduction> single_reduction_of(const LoopList& body);

// The nests that share the chain's loops, each with loops of its own, in order; empty when they stay together. Arrays between
// them are added to `workspace`.
std::vector<LoopPtr> distribute(const Chain& chain, MapContext& context, std::vector<Buffer>* workspace);

// `arrays`: workspace of this kernel alone; `outputs`: what it may share memory with.
LoopList fold_into_outputs(const LoopList& body, const std::vector<const Buffer*>& arrays,
                           const std::vector<const Buffer*>& outputs, MapContext& context);

// A long reduction to one place in two passes.
struct SplitReduction {
  Buffer partial;
  LoopPtr parts, rest;
};
std::optional<SplitReduction> split_reduction(const LoopPtr& node, MapContext& context);

}  // namespace facet::gpu
