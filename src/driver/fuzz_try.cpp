// Integers only, so equality is exact.
#include "src/driver/fuzz_try.hpp"

#include <algorithm>
#include <optional>

#include "codegen/cuda/map.hpp"
#include "codegen/passes/passes.hpp"
#include "src/driver/execute.hpp"
#include "src/frontend/json.hpp"
#include "src/run/inputs.hpp"
#include "src/run/interpret/interpret.hpp"
#include "src/run/reference.hpp"

namespace facet {

namespace {

constexpr double kBudgetS = 10;          // what the verbs give a program; scanning tries its dearest ways for a share of that
constexpr std::int64_t kMoreSteps = 20;  // times the limit at the smallest sizes: there is nothing to fall back on

// Symbols halved, or less where that chooses other variants; none at the smallest.
std::optional<SymbolValues> smaller_sizes(const Recipe& recipe, const SymbolValues& sizes) {
  const auto chooses_alike = [&](const SymbolValues& other) {
    return std::all_of(recipe.variants.begin(), recipe.variants.end(), [&](const Variant& v) {
      return !v.condition || evaluate_index(v.condition, sizes) == evaluate_index(v.condition, other);
    });
  };
  SymbolValues halved = sizes;
  bool smaller = false;
  for (auto& [name, value] : halved) {
    smaller = smaller || value > 1;
    value = std::max<std::int64_t>(1, value / 2);
  }
  if (!smaller) return std::nullopt;
  SymbolValues tried = halved;
  while (!chooses_alike(tried)) {
    bool smallest = true;
    for (auto& [name, value] : tried) {
      smallest = smallest && value == 1;
      value = std::max<std::int64_t>(1, value - 1);
    }
    if (smallest) return halved;
  }
  return tried;
}

Result<FuzzPair> at_sizes(const FuzzPair& pair, const SymbolValues& sizes) {
  std::vector<std::string> set;
  for (const auto& [name, value] : sizes) set.push_back(name + "=" + std::to_string(value));
  return fuzz_pair(pair.program_text, pair.recipe, set, pair.seed, pair.options.machine);
}

// Like interpret_trees, at the pair's own sizes; none when that takes more steps.
std::optional<std::string> interpret_at(const FuzzPair& pair, const FuzzTrees& trees, std::int64_t max_steps) {
  const LoopProgram* const list[] = {&trees.scanned, &trees.cpu, &trees.gpu};
  const char* const names[] = {"as scanned", "after the loop passes", "mapped to a GPU"};
  for (int i = 0; i < 3; ++i) {
    HostTensors buffers = argument_values(pair.loaded, list[i]->inputs, pair.tensors);
    InterpretOptions options;
    options.max_steps = max_steps;
    const Result<InterpretReport> report = interpret(*list[i], pair.loaded.sizes, buffers, options);
    const std::string tree = std::string("the tree ") + names[i];
    if (!report && report.errors()[0].code == Code::kInterpretSteps) return std::nullopt;
    if (!report) return tree + " cannot be interpreted: " + to_text(report.errors());
    if (!report->clean()) return tree + ": " + to_text(*report);
    for (const std::string& name : pair.loaded.program.outputs)
      if (buffers.at(name).bytes != pair.expected.at(name).bytes) return tree + ": " + name + " is wrong";
  }
  return "";
}

}  // namespace

Result<FuzzPair> fuzz_pair(const std::string& program_text, Recipe recipe, const std::vector<std::string>& set,
                           std::uint64_t seed, const Machine& machine) {
  FuzzPair pair;
  pair.seed = seed;
  pair.program_text = program_text;
  pair.recipe = std::move(recipe);
  Result<Program> program = check_text(program_text, "program");
  if (!program) return program.errors();
  pair.loaded.program = std::move(*program);
  if (const Result<Done> bound = bind_conditions(pair.loaded.program, &pair.recipe); !bound) return bound.errors();
  const Result<SymbolValues> sizes = sizes_in_force(pair.loaded.program, set);
  if (!sizes) return sizes.errors();
  pair.loaded.sizes = *sizes;
  pair.options.machine = machine;
  pair.options.time_budget_s = kBudgetS;
  pair.options.sizes = *sizes;
  Result<HostTensors> tensors = make_inputs(pair.loaded.program, *sizes, seed, {});
  if (!tensors) return tensors.errors();
  pair.tensors = std::move(*tensors);
  const Result<ReferenceRun> reference = run_reference(pair.loaded.program, *sizes, pair.tensors);
  if (!reference) return reference.errors();
  pair.expected = outputs_of(*reference);
  return pair;
}

Result<FuzzPair> random_pair(std::uint64_t seed, FuzzRandom& random, const Machine& machine, bool for_cpu) {
  const FuzzProgram made = random_program(random);
  Result<FuzzPair> pair = fuzz_pair(made.json, random_recipe(made, random), {}, seed, machine);
  if (pair && !for_cpu && seed % 2 != 0) pair->options.target = "cuda";  // holes are completed for it
  return pair;
}

Result<FuzzTrees> fuzz_trees(const FuzzPair& pair) {
  Ledger ledger;
  const Result<Recipe> complete = plan(pair.loaded.program, pair.recipe, pair.options, ledger);
  if (!complete) return complete.errors();
  Result<Scheduled> scheduled = schedule_program(pair.loaded.program, *complete, pair.options);
  if (!scheduled) return scheduled.errors();
  FuzzTrees trees;
  trees.cpu = lower_for_cpu(scheduled->loops, pair.options.machine.cpu, nullptr);
  trees.gpu = map_to_gpu(scheduled->loops, pair.options.machine.gpu, nullptr);
  trees.scanned = std::move(scheduled->loops);
  return trees;
}

std::string interpret_trees(const FuzzPair& pair, const FuzzTrees& trees, bool* cut_down, std::int64_t max_steps) {
  std::optional<std::string> what = interpret_at(pair, trees, max_steps);
  for (SymbolValues sizes = pair.loaded.sizes; !what;) {
    if (cut_down) *cut_down = true;
    const std::optional<SymbolValues> smaller = smaller_sizes(pair.recipe, sizes);
    if (!smaller) return "too many steps for the interpreter even at the smallest sizes";
    sizes = *smaller;
    const Result<FuzzPair> small = at_sizes(pair, sizes);
    if (!small) return to_text(small.errors());
    what = interpret_at(*small, trees, smaller_sizes(pair.recipe, sizes) ? max_steps : kMoreSteps * max_steps);
  }
  return *what;
}

}  // namespace facet
