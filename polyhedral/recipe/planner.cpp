// GroupPlanner: attempts and their ledger.
#include "polyhedral/recipe/planner.hpp"

#include <algorithm>
#include <cstdio>

#include "polyhedral/predict.hpp"

namespace facet {

namespace {

// Threads pay from about 20 times their start-up; one operation is taken as 0.25 ns (scalar code at 4 GHz).
constexpr double kThreadGain = 20;
constexpr double kOperationNs = 0.25;

}  // namespace

double scalar_us(const Statement& s, double instances) { return instances * (1 + Model::operations(s)) * kOperationNs / 1000; }

double threads_pay_us(const ScheduleOptions& options) { return kThreadGain * options.machine.cpu.thread_start_us; }

std::string time_text(double us) {
  char text[40];
  std::snprintf(text, sizeof text, us < 1000 ? "%.3g us" : "%.4g ms", us < 1000 ? us : us / 1000);
  return text;
}

Argument arg(const std::string& text) { return {text}; }
Argument arg(std::int64_t number) { return {number}; }
Argument arg(const std::vector<std::string>& texts) {
  ArgumentList list;
  for (const std::string& t : texts) list.push_back({t});
  return {list};
}
Argument arg(const std::vector<std::int64_t>& numbers) {
  ArgumentList list;
  for (const std::int64_t n : numbers) list.push_back({n});
  return {list};
}
Argument arg(ArgumentMap map) { return {std::move(map)}; }

Step make_step(const std::string& verb, ArgumentMap arguments) {
  Step s;
  s.verb = verb;
  s.arguments = std::move(arguments);
  return s;
}

std::pair<int, std::string> address_of(const Schedule& schedule, const TreePtr& loop) {
  for (const auto& [s, name] : loop->names) {
    const TreePtr found = find_loop(schedule.tree, s, name);
    if (found && found->id == loop->id) return {s, name};
  }
  return {-1, ""};
}

bool GroupPlanner::attempt(const Step& step, const std::string& kind, const std::string& subject, const std::string& why) {
  return attempt_all({step}, kind, subject, why);
}

bool GroupPlanner::attempt_all(const std::vector<Step>& steps, const std::string& kind, const std::string& subject,
                               const std::string& why) {
  StepOutcome outcome = apply_steps(schedule_, steps, budget_);
  if (outcome.schedule) {
    schedule_ = std::move(*outcome.schedule);
    steps_.insert(steps_.end(), steps.begin(), steps.end());
    ledger_.push_back({kind, subject, true, why, schedule_.scop->name, 0});
    return true;
  }
  const Diagnostic& d = outcome.refusal->diagnostic;
  ledger_.push_back({d.code == Code::kBudgetExhausted ? "budget" : kind, subject, false, d.message, schedule_.scop->name, 0});
  return false;
}

void GroupPlanner::note(const std::string& kind, const std::string& subject, const std::string& what) {
  ledger_.push_back({kind, subject, true, what, schedule_.scop->name, 0});
}

void GroupPlanner::decline(const std::string& kind, const std::string& subject, const std::string& why) {
  ledger_.push_back({kind, subject, false, why, schedule_.scop->name, 0});
}

void for_each_nest(GroupPlanner& planner, const std::function<void(const TreePtr& loop)>& visit) {
  const TreePtr root = planner.schedule().tree;
  std::vector<int> first;
  for (const TreePtr& nest : root->kind == Tree::Kind::kSequence ? root->children : std::vector<TreePtr>{root})
    first.push_back(statements_of(nest).front());
  for (const int s : first) {
    const std::vector<TreePtr> loops = loops_around(planner.schedule().tree, s);
    if (!loops.empty()) visit(loops.front());
  }
}

std::int64_t second_cache_bytes(const CpuMachine& cpu) {
  return cpu.caches.size() > 1 && cpu.caches[1].size_bytes > 0 ? cpu.caches[1].size_bytes : 1 << 20;
}

double peak_gflop_s(const CpuMachine& cpu, double element_bytes) {
  constexpr double kPeakF32 = 100;
  return (cpu.peak_f32_gflop_s > 0 ? cpu.peak_f32_gflop_s : kPeakF32) * 4 / element_bytes;
}

double copied_gb_s(const CpuMachine& cpu) {
  constexpr double kCopy = 20;
  return cpu.copy_gb_s > 0 ? cpu.copy_gb_s : kCopy;
}

bool is_planned(const TreePtr& tree) {
  bool any = false;
  for_each_loop(tree, [&](const Tree& l) { any = any || l.mark.kind != LoopKind::kSerial || l.comment.starts_with("tile"); });
  return any;
}

std::optional<double> predicted_us(const GroupPlanner& planner, const Schedule& schedule, double share) {
  const Budget budget = planner.budget().part(share);
  Ledger unheard;
  GroupPlanner trial(schedule, planner.options(), budget, unheard);
  plan_vectors(trial);
  plan_threads(trial);
  double us = 0;
  const Result<Done> counted =
      guarded("prediction", budget, [&] { us = predict(trial.schedule(), planner.options()).time_us; });
  return counted ? std::optional<double>(us) : std::nullopt;
}

}  // namespace facet
