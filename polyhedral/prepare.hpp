// What depends on constant weights alone is computed once, in prepare, and not in each run.
#pragma once

#include "facet/loop_ast.hpp"
#include "polyhedral/facet_polyhedral.hpp"

namespace facet {

// Moves such nests from the kernels to `program.prepare`; says so in the ledger.
void move_to_prepare(LoopProgram& program, Ledger& ledger);

}  // namespace facet
