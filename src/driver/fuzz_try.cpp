// Integers only, so equality is exact.
#include "src/driver/fuzz_try.hpp"

#include <algorithm>

#include "codegen/cuda/map.hpp"
#include "codegen/passes/passes.hpp"
#include "src/driver/execute.hpp"
#include "src/driver/fuzz_maker.hpp"
#include "src/driver/replay.hpp"
#include "src/frontend/json.hpp"
#include "src/run/inputs.hpp"
#include "src/run/interpret/interpret.hpp"
#include "src/run/reference.hpp"

namespace facet {

namespace {

constexpr std::int64_t kReplaySteps = 2000000;  // more is replayed as two instances
constexpr std::int64_t kMaxSteps = 50000000;    // of the interpreter; a program here takes some thousands

// Takes out the step that `pointer` names or lies in; false when it names none. Pointers are those of the recipe as read.
bool drop_step(Recipe* recipe, const std::string& pointer, std::string* verb) {
  for (Variant& v : recipe->variants)
    for (Group& g : v.groups)
      for (std::size_t i = 0; i < g.steps.size(); ++i) {
        const std::string& at = g.steps[i].place.pointer;
        if (pointer.compare(0, at.size(), at) != 0 || (pointer.size() > at.size() && pointer[at.size()] != '/')) continue;
        *verb = g.steps[i].verb;
        g.steps.erase(g.steps.begin() + static_cast<long>(i));
        return true;
      }
  return false;
}

// "" or why the witness is not real.
std::string replay_witness(const FuzzPair& pair, const LegalReport& legal, FuzzTally* tally) {
  const ReplayReport replay = run_replay(pair.loaded.program, legal, pair.seed, kReplaySteps);
  ++tally->witnesses;
  if (!replay.ran && replay.why_not.rfind("internal error", 0) == 0) return replay.why_not;
  if (!replay.ran) {
    ++tally->not_replayed[replay.why_not];
    return "";
  }
  if (!replay.real && !legal.replay->order_changes) {  // the place changes, but this pair's value is found all the same
    ++tally->not_replayed["the value is the same in its other place"];
    return "";
  }
  if (!replay.real) return "a witness is not real: " + legal.message + "\n" + to_text(replay, legal);
  ++tally->real;
  tally->same_value += replay.differs ? 0 : 1;
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
  pair.options.sizes = *sizes;
  Result<HostTensors> tensors = make_inputs(pair.loaded.program, *sizes, seed, {});
  if (!tensors) return tensors.errors();
  pair.tensors = std::move(*tensors);
  const Result<ReferenceRun> reference = run_reference(pair.loaded.program, *sizes, pair.tensors);
  if (!reference) return reference.errors();
  pair.expected = outputs_of(*reference);
  return pair;
}

Result<FuzzPair> random_pair(std::uint64_t seed, const Machine& machine, bool for_cpu) {
  FuzzRandom random(seed);
  const FuzzProgram made = random_program(random);
  // Through the reader, for the places of the steps.
  Result<Recipe> recipe = read_recipe(to_json(random_recipe(made, random)), "recipe");
  if (!recipe) return recipe.errors();
  for (Variant& v : recipe->variants)
    for (Group& g : v.groups)
      if (for_cpu)
        g.steps.erase(std::remove_if(g.steps.begin(), g.steps.end(), [](const Step& s) { return s.verb == "map_gpu"; }),
                      g.steps.end());
  Result<FuzzPair> pair = fuzz_pair(made.json, std::move(*recipe), {}, seed, machine);
  if (pair && !for_cpu && seed % 2 != 0) pair->options.target = "cuda";  // holes are completed for it
  return pair;
}

std::string keep_legal_steps(FuzzPair* pair, FuzzTally* tally) {
  ScheduleOptions judged = pair->options;
  judged.replay = true;
  judged.repair = false;
  for (;;) {
    const Result<LegalReport> legal = check_recipe(pair->loaded.program, pair->recipe, judged);
    if (legal && legal->legal) break;
    if (!legal && failure_of(legal.errors()[0].code) == Failure::kInternal) return to_text(legal.errors());
    const std::string pointer = legal ? legal->step : legal.errors()[0].place.pointer;
    const std::string reason = legal ? legal->reason : code_name(legal.errors()[0].code);
    std::string verb;
    if (!drop_step(&pair->recipe, pointer, &verb))
      return "a complaint names no step: " + (legal ? legal->message : to_text(legal.errors()));
    ++tally->refused[verb + ": " + reason];
    if (!legal || !legal->has_violation) continue;
    if (std::string what = replay_witness(*pair, *legal, tally); !what.empty()) return what;
  }
  for (const Variant& v : pair->recipe.variants)
    for (const Group& g : v.groups)
      for (const Step& s : g.steps) ++tally->accepted[s.verb];
  return "";
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
