// Accesses of a region that never meet: what reads and writes of one array in place need to be told apart by more than their
// subscripts' form.
//
//     for k in 0..64*jt                      A[i, j] is written, A[i, k] and A[j, k] are read; k < 64*jt <= j says that no
//       A[i, j] -= A[i, k] * A[j, k]         iteration reads what another one writes
//
// Two accesses are compared over all pairs of iterations of the loops that the region holds around each: the second's loops get
// names of their own, and the facts must prove one subscript of one larger than that of the other. Sound, not complete.
#pragma once

#include <vector>

#include "codegen/passes/facts.hpp"
#include "codegen/passes/tree.hpp"

namespace facet::passes {

struct PlacedAccess {
  // What the region introduces around the access: lower <= name < upper; null bounds: anything.
  struct Bound {
    std::string name;
    ExprPtr lower, upper;
  };
  Access access;
  std::vector<Bound> bounds;  // outermost first
};

// All accesses of the region (subscripts' own reads included), in textual order.
std::vector<PlacedAccess> placed_accesses(const LoopList& region);

// Certainly no common element, whichever iterations of their own loops the two are in? `facts` hold where the region stands.
bool never_meet(const PlacedAccess& a, const PlacedAccess& b, const Facts& facts);

}  // namespace facet::passes
