// A fault of GCC 12 and 13 that printed sources keep out of its way.
#pragma once

#include "facet/loop_ast.hpp"

namespace facet {

// Does a kernel hold scalar stores of conditional values in short rows: a loop of few iterations inside another, or several
// stores beside each other?
bool has_conditional_rows(const LoopProgram& program);

}  // namespace facet
