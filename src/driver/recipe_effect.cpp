// Each recipe goes the way of `schedule`: read for the program, holes completed. Then every kernel is counted.
#include "src/driver/recipe_effect.hpp"

#include <algorithm>
#include <cstdio>

#include "src/driver/build.hpp"
#include "src/driver/machines.hpp"
#include "src/driver/notices.hpp"

namespace facet {

namespace {

using Kernels = std::vector<PredictedKernel>;

std::string number(double x) {
  char text[40];
  std::snprintf(text, sizeof text, "%.4g", x);
  return text;
}

// Kernels run one after the other: times and bytes add, widths are those of the widest.
Prediction sum_of(const Kernels& kernels) {
  Prediction sum;
  for (const PredictedKernel& k : kernels) {
    const Prediction& p = k.prediction;
    sum.flops += p.flops;
    sum.instances += p.instances;
    sum.time_us += p.time_us;
    sum.levels = p.levels;
    sum.bytes.resize(std::max(sum.bytes.size(), p.bytes.size()));
    for (std::size_t l = 0; l < p.bytes.size(); ++l) sum.bytes[l] += p.bytes[l];
    sum.parallel_iterations = std::max(sum.parallel_iterations, p.parallel_iterations);
    sum.busy_threads = std::max(sum.busy_threads, p.busy_threads);
    sum.lanes = std::max(sum.lanes, p.lanes);
  }
  return sum;
}

JsonValue prediction_json(const Prediction& p) {
  JsonValue bytes = JsonValue::object();
  for (std::size_t l = 0; l < p.bytes.size(); ++l) bytes.add(p.levels[l], JsonValue::of(p.bytes[l]));
  JsonValue out = JsonValue::object();
  out.add("flops", JsonValue::of(p.flops)).add("instances", JsonValue::of(p.instances)).add("bytes", std::move(bytes));
  out.add("parallel_iterations", JsonValue::of(p.parallel_iterations)).add("threads", JsonValue::of(p.busy_threads));
  return out.add("lanes", JsonValue::of(p.lanes)).add("time_us", JsonValue::of(p.time_us));
}

std::string table(const Prediction& a, const Prediction& b) {
  std::vector<std::pair<std::string, std::pair<double, double>>> rows = {
      {"predicted us", {a.time_us, b.time_us}}, {"flops", {a.flops, b.flops}}, {"instances", {a.instances, b.instances}}};
  for (std::size_t l = 0; l < a.bytes.size() && l < b.bytes.size(); ++l)
    rows.push_back({"bytes to " + a.levels[l], {a.bytes[l], b.bytes[l]}});
  rows.push_back({"parallel iterations", {a.parallel_iterations, b.parallel_iterations}});
  rows.push_back({"threads", {a.busy_threads, b.busy_threads}});
  rows.push_back({"lanes", {a.lanes, b.lanes}});
  std::string text;
  for (const auto& [name, values] : rows) {
    const auto [x, y] = values;
    char line[160];
    std::snprintf(line, sizeof line, "  %-20s %12s %12s", name.c_str(), number(x).c_str(), number(y).c_str());
    text += line;
    if (x != y && x > 0) text += "   x " + number(y / x);
    text += "\n";
  }
  return text;
}

Result<Kernels> kernels_of(const Loaded& loaded, Options options, const Machine& machine, const std::string& recipe) {
  options.schedule = recipe;
  const ScheduleOptions schedule = schedule_options(loaded, options, machine);
  const Result<Planned> planned = make_plan(loaded, options, schedule);
  if (!planned) return planned.errors();
  warn_of_budget(planned->ledger, options);
  return predict_program(loaded.program, planned->recipe, schedule);
}

const PredictedKernel* same_ops(const Kernels& kernels, const std::vector<std::string>& ops) {
  for (const PredictedKernel& k : kernels)
    if (k.ops == ops) return &k;
  return nullptr;
}

}  // namespace

Result<RecipeEffect> compare_effects(const Options& options, const std::string& first, const std::string& second) {
  Options reading = options;
  reading.files = {options.program};
  const Result<Loaded> loaded = load_program(reading);
  if (!loaded) return loaded.errors();
  const Result<Machine> machine = planning_machine(options, false);
  if (!machine) return machine.errors();
  const Result<Kernels> a = kernels_of(*loaded, reading, *machine, first);
  if (!a) return a.errors();
  const Result<Kernels> b = kernels_of(*loaded, reading, *machine, second);
  if (!b) return b.errors();
  RecipeEffect effect;
  const Prediction all_a = sum_of(*a), all_b = sum_of(*b);
  effect.text = "what that changes, by the model (first, second):\n" + table(all_a, all_b);
  JsonValue kernels = JsonValue::array();
  for (const PredictedKernel& k : *a) {
    const PredictedKernel* other = same_ops(*b, k.ops);
    if (!other) continue;
    JsonValue one = JsonValue::object();
    one.add("ops", JsonValue::array_of(k.ops)).add("first", prediction_json(k.prediction));
    kernels.items.push_back(one.add("second", prediction_json(other->prediction)));
    if (k.prediction.time_us == other->prediction.time_us || a->size() == 1) continue;
    effect.text += "kernel " + k.name + ": " + number(k.prediction.time_us) + " us by " + k.prediction.bound + ", then " +
                   number(other->prediction.time_us) + " us by " + other->prediction.bound + "\n";
  }
  effect.json = JsonValue::object();
  effect.json.add("first", prediction_json(all_a)).add("second", prediction_json(all_b)).add("kernels", std::move(kernels));
  return effect;
}

}  // namespace facet
