// What follows from an operator's equations and is not stated beside them: the kind of its gradient, its arithmetic.
#pragma once

#include <string>

#include "facet/program.hpp"
#include "src/ops/op_table.hpp"

namespace facet {

// Of an elaborated program: how its outputs depend on its float inputs.
Gradient gradient_of(const Program& program);
// Of an operator: what it states, else the strongest kind among its samples.
Gradient gradient_of(const OpDef& op);

// Arithmetic of an elaborated program whose extents are constant. Functions count as 10 operations, as in the cost model; index
// arithmetic, conditions on indices and conversions as none. Terms that a condition drops are counted.
struct FlopCount {
  std::string formula;  // "4 * 3 * (5 * 2)": points of each equation times their operations
  double total = 0;
};
FlopCount flops_of(const Program& program);

}  // namespace facet
