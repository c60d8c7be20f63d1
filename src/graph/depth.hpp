// How many loops a node's meaning needs around one statement.
#pragma once

#include "facet/program.hpp"

namespace facet {

// Analysis and code generation take time with the dimensions of a statement's domain (isl's AST of 60 loops takes ten seconds),
// so that a budget of time means something only below a bound. No program known to us has more than 14.
constexpr std::size_t kMostLoops = 32;

// Loops around the deepest statement: indices of an equation and its sums, one inside the other, or a nest's loops.
std::size_t loop_depth(const Node& node);

}  // namespace facet
