// A program built, printed and compiled for the host: what `run` and the library call.
#pragma once

#include "codegen/openmp/jit_client.hpp"
#include "codegen/openmp/runner.hpp"
#include "codegen/toolchain.hpp"
#include "src/driver/build.hpp"

namespace facet {

struct Compiled {
  Built built;
  Module module;
  std::string compiler;   // what made the code
  double compile_ms = 0;  // analysis and compilation
  JitModule jit;          // keeps code in memory; declared before the runner, so that it outlives it
  OpenmpRunner runner;
};

Result<Compiled> compile_for_host(const Loaded& loaded, const Options& options, const Machine& machine);

// The assembly text of what compile_for_host makes of the module, by the same compiler and flags.
Result<Assembly> assembly_for_host(const Loaded& loaded, const Options& options, const Machine& machine, const Module& module);

}  // namespace facet
