// openmp as a target: build, print, compile in process or by an outside compiler, call.
#include <chrono>

#include "codegen/openmp/jit_client.hpp"
#include "codegen/openmp/print.hpp"
#include "codegen/openmp/runner.hpp"
#include "codegen/toolchain.hpp"
#include "src/driver/build.hpp"
#include "src/driver/execute.hpp"

namespace facet {

namespace {

// Enough runs for a median, and at least this long, so that clocks settle.
constexpr int kLeastRepeats = 7;
constexpr double kLeastMs = 200;

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A runner and, for code in memory, what keeps it there: declared first, so that it outlives the runner.
struct Compiled {
  JitModule jit;
  OpenmpRunner runner;
};

Result<Compiled> compile(const Module& module, const Options& options, const Program& program, const Machine& machine,
                         Execution* e) {
  const std::vector<std::string> flags = host_flags(openmp_flags(program.numerics), machine.cpu.march);
  if (options.compiler.empty() && jit_problem().empty()) {
    Result<JitModule> jit = jit_module(module, flags);
    if (!jit) return jit.errors();
    e->compiler = jit->compiler;
    e->compile_ms += jit->compile_ms;
    Result<OpenmpRunner> runner =
        OpenmpRunner::from_lookup(module, [code = *jit](const std::string& name) { return code.lookup(name); });
    if (!runner) return runner.errors();
    return Compiled{std::move(*jit), std::move(*runner)};
  }
  CompileOptions how;
  how.compiler = options.compiler;
  how.flags = flags;
  const Result<CompiledModule> library = compile_module(module, how);
  if (!library) return library.errors();
  e->compiler = library->compiler;
  e->compile_ms += library->compile_ms;
  Result<OpenmpRunner> runner = OpenmpRunner::load(module, library->path);
  if (!runner) return runner.errors();
  return Compiled{{}, std::move(*runner)};
}

}  // namespace

Result<Execution> execute_openmp(const Loaded& loaded, const Options& options, const Machine& machine,
                                 const HostTensors& tensors) {
  Execution e;
  const Result<Built> built = build_loops(loaded, options, machine);
  if (!built) return built.errors();
  e.compile_ms = built->analysis_ms;
  PrintOptions print;
  Result<HostTensors> constants = embedded_constants(loaded);
  if (!constants) return constants.errors();
  print.constants = std::move(*constants);
  const Result<Module> module = print_openmp(built->loops, print);
  if (!module) return module.errors();
  Result<Compiled> compiled = compile(*module, options, loaded.program, machine, &e);
  if (!compiled) return compiled.errors();
  OpenmpRunner* const runner = &compiled->runner;
  e.threads = options.threads > 0 ? options.threads : machine.cpu.cores;
  runner->set_threads(e.threads);
  HostTensors values = argument_values(loaded, built->loops.inputs, tensors);
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
  for (std::size_t i = 0; i < module->kernels.size(); ++i)
    e.kernels.push_back(kernel_report(module->kernels[i], loaded.sizes, i < timing.kernel_ms.size() ? timing.kernel_ms[i] : 0,
                                      ceilings_of(machine.cpu)));
  return e;
}

}  // namespace facet
