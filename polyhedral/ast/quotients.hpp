// quotients: sums with quotients of instance dimensions (wavefronts of tiles: floor(t/8) + floor(i/64)) as plain sums, for
// scanning.
//
// In such an order isl has to find the values of a loop with both quotients quantified; its search for strides then walks
// integer points, and takes time that grows with the tile (25 s for a stencil in tiles of 8 by 128). With each quotient as one
// more dimension of the instance, bounded by inequalities, the same loops come out at once, whatever the tile.
#pragma once

#include <map>

#include "polyhedral/tree/tree.hpp"

namespace facet {

struct LiftedOrder {
  TreePtr tree;
  std::map<int, isl::set> domains;  // S[i...] became S[i..., q...]; the names stay
};

// The same order; statements without such sums stay as they are.
LiftedOrder lift_quotients(const TreePtr& tree, const std::map<int, isl::set>& domains);

}  // namespace facet
