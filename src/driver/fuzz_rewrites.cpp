// Random rewrites: statements in another form, chosen before the schedule.
#include "src/driver/fuzz_arguments.hpp"
#include "src/driver/fuzz_steps.hpp"

namespace facet {

namespace {

using Made = std::optional<Step>;
using Statements = std::vector<TrialStatement>;

Made flatten(const Statements& statements, FuzzRandom& random) {
  for (const TrialStatement& s : statements) {
    if (s.iterators.size() < 2) continue;
    const std::size_t first = static_cast<std::size_t>(random.below(static_cast<int>(s.iterators.size()) - 1));
    Step step = step_for("flatten", s);
    step.arguments["loops"] = texts({s.iterators[first], s.iterators[first + 1]});
    return step;
  }
  return std::nullopt;
}

Made split_terms(const Statements& statements) {
  for (const TrialStatement& s : statements)
    if (s.adds_terms && !holds(s.reads, s.target)) return step_for("split_terms", s);
  return std::nullopt;
}

Made precompute(const Statements& statements, FuzzRandom& random) {
  for (const TrialStatement& s : statements) {
    if (s.inputs.empty()) continue;
    Step step = step_for("precompute", s);
    step.arguments["array"] = text(random.pick(s.inputs));
    return step;
  }
  return std::nullopt;
}

Made rfactor(const Statements& statements, FuzzRandom& random) {
  for (const TrialStatement& s : statements) {
    if (s.reduced.empty() || holds(s.reads, s.target)) continue;
    Step step = step_for("rfactor", s);
    step.arguments["by"] =
        text(random.pick(s.reduced) + (random.chance(60) ? " % " : " / ") + std::to_string(2 + random.below(4)));
    return step;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Step> random_rewrite(const Trial& trial, FuzzRandom& random) {
  const Statements statements = shuffled(trial.view().statements, random);
  Made made;
  if (random.chance(5)) made = flatten(statements, random);
  if (!made && random.chance(30)) made = split_terms(statements);
  if (!made && random.chance(5)) made = precompute(statements, random);
  return made ? made : rfactor(statements, random);
}

}  // namespace facet
