// What can be said about a call before its definition runs: operand and output counts, dtypes, attribute names and kinds.
#pragma once

#include "src/ops/op_table.hpp"

namespace facet {

Diagnostics check_call(const OpCall& call, const OpDef& def);

}  // namespace facet
