// The passes' log says which loops did not get the form that a step asked for; loop and step are found by their places.
#include "src/driver/obeyed.hpp"

#include <algorithm>
#include <set>

namespace facet {

namespace {

struct Dropped {
  Group* group = nullptr;
  std::size_t step = 0;
  std::string what, reason;  // "loop 'j'"
};

const Kernel* find_kernel(const LoopProgram& program, const std::string& name) {
  for (const std::vector<Kernel>* list : {&program.kernels, &program.prepare})
    for (const Kernel& k : *list)
      if (k.name == name) return &k;
  return nullptr;
}

Group* group_of(const Kernel& kernel, Recipe* recipe) {
  std::vector<Group>& groups = recipe->variants[static_cast<std::size_t>(kernel.variant)].groups;
  const auto it = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.name == kernel.group; });
  return it == groups.end() ? nullptr : &*it;
}

// `recompute` and `reuse` are of arrays: their passes bear their names.
std::size_t step_of_array(const Group& group, const PassNote& note) {
  const Argument array{note.loop};
  const auto it = std::find_if(group.steps.begin(), group.steps.end(), [&](const Step& s) {
    const auto a = s.arguments.find("array");
    return s.verb == note.pass && a != s.arguments.end() && a->second == array;
  });
  return static_cast<std::size_t>(it - group.steps.begin());
}

std::vector<Dropped> dropped_steps(const LoopProgram& scanned, const PassLog& passes, Recipe* recipe) {
  std::vector<Dropped> list;
  const auto add = [&](const PassNote& n, bool of_loop) {
    const Kernel* kernel = find_kernel(scanned, n.kernel);
    Group* group = kernel ? group_of(*kernel, recipe) : nullptr;
    if (!group) return;
    const std::size_t step = of_loop ? static_cast<std::size_t>(n.asked_by) : step_of_array(*group, n);
    if (step < group->steps.size()) list.push_back({group, step, (of_loop ? "loop '" : "array '") + n.loop + "'", n.reason});
  };
  for (const PassNote& n : dropped(passes)) add(n, true);
  for (const PassNote& n : passes.notes)
    if (!n.done && n.asked_by < 0) add(n, false);
  return list;
}

Diagnostic refusal(const Dropped& d) {
  const Step& step = d.group->steps[d.step];
  return diagnose(Code::kStepPrecondition, step.place, {step.verb, "no code obeys it: " + d.what + ": " + d.reason},
                  {"leave the step out: " + d.what + " stays as it is then, as it would here"});
}

}  // namespace

Result<Done> obey_or_refuse(const LoopProgram& scanned, const PassLog& passes, Recipe* recipe) {
  std::set<std::pair<Group*, std::size_t>> own;
  for (const Dropped& d : dropped_steps(scanned, passes, recipe)) {
    if (!d.group->steps[d.step].place.pointer.empty()) return refusal(d);
    own.insert({d.group, d.step});
  }
  for (auto it = own.rbegin(); it != own.rend(); ++it)
    it->first->steps.erase(it->first->steps.begin() + static_cast<std::ptrdiff_t>(it->second));
  return Done{};
}

Result<Done> settle_code(const Loaded& loaded, const Options& options, const Machine& machine, const ScheduleOptions& schedule,
                         Recipe* recipe) {
  const Result<Scheduled> scheduled = schedule_program(loaded.program, *recipe, schedule);
  if (!scheduled && scheduled.errors()[0].code == Code::kBudgetExhausted) return Done{};  // what took too long is not refused
  if (!scheduled) return scheduled.errors();
  PassLog passes;
  (void)lower_to_target(scheduled->loops, options, machine, &passes);
  return obey_or_refuse(scheduled->loops, passes, recipe);
}

Result<Done> check_code(const Loaded& loaded, const Options& options, const Machine& machine, const Recipe& recipe,
                        const ScheduleOptions& schedule) {
  // Without time the scheduler leaves everything in the program's order.
  ScheduleOptions at_once = schedule;
  at_once.deadline = std::chrono::steady_clock::now();
  at_once.memo = nullptr;
  Ledger unheard;
  Result<Recipe> whole = plan(loaded.program, recipe, at_once, unheard);
  if (!whole) return whole.errors();
  return settle_code(loaded, options, machine, schedule, &*whole);
}

}  // namespace facet
