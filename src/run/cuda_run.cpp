// The steps of a run on the GPU.
#include "src/run/cuda_run.hpp"

namespace facet {

Result<CudaRunReport> run_on_cuda(const CudaRunRequest& request) {
  CudaRunReport report;
  Result<std::unique_ptr<CudaRunner>> runner = CudaRunner::load(*request.module, request.symbols, request.options);
  if (!runner) return runner.errors();
  CudaRunner& gpu = **runner;
  report.compiler = gpu.binary().compiler;
  report.compile_ms = gpu.binary().compile_ms;
  report.facts = gpu.kernel_facts();
  if (const Result<Done> r = gpu.upload(*request.tensors); !r) return r.errors();
  if (const Result<Done> r = gpu.prepare(); !r) return r.errors();
  if (const Result<Done> r = gpu.run(); !r) return r.errors();
  if (const Result<Done> r = gpu.download(&report.outputs); !r) return r.errors();
  if (request.repeats > 0) {
    const Result<double> whole = gpu.time_ms(request.warm_up, request.repeats);
    if (!whole) return whole.errors();
    report.time_ms = *whole;
  }
  if (!request.each_kernel) return report;
  Result<std::vector<double>> each = gpu.kernel_times_ms(request.warm_up, request.repeats);
  if (!each) return each.errors();
  report.kernel_ms = std::move(*each);
  return report;
}

}  // namespace facet
