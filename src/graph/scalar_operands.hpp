// A number among an operator's operands takes the dtype of the other operands (contract P6).
#pragma once

#include "facet/program.hpp"
#include "facet/result.hpp"
#include "src/ops/op_table.hpp"

namespace facet {

// Gives each rank-0 constant that a number in node.in became its dtype, from an operand of the same group of `op`.
// Refuses: no other operand says the dtype; the number does not fit it.
Result<Done> give_scalars_dtypes(const Node& node, const OpDef& op, Program* program);

}  // namespace facet
