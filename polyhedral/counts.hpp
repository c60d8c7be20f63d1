// counts: operations and least bytes of a group as expressions of the symbols, for reports and rooflines.
#pragma once

#include "polyhedral/scop.hpp"

namespace facet {

// Arithmetic operations of all statements: exact for boxes; in a triangular nest an outer index counts at the middle of its
// range, which is right to leading order. Functions count as 10 operations, as in the cost model; index arithmetic as none.
ExprPtr count_operations(const Scop& scop);

// Every array from outside read once, every array used later written once.
ExprPtr count_bytes(const Scop& scop);

}  // namespace facet
