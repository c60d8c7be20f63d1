// A refused step is left out, so that the recipe stays legal; the recipe as a whole is judged again in the end, as `legal`
// does.
#include "src/driver/fuzz_grow.hpp"

#include <algorithm>

#include "src/driver/fuzz_oracle.hpp"
#include "src/driver/fuzz_steps.hpp"
#include "src/driver/replay.hpp"
#include "src/frontend/json.hpp"

namespace facet {

namespace {

constexpr std::int64_t kReplaySteps = 2000000;  // more is replayed as two instances
constexpr std::size_t kMostInstances = 4000;    // counted in a blink; sizes are cut down to that
constexpr std::size_t kMostDoubtful = 20;

// "" or why the witness is not real.
std::string replay_witness(const FuzzPair& pair, const LegalReport& legal, FuzzTally* tally) {
  const ReplayReport replay = run_replay(pair.loaded.program, legal, pair.seed, kReplaySteps);
  ++tally->witnesses;
  if (!replay.ran && replay.why_not.rfind("internal error", 0) == 0) return replay.why_not;
  if (!replay.ran) {
    ++tally->not_replayed[replay.why_not.substr(0, replay.why_not.find(" ('"))];
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

// The sizes at which a trial's schedules are counted: the typical ones, symbols halved until there are few enough instances.
// Nothing where a condition of the variant would not hold any more.
struct Counted {
  SymbolValues sizes;
  Enumeration original;
};

class Grower {
 public:
  Grower(FuzzPair* pair, Trial* trial, FuzzRandom& random, FuzzTally* tally)
      : pair_(*pair), trial_(*trial), random_(random), tally_(*tally) {
    const bool conditional = pair_.recipe.variants[static_cast<std::size_t>(trial->variant())].condition != nullptr;
    counted_.sizes = trial->sizes();
    for (int i = 0; i < 5; ++i) {
      counted_.original = trial->original(counted_.sizes, kMostInstances);
      if (counted_.original.why_not.empty() || conditional) break;
      for (auto& [name, value] : counted_.sizes) value = std::max<std::int64_t>(1, value / 2);
    }
  }

  std::string steps(int count) {
    std::string what;
    for (int i = 0; i < count && what.empty(); ++i)
      if (const std::optional<Step> step = random_step(trial_, random_)) what = attempt(*step, &group().steps);
    return what;
  }

  std::string rewrite() {
    const std::optional<Step> step = random_rewrite(trial_, random_);
    if (!step) return "";
    const TrialVerdict verdict = trial_.attempt_rewrite(*step);
    counted_.original = trial_.original(counted_.sizes, kMostInstances);  // what is computed has changed
    return answered(*step, verdict, &group().rewrites);
  }

  std::string mappings(int count) {
    std::string what;
    for (int i = 0; i < count && what.empty(); ++i)
      if (const std::optional<Step> step = random_map_gpu(trial_, random_)) what = attempt(*step, &group().steps);
    return what;
  }

  std::string attempt(const Step& step, std::vector<Step>* list) { return answered(step, trial_.attempt(step), list); }

 private:
  Group& group() {
    return pair_.recipe.variants[static_cast<std::size_t>(trial_.variant())].groups[static_cast<std::size_t>(trial_.group())];
  }

  std::string answered(const Step& step, const TrialVerdict& verdict, std::vector<Step>* list) {
    list->push_back(step);
    if (verdict.accepted) {
      ++tally_.accepted[step.verb];
      const std::string wrong = count_acceptance();
      return wrong.empty() ? "" : "accepted, but " + wrong;
    }
    ++tally_.refused[step.verb + ": " + verdict.reason];
    std::string what;
    if (verdict.reason == code_name(Code::kInternalError) || verdict.reason == code_name(Code::kUnknownLoop))
      what = verdict.message;
    if (verdict.reason == "dependence") {
      what = replay_witness(pair_, verdict.report, &tally_);
      count_refusal(step, verdict.report);
    }
    if (what.empty()) list->pop_back();
    return what;
  }

  std::string count_acceptance() {
    const Enumeration now = trial_.scheduled(counted_.sizes, 2 * kMostInstances);
    if (!countable(counted_.original, now)) return "";
    ++tally_.counted_acceptances;
    return counted_violation(counted_.original, now);
  }

  void count_refusal(const Step& step, const LegalReport& report) {
    SymbolValues sizes = trial_.sizes();
    for (const auto& [name, value] : report.symbols) sizes[name] = value;
    const Enumeration original = trial_.original(sizes, kMostInstances), would_be = trial_.refused(sizes, 2 * kMostInstances);
    if (!countable(original, would_be)) return;
    ++tally_.counted_refusals;
    if (!counted_violation(original, would_be).empty()) return;
    ++tally_.doubts[step.verb + ": " + report.kind];
    if (tally_.doubtful.size() < kMostDoubtful)
      tally_.doubtful.push_back("seed " + std::to_string(pair_.seed) + ": " + report.message + "\n" + pair_.program_text +
                                to_json(pair_.recipe));
  }

  bool countable(const Enumeration& a, const Enumeration& b) {
    const std::string& why = a.why_not.empty() ? b.why_not : a.why_not;
    if (!why.empty()) ++tally_.not_counted[why];
    return why.empty();
  }

  FuzzPair& pair_;
  Trial& trial_;
  FuzzRandom& random_;
  FuzzTally& tally_;
  Counted counted_;
};

Result<std::vector<Trial>> trials(const FuzzPair& pair) { return trials_of(pair.loaded.program, pair.recipe, pair.options); }

Group* group_of(Recipe* recipe, const Trial& trial) {
  return &recipe->variants[static_cast<std::size_t>(trial.variant())].groups[static_cast<std::size_t>(trial.group())];
}

}  // namespace

std::string grow_steps(FuzzPair* pair, FuzzRandom& random, bool for_cpu, FuzzTally* tally) {
  if (pair->recipe.variants_hole) return "";
  Result<std::vector<Trial>> all = trials(*pair);
  if (!all) return to_text(all.errors());
  std::string what;
  for (Trial& trial : *all) {
    if (group_of(&pair->recipe, trial)->steps_hole || !what.empty()) continue;
    Grower grower(pair, &trial, random, tally);
    if (random.chance(30)) what = grower.rewrite();
    if (what.empty()) what = grower.steps(1 + random.below(8));
    const int mapped = random.below(6) - 3;
    if (what.empty() && !for_cpu) what = grower.mappings(mapped);
  }
  if (!what.empty()) return what;
  const Result<LegalReport> whole = check_recipe(pair->loaded.program, pair->recipe, pair->options);
  if (!whole) return "legal step by step, but as a whole: " + to_text(whole.errors());
  return whole->legal ? "" : "legal step by step, but as a whole: " + whole->message;
}

std::string count_steps(const FuzzPair& pair) {
  if (pair.recipe.variants_hole) return "";
  Result<std::vector<Trial>> all = trials(pair);
  if (!all) return to_text(all.errors());
  FuzzPair again = pair;
  for (Trial& trial : *all) {
    const Group& group = *group_of(&again.recipe, trial);
    if (group.steps_hole) continue;
    for (const Step& s : group.rewrites) trial.attempt_rewrite(s);
    FuzzTally tally;
    FuzzRandom random(pair.seed);
    Grower grower(&again, &trial, random, &tally);
    std::vector<Step> taken;
    std::string what;
    for (const Step& s : group.steps)
      if (what.empty()) what = grower.attempt(s, &taken);
    if (!what.empty()) return what;
  }
  return "";
}

}  // namespace facet
