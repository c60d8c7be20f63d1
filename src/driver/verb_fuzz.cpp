// fuzz: random programs under random recipes against the reference; exact equality on integers.
//
// Every step of a recipe is tried once: a refused one counts by kind and reason and is taken out, so that what remains is legal
// and must give the reference's numbers: interpreted as loop trees and, with --compiled, as kernels on 1 and 2 threads. A miss
// is shrunk (steps dropped while it stays a miss) and printed with its seed, program and recipe.
#include <exception>
#include <map>

#include "src/driver/fuzz_compiled.hpp"
#include "src/driver/fuzz_try.hpp"
#include "src/driver/machines.hpp"
#include "src/driver/verbs.hpp"
#include "src/frontend/json.hpp"

namespace facet {

namespace {

// Pairs in one translation unit: about a second of compiling.
constexpr std::size_t kBatch = 40;

struct Miss {
  FuzzPair pair;
  std::string what;
};

class Fuzzer {
 public:
  Fuzzer(const Options& options, const Machine& machine) : options_(options), machine_(machine) {}

  // An error is a missing compiler.
  Result<Done> run() {
    for (std::int64_t i = 0; i < options_.count; ++i) {
      one(options_.seed + static_cast<std::uint64_t>(i));
      if (batch_.size() >= kBatch)
        if (const Result<Done> done = run_batch(); !done) return done;
    }
    return run_batch();
  }

  Outcome outcome() const;

 private:
  void one(std::uint64_t seed) {
    Result<FuzzPair> made = random_pair(seed, machine_, options_.compiled);
    if (!made) {
      FuzzPair nothing;
      nothing.seed = seed;
      return misses_.push_back({std::move(nothing), "no pair: " + to_text(made.errors())});
    }
    FuzzPair pair = std::move(*made);
    std::string what;
    try {  // a broken invariant is a miss like any other: the pair is what its finder needs
      what = keep_legal_steps(&pair, &tally_);
      if (what.empty()) what = interpreted(pair, &batch_);
      if (what.empty()) return;
      shrink(&pair, [&](const FuzzPair& p) { return !interpreted(p, nullptr).empty(); });
    } catch (const std::exception& e) { what = std::string("an exception: ") + e.what(); }
    misses_.push_back({std::move(pair), what});
  }

  // "" or what is wrong with the interpreted trees; what is right goes to `batch` for compiling.
  std::string interpreted(const FuzzPair& pair, FuzzBatch* batch) const {
    const Result<FuzzTrees> trees = fuzz_trees(pair);
    if (!trees) return "a legal recipe cannot be scheduled: " + to_text(trees.errors());
    const std::string what = interpret_trees(pair, *trees);
    return what.empty() && batch && options_.compiled ? batch->add(pair, trees->cpu) : what;
  }

  // Drops steps as long as the recipe stays legal and a miss.
  template <class StaysAMiss>
  static void shrink(FuzzPair* pair, const StaysAMiss& stays_a_miss) {
    for (bool smaller = true; smaller;) {
      smaller = false;
      for (std::size_t v = 0; v < pair->recipe.variants.size(); ++v)
        for (std::size_t g = 0; g < pair->recipe.variants[v].groups.size(); ++g)
          for (std::size_t i = 0; i < pair->recipe.variants[v].groups[g].steps.size();) {
            FuzzPair tried = *pair;
            std::vector<Step>& steps = tried.recipe.variants[v].groups[g].steps;
            steps.erase(steps.begin() + static_cast<long>(i));
            const Result<LegalReport> legal = check_recipe(tried.loaded.program, tried.recipe, tried.options);
            const bool drop = legal && legal->legal && stays_a_miss(tried);
            if (drop) *pair = std::move(tried);
            smaller = smaller || drop;
            i += drop ? 0 : 1;
          }
    }
  }

  Result<Done> run_batch() {
    Result<FuzzBatch::Misses> found = batch_.run(options_, machine_);
    if (!found) return found.errors();
    for (auto& [pair, what] : *found) {
      shrink(&pair, [&](const FuzzPair& p) {
        FuzzBatch alone;
        const Result<FuzzTrees> trees = fuzz_trees(p);
        if (!trees || !alone.add(p, trees->cpu).empty()) return false;
        const Result<FuzzBatch::Misses> again = alone.run(options_, machine_);
        return again && !again->empty();
      });
      misses_.push_back({std::move(pair), what});
    }
    return Done{};
  }

  const Options& options_;
  const Machine& machine_;
  FuzzTally tally_;
  FuzzBatch batch_;
  std::vector<Miss> misses_;
};

JsonValue counts_json(const std::map<std::string, std::int64_t>& counts) {
  JsonValue out = JsonValue::object();
  for (const auto& [name, count] : counts) out.add(name, JsonValue::of(count));
  return out;
}

std::int64_t sum_of(const std::map<std::string, std::int64_t>& counts, const std::string& prefix = "") {
  std::int64_t sum = 0;
  for (const auto& [name, count] : counts) sum += name.compare(0, prefix.size(), prefix) == 0 ? count : 0;
  return sum;
}

Outcome Fuzzer::outcome() const {
  Outcome outcome;
  outcome.status = misses_.empty() ? 0 : 1;
  JsonValue misses = JsonValue::array();
  for (const Miss& m : misses_) {
    const std::string recipe = to_json(m.pair.recipe);
    outcome.text +=
        "MISS at --seed " + std::to_string(m.pair.seed) + " --count 1: " + m.what + "\n" + m.pair.program_text + recipe;
    JsonValue one = JsonValue::object();
    one.add("seed", JsonValue::of(static_cast<std::int64_t>(m.pair.seed))).add("what", JsonValue::of(m.what));
    misses.items.push_back(one.add("program", JsonValue::of(m.pair.program_text)).add("recipe", JsonValue::of(recipe)));
  }
  outcome.text += std::to_string(options_.count) + " pairs" + (options_.compiled ? ", compiled too, " : ", ") +
                  std::to_string(misses_.size()) + " misses; " + std::to_string(sum_of(tally_.accepted)) + " steps accepted, " +
                  std::to_string(sum_of(tally_.refused)) + " refused\n";
  for (const auto& [verb, accepted] : tally_.accepted) {
    const std::int64_t tried = accepted + sum_of(tally_.refused, verb + ":");
    outcome.text += "  accepted " + verb + ": " + std::to_string(accepted) + " of " + std::to_string(tried) + ", " +
                    std::to_string(100 * accepted / tried) + " %\n";
  }
  for (const auto& [name, count] : tally_.refused) outcome.text += "  refused " + name + ": " + std::to_string(count) + "\n";
  outcome.text += "  witnesses: " + std::to_string(tally_.witnesses) + " of " + std::to_string(sum_of(tally_.refused)) +
                  " refusals, " + std::to_string(tally_.real) + " real by replay (" + std::to_string(tally_.same_value) +
                  " with the same value by chance)\n";
  for (const auto& [why, count] : tally_.not_replayed)
    outcome.text += "  not replayed: " + std::to_string(count) + ": " + why + "\n";
  outcome.json.add("count", JsonValue::of(options_.count)).add("compiled", JsonValue::of(options_.compiled));
  outcome.json.add("accepted", counts_json(tally_.accepted)).add("refused", counts_json(tally_.refused));
  JsonValue witnesses = JsonValue::object();
  witnesses.add("count", JsonValue::of(tally_.witnesses)).add("real", JsonValue::of(tally_.real));
  witnesses.add("same_value", JsonValue::of(tally_.same_value)).add("not_replayed", counts_json(tally_.not_replayed));
  outcome.json.add("witnesses", std::move(witnesses)).add("misses", std::move(misses));
  return outcome;
}

}  // namespace

Result<Outcome> verb_fuzz(const Options& options) {
  const Result<Machine> machine = machine_in_force(options, false);
  if (!machine) return machine.errors();
  Fuzzer fuzzer(options, *machine);
  const Result<Done> done = fuzzer.run();
  if (!done) return done.errors();
  return fuzzer.outcome();
}

}  // namespace facet
