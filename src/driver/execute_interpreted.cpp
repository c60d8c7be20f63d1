// run --interpret: the loop trees that a target's printer would print, run by the interpreter, which watches every access. For
// cuda that is the GPU mode: blocks, threads, barriers and collectives as a device has them, without a device.
#include <algorithm>
#include <chrono>

#include "codegen/cuda/print.hpp"
#include "codegen/openmp/print.hpp"
#include "src/driver/build.hpp"
#include "src/driver/execute.hpp"
#include "src/driver/notices.hpp"

namespace facet {

namespace {

constexpr std::int64_t kMostSteps = 1'000'000'000;  // of the interpreter: some ten seconds
constexpr double kShadowBytes = 48;                 // for each element: who wrote and read it, and when

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Result<Done> check_shadow(const LoopProgram& loops, const SymbolValues& sizes) {
  double wanted = 0;
  for (const Buffer& b : loops.buffers) {
    double elements = 1;
    for (const ExprPtr& e : b.extents) elements *= static_cast<double>(std::max<std::int64_t>(evaluate_index(e, sizes), 0));
    wanted += elements * (static_cast<double>(size_bytes(b.dtype)) + kShadowBytes);
  }
  if (wanted <= static_cast<double>(free_bytes())) return Done{};
  return diagnose(
      Code::kOutOfMemory, {},
      {"watching every element in the interpreter", std::to_string(static_cast<std::int64_t>(std::min(wanted, 9e18)))},
      {"take smaller sizes: --set NAME=VALUE"});
}

// The source's kernels, which also asks the printer whether it can spell them and a device whether it can launch them.
Result<std::vector<KernelInfo>> kernels_of(const LoopProgram& loops, const Machine& machine, bool gpu) {
  if (!gpu) {
    Result<Module> module = print_openmp(loops);
    if (!module) return module.errors();
    return std::move(module->kernels);
  }
  CudaPrintOptions print;
  print.machine = machine.gpu;
  Result<CudaModule> module = print_cuda(loops, print);
  if (!module) return module.errors();
  return std::move(module->module.kernels);
}

}  // namespace

Result<Execution> execute_interpreted(const Loaded& loaded, const Options& options, const Machine& machine,
                                      const HostTensors& tensors) {
  const Result<Built> built = build_loops(loaded, options, machine);
  if (!built) return built.errors();
  warn_of_budget(built->plan.ledger, options);
  const Result<Done> fits = check_shadow(built->loops, loaded.sizes);
  if (!fits) return fits.errors();
  const bool gpu = target_base(options) == "cuda";
  const Result<std::vector<KernelInfo>> kernels = kernels_of(built->loops, machine, gpu);
  if (!kernels) return kernels.errors();
  HostTensors values = argument_values(loaded, built->loops.inputs, tensors);
  InterpretOptions how;
  how.seed = options.seed;
  how.max_steps = kMostSteps;
  const double start = now_ms();
  Result<InterpretReport> report = interpret(built->loops, loaded.sizes, values, how);
  if (!report) {
    Diagnostics told = report.errors();
    if (told[0].code == Code::kInterpretSteps) told[0].notes.push_back("take smaller sizes: --set NAME=VALUE");
    return told;
  }
  Execution e;
  e.time_ms = now_ms() - start;
  e.compile_ms = built->analysis_ms;
  e.target = target_base(options) + ":interpreted";
  for (const std::string& name : loaded.program.outputs) e.outputs[name] = std::move(values.at(name));
  for (const KernelInfo& k : *kernels)
    if (runs_for(k, loaded.sizes))
      e.kernels.push_back(kernel_report(k, loaded.sizes, 0, gpu ? ceilings_of(machine.gpu) : ceilings_of(machine.cpu, 1)));
  e.watched = std::move(*report);
  return e;
}

}  // namespace facet
