// Interprets one node of a program: its equations, or its loop nest.
#pragma once

#include "src/run/reference/bytecode.hpp"

namespace facet::reference {

void run_equation(State& state, Compiler& compiler, const Equation& equation);
void run_loops(State& state, Compiler& compiler, const LoopBody& body);

}  // namespace facet::reference
