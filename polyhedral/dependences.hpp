// Dependences of a Scop: which instance must run before which. They belong to a Scop; a rewrite step brings its own.
#pragma once

#include <string>
#include <vector>

#include "polyhedral/scop.hpp"

namespace facet {

enum class DependenceKind { kFlow, kAnti, kOutput, kReduction };
std::string to_text(DependenceKind kind);

// { source instance -> sink instance } through `array`. kReduction: two updates of one element by the same associative and
// commutative operation; their order is free unless numerics say strict.
struct Dependence {
  DependenceKind kind = DependenceKind::kFlow;
  int source = 0;
  int sink = 0;
  std::string array;
  isl::map relation;
  std::vector<std::pair<unsigned, unsigned>> equal;  // (d, e): the source's iterator d is the sink's iterator e in every pair
};
Dependence make_dependence(DependenceKind kind, int source, int sink, const std::string& array, const isl::map& relation);

// Is f(source) = g(sink) in every pair, as far as the equal iterators tell? Most loops and dependences are of this kind, and
// answering so saves isl two intersections and two emptiness tests each.
bool zero_distance(const Dependence& dependence, const isl::pw_aff& f, const isl::pw_aff& g);

using Dependences = std::vector<Dependence>;

// SSA tensors by composition: every write of an element precedes every read of it. In-place arrays by isl's flow analysis on
// the original order. Throws isl's exceptions: call it inside guarded().
Dependences compute_dependences(const Scop& scop);

// isl text, one line each (stage "deps").
std::string to_text(const Scop& scop, const Dependences& dependences);

// The program's order of the statements that touch one array: what isl's flow analysis costs grows with the whole tree it is
// given.
isl::schedule order_of_array(const Scop& scop, const std::string& array);

}  // namespace facet
