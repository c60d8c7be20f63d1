// What a measured time means: GFLOP/s, GB/s and the share of the roofline bound, per kernel.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "facet/machine.hpp"
#include "facet/module.hpp"
#include "facet/program.hpp"
#include "facet/result.hpp"

namespace facet {

// A line of the report (contract, `run --json`). Figures that are not known are 0.
struct KernelReport {
  std::string name;
  std::vector<std::string> ops;
  double time_ms = 0;
  double flops = 0;  // counted, not measured
  double bytes = 0;  // least bytes moved: inputs once, outputs once
  double gflops = 0;
  double gbps = 0;
  double fraction_of_bound = 0;  // time of the roofline bound over the measured time; above 1 the data came from caches
  int registers = -1;            // a GPU kernel's, as the driver reports them; -1: not known
  int local_bytes = -1;          // per thread: spills and indexed arrays
  int shared_bytes = -1;         // static, per block
};

// Upper limits of a machine: all cores' (or the GPU's) f32 GFLOP/s and copy GB/s; 0 is unknown.
struct Ceilings {
  double gflop_s = 0;
  double gb_s = 0;
};
Ceilings ceilings_of(const CpuMachine& machine);
Ceilings ceilings_of(const GpuMachine& machine);

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

// The table of a report as text: one line per kernel, columns aligned.
std::string to_text(const std::vector<KernelReport>& kernels);

}  // namespace facet
