// Completing holes.
//
// Steps are taken in order. One with holes is completed in two rounds: first its structure (statements, loops, arrays), each
// combination with the preferred numbers; then its numbers, one after the other, each at its best while the others stay, until
// nothing improves. A value counts when the step and the fixed steps after it, up to the next hole, are legal; its cost is the
// predicted time of the schedule that these make. What the fixed part costs is said by comparison: the scheduler's own recipe
// for the group, and the recipe without each fixed step in turn.
#include "polyhedral/recipe/holes.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

#include "polyhedral/predict.hpp"

namespace facet {

namespace {

constexpr std::size_t kMostStructures = 150;
constexpr int kSweeps = 2;           // over the numbers; a third changes nothing that the model could tell apart
constexpr double kBetter = 0.999;    // less is no difference
constexpr double kMuchSlower = 1.5;  // than the scheduler's own: worth a word

bool is_hole(const Argument& a) { return std::holds_alternative<Hole>(a.value); }

bool is_number(const Step& step, const std::string& name) {
  if (const Transform* t = find_transform(step.verb))
    for (const Parameter& p : t->parameters)
      if (name == p.name) return std::string(p.kind).rfind("int", 0) == 0;
  return false;
}

void set(Step* step, const HoleSlot& slot, const Argument& value) {
  Argument& a = step->arguments[slot.argument];
  if (slot.position < 0 && is_hole(value)) {
    step->arguments.erase(slot.argument);
  } else if (slot.position < 0) {
    a = value;
  } else {
    std::get<ArgumentList>(a.value)[static_cast<std::size_t>(slot.position)] = value;
  }
}

std::string value_text(const Argument& a) {
  if (const auto* i = std::get_if<std::int64_t>(&a.value)) return std::to_string(*i);
  if (const auto* b = std::get_if<bool>(&a.value)) return *b ? "true" : "false";
  if (const auto* s = std::get_if<std::string>(&a.value)) return *s;
  std::string text;
  if (const auto* list = std::get_if<ArgumentList>(&a.value))
    for (const Argument& item : *list) text += (text.empty() ? "" : ", ") + value_text(item);
  return "[" + text + "]";
}

std::string words_of(const Step& step) {
  std::string text = step.verb;
  for (const auto& [name, value] : step.arguments) text += " " + name + "=" + value_text(value);
  return text;
}

class Completion {
 public:
  Completion(const ScheduleOptions& options, const Budget& budget, const std::function<void(GroupPlanner&)>& rest)
      : options_(options), budget_(budget), rest_(rest) {}

  // The completed steps and their schedule; `ledger` null: nobody listens.
  Result<std::vector<Step>> run(const Schedule& original, const std::vector<Step>& steps, Ledger* ledger) {
    now_ = original;
    std::vector<Step> done;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].verb == "?") {
        Ledger unheard;
        GroupPlanner planner(now_, options_, budget_, ledger ? *ledger : unheard);
        rest_(planner);
        now_ = planner.schedule();
        done.insert(done.end(), planner.steps().begin(), planner.steps().end());
        continue;
      }
      after_.assign(steps.begin() + static_cast<long>(i) + 1, steps.end());
      const Result<Step> step = has_hole(steps[i]) ? fill(steps[i], i, ledger) : Result<Step>(steps[i]);
      if (!step) return step.errors();
      StepOutcome outcome = apply_step(now_, *step, budget_);
      if (outcome.refusal) return outcome.refusal->diagnostic;
      now_ = std::move(*outcome.schedule);
      done.push_back(*step);
    }
    return done;
  }

  std::optional<double> cost(const Schedule& schedule) const {
    double us = 0;
    const Result<Done> ran = guarded("prediction", budget_, [&] { us = predict(schedule, options_).time_us; });
    return ran ? std::optional(us) : std::nullopt;
  }
  const Schedule& schedule() const { return now_; }

 private:
  // With the step and the fixed ones that follow it; nullopt when one is refused.
  std::optional<double> cost_of(const Step& step) {
    StepOutcome outcome = apply_step(now_, step, budget_);
    for (std::size_t i = 0; i < after_.size() && outcome.schedule; ++i) {
      if (after_[i].verb == "?") break;
      std::optional<StepOutcome> next = accepted_with_some_numbers(*outcome.schedule, after_[i]);
      if (!next) break;
      outcome = std::move(*next);
    }
    if (outcome.refusal) {
      if (!refusal_) refusal_ = outcome.refusal->diagnostic.message;
      return std::nullopt;
    }
    return cost(*outcome.schedule);
  }

  // A later step as it is, or with the first numbers for its holes that are legal (they are chosen when its turn comes);
  // nullopt when it leaves more open than numbers.
  std::optional<StepOutcome> accepted_with_some_numbers(const Schedule& schedule, const Step& wanted) const {
    Step step = wanted;
    const std::optional<HoleSlot> slot = next_slot(&step);
    if (!slot) return apply_step(schedule, step, budget_);
    if (!is_number(step, slot->argument)) return std::nullopt;
    std::optional<StepOutcome> last;
    for (const Argument& v : hole_candidates(schedule, options_, step, *slot)) {
      Step filled = step;
      set(&filled, *slot, v);
      last = accepted_with_some_numbers(schedule, filled);
      if (!last || !last->refusal || budget_.expired()) break;
    }
    return last;
  }

  // The first hole: structure before numbers, lists as long as what they belong to.
  std::optional<HoleSlot> next_slot(Step* step) const {
    static const std::vector<std::string> kOrder = {"statement", "statements", "array", "loop", "loops", "order", "at"};
    std::vector<std::string> names = kOrder;
    for (const bool number : {false, true})
      for (const auto& [name, value] : step->arguments)
        if (is_number(*step, name) == number && std::count(names.begin(), names.end(), name) == 0) names.push_back(name);
    for (const std::string& name : names) {
      const auto it = step->arguments.find(name);
      if (it == step->arguments.end() || !holds_hole(it->second)) continue;
      if (is_hole(it->second)) lengthen(step, name);
      if (const auto* list = std::get_if<ArgumentList>(&step->arguments.at(name).value)) {
        for (std::size_t i = 0; i < list->size(); ++i)
          if (is_hole((*list)[i])) return HoleSlot{name, static_cast<int>(i)};
      }
      return HoleSlot{name, -1};
    }
    return std::nullopt;
  }

  // "sizes": "?" is one hole for each of the loops, with one for time before them where the step has a loop over it.
  static void lengthen(Step* step, const std::string& name) {
    if (!is_number(*step, name)) return;
    const Transform* t = find_transform(step->verb);
    for (const Parameter& p : t->parameters)
      if (name == p.name && std::string(p.kind) != "ints") return;
    for (const char* loops : {"block", "loops"})
      if (const auto it = step->arguments.find(loops); it != step->arguments.end())
        if (const auto* list = std::get_if<ArgumentList>(&it->second.value)) {
          step->arguments[name] = Argument{ArgumentList(list->size() + step->arguments.count("time"))};
          return;
        }
  }

  Result<Step> fill(const Step& wanted, std::size_t number, Ledger* ledger) {
    best_.reset();
    refusal_.reset();
    tried_ = 0;
    numbers_.clear();
    if (!find_transform(wanted.verb)) return apply_step(now_, wanted, budget_).refusal->diagnostic;
    structures(wanted, {});
    if (!best_) return nothing(wanted);
    for (int sweep = 0; sweep < kSweeps; ++sweep) sweep_numbers();
    if (ledger) {
      const std::string what = std::to_string(tried_) + " tried, the kernel predicted at " + time_text(best_cost_) +
                               " with the fixed steps up to the next hole";
      ledger->push_back({"hole", "step " + std::to_string(number) + " (" + wanted.verb + ")", true,
                         words_of(*best_) + ": " + what, now_.scop->name, 0});
    }
    return *best_;
  }

  static std::string slot_path(const std::optional<HoleSlot>& slot) {
    if (!slot) return "";
    return slot->argument + (slot->position < 0 ? "" : "/" + std::to_string(slot->position));
  }

  // Which arguments of a step are completed: layouts, names of loops and texts without a list of values are not.
  static std::vector<std::string> holes_of(const std::string& verb) {
    const std::set<std::string> completed = {"statement", "statements", "loop", "loops", "array",
                                             "bool",      "int",        "ints", "names"};
    std::string can;
    for (const Parameter& p : find_transform(verb)->parameters)
      if (completed.count(p.kind) || (std::string(p.kind) == "text" && is_listed_text(p.name)))
        can += (can.empty() ? "`" : ", `") + std::string(p.name) + "`";
    return {"holes of " + verb + " that are completed, where the tree has something for them: " + can,
            "facet show PROGRAM --stage schedule prints the tree"};
  }

  Diagnostic nothing(const Step& wanted) const {
    Step copy = wanted;
    const std::optional<HoleSlot> slot = unfilled_ ? unfilled_ : next_slot(&copy);
    const std::string name = slot ? slot->argument : "";
    const Place place = refusal_ ? wanted.place : place_of(wanted, slot_path(slot));
    if (budget_.expired())
      return diagnose(Code::kBudgetExhausted, place,
                      {"completing the holes of step " + wanted.verb, std::to_string(tried_) + " tried, none of them legal"},
                      {"--time-budget S gives more time", "or write a value in place of \"?\""});
    if (!refusal_) {
      return diagnose(Code::kBadStepArgument, place, {wanted.verb, name, "a value: the scheduler has none for it", "a hole"},
                      holes_of(wanted.verb));
    }
    return diagnose(Code::kStepPrecondition, place,
                    {wanted.verb, "no value for its holes is legal; the first that was tried: " + *refusal_},
                    {"write a value in its place: `facet legal` then shows the pair that is in the way, and a repair"});
  }

  // All combinations of structure, numbers at their preferred values.
  void structures(Step step, std::vector<HoleSlot> numbers) {
    if (tried_ >= kMostStructures || budget_.expired()) return;
    const std::optional<HoleSlot> slot = next_slot(&step);
    if (!slot) return consider(step, numbers);
    const std::vector<Argument> values = hole_candidates(now_, options_, step, *slot);
    if (values.empty() && !unfilled_) unfilled_ = slot;
    const bool number = is_number(step, slot->argument);
    if (number) numbers.push_back(*slot);
    for (const Argument& v : values) {
      Step filled = step;
      set(&filled, *slot, v);
      structures(std::move(filled), numbers);
      // Numbers vary later; only where the preferred one is illegal others are looked for now.
      if (number && best_ && tried_ > 0) break;
    }
  }

  void consider(const Step& step, const std::vector<HoleSlot>& numbers) {
    ++tried_;
    const std::optional<double> us = cost_of(step);
    if (!us || (best_ && *us >= best_cost_ * kBetter)) return;
    best_ = step;
    best_cost_ = *us;
    numbers_ = numbers;
  }

  void sweep_numbers() {
    const std::vector<HoleSlot> slots = numbers_;
    for (const HoleSlot& slot : slots)
      for (const Argument& v : hole_candidates(now_, options_, *best_, slot)) {
        if (budget_.expired()) return;
        Step step = *best_;
        set(&step, slot, v);
        if (!(step == *best_)) consider(step, slots);
      }
  }

  const ScheduleOptions& options_;
  Budget budget_;
  const std::function<void(GroupPlanner&)>& rest_;
  Schedule now_;
  std::vector<Step> after_;
  std::optional<Step> best_;
  double best_cost_ = 0;
  std::vector<HoleSlot> numbers_;
  std::optional<HoleSlot> unfilled_;
  std::optional<std::string> refusal_;
  std::size_t tried_ = 0;
};

// Which fixed step keeps the recipe from the scheduler's own time, if one does.
void tell_what_fixing_costs(const Schedule& original, const std::vector<Step>& steps, double cost, Completion& completion,
                            const ScheduleOptions& options, const Budget& budget,
                            const std::function<void(GroupPlanner&)>& rest, Ledger& ledger) {
  Ledger unheard;
  GroupPlanner own(original, options, budget, unheard);
  rest(own);
  const std::optional<double> free = completion.cost(own.schedule());
  if (!free || cost < *free * kMuchSlower) return;
  int worst = -1;
  double without = cost;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (budget.expired()) break;
    if (leaves_hole(steps[i])) continue;
    std::vector<Step> fewer = steps;
    fewer.erase(fewer.begin() + static_cast<long>(i));
    if (!completion.run(original, fewer, nullptr)) continue;
    const std::optional<double> us = completion.cost(completion.schedule());
    if (!us || *us >= without * kBetter) continue;
    without = *us;
    worst = static_cast<int>(i);
  }
  std::string chosen;
  for (const Step& s : own.steps()) chosen += (chosen.empty() ? "" : "; ") + words_of(s);
  const std::string by =
      "; the scheduler alone: at " + time_text(*free) + " by " + (chosen.empty() ? "original order" : chosen);
  const std::string what =
      worst < 0 ? "the fixed steps together"
                : "step " + std::to_string(worst) + " (" + words_of(steps[static_cast<std::size_t>(worst)]) + ")";
  ledger.push_back({"fixed", what, false,
                    "keeps the kernel at " + time_text(cost) + " predicted" +
                        (worst < 0 ? "" : ", at " + time_text(without) + " without it") + by,
                    original.scop->name, 0});
}

}  // namespace

bool has_hole(const Step& step) {
  return std::any_of(step.arguments.begin(), step.arguments.end(), [](const auto& entry) { return holds_hole(entry.second); });
}

bool leaves_hole(const Step& step) { return step.verb == "?" || has_hole(step); }

bool has_argument_holes(const Recipe& recipe) {
  for (const Variant& v : recipe.variants)
    for (const Group& g : v.groups)
      if (std::any_of(g.steps.begin(), g.steps.end(), leaves_hole)) return true;
  return false;
}

Result<std::vector<Step>> complete_steps(const Schedule& original, const std::vector<Step>& steps,
                                         const ScheduleOptions& options, const Budget& budget,
                                         const std::function<void(GroupPlanner&)>& rest, Ledger& ledger) {
  std::optional<Completion> completion(std::in_place, options, budget.part(0.7), rest);
  Ledger told;
  Result<std::vector<Step>> done = completion->run(original, steps, &told);
  // The search's share has ended before anything was found: the rest of the time is for its first finds.
  if (!done && done.errors()[0].code == Code::kBudgetExhausted && !budget.expired()) {
    told.clear();
    completion.emplace(options, budget, rest);
    done = completion->run(original, steps, &told);
  }
  ledger.insert(ledger.end(), told.begin(), told.end());
  if (!done) return done.errors();
  const std::vector<Step> completed = std::move(*done);
  if (const std::optional<double> us = completion->cost(completion->schedule()))
    tell_what_fixing_costs(original, steps, *us, *completion, options, budget, rest, ledger);
  return completed;
}

}  // namespace facet
