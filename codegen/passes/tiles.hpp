// Pieces of register tiling that peel, unroll and vectorize share.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/passes/context.hpp"

namespace facet::passes {

// A requested loop lower..min(lower + extent, ..): its full iterations, and when it is full.
struct Axis {
  For loop;       // one of its loops, for bounds, kind and width
  ExprPtr lower;  // of the full extent
  std::int64_t extent = 0;
  ExprPtr full;  // condition
};
std::optional<Axis> axis_of(const For& f);
bool same_extent(const For& a, const For& b);  // the same bounds, whatever their kinds

// Do iterations of the loops named by `iterators` (one axis: the same value
// means the same iteration) touch different elements of everything that the
// region writes? Sufficient test: each written buffer has a dimension in which
// all its accesses have the same form c * iterator + (something fixed in the
// region), c not 0; reads that by the facts never meet a write do not count.
// Buffers allocated inside the axis' loops are private. With `sums`, a buffer of which the region knows nothing but updates of
// one kind, whose order its numerics leave open, may have elements that several iterations update.
bool independent(const LoopList& region, const std::set<std::string>& iterators, const Facts& facts,
                 const Context* sums = nullptr);

// Copies of one body, side by side. jammed: statement by statement, loops with
// equal bounds merged; otherwise one after another. Names that a copy
// introduces are made unique.
LoopList side_by_side(std::vector<LoopList> copies, bool jam, Context& context);

// A kUnroll loop (its body has no requested loops any more) as copies; a plain
// loop, with a note, when refused.
LoopList unroll(const For& f, const Facts& facts, Context& context);

// A kVector loop as vectors; a plain loop, with a note, when refused. Of `copies` side by side each needs fewer accumulators of
// its own to hide the latency of additions.
LoopList vectorize(const For& f, const Facts& facts, Context& context, std::int64_t copies = 1);

// Iterations of a stencil's row, 1 to width, from its first one to where whole vectors are stored on borders of lines; null
// where that is no matter.
ExprPtr to_line_border(const For& f, int width, const Context& context);

}  // namespace facet::passes
