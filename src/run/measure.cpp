// Repeats, medians and the roofline.
#include "src/run/measure.hpp"

#include <algorithm>
#include <cstdio>

namespace facet {

Ceilings ceilings_of(const CpuMachine& machine, int threads) {
  return {machine.peak_f32_gflop_s * std::min(threads, machine.cores), machine.copy_gb_s};
}
Ceilings ceilings_of(const GpuMachine& machine) { return {machine.peak_f32_gflop_s, machine.copy_gb_s}; }

RooflineBound roofline_bound(double flops, double bytes, int flop_bytes, const Ceilings& ceilings) {
  const double compute_ms = ceilings.gflop_s > 0 ? flops / (ceilings.gflop_s * 4 / flop_bytes) * 1e-6 : 0;
  const double memory_ms = ceilings.gb_s > 0 ? bytes / ceilings.gb_s * 1e-6 : 0;
  if (compute_ms <= 0 && memory_ms <= 0) return {};
  return compute_ms > memory_ms ? RooflineBound{compute_ms, "compute"} : RooflineBound{memory_ms, "memory"};
}

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
  const RooflineBound bound = roofline_bound(report.flops, report.bytes, kernel.flop_bytes, ceilings);
  report.bound_ms = bound.time_ms;
  report.bound_by = bound.by;
  if (time_ms <= 0) return report;
  report.gflops = report.flops / time_ms * 1e-6;
  report.gbps = report.bytes / time_ms * 1e-6;
  report.fraction_of_bound = bound.time_ms / time_ms;
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

namespace {

std::string format(const char* pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

std::string size_text(double bytes) {
  if (bytes < 1e5) return format("%.4g KB", bytes * 1e-3);
  return bytes < 1e8 ? format("%.4g MB", bytes * 1e-6) : format("%.4g GB", bytes * 1e-9);
}

// "expected 8.4 MB by L2, 8.4 MB by L3, 8.4 MB by memory, bound by memory; 512-bit vectors in 2 of 3 innermost loops, no
// spills"
std::string details(const KernelReport& k) {
  std::vector<std::string> parts;
  if (k.predicted) {
    std::string text = "by the model";
    for (const auto& [level, bytes] : k.predicted->bytes)
      text += (text.back() == 'l' ? " " : ", ") + size_text(bytes) + " to and from " + level;
    parts.push_back(text + ", bound by " + k.predicted->bound_by);
  }
  if (k.object_code) parts.push_back(to_text(*k.object_code));
  if (k.registers >= 0)
    parts.push_back(
        std::to_string(k.registers) + " registers, " +
        (k.local_bytes > 0 ? std::to_string(k.local_bytes) + " bytes a thread spilled or in local arrays" : "no spills"));
  if (k.counted) {
    std::string text = format("counted %.4g cycles", k.counted->cycles);
    if (k.predicted) text += format(" (by the model %.4g)", k.predicted->cycles);
    parts.push_back(text + ", " + size_text(k.counted->miss_bytes) + " of last-level misses");
  }
  std::string all;
  for (const std::string& part : parts) all += (all.empty() ? "" : "; ") + part;
  return all;
}

}  // namespace

std::string to_text(const std::vector<KernelReport>& kernels) {
  std::size_t width = 6;
  for (const KernelReport& k : kernels) width = std::max(width, k.name.size());
  char line[256];
  std::snprintf(line, sizeof line, "%-*s %12s %10s %10s %10s %8s %-7s  %s\n", static_cast<int>(width), "kernel", "time ms",
                "model ms", "GFLOP/s", "GB/s", "of bound", "by", "ops");
  std::string text = line, below;
  for (const KernelReport& k : kernels) {
    std::string ops;
    for (const std::string& op : k.ops) ops += (ops.empty() ? "" : " ") + op;
    std::snprintf(line, sizeof line, " %12.4f %10s %10.2f %10.2f %7.0f%% %-7s  ", k.time_ms,
                  k.predicted ? format("%.4f", k.predicted->time_ms).c_str() : "-", k.gflops, k.gbps, 100 * k.fraction_of_bound,
                  k.bound_by.c_str());
    text += k.name + std::string(width - k.name.size(), ' ') + line + ops + "\n";
    if (const std::string more = details(k); !more.empty()) below += "  " + k.name + ": " + more + "\n";
  }
  return text + below;
}

}  // namespace facet
