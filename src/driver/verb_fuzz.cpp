// fuzz: random programs under random recipes against the reference; exact equality on integers.
//
// Every step is tried once: a refused one counts by kind and reason and is left out, so that what remains is legal and must
// give the reference's numbers: interpreted as loop trees and, with --compiled, as kernels on 1 and 2 threads. Every answer is
// held against a count of instances at small sizes. A miss is shrunk (steps dropped while it stays a miss) and printed with its
// seed, program and recipe.
#include <cmath>
#include <exception>
#include <map>
#include <utility>

#include "src/driver/fuzz_compiled.hpp"
#include "src/driver/fuzz_grow.hpp"
#include "src/driver/machines.hpp"
#include "src/driver/verbs.hpp"
#include "src/frontend/json.hpp"

namespace facet {

namespace {

// Pairs in one translation unit: about a second of compiling.
constexpr std::size_t kBatch = 40;

// More refusals in a hundred that counting contradicts are a fault: a few are values that nobody reads.
constexpr double kMostDoubts = 0.05;

// And so are more pairs in a thousand that isl cannot scan, though their recipes are legal.
constexpr double kMostNotScanned = 0.001;

// More than the share, and by more than three standard deviations: of fifty refusals three in doubt show nothing.
bool too_many(std::int64_t count, std::int64_t all, double share) {
  const double expected = share * static_cast<double>(all);
  return static_cast<double>(count) > expected + 3 * std::sqrt(expected * (1 - share));
}

bool says(const std::string& what, Code code) { return what.find(code_name(code)) != std::string::npos; }

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
  std::string pairs_text() const;
  JsonValue misses_json() const;

  void one(std::uint64_t seed) {
    FuzzRandom random(seed);
    Result<FuzzPair> made = random_pair(seed, random, machine_, options_.compiled);
    if (!made) {
      FuzzPair nothing;
      nothing.seed = seed;
      return misses_.push_back({std::move(nothing), "no pair: " + to_text(made.errors())});
    }
    FuzzPair pair = std::move(*made);
    std::string what;
    try {  // a broken invariant is a miss like any other: the pair is what its finder needs
      what = grow_steps(&pair, random, options_.compiled, &tally_);
      const bool grown = what.empty();
      bool cut_down = false;
      if (grown) what = interpreted(pair, &batch_, &cut_down);
      cut_down_ += cut_down ? 1 : 0;
      if (what.empty()) return;
      if (unanswered(seed, what)) return;  // shrinking what is out of time would take as long for each step dropped
      if (grown)
        shrink(&pair, [&](const FuzzPair& p) { return !interpreted(p, nullptr).empty(); });
      else if (!count_steps(pair).empty())
        shrink(&pair, [](const FuzzPair& p) { return !count_steps(p).empty(); });
    } catch (const std::exception& e) { what = std::string("an exception: ") + e.what(); }
    if (unanswered(seed, what)) return;
    misses_.push_back({std::move(pair), what});
  }

  // A refusal of its own kind, no wrong answer.
  bool unanswered(std::uint64_t seed, const std::string& what) {
    if (says(what, Code::kBudgetExhausted))
      out_of_time_.push_back(seed);
    else if (says(what, Code::kNotScanned))
      not_scanned_.push_back(seed);
    else
      return false;
    return true;
  }

  // "" or what is wrong with the interpreted trees; what is right goes to `batch` for compiling.
  std::string interpreted(const FuzzPair& pair, FuzzBatch* batch, bool* cut_down = nullptr) const {
    const Result<FuzzTrees> trees = fuzz_trees(pair);
    if (!trees) return "a legal recipe cannot be scheduled: " + to_text(trees.errors());
    const std::string what = interpret_trees(pair, *trees, cut_down);
    return what.empty() && batch && options_.compiled ? batch->add(pair, trees->cpu) : what;
  }

  // Drops steps and rewrites as long as the recipe stays legal and a miss.
  template <class StaysAMiss>
  static void shrink(FuzzPair* pair, const StaysAMiss& stays_a_miss) {
    bool smaller = true;
    const auto all = [&](std::vector<Step> Group::*list) {
      for (std::size_t v = 0; v < pair->recipe.variants.size(); ++v)
        for (std::size_t g = 0; g < pair->recipe.variants[v].groups.size(); ++g)
          smaller = shrink_list(pair, v, g, list, stays_a_miss) || smaller;
    };
    while (std::exchange(smaller, false)) {
      all(&Group::steps);
      all(&Group::rewrites);
    }
  }

  // The last ones first: what others stand on goes after them.
  template <class StaysAMiss>
  static bool shrink_list(FuzzPair* pair, std::size_t v, std::size_t g, std::vector<Step> Group::*list,
                          const StaysAMiss& stays_a_miss) {
    bool dropped = false;
    for (std::size_t i = (pair->recipe.variants[v].groups[g].*list).size(); i-- > 0;) {
      FuzzPair tried = *pair;
      std::vector<Step>& steps = tried.recipe.variants[v].groups[g].*list;
      steps.erase(steps.begin() + static_cast<long>(i));
      const Result<LegalReport> legal = check_recipe(tried.loaded.program, tried.recipe, tried.options);
      if (!legal || !legal->legal || !stays_a_miss(tried)) continue;
      *pair = std::move(tried);
      dropped = true;
    }
    return dropped;
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
  std::int64_t cut_down_ = 0;               // pairs that ran at smaller sizes than drawn
  std::vector<std::uint64_t> out_of_time_;  // no answer within the budget
  std::vector<std::uint64_t> not_scanned_;  // isl makes no loops of them
  FuzzBatch batch_;
  std::vector<Miss> misses_;
};

JsonValue counts_json(const std::map<std::string, std::int64_t>& counts) {
  JsonValue out = JsonValue::object();
  for (const auto& [name, count] : counts) out.add(name, JsonValue::of(count));
  return out;
}

JsonValue seeds_json(const std::vector<std::uint64_t>& seeds) {
  JsonValue out = JsonValue::array();
  for (const std::uint64_t seed : seeds) out.items.push_back(JsonValue::of(static_cast<std::int64_t>(seed)));
  return out;
}

std::int64_t sum_of(const std::map<std::string, std::int64_t>& counts, const std::string& prefix = "") {
  std::int64_t sum = 0;
  for (const auto& [name, count] : counts) sum += name.compare(0, prefix.size(), prefix) == 0 ? count : 0;
  return sum;
}

// One line for each count, behind `what`.
std::string lines_of(const std::string& what, const std::map<std::string, std::int64_t>& counts) {
  std::string text;
  for (const auto& [name, count] : counts) text += "  " + what + ": " + std::to_string(count) + ": " + name + "\n";
  return text;
}

std::string steps_text(const FuzzTally& tally) {
  std::string text;
  for (const auto& [verb, accepted] : tally.accepted) {
    const std::int64_t tried = accepted + sum_of(tally.refused, verb + ":");
    text += "  accepted " + verb + ": " + std::to_string(accepted) + " of " + std::to_string(tried) + ", " +
            std::to_string(100 * accepted / tried) + " %\n";
  }
  for (const auto& [name, count] : tally.refused) text += "  refused " + name + ": " + std::to_string(count) + "\n";
  return text;
}

std::string witnesses_text(const FuzzTally& tally) {
  return "  witnesses: " + std::to_string(tally.witnesses) + " of " + std::to_string(sum_of(tally.refused)) + " refusals, " +
         std::to_string(tally.real) + " real by replay (" + std::to_string(tally.same_value) +
         " with the same value by chance)\n" + lines_of("not replayed", tally.not_replayed);
}

std::string counted_text(const FuzzTally& tally) {
  return "  counted at small sizes: " + std::to_string(tally.counted_acceptances) + " acceptances, " +
         std::to_string(tally.counted_refusals) + " refusals, of which " + std::to_string(sum_of(tally.doubts)) +
         " break nothing\n" + lines_of("in doubt", tally.doubts) + lines_of("not counted", tally.not_counted);
}

JsonValue witnesses_json(const FuzzTally& tally) {
  JsonValue out = JsonValue::object();
  out.add("count", JsonValue::of(tally.witnesses)).add("real", JsonValue::of(tally.real));
  out.add("same_value", JsonValue::of(tally.same_value)).add("not_replayed", counts_json(tally.not_replayed));
  return out;
}

JsonValue counted_json(const FuzzTally& tally) {
  JsonValue out = JsonValue::object();
  out.add("acceptances", JsonValue::of(tally.counted_acceptances)).add("refusals", JsonValue::of(tally.counted_refusals));
  out.add("doubts", counts_json(tally.doubts)).add("not_counted", counts_json(tally.not_counted));
  out.add("doubtful", JsonValue::array_of(tally.doubtful));
  return out;
}

std::string Fuzzer::pairs_text() const {
  std::string text;
  for (const Miss& m : misses_)
    text += "MISS at --seed " + std::to_string(m.pair.seed) + " --count 1: " + m.what + "\n" + m.pair.program_text +
            to_json(m.pair.recipe);
  text += std::to_string(options_.count) + " pairs" + (options_.compiled ? ", compiled too, " : ", ") +
          std::to_string(misses_.size()) + " misses; " + std::to_string(sum_of(tally_.accepted)) + " steps accepted, " +
          std::to_string(sum_of(tally_.refused)) + " refused\n";
  if (cut_down_ > 0)
    text += "  interpreted at smaller sizes, " + std::to_string(cut_down_) + " pairs: at their own they take too many steps\n";
  for (const std::uint64_t seed : out_of_time_)
    text += "  not finished within the budget of time: --seed " + std::to_string(seed) + " --count 1\n";
  for (const std::uint64_t seed : not_scanned_)
    text += "  legal, but isl cannot scan the order: --seed " + std::to_string(seed) + " --count 1\n";
  return text;
}

JsonValue Fuzzer::misses_json() const {
  JsonValue misses = JsonValue::array();
  for (const Miss& m : misses_) {
    JsonValue one = JsonValue::object();
    one.add("seed", JsonValue::of(static_cast<std::int64_t>(m.pair.seed))).add("what", JsonValue::of(m.what));
    one.add("program", JsonValue::of(m.pair.program_text)).add("recipe", JsonValue::of(to_json(m.pair.recipe)));
    misses.items.push_back(std::move(one));
  }
  return misses;
}

Outcome Fuzzer::outcome() const {
  Outcome outcome;
  outcome.text = pairs_text() + steps_text(tally_) + witnesses_text(tally_) + counted_text(tally_);
  const bool doubtful = too_many(sum_of(tally_.doubts), tally_.counted_refusals, kMostDoubts);
  if (doubtful)
    for (const std::string& d : tally_.doubtful) outcome.text += "DOUBT at " + d;
  // One pair alone shows nothing either.
  const std::int64_t not_scanned = static_cast<std::int64_t>(not_scanned_.size());
  const bool unscannable = not_scanned > 1 && too_many(not_scanned, options_.count, kMostNotScanned);
  outcome.status = misses_.empty() && !doubtful && !unscannable ? 0 : 1;
  outcome.json.add("count", JsonValue::of(options_.count)).add("compiled", JsonValue::of(options_.compiled));
  outcome.json.add("cut_down", JsonValue::of(cut_down_));
  outcome.json.add("out_of_time", seeds_json(out_of_time_)).add("not_scanned", seeds_json(not_scanned_));
  outcome.json.add("accepted", counts_json(tally_.accepted)).add("refused", counts_json(tally_.refused));
  outcome.json.add("counted", counted_json(tally_));
  outcome.json.add("witnesses", witnesses_json(tally_)).add("misses", misses_json());
  return outcome;
}

}  // namespace

Result<Outcome> verb_fuzz(const Options& options) {
  const Result<Machine> machine = described_machine(options);
  if (!machine) return machine.errors();
  Fuzzer fuzzer(options, *machine);
  const Result<Done> done = fuzzer.run();
  if (!done) return done.errors();
  return fuzzer.outcome();
}

}  // namespace facet
