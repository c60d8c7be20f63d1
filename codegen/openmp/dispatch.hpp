// Kernels for several instruction sets: one source each, and a source that calls the best one the processor can run.
#pragma once

#include <string>
#include <vector>

#include "facet/module.hpp"

namespace facet {

// One version: the module printed with its name (PrintOptions::version), and the compiler's spelling of its processors.
struct ModuleVersion {
  std::string isa;    // generic | avx2 | avx512
  std::string march;  // "x86-64-v3"
  Module module;
};

// NAME.cpp, with the functions of NAME.h: they call the last of the versions, ordered from the least set to the largest, whose
// instructions the processor has. The environment variable FACET_ISA names a version not to go beyond.
SourceFile dispatcher(const std::string& name, const std::vector<ModuleVersion>& versions);

}  // namespace facet
