// Prints a program (not any schedule) as plain C++17 loops that compute every element and its error bound.
//
// One function per node, one loop per index, no knowledge of how kernels are made. Compiled, it is the oracle for programs too
// large to interpret; in an exported folder it is what main.cpp checks the kernels against. The text needs only the standard
// library and states the same rules as the interpreter (src/run/reference), with which tests compare it.
#pragma once

#include <string>

#include "facet/program.hpp"

namespace facet {

// A translation unit with
//   extern "C" std::int64_t naive_NAME(const std::int64_t* symbols, const void* const* inputs, void* const* outputs, float*
//   const* bounds); extern "C" const char* naive_NAME_gather();
// symbols: in program order. inputs: the program's inputs, then its constants in the order of Program::tensor_order, each as
// elements of its dtype in C order. outputs: one array of double (floating dtypes) or int64_t per program output; bounds: one
// array of float per output, as in ReferenceTensor. Returns how many gathers left their tensor; naive_NAME_gather describes the
// first. Throws std::bad_alloc if memory runs out.
std::string print_naive(const Program& program);

}  // namespace facet
