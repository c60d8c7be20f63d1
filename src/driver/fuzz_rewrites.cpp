// Random rewrites of a group: each is tried on a statement whose kind it asks for.
#include "src/driver/fuzz_arguments.hpp"
#include "src/driver/fuzz_steps.hpp"

namespace facet {

std::optional<Step> random_rewrite(const Trial& trial, FuzzRandom& random) {
  const TrialView view = trial.view();
  for (const TrialStatement& s : random.chance(5) ? shuffled(view.statements, random) : std::vector<TrialStatement>{}) {
    if (s.iterators.size() < 2) continue;
    const std::size_t first = static_cast<std::size_t>(random.below(static_cast<int>(s.iterators.size()) - 1));
    Step step = step_for("flatten", s);
    step.arguments["loops"] = texts({s.iterators[first], s.iterators[first + 1]});
    return step;
  }
  for (const TrialStatement& s : random.chance(10) ? shuffled(view.statements, random) : std::vector<TrialStatement>{})
    if (s.update) return step_for("split_terms", s);
  for (const TrialStatement& s : random.chance(10) ? shuffled(view.statements, random) : std::vector<TrialStatement>{}) {
    if (s.reads.empty()) continue;
    Step step = step_for("precompute", s);
    step.arguments["array"] = text(random.pick(s.reads));
    return step;
  }
  for (const TrialStatement& s : shuffled(view.statements, random)) {
    if (s.reduced.empty() || holds(s.reads, s.target)) continue;
    Step step = step_for("rfactor", s);
    step.arguments["by"] =
        text(random.pick(s.reduced) + (random.chance(60) ? " % " : " / ") + std::to_string(2 + random.below(4)));
    return step;
  }
  return std::nullopt;
}

}  // namespace facet
