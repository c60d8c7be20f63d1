// predict_program: the kernels of the variant that the typical sizes take, each scheduled by its steps and counted.
#include "polyhedral/analyse.hpp"
#include "polyhedral/copies.hpp"
#include "polyhedral/predict.hpp"
#include "polyhedral/transform/apply.hpp"
#include "polyhedral/variants.hpp"

namespace facet {

namespace {

const VariantCase* taken(const std::vector<VariantCase>& cases, const SymbolValues& sizes) {
  for (const VariantCase& c : cases)
    if (c.never.empty() && (!c.when || evaluate_index(c.when, sizes) != 0)) return &c;
  return nullptr;
}

}  // namespace

Result<std::vector<PredictedKernel>> predict_program(const Program& given, const Recipe& wanted,
                                                     const ScheduleOptions& options) {
  const Program program = with_copies(given);
  Recipe recipe = wanted;
  add_copy_groups(program, false, &recipe);
  std::vector<VariantCase> cases;
  const Result<Done> told =
      guarded("conditions of variants", Budget{0, {}}, [&] { cases = cases_of(program, recipe, options.sizes); });
  if (!told) return told.errors();
  const VariantCase* c = taken(cases, options.sizes);
  if (!c) return std::vector<PredictedKernel>{};
  const Budget budget = budget_of(options);
  const ReaderIndex readers = readers_of(program);
  const Variant& variant = recipe.variants[static_cast<std::size_t>(c->index)];
  const std::vector<Group>& groups = variant.groups;
  const Result<std::vector<NodeGroup>> nodes = groups_of_recipe(program, variant);
  if (!nodes) return nodes.errors();
  std::vector<PredictedKernel> kernels;
  for (std::size_t g = 0; g < nodes->size(); ++g) {
    const Result<Schedule> schedule = analyse(*c->program, readers, (*nodes)[g], budget, groups[g].rewrites);
    if (!schedule) return schedule.errors();
    const StepOutcome outcome = apply_steps(*schedule, groups[g].steps, budget);
    if (outcome.refusal) return outcome.refusal->diagnostic;
    PredictedKernel kernel{(*nodes)[g].name, groups[g].ops, {}};
    const Result<Done> counted =
        guarded("prediction of " + kernel.name, budget, [&] { kernel.prediction = predict(*outcome.schedule, options); });
    if (!counted) return counted.errors();
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

}  // namespace facet
