// LoopProgram -> C++17 source with OpenMP pragmas and GNU vectors, and its C header.
#pragma once

#include <map>
#include <string>

#include "facet/host_tensor.hpp"
#include "facet/loop_ast.hpp"
#include "facet/module.hpp"
#include "facet/result.hpp"

namespace facet {

struct PrintOptions {
  std::map<std::string, HostTensor> constants;  // weights to embed; the others are arguments
  std::string version;                          // of several instruction sets: "avx2"; part of names of functions and files
  std::string march;                            // the processors to build it for, "x86-64-v3"; empty: native
  std::string note;                             // one more line for the head of the source, e.g. the recipe's hash
};

// The source is self-contained: NAME.h, <stddef.h> and <stdint.h> only, builtins for mathematics. A tree that cannot be spelled
// is an internal error that names the statement.
Result<Module> print_openmp(const LoopProgram& program, const PrintOptions& options = {});

// Compiler flags under which the source means what was asked: contraction is stated, errno and traps are not observed.
std::string openmp_flags(const Numerics& numerics);

// "c++ -std=c++17 .. -fopenmp": how such a source is compiled. `march`: "native" where it is empty.
std::string openmp_build(const Numerics& numerics, const std::string& march);

}  // namespace facet
