// apply: the one way a recipe step reaches the schedule.
#include "polyhedral/transform/apply.hpp"

#include <algorithm>

namespace facet {

namespace {

std::string nearest(const std::string& wanted, const std::vector<std::string>& known) {
  std::string best;
  std::size_t best_distance = wanted.size() / 2 + 2;
  for (const std::string& k : known) {
    std::vector<std::size_t> row(k.size() + 1);
    for (std::size_t j = 0; j <= k.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= wanted.size(); ++i) {
      std::size_t diagonal = row[0]++;
      for (std::size_t j = 1; j <= k.size(); ++j) {
        const std::size_t next = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (wanted[i - 1] != k[j - 1])});
        diagonal = std::exchange(row[j], next);
      }
    }
    if (row[k.size()] < best_distance) {
      best_distance = row[k.size()];
      best = k;
    }
  }
  return best;
}

std::optional<Diagnostic> check_arguments(const Transform& t, const Step& step) {
  std::vector<std::string> known;
  for (const Parameter& p : t.parameters) known.push_back(p.name);
  for (const auto& [name, value] : step.arguments) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    Place place = step.place;
    place.pointer += "/" + name;
    const std::string near = nearest(name, known);
    return diagnose(Code::kUnknownStepArgument, place, {step.verb, name}, near.empty() ? std::vector<std::string>{} : std::vector<std::string>{"did you mean '" + near + "'?"});
  }
  for (const Parameter& p : t.parameters)
    if (p.required && !step.arguments.count(p.name))
      return diagnose(Code::kMissingStepArgument, step.place, {step.verb, p.name, p.doc});
  return std::nullopt;
}

StepOutcome refused(Diagnostic d, std::optional<Violation> v = std::nullopt) {
  return {std::nullopt, StepRefusal{std::move(d), std::move(v), -1}};
}

}  // namespace

StepOutcome apply_step(const Schedule& schedule, const Step& step, const Budget& budget) {
  const Transform* t = find_transform(step.verb);
  if (!t) {
    std::vector<std::string> known;
    for (const Transform* k : all_transforms()) known.push_back(k->name);
    const std::string near = nearest(step.verb, known);
    return refused(diagnose(Code::kUnknownStep, step.place, {step.verb},
                            near.empty() ? std::vector<std::string>{} : std::vector<std::string>{"did you mean '" + near + "'?"}));
  }
  if (std::optional<Diagnostic> d = check_arguments(*t, step)) return refused(*d);
  Arguments args(schedule, step);
  Schedule next;
  const Result<Done> ran = guarded("step " + step.verb, budget, [&] { next = t->apply(schedule, args); });
  if (!ran) return refused(ran.errors()[0]);
  if (args.problem()) return refused(*args.problem());
  std::optional<Violation> violation;
  const Result<Done> judged = guarded("legality of " + step.verb, budget, [&] { violation = find_violation(next); });
  if (!judged) return refused(judged.errors()[0]);
  if (violation) return refused(diagnose(Code::kIllegalStep, step.place, {step.verb, to_text(*violation)}), violation);
  return {std::move(next), std::nullopt};
}

StepOutcome apply_steps(const Schedule& schedule, const std::vector<Step>& steps, const Budget& budget) {
  Schedule current = schedule;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    StepOutcome outcome = apply_step(current, steps[i], budget);
    if (outcome.refusal) {
      outcome.refusal->step = static_cast<int>(i);
      return outcome;
    }
    current = std::move(*outcome.schedule);
  }
  return {std::move(current), std::nullopt};
}

}  // namespace facet
