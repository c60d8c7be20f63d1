// fuzz: random programs under random recipes, interpreted as loop trees, against the reference; exact equality on integers.
//
// A recipe that is refused counts by step and reason; one that is accepted must give the reference's numbers without a race, an
// uninitialised read or an access outside a buffer. A miss is shrunk (steps dropped while it stays a miss) and printed with its
// seed, program and recipe.
#include <map>

#include "codegen/cuda/map.hpp"
#include "codegen/passes/passes.hpp"
#include "polyhedral/facet_polyhedral.hpp"
#include "src/driver/execute.hpp"
#include "src/driver/fuzz_maker.hpp"
#include "src/driver/machines.hpp"
#include "src/driver/pipeline.hpp"
#include "src/driver/verbs.hpp"
#include "src/frontend/json.hpp"
#include "src/run/inputs.hpp"
#include "src/run/interpret/interpret.hpp"
#include "src/run/reference.hpp"

namespace facet {

namespace {

constexpr std::int64_t kMaxSteps = 50000000;  // of the interpreter; a program here takes some thousands

struct Tally {
  std::map<std::string, std::int64_t> accepted, refused;  // by kind of step; refusals by "step: reason"
};

// "" when all is well, else what went wrong.
std::string try_recipe(const Program& program, const Recipe& recipe, const ScheduleOptions& options, const HostTensors& tensors,
                       const HostTensors& expected, Tally* tally) {
  const Result<LegalReport> legal = check_recipe(program, recipe, options);
  if (!legal) {
    if (failure_of(legal.errors()[0].code) == Failure::kInternal) return to_text(legal.errors());
    if (tally) ++tally->refused[code_name(legal.errors()[0].code)];
    return "";
  }
  if (!legal->legal) {
    if (tally) ++tally->refused[legal->verb + ": " + legal->reason];
    return "";
  }
  Ledger ledger;
  const Result<Recipe> complete = plan(program, recipe, options, ledger);
  if (!complete) return "a legal recipe cannot be completed: " + to_text(complete.errors());
  const Result<Scheduled> scheduled = schedule_program(program, *complete, options);
  if (!scheduled) return "a completed recipe is refused: " + to_text(scheduled.errors());
  if (tally)
    for (const Variant& v : complete->variants)
      for (const Group& g : v.groups)
        for (const Step& s : g.steps) ++tally->accepted[s.verb];
  const LoopProgram trees[] = {scheduled->loops, lower_for_cpu(scheduled->loops, options.machine.cpu, nullptr),
                               map_to_gpu(scheduled->loops, options.machine.gpu, nullptr)};
  const char* const names[] = {"as scanned", "after the loop passes", "mapped to a GPU"};
  for (int i = 0; i < 3; ++i) {
    HostTensors buffers = argument_values({program, "", options.sizes}, trees[i].inputs, tensors);
    InterpretOptions interpret_options;
    interpret_options.max_steps = kMaxSteps;
    const Result<InterpretReport> report = interpret(trees[i], options.sizes, buffers, interpret_options);
    if (!report) return std::string("the tree ") + names[i] + " cannot be interpreted: " + to_text(report.errors());
    if (!report->clean()) return std::string("the tree ") + names[i] + ": " + to_text(*report);
    for (const std::string& name : program.outputs)
      if (buffers.at(name).bytes != expected.at(name).bytes)
        return std::string("the tree ") + names[i] + ": " + name + " is wrong";
  }
  return "";
}

// Drops steps as long as the recipe stays a miss.
Recipe shrink(const Program& program, Recipe recipe, const ScheduleOptions& options, const HostTensors& tensors,
              const HostTensors& expected) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (Variant& v : recipe.variants)
      for (Group& g : v.groups)
        for (std::size_t i = 0; i < g.steps.size(); ++i) {
          Step dropped = g.steps[i];
          g.steps.erase(g.steps.begin() + static_cast<long>(i));
          if (!try_recipe(program, recipe, options, tensors, expected, nullptr).empty()) {
            smaller = true;
            break;
          }
          g.steps.insert(g.steps.begin() + static_cast<long>(i), dropped);
        }
  }
  return recipe;
}

struct Miss {
  std::uint64_t seed = 0;
  std::string what, program, recipe;
};

// One pair. A program that is refused, or that the reference cannot evaluate, is a fault of the generator and told as a miss.
std::string one_pair(std::uint64_t seed, const Machine& machine, Tally* tally, Miss* miss) {
  FuzzRandom random(seed), more(~seed), gpu(seed ^ 0x5A5A5A5A5A5A5A5AULL);
  const FuzzProgram made = random_program(random);
  Recipe recipe = random_recipe(made, random, more, gpu);
  miss->seed = seed;
  miss->program = made.json;
  miss->recipe = to_json(recipe);
  const Result<Program> program = check_text(made.json, "fuzz.json");
  if (!program) return "the program is refused: " + to_text(program.errors());
  if (const Result<Done> bound = bind_conditions(*program, &recipe); !bound) return to_text(bound.errors());
  ScheduleOptions options;
  options.machine = machine;
  const Result<SymbolValues> sizes = sizes_in_force(*program, {});
  if (!sizes) return to_text(sizes.errors());
  options.sizes = *sizes;
  options.target = seed % 2 == 0 ? "openmp" : "cuda";  // holes are completed for it
  const Result<HostTensors> tensors = make_inputs(*program, *sizes, seed, {});
  if (!tensors) return to_text(tensors.errors());
  const Result<ReferenceRun> reference = run_reference(*program, *sizes, *tensors);
  if (!reference) return "the reference refuses it: " + to_text(reference.errors());
  const HostTensors expected = outputs_of(*reference);
  const std::string what = try_recipe(*program, recipe, options, *tensors, expected, tally);
  if (!what.empty()) miss->recipe = to_json(shrink(*program, recipe, options, *tensors, expected));
  return what;
}

JsonValue counts_json(const std::map<std::string, std::int64_t>& counts, std::int64_t* sum) {
  JsonValue out = JsonValue::object();
  for (const auto& [name, count] : counts) {
    out.add(name, JsonValue::of(count));
    *sum += count;
  }
  return out;
}

}  // namespace

Result<Outcome> verb_fuzz(const Options& options) {
  const Result<Machine> machine = machine_in_force(options, false);
  if (!machine) return machine.errors();
  Tally tally;
  Outcome outcome;
  JsonValue misses = JsonValue::array();
  for (std::int64_t i = 0; i < options.count; ++i) {
    Miss miss;
    const std::string what = one_pair(options.seed + static_cast<std::uint64_t>(i), *machine, &tally, &miss);
    if (what.empty()) continue;
    outcome.status = 1;
    outcome.text += "MISS at --seed " + std::to_string(miss.seed) + " --count 1: " + what + "\n" + miss.program + miss.recipe;
    JsonValue one = JsonValue::object();
    one.add("seed", JsonValue::of(static_cast<std::int64_t>(miss.seed))).add("what", JsonValue::of(what));
    misses.items.push_back(one.add("program", JsonValue::of(miss.program)).add("recipe", JsonValue::of(miss.recipe)));
  }
  std::int64_t accepted = 0, refused = 0;
  JsonValue accepted_json = counts_json(tally.accepted, &accepted), refused_json = counts_json(tally.refused, &refused);
  outcome.text += std::to_string(options.count) + " pairs, " + std::to_string(misses.items.size()) + " misses, " +
                  std::to_string(accepted) + " steps done, " + std::to_string(refused) + " recipes refused\n";
  for (const auto& [name, count] : tally.accepted) outcome.text += "  done    " + name + ": " + std::to_string(count) + "\n";
  for (const auto& [name, count] : tally.refused) outcome.text += "  refused " + name + ": " + std::to_string(count) + "\n";
  outcome.json.add("count", JsonValue::of(options.count)).add("accepted", std::move(accepted_json));
  outcome.json.add("refused", std::move(refused_json)).add("misses", std::move(misses));
  return outcome;
}

}  // namespace facet
