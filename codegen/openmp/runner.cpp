// Symbol lookup, the argument block, statuses and medians.
#include "codegen/openmp/runner.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <new>

#include "codegen/openmp/guard.hpp"

namespace facet {

namespace {

static_assert(sizeof(void*) == 8, "the argument block holds pointers as 64-bit words");

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <class F>
bool find(const SymbolLookup& lookup, const std::string& name, F** function) {
  *function = reinterpret_cast<F*>(lookup(name));
  return *function != nullptr;
}

// Bytes nobody would compute: NaN in every float type.
void poison(HostTensor& t) {
  std::fill(t.bytes.begin(), t.bytes.end(), std::byte{is_float(t.dtype) ? std::uint8_t{0xff} : std::uint8_t{0xa5}});
}

std::string meaning(int status) {
  static const char* const texts[] = {"ok",
                                      "a symbol is outside its range or breaks an assumption",
                                      "an array is missing",
                                      "no workspace",
                                      "no such kernel",
                                      "device error"};
  return status >= 0 && status < 6 ? texts[status] : "unknown status";
}

}  // namespace

Result<OpenmpRunner> OpenmpRunner::load(const Module& module, const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return diagnose(Code::kModuleUnloadable, {}, {library, dlerror()});
  return from_lookup(module, [handle](const std::string& name) { return dlsym(handle, name.c_str()); });
}

Result<OpenmpRunner> OpenmpRunner::from_lookup(const Module& module, const SymbolLookup& lookup) {
  OpenmpRunner r;
  r.module_ = module;
  const std::string prefix = "facet_" + module.name + "_";
  int (*kernel_count)() = nullptr;
  const bool found = find(lookup, prefix + "workspace_bytes", &r.workspace_bytes_) &&
                     find(lookup, prefix + "prepare", &r.prepare_) && find(lookup, prefix + "run", &r.run_) &&
                     find(lookup, prefix + "destroy", &r.destroy_) && find(lookup, prefix + "run_kernel", &r.run_kernel_) &&
                     find(lookup, prefix + "kernel_count", &kernel_count);
  if (!found) return diagnose(Code::kModuleUnloadable, {}, {module.name, "an exported function is missing"});
  r.kernel_count_ = kernel_count();
  find(lookup, "omp_set_num_threads", &r.omp_set_num_threads_);  // absent without OpenMP: one thread
  return r;
}

OpenmpRunner::~OpenmpRunner() {
  if (bound_ && destroy_ && !arguments_.empty()) destroy_(arguments_.data(), workspace());
}

void OpenmpRunner::set_threads(int threads) {
  if (threads > 0 && omp_set_num_threads_) omp_set_num_threads_(threads);
}

Result<Done> OpenmpRunner::status(const std::string& verb, int status) const {
  if (status == 0) return Done{};
  return diagnose(Code::kKernelStatus, {}, {"facet_" + module_.name + "_" + verb, std::to_string(status), meaning(status)});
}

Result<Done> OpenmpRunner::bind(const SymbolValues& symbols, HostTensors* tensors) {
  arguments_.clear();
  for (const Symbol& s : module_.symbols) {
    const auto given = symbols.find(s.name);
    arguments_.push_back(given == symbols.end() ? s.value : given->second);
  }
  SymbolValues values;
  for (std::size_t i = 0; i < module_.symbols.size(); ++i) values[module_.symbols[i].name] = arguments_[i];
  for (const ArgumentInfo& a : module_.arguments) {
    if (!tensors->count(a.tensor)) {
      std::vector<std::int64_t> shape;
      for (const ExprPtr& e : a.shape) shape.push_back(evaluate_index(e, values));
      try {
        HostTensor& made = (*tensors)[a.tensor] = make_host_tensor(a.dtype, shape);
        poison(made);
      } catch (const std::bad_alloc&) { return diagnose(Code::kOutOfMemory, {}, {"tensor " + a.tensor, "too many"}); }
    }
    arguments_.push_back(reinterpret_cast<std::intptr_t>((*tensors)[a.tensor].bytes.data()));
  }
  if (arguments_.empty()) arguments_.push_back(0);
  const std::size_t bytes = workspace_bytes_(arguments_.data());
  if (bytes > static_cast<std::uint64_t>(memory_limit_))
    return diagnose(Code::kOutOfMemory, {}, {"the workspace of " + module_.name, std::to_string(bytes)});
  if (Result<Done> done = allocate(bytes); !done) return done;
  bound_ = true;
  return guarded("prepare", prepare_(arguments_.data(), workspace()));
}

std::byte* OpenmpRunner::workspace() { return workspace_.data() + kGuardBytes; }

std::int64_t OpenmpRunner::workspace_bytes() const {
  return workspace_.empty() ? 0 : static_cast<std::int64_t>(workspace_.size() - 2 * kGuardBytes);
}

Result<Done> OpenmpRunner::allocate(std::size_t bytes) {
  try {
    workspace_.assign(bytes + 2 * kGuardBytes, std::byte{0xff});  // poison: what a kernel reads before it is written is NaN
  } catch (const std::exception&) {
    return diagnose(Code::kOutOfMemory, {}, {"the workspace of " + module_.name, std::to_string(bytes)});
  }
  set_guard(workspace_.data());
  set_guard(workspace() + bytes);
  return Done{};
}

Result<Done> OpenmpRunner::guarded(const std::string& verb, int status) const {
  if (!is_guard(workspace_.data()) || !is_guard(workspace_.data() + workspace_.size() - kGuardBytes))
    return diagnose(Code::kWroteOutside, {}, {"facet_" + module_.name + "_" + verb, "its workspace"});
  return this->status(verb, status);
}

Result<Done> OpenmpRunner::run() { return guarded("run", run_(arguments_.data(), workspace())); }

Result<Done> OpenmpRunner::run_kernel(int kernel) {
  return guarded("run_kernel", run_kernel_(arguments_.data(), workspace(), kernel));
}

Result<Timing> OpenmpRunner::measure(int least_repeats, double least_ms) {
  Timing timing;
  if (Result<Done> first = run(); !first) return first.errors();
  std::vector<double> times;
  const double begin = now_ms();
  while (static_cast<int>(times.size()) < least_repeats || now_ms() - begin < least_ms) {
    const double start = now_ms();
    if (Result<Done> done = run(); !done) return done.errors();
    times.push_back(now_ms() - start);
  }
  timing.repeats = static_cast<int>(times.size());
  timing.run_ms = median(times);
  timing.least_ms = *std::min_element(times.begin(), times.end());
  for (int k = 0; k < kernel_count_; ++k) {
    std::vector<double> alone;
    for (int i = 0; i < std::min(timing.repeats, 20); ++i) {
      const double start = now_ms();
      if (Result<Done> done = run_kernel(k); !done) return done.errors();
      alone.push_back(now_ms() - start);
    }
    timing.kernel_ms.push_back(median(alone));
  }
  return timing;
}

}  // namespace facet
