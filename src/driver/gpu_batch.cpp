// Many cases in few compilations: the sources of a batch stand in one file, each in a namespace of its own; their kernels have
// C names made unique by the case's number. Cases are planned and batches compiled on all cores, then every case runs by
// itself.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "src/driver/gpu_case.hpp"
#include "src/driver/in_threads.hpp"
#include "src/run/cuda_run.hpp"

namespace facet {

namespace {

constexpr std::size_t kProgressStep = 100;

struct DeviceCase {
  std::size_t index = 0;
  PreparedCase made;
  CudaModule module;
};

struct Batch {
  std::vector<const DeviceCase*> cases;
  CudaCompileOptions compile;
  Result<CudaBinary> binary = CudaBinary{};
};

std::string source_of(const std::vector<const DeviceCase*>& cases) {
  std::vector<std::pair<std::size_t, const CudaModule*>> modules;
  for (const DeviceCase* c : cases) modules.emplace_back(c->index, &c->module);
  return batch_source(modules);
}

class DeviceRun {
 public:
  DeviceRun(const std::vector<GpuCase>& cases, std::uint64_t seed, const std::function<void(const std::string&)>& progress)
      : cases_(cases), seed_(seed), progress_(progress) {}

  Result<GpuRunReport> run() {
    const Result<CudaDevice> device = cuda_device();
    if (!device) return device.errors();
    machine_ = device->machine;
    arch_ = device->arch;
    for (const GpuCase& c : cases_) {
      report_.results.emplace_back();
      report_.results.back().name = c.name;
    }
    prepare();
    make_batches();
    if (const Result<Done> done = compile(); !done) return done.errors();
    if (const Result<Done> done = execute(); !done) return done.errors();
    return std::move(report_);
  }

 private:
  void fail(std::size_t index, const Diagnostics& errors) { report_.results[index].reason = to_text(errors); }

  void tell(const std::string& what) {
    const std::lock_guard<std::mutex> lock(telling_);
    progress_(what);
  }

  // Planning and the reference take most of the time, so all cores do it; each thread has isl's state of its own.
  void prepare() {
    made_.resize(cases_.size());
    std::atomic<std::size_t> done{0};
    in_threads(cases_.size(), [&](std::size_t i) {
      const std::size_t number = done++;
      if (number % kProgressStep == 0)
        tell("scheduled " + std::to_string(number) + " of " + std::to_string(cases_.size()) + " cases");
      prepare_one(i);
    });
    made_.erase(std::remove(made_.begin(), made_.end(), nullptr), made_.end());
  }

  void prepare_one(std::size_t i) {
    Result<PreparedCase> made = prepare_case(cases_[i], seed_);
    if (!made) return fail(i, made.errors());
    auto c = std::make_unique<DeviceCase>();
    c->index = i;
    c->made = std::move(*made);
    c->made.loops.name = "case_" + std::to_string(i);
    CudaPrintOptions print;
    print.machine = machine_;
    Result<CudaModule> module = print_cuda(c->made.loops, print);
    if (!module) return fail(i, module.errors());
    c->module = std::move(*module);
    made_[i] = std::move(c);
  }

  // Cases with one set of compiler options may share a file.
  void make_batches() {
    std::map<std::pair<bool, bool>, std::vector<const DeviceCase*>> kinds;
    for (const auto& c : made_)
      kinds[{c->made.program.numerics.contract, c->made.program.numerics.flush_denormals}].push_back(c.get());
    for (const auto& [kind, list] : kinds) {
      const std::size_t first = batches_.size(), count = (list.size() + kGpuBatch - 1) / kGpuBatch;
      for (std::size_t k = 0; k < count; ++k) {
        batches_.emplace_back();
        batches_.back().compile.arch = arch_;
        batches_.back().compile.contract = kind.first;
        batches_.back().compile.flush_denormals = kind.second;
      }
      for (std::size_t k = 0; k < list.size(); ++k) batches_[first + k % count].cases.push_back(list[k]);
    }
  }

  Result<Done> compile() {
    tell("compiling " + std::to_string(batches_.size()) + " batches");
    const auto start = std::chrono::steady_clock::now();
    in_threads(batches_.size(), [&](std::size_t k) {
      batches_[k].binary = compile_cuda(source_of(batches_[k].cases), "batch.cu", batches_[k].compile);
    });
    report_.compilations = batches_.size();
    // A batch that does not compile: case by case, so that the failure has a name.
    for (const Batch& b : batches_) {
      if (b.binary || b.cases.size() < 2) continue;
      if (b.binary.errors()[0].code == Code::kNoCudaCompiler) return b.binary.errors();
      for (const DeviceCase* c : b.cases) {
        const Result<CudaBinary> alone = compile_cuda(source_of({c}), "case.cu", b.compile);
        ++report_.compilations;
        if (!alone) fail(c->index, alone.errors());
      }
    }
    report_.compile_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return Done{};
  }

  Result<Done> execute() {
    std::size_t done = 0;
    for (Batch& b : batches_) {
      Result<std::shared_ptr<const CudaLibrary>> library = std::shared_ptr<const CudaLibrary>();
      if (b.binary) library = CudaLibrary::load(std::move(*b.binary));
      if (!library) return library.errors();
      for (const DeviceCase* c : b.cases) {
        if (done++ % kProgressStep == 0)
          tell("ran " + std::to_string(done - 1) + " of " + std::to_string(made_.size()) + " cases");
        if (!*library) {
          if (report_.results[c->index].reason.empty()) fail(c->index, b.binary.errors());
        } else if (const Result<Done> ran = execute_one(*c, *library); !ran) {
          return ran;
        }
      }
    }
    return Done{};
  }

  // Only what ends the whole run is an error here.
  Result<Done> execute_one(const DeviceCase& c, const std::shared_ptr<const CudaLibrary>& library) {
    CudaRunRequest request;
    request.module = &c.module;
    request.symbols = c.made.symbols;
    request.tensors = &c.made.arguments;
    request.options.library = library;
    request.repeats = 0;
    const Result<CudaRunReport> run = run_on_cuda(request);
    if (run) {
      compare_case(c.made, run->outputs, &report_.results[c.index]);
    } else {
      if (run.errors()[0].code == Code::kCudaCall) return run.errors();  // the context is lost
      fail(c.index, run.errors());
    }
    return Done{};
  }

  const std::vector<GpuCase>& cases_;
  std::uint64_t seed_;
  const std::function<void(const std::string&)>& progress_;
  GpuMachine machine_;
  std::string arch_;
  std::vector<std::unique_ptr<DeviceCase>> made_;
  std::vector<Batch> batches_;
  std::mutex telling_;
  GpuRunReport report_;
};

}  // namespace

std::string batch_source(const std::vector<std::pair<std::size_t, const CudaModule*>>& modules) {
  // Headers that a module's own text would include inside its namespace.
  std::string text = "#if !defined(__CUDACC_RTC__)\n#include <stddef.h>\n#include <stdint.h>\n#endif\n";
  for (const auto& [number, module] : modules)
    text += "\nnamespace batched_" + std::to_string(number) + " {\n" + module->module.source.text + "\n}\n";
  return text;
}

Result<GpuRunReport> check_on_device(const std::vector<GpuCase>& cases, std::uint64_t seed,
                                     const std::function<void(const std::string&)>& progress) {
  return DeviceRun(cases, seed, progress).run();
}

}  // namespace facet
