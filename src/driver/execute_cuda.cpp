// cuda as a target: build, print, compile for the device at hand, launch. Where there is no device, this fails and says so.
#include "codegen/cuda/print.hpp"
#include "src/driver/build.hpp"
#include "src/driver/execute.hpp"
#include "src/driver/notices.hpp"
#include "src/run/cuda_run.hpp"

namespace facet {

namespace {

constexpr int kWarmUp = 3, kRepeats = 15;

}  // namespace

Result<Execution> execute_cuda(const Loaded& loaded, const Options& options, const Machine& machine,
                               const HostTensors& tensors) {
  const Result<CudaCompileOptions> compiler = cuda_compiler(options.compiler);
  if (!compiler) return compiler.errors();
  const Result<CudaDevice> device = cuda_device();
  if (!device) {
    Diagnostics told = device.errors();
    told[0].notes.push_back("--interpret runs the same kernels without a GPU and watches every access: small sizes");
    told[0].notes.push_back("compile --target cuda -o DIR writes sources to take to a machine that has one");
    return told;
  }
  Machine target = machine;
  target.gpu = device->machine;
  const Result<Built> built = build_loops(loaded, options, target);
  if (!built) return built.errors();
  warn_of_budget(built->plan.ledger, options);
  CudaPrintOptions print;
  print.machine = target.gpu;
  Result<HostTensors> constants = embedded_constants(loaded);
  if (!constants) return constants.errors();
  print.constants = std::move(*constants);
  const Result<CudaModule> module = print_cuda(built->loops, print);
  if (!module) return module.errors();
  CudaRunRequest request;
  CudaCompileOptions& how = request.options.compile;
  how = *compiler;
  how.arch = options.target.find(':') == std::string::npos ? "" : options.target.substr(options.target.find(':') + 1);
  how.contract = loaded.program.numerics.contract;
  how.flush_denormals = loaded.program.numerics.flush_denormals;
  const HostTensors values = argument_values(loaded, built->loops.inputs, tensors);
  request.module = &*module;
  request.symbols = loaded.sizes;
  request.tensors = &values;
  request.warm_up = options.time ? kWarmUp : 0;
  request.repeats = options.time ? kRepeats : 1;
  request.each_kernel = options.time;
  Result<CudaRunReport> report = run_on_cuda(request);
  if (!report) return report.errors();
  Execution e;
  e.target = "cuda:" + (how.arch.empty() ? device->arch : how.arch);
  e.device = device->name + ", driver " + device->driver;
  e.compiler = report->compiler;
  e.compile_ms = built->analysis_ms + report->compile_ms;
  e.time_ms = report->time_ms;
  for (const std::string& name : loaded.program.outputs) e.outputs[name] = std::move(report->outputs.at(name));
  const std::vector<double>& times = report->kernel_ms;
  const std::vector<KernelInfo>& kernels = module->module.kernels;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    if (runs_for(kernels[i], loaded.sizes)) {
      KernelReport k = kernel_report(kernels[i], loaded.sizes, i < times.size() ? times[i] : 0, ceilings_of(target.gpu));
      const CudaKernelFacts& facts = report->facts[module->prepare.size() + i];
      k.registers = facts.registers;
      k.local_bytes = facts.local_bytes;
      k.shared_bytes = facts.shared_bytes;
      e.kernels.push_back(std::move(k));
    }
  if (options.time) {
    e.unknown.emplace_back("predicted", "the model counts the caches of a processor, not those of a GPU");
    e.unknown.emplace_back("object_code", "`compile --emit sass` writes it");
    e.unknown.emplace_back("counters", "those of a GPU are not read");
  }
  return e;
}

}  // namespace facet
