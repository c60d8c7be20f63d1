// cuda as a target: build, print, compile for the device at hand, launch. Where there is no device, this fails and says so.
#include "codegen/cuda/print.hpp"
#include "codegen/cuda/runner.hpp"
#include "src/driver/build.hpp"
#include "src/driver/execute.hpp"

namespace facet {

namespace {

constexpr int kWarmUp = 3, kRepeats = 15;

}  // namespace

Result<Execution> execute_cuda(const Loaded& loaded, const Options& options, const Machine& machine,
                               const HostTensors& tensors) {
  const Result<CudaDevice> device = cuda_device();
  if (!device) return device.errors();
  Machine target = machine;
  target.gpu = device->machine;
  const Result<Built> built = build_loops(loaded, options, target);
  if (!built) return built.errors();
  CudaPrintOptions print;
  print.machine = target.gpu;
  Result<HostTensors> constants = embedded_constants(loaded);
  if (!constants) return constants.errors();
  print.constants = std::move(*constants);
  const Result<CudaModule> module = print_cuda(built->loops, print);
  if (!module) return module.errors();
  CudaRunOptions how;
  how.compile.arch = options.target.find(':') == std::string::npos ? "" : options.target.substr(options.target.find(':') + 1);
  how.compile.contract = loaded.program.numerics.contract;
  how.compile.flush_denormals = loaded.program.numerics.flush_denormals;
  Result<std::unique_ptr<CudaRunner>> runner = CudaRunner::load(*module, loaded.sizes, how);
  if (!runner) return runner.errors();
  CudaRunner& gpu = **runner;
  Execution e;
  e.target = "cuda:" + (how.compile.arch.empty() ? device->arch : how.compile.arch);
  e.device = device->name + ", driver " + device->driver;
  e.compiler = gpu.binary().compiler;
  e.compile_ms = built->analysis_ms + gpu.binary().compile_ms;
  HostTensors values = argument_values(loaded, built->loops.inputs, tensors);
  for (const auto step : {0, 1, 2}) {
    const Result<Done> done = step == 0 ? gpu.upload(values) : step == 1 ? gpu.prepare() : gpu.run();
    if (!done) return done.errors();
  }
  const Result<Done> fetched = gpu.download(&values);
  if (!fetched) return fetched.errors();
  for (const std::string& name : loaded.program.outputs) e.outputs[name] = values.at(name);
  std::vector<double> times;
  const Result<double> total = gpu.time_ms(options.time ? kWarmUp : 0, options.time ? kRepeats : 1);
  if (!total) return total.errors();
  e.time_ms = *total;
  if (options.time) {
    Result<std::vector<double>> measured = gpu.kernel_times_ms(kWarmUp, kRepeats);
    if (!measured) return measured.errors();
    times = std::move(*measured);
  }
  const std::vector<KernelInfo>& kernels = module->module.kernels;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    if (runs_for(kernels[i], loaded.sizes))
      e.kernels.push_back(kernel_report(kernels[i], loaded.sizes, i < times.size() ? times[i] : 0, ceilings_of(target.gpu)));
  return e;
}

}  // namespace facet
