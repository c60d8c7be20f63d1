// compile: a kernel's loop tree -> bytecode, for given symbol values.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "facet/loop_ast.hpp"
#include "facet/result.hpp"
#include "src/run/interpret/bytecode.hpp"

namespace facet::agents {

// `body` is the kernel's body (CPU), or what is left of it once the grid and block loops are the launch (`gpu`), where
// "block.x" .. "thread.z" are the agent's coordinates. The buffers outlive the code. Errors: names without a meaning here and
// nodes that the interpreter does not execute.
Result<Bytecode> compile_kernel(const LoopProgram& program, const Kernel& kernel, const LoopList& body, bool gpu,
                                const SymbolValues& symbols);

}  // namespace facet::agents
