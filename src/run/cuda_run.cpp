// Map, print, compile, upload, run, download, time: in this order, each checked.
#include "src/run/cuda_run.hpp"

#include "codegen/cuda/map.hpp"

namespace facet {

Result<CudaModule> cuda_module(const LoopProgram& program, const GpuMachine& machine, PassLog* log) {
  CudaPrintOptions options;
  options.machine = machine;
  return print_cuda(map_to_gpu(program, machine, log), options);
}

Result<CudaRunReport> run_on_cuda(const CudaRunRequest& request) {
  const Result<CudaDevice> device = cuda_device();
  if (!device) return device.errors();
  CudaRunReport report;
  report.device = *device;
  Result<CudaModule> module = cuda_module(*request.program, device->machine, &report.mapping);
  if (!module) return module.errors();
  report.module = std::move(*module);
  CudaRunOptions options;
  options.compile.arch = request.arch;
  options.compile.compiler = request.compiler;
  options.compile.contract = request.program->numerics.contract;
  options.compile.flush_denormals = request.program->numerics.flush_denormals;
  Result<std::unique_ptr<CudaRunner>> runner = CudaRunner::load(report.module, request.symbols, options);
  if (!runner) return runner.errors();
  CudaRunner& gpu = **runner;
  report.compiler = gpu.binary().compiler;
  report.compile_ms = gpu.binary().compile_ms;
  report.facts = gpu.kernel_facts();
  if (const Result<Done> r = gpu.upload(*request.tensors); !r) return r.errors();
  if (const Result<Done> r = gpu.prepare(); !r) return r.errors();
  if (const Result<Done> r = gpu.run(); !r) return r.errors();
  if (const Result<Done> r = gpu.download(&report.outputs); !r) return r.errors();
  if (!request.time) return report;
  const Result<double> whole = gpu.time_ms(request.warm_up, request.repeats);
  if (!whole) return whole.errors();
  report.time_ms = *whole;
  Result<std::vector<double>> each = gpu.kernel_times_ms(request.warm_up, request.repeats);
  if (!each) return each.errors();
  report.kernel_ms = std::move(*each);
  return report;
}

}  // namespace facet
