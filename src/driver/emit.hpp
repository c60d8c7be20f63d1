// --emit: the machine's view of the generated source, as further files, and what each kernel takes of the machine.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "codegen/cuda/module.hpp"
#include "src/driver/build.hpp"
#include "src/driver/verbs.hpp"

namespace facet {

struct Emitted {
  std::vector<std::pair<std::string, std::string>> files;  // name, text
  std::string report;                                      // lines for people
  JsonValue json = JsonValue::object();                    // compiler, resources
};

// The kinds of --emit for the target base ("openmp" has asm, "cuda" ptx and sass); kBadCommandLine for others.
Result<std::vector<std::string>> emit_kinds(const Options& options);

// ptx, sass and the resources of each kernel: registers, shared memory, stack and spills by ptxas; without ptxas a line says
// so. kNoCudaCompiler where a tool is missing that a kind needs.
Result<Emitted> emit_cuda(const Loaded& loaded, const Options& options, const CudaModule& module);

// asm: what the compiler of `run` makes of the source for the machine in force, and the vectors and spills of each kernel in
// it.
Result<Emitted> emit_openmp(const Loaded& loaded, const Options& options, const Machine& machine, const Module& module);

}  // namespace facet
