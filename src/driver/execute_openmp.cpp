// openmp as a target: compile, call, measure.
#include <chrono>

#include "src/driver/compiled.hpp"
#include "src/driver/execute.hpp"
#include "src/driver/kernel_facts.hpp"
#include "src/driver/machines.hpp"
#include "src/driver/notices.hpp"

namespace facet {

namespace {

// Enough runs for a median, and at least this long, so that clocks settle.
constexpr int kLeastRepeats = 7;
constexpr double kLeastMs = 200;

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Result<Execution> execute_openmp(const Loaded& loaded, const Options& options, const Machine& machine,
                                 const HostTensors& tensors) {
  Execution e;
  Result<Compiled> compiled = compile_for_host(loaded, options, machine);
  if (!compiled) return compiled.errors();
  warn_of_budget(compiled->built.plan.ledger, options);
  e.compiler = compiled->compiler;
  e.compile_ms = compiled->compile_ms;
  OpenmpRunner* const runner = &compiled->runner;
  e.threads = options.threads > 0 ? options.threads : machine.cpu.cores;
  runner->set_threads(e.threads);
  runner->set_memory_limit(free_bytes());
  HostTensors values = argument_values(loaded, compiled->built.loops.inputs, tensors);
  const Result<Done> bound = runner->bind(loaded.sizes, &values);
  if (!bound) return bound.errors();
  const double start = now_ms();
  const Result<Done> done = runner->run();
  if (!done) return done.errors();
  e.time_ms = now_ms() - start;
  for (const std::string& name : loaded.program.outputs) e.outputs[name] = values.at(name);
  e.target = "openmp:" + machine.cpu.isa;
  Timing timing;
  if (options.time) {
    Result<Timing> measured = runner->measure(kLeastRepeats, kLeastMs);
    if (!measured) return measured.errors();
    timing = std::move(*measured);
    e.time_ms = timing.run_ms;
  }
  const Result<Machine> rated = machine_in_force(options, options.time);
  if (!rated) return rated.errors();
  for (std::size_t i = 0; i < compiled->module.kernels.size(); ++i) {
    if (!runs_for(compiled->module.kernels[i], loaded.sizes)) continue;
    e.kernels.push_back(kernel_report(compiled->module.kernels[i], loaded.sizes,
                                      i < timing.kernel_ms.size() ? timing.kernel_ms[i] : 0,
                                      ceilings_of(rated->cpu, e.threads)));
  }
  if (options.time) add_kernel_facts(loaded, options, machine, &*compiled, &e);
  return e;
}

}  // namespace facet
