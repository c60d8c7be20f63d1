// The choice of an oracle by predicted work and memory.
#include "src/run/oracle.hpp"

#include <unistd.h>

#include "codegen/toolchain.hpp"
#include "src/run/naive.hpp"
#include "src/run/naive_run.hpp"
#include "src/run/sampled.hpp"

namespace facet {

namespace {

constexpr double kPatientLimit = 2e10;  // interpreted operations when nothing else is possible: about five minutes

double available_bytes() { return static_cast<double>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE)); }

Result<ReferenceRun> sample(const Program& program, const SymbolValues& symbols, const HostTensors& tensors,
                            const OracleOptions& options) {
  SampleOptions how;
  how.count = options.samples;
  return run_sampled(program, symbols, tensors, how);
}

}  // namespace

double reference_bytes(const Program& program, const SymbolValues& symbols) {
  double bytes = 0;
  for (const std::string& name : program.tensor_order) {
    double count = 13;  // f64 value, f32 bound, one byte
    for (const std::int64_t extent : extents_of(program.tensor(name), symbols)) count *= static_cast<double>(extent);
    bytes += count;
  }
  return bytes;
}

Result<ReferenceRun> run_naive(const Program& program, const SymbolValues& symbols, const HostTensors& tensors,
                               const OracleOptions& options) {
  Module module;
  module.name = "naive_" + program.name;
  module.source = {module.name + ".cpp", print_naive(program)};
  module.header = {module.name + ".h", ""};
  CompileOptions compile;
  compile.compiler = options.compiler;
  compile.cache_folder = options.cache_folder;
  // Plain code generation: no contraction, no reassociation; -march only for instructions like rounding.
  compile.flags = {"-std=c++17", "-O2", "-march=native", "-ffp-contract=off", "-fPIC", "-shared", "-w"};
  Result<CompiledModule> compiled = compile_module(module, compile);
  if (!compiled) return compiled.errors();
  Result<ReferenceRun> run = run_naive_library(compiled->path, program, symbols, tensors);
  if (run) run->method = "compiled";
  return run;
}

Result<ReferenceRun> run_oracle(const Program& program, const SymbolValues& symbols, const HostTensors& tensors,
                                const OracleOptions& options) {
  const double work = predicted_operations(program, symbols);
  const bool fits = reference_bytes(program, symbols) < 0.7 * available_bytes();
  if (work <= options.interpret_limit && fits) return run_reference(program, symbols, tensors);
  const bool small_enough = work <= options.compile_limit && fits;
  if (small_enough) {
    Result<ReferenceRun> run = run_naive(program, symbols, tensors, options);
    if (run || failure_of(run.errors().front().code) != Failure::kMissing) return run;
  }
  if (can_sample(program)) {
    Result<ReferenceRun> run = sample(program, symbols, tensors, options);
    if (run || run.errors().front().code != Code::kOracleTooLarge) return run;
  }
  if (work <= kPatientLimit && fits) return run_reference(program, symbols, tensors);
  return diagnose(Code::kOracleTooLarge, {}, {program.name});
}

}  // namespace facet
