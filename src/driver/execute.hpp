// Running a program on a target: what came out, how long it took, and on what it really ran.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "facet/host_tensor.hpp"
#include "facet/machine.hpp"
#include "facet/module.hpp"
#include "src/driver/pipeline.hpp"
#include "src/run/interpret/interpret.hpp"
#include "src/run/measure.hpp"
#include "src/run/verify.hpp"

namespace facet {

struct Execution {
  HostTensors outputs;
  std::string target;                 // what really ran: "openmp:avx512"
  std::string compiler;               // what made the code; "" for the reference
  std::string device;                 // cuda: device and driver
  std::vector<KernelReport> kernels;  // times are 0 without --time
  // With --time: "predicted", "object_code" or "counters", and why not all kernels have them.
  std::vector<std::pair<std::string, std::string>> unknown;
  std::optional<InterpretReport> watched;  // with --interpret: what the interpreter saw
  int threads = 1;
  double compile_ms = 0;
  double time_ms = 0;
};

// `tensors`: inputs and constants; not changed (targets work on copies of what they update in place).
Result<Execution> execute_reference(const Loaded& loaded, const HostTensors& tensors);
Result<Execution> execute_openmp(const Loaded& loaded, const Options& options, const Machine& machine,
                                 const HostTensors& tensors);
Result<Execution> execute_cuda(const Loaded& loaded, const Options& options, const Machine& machine,
                               const HostTensors& tensors);
// openmp or cuda, in the interpreter of loop trees instead of compiled.
Result<Execution> execute_interpreted(const Loaded& loaded, const Options& options, const Machine& machine,
                                      const HostTensors& tensors);

// What the argument struct of compiled code points to. An input that the program updates in place goes in as "NAME.given" and
// comes out as NAME, so the caller's tensor stays as it is. Outputs are poisoned: an element nobody writes is seen.
HostTensors argument_values(const Loaded& loaded, const std::vector<std::string>& inputs, const HostTensors& tensors);

// Memory that this process may still take: of the machine, of its control group, of its address space.
std::int64_t free_bytes();

// Inputs, constants and outputs must fit into the memory that is free; says how much was wanted otherwise.
Result<Done> check_memory(const Loaded& loaded);

}  // namespace facet
