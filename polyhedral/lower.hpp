// lower: nodes of an elaborated program -> Scop. From here on there are no operators, only statements over affine domains.
#pragma once

#include <string>
#include <vector>

#include "facet/program.hpp"
#include "polyhedral/scop.hpp"

namespace facet {

// The Scop of nodes[i] for i in `nodes` (ascending). Arrays defined in the group and read by no later node and no output are
// not live out.
Scop lower(const Program& program, const std::vector<int>& nodes, const std::string& name);

// The statements of the whole program for the checks of `validate` (same as lowering all nodes into one Scop).
Scop lower_all(const Program& program);

}  // namespace facet
