// elaborate: operators, equation texts and loop texts -> typed equations and loop nests.
//
// Nodes are visited in order. An operator becomes its equations over the names of the program (locals are "OUT.local"); every
// tensor gets its dtype and shape; a declaration of an intermediate is checked. From here on nothing looks at an operator's
// name.
#pragma once

#include "facet/program.hpp"
#include "facet/result.hpp"

namespace facet {

// All complaints about all nodes (a node that reads what a wrong node defines is passed over), or the elaborated program.
Result<Program> elaborate(const Program& program);

}  // namespace facet
