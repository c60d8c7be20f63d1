// Integers only, so equality is exact.
#include "src/driver/fuzz_try.hpp"

#include "codegen/cuda/map.hpp"
#include "codegen/passes/passes.hpp"
#include "src/driver/execute.hpp"
#include "src/frontend/json.hpp"
#include "src/run/inputs.hpp"
#include "src/run/interpret/interpret.hpp"
#include "src/run/reference.hpp"

namespace facet {

namespace {

constexpr std::int64_t kMaxSteps = 50000000;  // of the interpreter; a program here takes some thousands

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

std::string interpret_trees(const FuzzPair& pair, const FuzzTrees& trees) {
  const LoopProgram* const list[] = {&trees.scanned, &trees.cpu, &trees.gpu};
  const char* const names[] = {"as scanned", "after the loop passes", "mapped to a GPU"};
  for (int i = 0; i < 3; ++i) {
    HostTensors buffers = argument_values(pair.loaded, list[i]->inputs, pair.tensors);
    InterpretOptions options;
    options.max_steps = kMaxSteps;
    const Result<InterpretReport> report = interpret(*list[i], pair.loaded.sizes, buffers, options);
    const std::string tree = std::string("the tree ") + names[i];
    if (!report) return tree + " cannot be interpreted: " + to_text(report.errors());
    if (!report->clean()) return tree + ": " + to_text(*report);
    for (const std::string& name : pair.loaded.program.outputs)
      if (buffers.at(name).bytes != pair.expected.at(name).bytes) return tree + ": " + name + " is wrong";
  }
  return "";
}

}  // namespace facet
