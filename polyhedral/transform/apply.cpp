// apply: the one way a recipe step reaches the schedule.
#include "polyhedral/transform/apply.hpp"

#include <algorithm>
#include <cstdio>

#include "facet/nearest.hpp"
#include "polyhedral/storage.hpp"

namespace facet {

namespace {

StepOutcome refused(Diagnostic d, std::optional<Violation> v = std::nullopt) {
  return {std::nullopt, StepRefusal{std::move(d), std::move(v), nullptr, -1}};
}

// What the doorway reports (a budget spent) knows no place of its own.
StepOutcome refused_at(Diagnostic d, const Step& step) {
  if (d.place.pointer.empty()) d.place = step.place;
  return refused(std::move(d));
}

std::string megabytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", bytes / 1e6);
  return text;
}

// A parallel loop whose `collapse` names more loops than there are directly inside each other.
std::optional<std::string> broken_collapse(const Schedule& schedule) {
  std::optional<std::string> found;
  for_each_loop(schedule.tree, [&](const Tree& loop) {
    const Tree* inner = &loop;
    for (int i = 1; loop.mark.kind == LoopKind::kParallel && i < loop.mark.collapse; ++i) {
      inner = inner->children[0].get();
      if (inner->kind == Tree::Kind::kLoop) continue;
      found = loop.names.begin()->second;
      return;
    }
  });
  return found;
}

// Who touches a contracted array outside the loop that its parts belong to, though no value goes in or out (legality would have
// said so): there is no place for what it does.
std::optional<Diagnostic> outside_of_parts(const Schedule& schedule, const Step& step) {
  for (const StorageMap& m : schedule.storage) {
    const TreePtr at = m.at >= 0 ? find_loop(schedule.tree, m.at) : nullptr;
    if (m.kind != StorageMap::Kind::kContract || m.sizes.empty() || !at) continue;
    for (const int s : statements_of(schedule.tree)) {
      if (contains(at, s) || !schedule.statement(s).touches(m.array) || schedule.storage_of(s, m.array) != &m) continue;
      return diagnose(Code::kStepPrecondition, step.place,
                      {step.verb, "'" + schedule.statement(s).name + "' uses '" + m.array + "' outside loop '" +
                                      at->names.begin()->second + "', for whose iterations it has parts"},
                      {"contract at a loop around all its uses; a value that nobody takes over need not be computed"});
    }
  }
  return std::nullopt;
}

const StorageMap* of_buffer(const Schedule& schedule, const std::string& buffer) {
  const auto m = std::find_if(schedule.storage.begin(), schedule.storage.end(),
                              [&](const StorageMap& map) { return map.buffer == buffer; });
  return m == schedule.storage.end() ? nullptr : &*m;
}

// Of two parts of one array around a statement the inner one is used: loops that change places must not exchange the parts.
std::optional<Diagnostic> exchanged_parts(const Schedule& schedule, const Schedule& next, const Step& step) {
  for (const int s : statements_of(next.tree)) {
    if (s >= schedule.statement_count() || !contains(schedule.tree, s)) continue;
    for (const StorageMap& m : schedule.storage) {
      if (schedule.storage_of(s, m.array) != &m || !of_buffer(next, m.buffer)) continue;
      const StorageMap* now = next.storage_of(s, m.array);
      if (!now || now->buffer == m.buffer || !of_buffer(schedule, now->buffer)) continue;
      return diagnose(Code::kStepPrecondition, step.place,
                      {step.verb, "'" + schedule.statement(s).name + "' would use the part '" + now->buffer + "' of '" +
                                      m.array + "' instead of '" + m.buffer + "': of two parts around it the inner one counts"},
                      {"take this step before the `promote` of '" + now->buffer + "', or leave one of the two parts out"});
    }
  }
  return std::nullopt;
}

// Loops that the step has marked know it by its position.
TreePtr with_marker(const TreePtr& tree, int step) {
  std::vector<TreePtr> children;
  for (const TreePtr& c : tree->children) children.push_back(with_marker(c, step));
  const bool marked = tree->kind == Tree::Kind::kLoop && tree->mark.kind != LoopKind::kSerial && tree->mark.step < 0;
  if (!marked && children == tree->children) return tree;
  if (tree->kind == Tree::Kind::kSequence) return make_sequence(std::move(children));
  Tree loop = *tree;
  if (marked) loop.mark.step = step;
  return make_loop_tree(std::move(loop), children[0]);
}

// Boxes of parts follow the loops around them, and all of them fit a stack; the refusal where they do not.
std::optional<StepOutcome> fit_storage(const Schedule& schedule, const Step& step, const Budget& budget, Schedule* next) {
  std::optional<std::string> unboxed;
  const Result<Done> fitted = guarded("storage of " + step.verb, budget, [&] {
    follow_strays(*next);
    unboxed = fit_boxes(schedule, *next);
  });
  if (!fitted) return refused_at(fitted.errors()[0], step);
  if (unboxed)
    return refused(diagnose(Code::kStepPrecondition, step.place,
                            {step.verb, "the promoted part of '" + *unboxed + "' would have no constant size"}));
  if (const auto large = too_large_for_stack(schedule, *next))
    return refused(diagnose(Code::kStepPrecondition, step.place,
                            {step.verb, "with the part of '" + large->first + "' all parts may need " +
                                            megabytes(large->second) + " MB of each thread's stack at the largest sizes"},
                            {"smaller tiles, smaller `max` of symbols, or promote with \"memory\": \"l2\""}));
  return std::nullopt;
}

}  // namespace

StepOutcome apply_step(const Schedule& schedule, const Step& step, const Budget& budget) {
  const Transform* t = find_transform(step.verb);
  if (!t) {
    std::vector<std::string> known;
    for (const Transform* k : all_transforms()) known.push_back(k->name);
    std::vector<std::string> notes = did_you_mean(step.verb, known);
    std::string list;
    for (const std::string& k : known) list += (list.empty() ? "" : ", ") + k;
    notes.push_back("the steps are " + list);
    return refused(diagnose(Code::kUnknownStep, place_of(step, "do"), {step.verb}, std::move(notes)));
  }
  if (std::optional<Diagnostic> d = check_arguments(t->parameters, step)) return refused(*d);
  Arguments args(schedule, step);
  for (const Parameter& p : t->parameters)
    if (std::string(p.kind) == "name" || std::string(p.kind) == "names") args.check_names(p.name);
  if (args.problem()) return refused(*args.problem());
  Schedule next;
  const Result<Done> ran = guarded("step " + step.verb, budget, [&] {
    next = t->apply(schedule, args);
    if (args.problem()) return;
    follow_scalars(next);
    next.tree = with_marker(next.tree, schedule.taken);
    next.taken = schedule.taken + 1;
  });
  if (!ran) return refused_at(ran.errors()[0], step);
  if (args.problem()) return refused(*args.problem());
  if (const auto apart = broken_collapse(next))
    return refused(diagnose(Code::kStepPrecondition, step.place,
                            {step.verb, "the loops that loop '" + *apart +
                                            "' shares its threads with by `collapse` would not "
                                            "stand directly inside each other"},
                            {"take this step before `parallelize`, or leave `collapse` out there"}));
  if (std::optional<StepOutcome> unfit = fit_storage(schedule, step, budget, &next)) return std::move(*unfit);
  std::optional<Violation> violation;
  const Result<Done> judged = guarded("legality of " + step.verb, budget, [&] {
    // A step that adds dependences has them judged with all statements where they were.
    violation = find_violation(next, next.dependences == schedule.dependences ? &schedule : nullptr);
  });
  if (!judged) return refused_at(judged.errors()[0], step);
  if (violation) {
    StepOutcome illegal = refused(diagnose(Code::kIllegalStep, step.place, {step.verb, to_text(*violation)}), violation);
    illegal.refusal->schedule = std::make_shared<const Schedule>(std::move(next));
    return illegal;
  }
  if (std::optional<Diagnostic> d = outside_of_parts(next, step)) return refused(std::move(*d));
  if (std::optional<Diagnostic> d = exchanged_parts(schedule, next, step)) return refused(std::move(*d));
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
