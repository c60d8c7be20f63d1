// The judgement of `legal`: every variant's groups, step by step, up to the first that is refused.
#include "polyhedral/check_recipe.hpp"

#include "polyhedral/analyse.hpp"
#include "polyhedral/copies.hpp"
#include "polyhedral/repair.hpp"
#include "polyhedral/replay.hpp"
#include "polyhedral/schedule_memo.hpp"
#include "polyhedral/transform/apply.hpp"
#include "polyhedral/variants.hpp"

namespace facet {

namespace {

Repair repair_of(const Schedule& original, const std::vector<Step>& steps, const StepRefusal& refusal, const Budget& budget) {
  if (!refusal.violation) return {};
  const auto refused = steps.begin() + refusal.step;
  const StepOutcome before = apply_steps(original, {steps.begin(), refused}, budget);
  if (!before.schedule) return {};
  return find_repair(*before.schedule, {refused, steps.end()}, *refusal.violation, budget.part(0.5));
}

// What the doorway reports (a budget spent) knows no place of its own: here it is the group.
Diagnostics placed(Diagnostics told, const Group& group, const std::string& pointer) {
  for (Diagnostic& d : told) {
    if (!d.place.pointer.empty()) continue;
    d.place = group.place;
    if (d.place.pointer.empty()) d.place.pointer = pointer;
  }
  return told;
}

std::string pointer_of(const Step& step, const std::string& group_pointer, int number) {
  return step.place.pointer.empty() ? group_pointer + "/steps/" + std::to_string(number) : step.place.pointer;
}

// The repair's part of the report.
void describe_repair(Repair repair, const std::string& group_pointer, const std::vector<Step>& steps, int refused,
                     LegalReport* report) {
  report->repair = std::move(repair.insert);
  report->instead = std::move(repair.instead);
  if (!repair.still) return;
  const int later = refused + repair.still->step;
  report->leaves = pointer_of(steps[static_cast<std::size_t>(later)], group_pointer, later);
  report->leaves_why = repair.still->diagnostic.message;
}

// The rewrite that a complaint is about.
int rewrite_of(const Diagnostic& d, const std::vector<Step>& rewrites) {
  for (std::size_t i = 0; i < rewrites.size(); ++i) {
    const std::string& own = rewrites[i].place.pointer;
    if (!own.empty() && (d.place.pointer == own || d.place.pointer.rfind(own + "/", 0) == 0)) return static_cast<int>(i);
  }
  return 0;
}

// Judges one variant; false in `report` at the first refusal. The first `added` groups are not the recipe's and have no steps.
Result<Done> judge(const VariantCase& c, const ReaderIndex& readers, const Variant& variant, std::size_t added,
                   const ScheduleOptions& options, const Budget& budget, LegalReport* report) {
  if (variant.groups_hole) return Done{};
  const Program& program = *c.program;
  const std::string pointer = "/variants/" + std::to_string(c.index);
  const Result<std::vector<NodeGroup>> groups = groups_of_recipe(program, variant);
  if (!groups) return groups.errors();
  for (std::size_t g = 0; g < groups->size() && report->legal; ++g) {
    const std::vector<Step>& rewrites = variant.groups[g].rewrites;
    const Result<Schedule> schedule = analyse(program, readers, (*groups)[g], budget, rewrites);
    if (!schedule && schedule.errors()[0].code == Code::kStepPrecondition) {  // a rewrite
      describe_refusal({schedule.errors()[0], std::nullopt, nullptr, rewrite_of(schedule.errors()[0], rewrites)},
                       pointer + "/groups/" + std::to_string(g - added), rewrites, report);
      continue;
    }
    if (!schedule) return placed(schedule.errors(), variant.groups[g], pointer + "/groups/" + std::to_string(g - added));
    const std::vector<Step>& steps = variant.groups[g].steps;
    const StepOutcome outcome = apply_steps(*schedule, steps, budget);
    if (!outcome.refusal && options.memo)
      options.memo->entries.push_back({c.index, (*groups)[g].nodes, steps, *schedule, *outcome.schedule});
    if (!outcome.refusal) continue;
    const Diagnostic& d = outcome.refusal->diagnostic;
    if (failure_of(d.code) == Failure::kInput || failure_of(d.code) == Failure::kInternal) return d;
    const std::string group_pointer = pointer + "/groups/" + std::to_string(g - added);
    describe_refusal(*outcome.refusal, group_pointer, steps, report);
    if (options.replay && outcome.refusal->violation) report->replay = make_replay(*schedule, *outcome.refusal, budget);
    if (!options.repair) continue;
    describe_repair(repair_of(*schedule, steps, *outcome.refusal, budget), group_pointer, steps, outcome.refusal->step, report);
  }
  return Done{};
}

}  // namespace

void describe_refusal(const StepRefusal& refusal, const std::string& group_pointer, const std::vector<Step>& steps,
                      LegalReport* report) {
  const Diagnostic& d = refusal.diagnostic;
  report->legal = false;
  const Step& step = steps[static_cast<std::size_t>(refusal.step)];
  report->verb = step.verb;
  report->step = pointer_of(step, group_pointer, refusal.step);
  report->message = to_text(d);
  report->refusal = d;
  report->reason = refusal.violation ? "dependence" : "precondition";
  if (!refusal.violation) return;
  const Violation& v = *refusal.violation;
  report->has_violation = true;
  report->kind = to_text(v.kind);
  report->array = v.array;
  report->element = v.element;
  report->source = {v.source, v.source_iterators, v.source_instance, v.source_place};
  report->sink = {v.sink, v.sink_iterators, v.sink_instance, v.sink_place};
  report->symbols = v.symbols;
  report->violation_text = to_text(v);
}

Result<LegalReport> check_recipe(const Program& given, const Recipe& wanted, const ScheduleOptions& options) {
  const Program program = with_copies(given);
  Recipe recipe = wanted;
  const std::vector<std::size_t> added = add_copy_groups(program, false, &recipe);
  const Budget budget = budget_of(options);
  std::vector<VariantCase> cases;
  const Result<Done> told =
      guarded("conditions of variants", Budget{0, {}}, [&] { cases = cases_of(program, recipe, options.sizes); });
  if (!told) return told.errors();
  const ReaderIndex readers = readers_of(program);
  if (options.memo) *options.memo = {&given, {}};
  LegalReport report;
  for (const VariantCase& c : cases) {
    const std::size_t v = static_cast<std::size_t>(c.index);
    const Result<Done> judged = judge(c, readers, recipe.variants[v], added[v], options, budget, &report);
    if (!judged) return judged.errors();
    if (!report.legal) break;
  }
  return report;
}

}  // namespace facet
