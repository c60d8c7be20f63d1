// The exported C functions of an OpenMP source: workspace, checks, run, and single kernels for measuring.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/c_family.hpp"
#include "codegen/interface.hpp"
#include "codegen/kernel_uses.hpp"

namespace facet {

// One printed kernel: its function, and what to call it with.
struct PrintedKernel {
  std::string function;  // "k0_h"
  std::string text;
  KernelUses uses;
  ExprPtr when;  // of symbols: the sizes it runs for; null: all
};

struct Exports {
  std::string text;  // begins inside the unnamed namespace of the kernels, which it closes
  std::set<HelperUse> helpers;
};

// `constants`: embedded tensors -> identifier of their array.
Exports print_exports(const LoopProgram& program, const Interface& face, const std::map<std::string, std::string>& constants,
                      const std::vector<PrintedKernel>& prepare, const std::vector<PrintedKernel>& kernels);

// Words that this target's files use themselves.
std::set<std::string> openmp_reserved_words();

}  // namespace facet
