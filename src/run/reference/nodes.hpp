// Interprets one node of a program: its equations, or its loop nest.
#pragma once

#include "src/run/reference/bytecode.hpp"

namespace facet::reference {

struct EquationCode {
  Storage* target = nullptr;
  std::vector<RangeCode> ranges;
  std::vector<CodePtr> conditions;
  CodePtr value;
};

EquationCode compile_equation(Compiler& compiler, const Equation& equation);

// Every element the equation defines. The state must have room for the compiler's registers and slots.
void run_equation(State& state, const EquationCode& code);
void run_loops(State& state, Compiler& compiler, const LoopBody& body);

// Gives the state as many registers and slots as the compiler has handed out.
void make_room(State& state, const Compiler& compiler);

}  // namespace facet::reference
