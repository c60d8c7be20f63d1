// Calls a compiled module on host tensors, and times it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "facet/host_tensor.hpp"
#include "facet/module.hpp"
#include "facet/result.hpp"

namespace facet {

// Finds an exported function or a function of the OpenMP runtime; null when there is none.
using SymbolLookup = std::function<void*(const std::string&)>;

struct Timing {
  double run_ms = 0;              // median of whole runs
  double least_ms = 0;            // best whole run
  std::vector<double> kernel_ms;  // median of each kernel alone
  int repeats = 0;
};

// One module with its workspace. Not copied: it owns the workspace and names the caller's tensors.
class OpenmpRunner {
 public:
  // Opens a shared library made by compile_module. It stays open for the life of the process: OpenMP's threads may outlive a
  // call.
  static Result<OpenmpRunner> load(const Module& module, const std::string& library);
  // The same for code that is in memory already (the in-process compiler).
  static Result<OpenmpRunner> from_lookup(const Module& module, const SymbolLookup& lookup);

  OpenmpRunner(OpenmpRunner&&) = default;
  OpenmpRunner& operator=(OpenmpRunner&&) = default;
  ~OpenmpRunner();

  // Threads of the following calls; 0 leaves the runtime's own choice.
  void set_threads(int threads);
  // The most bytes that the workspace of following binds may take; beyond, they answer kOutOfMemory before touching any.
  void set_memory_limit(std::int64_t bytes) { memory_limit_ = bytes; }
  // Fixes sizes and arrays, allocates the workspace and packs constants. `tensors` holds every input and weight argument;
  // missing outputs are made, filled with NaN (floats) or 0xA5 bytes, so that elements nobody writes are seen. It must stay
  // alive and unmoved. Tensors that are updated in place are the caller's own.
  Result<Done> bind(const SymbolValues& symbols, HostTensors* tensors);
  Result<Done> run();
  Result<Done> run_kernel(int kernel);
  int kernel_count() const { return kernel_count_; }
  std::int64_t workspace_bytes() const;
  // Runs at least `least_repeats` times and `least_ms` milliseconds after one run that is not counted, then each kernel alone.
  Result<Timing> measure(int least_repeats, double least_ms);

 private:
  OpenmpRunner() = default;
  std::byte* workspace();
  Result<Done> allocate(std::size_t bytes);
  Result<Done> status(const std::string& verb, int status) const;
  // The same, and kWroteOutside where a guard has changed.
  Result<Done> guarded(const std::string& verb, int status) const;

  Module module_;
  std::vector<std::int64_t> arguments_;  // the args struct: symbols, then pointers, 8 bytes each
  std::vector<std::byte> workspace_;     // between two guards
  int kernel_count_ = 0;
  std::int64_t memory_limit_ = INT64_MAX;
  bool bound_ = false;
  std::size_t (*workspace_bytes_)(const void*) = nullptr;
  int (*prepare_)(const void*, void*) = nullptr;
  int (*run_)(const void*, void*) = nullptr;
  int (*destroy_)(const void*, void*) = nullptr;
  int (*run_kernel_)(const void*, void*, int) = nullptr;
  void (*omp_set_num_threads_)(int) = nullptr;
};

}  // namespace facet
