// Each part is asked by itself: where one has no answer the others still have theirs.
#include "src/driver/kernel_facts.hpp"

#include <algorithm>
#include <chrono>

#include "polyhedral/model_clock.hpp"
#include "src/run/counters.hpp"

namespace facet {

namespace {

constexpr int kCountedRuns = 5;
constexpr double kLeastSeconds = 1;  // for a prediction, where planning has used up the time budget
constexpr double kLineBytes = 64;    // of what a counted miss brings in

PredictedCost cost_of(const Prediction& p) {
  PredictedCost cost;
  cost.time_ms = p.time_us * 1e-3;
  cost.cycles = p.time_us * kModelCyclesPerUs;
  cost.flops = p.flops;
  for (std::size_t l = 0; l < p.bytes.size(); ++l) cost.bytes.emplace_back(p.levels[l], p.bytes[l]);
  cost.bound_by = p.bound;
  cost.threads = p.busy_threads;
  cost.lanes = p.lanes;
  return cost;
}

void add_predictions(const Loaded& loaded, const Options& options, const Machine& machine, const Built& built, Execution* e) {
  Options rest = options;
  rest.time_budget_s = std::max(kLeastSeconds, options.time_budget_s - built.analysis_ms * 1e-3);
  const Result<std::vector<PredictedKernel>> predicted =
      predict_program(loaded.program, built.plan.recipe, schedule_options(loaded, rest, machine));
  if (!predicted) return e->unknown.emplace_back("predicted", predicted.errors()[0].message), void();
  for (KernelReport& k : e->kernels)
    for (const PredictedKernel& p : *predicted)
      if (p.name == k.name && p.ops == k.ops) k.predicted = cost_of(p.prediction);
  if (std::any_of(e->kernels.begin(), e->kernels.end(), [](const KernelReport& k) { return !k.predicted; }))
    e->unknown.emplace_back("predicted", "a kernel is not one of the recipe's groups");
}

void add_object_code(const Loaded& loaded, const Options& options, const Machine& machine, const Module& module, Execution* e) {
  const Result<Assembly> assembly = assembly_for_host(loaded, options, machine, module);
  if (!assembly) return e->unknown.emplace_back("object_code", assembly.errors()[0].message), void();
  const std::vector<std::optional<ObjectCode>> codes = object_code(module, assembly->text);
  bool all = true;
  std::size_t at = 0;
  for (std::size_t k = 0; k < codes.size(); ++k) {
    if (!runs_for(module.kernels[k], loaded.sizes)) continue;
    e->kernels[at++].object_code = codes[k];
    all = all && codes[k];
  }
  if (!all)
    e->unknown.emplace_back("object_code",
                            "a kernel has no function of its own in the assembly (inlined, or no x86-64 processor)");
}

void add_counters(const Loaded& loaded, Compiled* compiled, Execution* e) {
  std::size_t at = 0;
  for (std::size_t k = 0; k < compiled->module.kernels.size(); ++k) {
    if (!runs_for(compiled->module.kernels[k], loaded.sizes)) continue;
    ThreadCounters counters({cycles_event(), last_level_misses_event()});
    if (!counters.problem().empty()) return e->unknown.emplace_back("counters", counters.problem()), void();
    counters.start();
    for (int i = 0; i < kCountedRuns; ++i)
      if (!compiled->runner.run_kernel(static_cast<int>(k)))
        return e->unknown.emplace_back("counters", "the kernel failed"), void();
    const std::vector<EventCount> counts = counters.stop();
    e->kernels[at++].counted = MeasuredCounts{counts[0].most / kCountedRuns, counts[1].all / kCountedRuns * kLineBytes};
  }
}

}  // namespace

void add_kernel_facts(const Loaded& loaded, const Options& options, const Machine& machine, Compiled* compiled, Execution* e) {
  add_predictions(loaded, options, machine, compiled->built, e);
  add_object_code(loaded, options, machine, compiled->module, e);
  add_counters(loaded, compiled, e);
}

}  // namespace facet
