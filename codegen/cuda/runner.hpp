// CudaRunner: compiles a module for the device at hand and runs it through the CUDA driver.
//
// Every call is checked; a launch's error is seen at the latest by the synchronisation that follows it. One device (the first),
// one stream, plain device memory. Outputs are filled with 0xFF bytes before they are computed, so nothing unwritten passes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "codegen/cuda/compile.hpp"
#include "codegen/cuda/module.hpp"
#include "facet/host_tensor.hpp"
#include "facet/machine.hpp"
#include "facet/result.hpp"

namespace facet {

struct CudaDevice {
  std::string name;    // "NVIDIA H200"
  std::string driver;  // "CUDA 13.0"
  std::string arch;    // "sm_90"
  std::int64_t memory_bytes = 0;
  GpuMachine machine;
};

// The first device's facts. kNoGpu with the reason when there is none.
Result<CudaDevice> cuda_device();

// Machine code loaded on the device. Whoever holds one also holds the device's context: making a context anew takes some
// tenths of a second, so a caller with many modules keeps one library (or more) while they run.
class CudaLibrary {
 public:
  // Errors: kNoGpu, kCudaCall.
  static Result<std::shared_ptr<const CudaLibrary>> load(CudaBinary binary);
  ~CudaLibrary();
  CudaLibrary(const CudaLibrary&) = delete;
  CudaLibrary& operator=(const CudaLibrary&) = delete;

  const CudaBinary& binary() const;

 private:
  friend class CudaRunner;
  struct State;
  explicit CudaLibrary(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

struct CudaRunOptions {
  CudaCompileOptions compile;                  // arch "" takes the device's
  std::shared_ptr<const CudaLibrary> library;  // holds the module's kernels already, perhaps among others
};

// What the driver says about a loaded kernel.
struct CudaKernelFacts {
  std::string entry;
  int registers = 0;
  int local_bytes = 0;   // per thread; spills and indexed arrays
  int shared_bytes = 0;  // static
};

class CudaRunner {
 public:
  // Compiles, loads, allocates every buffer for these sizes. Errors: kNoGpu, kNoCudaCompiler, kCudaCompile, kCudaCall (out of
  // memory among them, naming the size), kGpuLaunch (a block or its shared memory exceeds the device).
  static Result<std::unique_ptr<CudaRunner>> load(const CudaModule& module, const SymbolValues& symbols,
                                                  const CudaRunOptions& options);
  ~CudaRunner();

  // Copies inputs, in-out buffers and weights (all must be there, with the declared element type) and poisons outputs and
  // workspace.
  Result<Done> upload(const HostTensors& tensors);
  Result<Done> prepare();                       // runs the prepare kernels
  Result<Done> run();                           // all kernels in order; returns when they have ended
  Result<Done> download(HostTensors* outputs);  // outputs and in-out buffers

  // Median of `repeats` runs after `warm_up` ones, by events; of the whole program, and of each kernel on its own.
  Result<double> time_ms(int warm_up, int repeats);
  Result<std::vector<double>> kernel_times_ms(int warm_up, int repeats);

  const CudaDevice& device() const;
  const CudaBinary& binary() const;
  const std::vector<CudaKernelFacts>& kernel_facts() const;

 private:
  struct State;
  explicit CudaRunner(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace facet
