// What a measured time means, per kernel: GFLOP/s, GB/s, the share of the roofline bound, beside the model's prediction, the
// object code and the hardware's counters. docs/reports.md says what each figure is.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codegen/openmp/object_code.hpp"
#include "facet/machine.hpp"
#include "facet/module.hpp"
#include "facet/program.hpp"
#include "facet/result.hpp"

namespace facet {

// What the scheduler's model expects of a kernel.
struct PredictedCost {
  double time_ms = 0;
  double cycles = 0;  // of one thread, at the clock that the model counts with
  double flops = 0;
  std::vector<std::pair<std::string, double>> bytes;  // lines moved to and from "L2", "L3", "memory"
  std::string bound_by;                               // "arithmetic" or one of these
  double threads = 1, lanes = 1;
};

// What the hardware counted during one run of a kernel.
struct MeasuredCounts {
  double cycles = 0;      // of the thread that took most
  double miss_bytes = 0;  // lines that the last cache did not have, of all threads
};

// A line of the report (contract, `run --json`). Figures that are not known are 0.
struct KernelReport {
  std::string name;
  std::vector<std::string> ops;
  double time_ms = 0;
  double flops = 0;  // counted, not measured
  double bytes = 0;  // least bytes moved: inputs once, outputs once
  double gflops = 0;
  double gbps = 0;
  double bound_ms = 0;           // the roofline's: flops at the peak or bytes at the speed of a copy, what takes longer
  std::string bound_by;          // "compute" or "memory"; "" where no ceiling is known
  double fraction_of_bound = 0;  // time of the roofline bound over the measured time; above 1 the data came from caches
  int registers = -1;            // a GPU kernel's, as the driver reports them; -1: not known
  int local_bytes = -1;          // per thread: spills and indexed arrays
  int shared_bytes = -1;         // static, per block
  std::optional<PredictedCost> predicted;
  std::optional<ObjectCode> object_code;
  std::optional<MeasuredCounts> counted;
};

// Upper limits of a machine: the threads' (or the GPU's) f32 GFLOP/s, and copy GB/s of all cores; 0 is unknown.
struct Ceilings {
  double gflop_s = 0;
  double gb_s = 0;
};
Ceilings ceilings_of(const CpuMachine& machine, int threads);
Ceilings ceilings_of(const GpuMachine& machine);

// The least time of so much work under the ceilings, and which of them sets it ("compute", "memory", "" where none is known).
// Multiply-adds of 8-byte numbers go at half the rate of 4-byte ones.
struct RooflineBound {
  double time_ms = 0;
  std::string by;
};
RooflineBound roofline_bound(double flops, double bytes, int flop_bytes, const Ceilings& ceilings);

// Does the kernel run for these sizes? Recipes with several variants have kernels that do not.
bool runs_for(const KernelInfo& kernel, const SymbolValues& symbols);

KernelReport kernel_report(const KernelInfo& kernel, const SymbolValues& symbols, double time_ms, const Ceilings& ceilings);

struct TimingOptions {
  int warm_up = 2;
  int least_repeats = 5;
  int most_repeats = 1000;
  double least_ms = 200;  // repeats until both this and least_repeats are reached
};
struct TimingSeries {
  double median_ms = 0;
  double least_ms = 0;
  int repeats = 0;
};

double median(std::vector<double> values);

// Calls `once` (which returns its own time in ms, or fails) until the options are satisfied.
Result<TimingSeries> measure(const std::function<Result<double>()>& once, const TimingOptions& options);

// The table of a report as text: one line per kernel, columns aligned; below it what is known of each beyond times.
std::string to_text(const std::vector<KernelReport>& kernels);

}  // namespace facet
