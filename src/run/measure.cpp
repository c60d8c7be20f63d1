// Repeats, medians and the roofline.
#include "src/run/measure.hpp"

#include <algorithm>
#include <cstdio>

namespace facet {

Ceilings ceilings_of(const CpuMachine& machine) { return {machine.peak_f32_gflop_s * machine.cores, machine.copy_gb_s}; }
Ceilings ceilings_of(const GpuMachine& machine) { return {machine.peak_f32_gflop_s, machine.copy_gb_s}; }

bool runs_for(const KernelInfo& kernel, const SymbolValues& symbols) {
  return !kernel.when || evaluate_index(kernel.when, symbols) != 0;
}

KernelReport kernel_report(const KernelInfo& kernel, const SymbolValues& symbols, double time_ms, const Ceilings& ceilings) {
  KernelReport report;
  report.name = kernel.name;
  report.ops = kernel.ops;
  report.time_ms = time_ms;
  if (kernel.flops) report.flops = static_cast<double>(evaluate_index(kernel.flops, symbols));
  if (kernel.bytes) report.bytes = static_cast<double>(evaluate_index(kernel.bytes, symbols));
  if (time_ms <= 0) return report;
  report.gflops = report.flops / time_ms * 1e-6;
  report.gbps = report.bytes / time_ms * 1e-6;
  const double compute_ms = ceilings.gflop_s > 0 ? report.flops / ceilings.gflop_s * 1e-6 : 0;
  const double memory_ms = ceilings.gb_s > 0 ? report.bytes / ceilings.gb_s * 1e-6 : 0;
  report.fraction_of_bound = std::max(compute_ms, memory_ms) / time_ms;
  return report;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const std::size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle), values.end());
  const double upper = values[middle];
  if (values.size() % 2 == 1) return upper;
  return (*std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle)) + upper) / 2;
}

Result<TimingSeries> measure(const std::function<Result<double>()>& once, const TimingOptions& options) {
  for (int i = 0; i < options.warm_up; ++i)
    if (Result<double> time = once(); !time) return time.errors();
  std::vector<double> times;
  double total = 0;
  while (static_cast<int>(times.size()) < options.most_repeats &&
         (static_cast<int>(times.size()) < options.least_repeats || total < options.least_ms)) {
    Result<double> time = once();
    if (!time) return time.errors();
    times.push_back(*time);
    total += *time;
  }
  TimingSeries series;
  series.repeats = static_cast<int>(times.size());
  series.median_ms = median(times);
  series.least_ms = times.empty() ? 0 : *std::min_element(times.begin(), times.end());
  return series;
}

std::string to_text(const std::vector<KernelReport>& kernels) {
  std::size_t width = 6;
  for (const KernelReport& k : kernels) width = std::max(width, k.name.size());
  char line[256];
  std::snprintf(line, sizeof line, "%-*s %12s %10s %10s %8s  %s\n", static_cast<int>(width), "kernel", "time ms", "GFLOP/s",
                "GB/s", "of bound", "ops");
  std::string text = line;
  for (const KernelReport& k : kernels) {
    std::string ops;
    for (const std::string& op : k.ops) ops += (ops.empty() ? "" : " ") + op;
    std::snprintf(line, sizeof line, " %12.4f %10.2f %10.2f %7.0f%%  ", k.time_ms, k.gflops, k.gbps, 100 * k.fraction_of_bound);
    text += k.name + std::string(width - k.name.size(), ' ') + line + ops + "\n";
  }
  return text;
}

}  // namespace facet
