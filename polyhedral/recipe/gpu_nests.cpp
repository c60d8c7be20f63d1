// Policy: nests whose outer loop is sequential. Three ways to find parallel loops for the grid, judged by the model of
// gpu_time:
//
//   apart      statements without a part in what the outer loop carries get a nest of their own
//                for i { t[i] = ..;  for j  y[j] += a[i,j] t[i] }     -->    for i t[i] = ..;   for j for i  y[j] += ..
//   wavefront  isl's scheduler with a parallel second loop: the sequential loop runs over the wavefronts
//                for t for i for j  a[i,j] = f(a[i-1,j], ...)         -->    for c = 4t + 2i + j  for t, i (parallel)
//                for i for j for k  a[i,j] -= a[i,k] a[k,j]           -->    for k  for i, j (parallel)
//   parts      the same, and what shares the sequential loop is serialised into nests of its own
//
// The sequential loop then becomes a loop of the processor around kernels, or stays in one block, whichever the model says.
// Source: Lamport, The parallel execution of DO loops, CACM 1974.
#include <algorithm>
#include <functional>

#include "polyhedral/recipe/gpu_time.hpp"

namespace facet {

namespace {

constexpr double kGain = 0.8;   // the model is rough: a smaller gain is none
constexpr double kShare = 0.3;  // of the time left, for one way of one nest: isl's integer programs can be large

const std::vector<TreePtr> nests_of(const TreePtr& tree) {
  return tree->kind == Tree::Kind::kSequence ? tree->children : std::vector<TreePtr>{tree};
}

class Nests {
 public:
  explicit Nests(GroupPlanner& planner) : planner_(planner) {}

  void run() {
    // Statements, not loops: a reschedule makes new ones.
    std::vector<int> first;
    for (const TreePtr& n : nests_of(planner_.schedule().tree)) first.push_back(statements_of(n).front());
    for (const int s : first) improve(s);
  }

 private:
  struct Way {
    std::vector<Step> steps;
    std::string why;
  };

  static TreePtr nest_around(const Schedule& schedule, int statement) {
    for (const TreePtr& n : nests_of(schedule.tree))
      if (contains(n, statement)) return n;
    return nullptr;
  }

  void improve(int statement) {
    const TreePtr node = nest_around(planner_.schedule(), statement);
    if (node->kind != Tree::Kind::kLoop || is_mapped(node)) return;
    const GpuNest nest(planner_, node);
    if (!nest.known() || !nest.chain().empty() || nest.single_reduction()) return;
    const std::string subject = nest.subject();
    const std::vector<int> all = statements_of(node);
    double best = kGain * gpu_time_us(nest, node);
    Way chosen;
    for (const auto& make : {&Nests::apart, &Nests::wavefront, &Nests::parts}) {
      Ledger none;
      GroupPlanner trial(planner_.schedule(), planner_.options(), planner_.budget().part(kShare), none);
      const std::string why = (this->*make)(nest, node, trial);
      if (why.empty()) continue;
      plan_gpu_order(trial);
      const double time = time_of(trial, all);
      if (time >= best) continue;
      best = time;
      chosen = {trial.steps(), why};
    }
    if (!chosen.steps.empty()) planner_.attempt_all(chosen.steps, "gpu", subject, chosen.why);
  }

  // Of the nests that now hold the statements.
  static double time_of(const GroupPlanner& trial, const std::vector<int>& statements) {
    double sum = 0;
    for (const TreePtr& n : nests_of(trial.schedule().tree)) {
      if (std::none_of(statements.begin(), statements.end(), [&](int s) { return contains(n, s); })) continue;
      const GpuNest nest(trial, n);
      if (!nest.known()) return 1e300;
      sum += gpu_time_us(nest, n);
    }
    return sum;
  }

  // Each way gives its reason, or "" when it does not apply or is refused.
  std::string apart(const GpuNest&, const TreePtr& node, GroupPlanner& trial) {
    const std::vector<int> all = statements_of(node);
    std::vector<int> free;
    const Result<Done> done = guarded("GPU policy", trial.budget(), [&] { free = free_of(trial.schedule(), *node, all); });
    if (!done || free.empty() || free.size() == all.size()) return "";
    std::vector<std::string> with;
    for (std::size_t k = 1; k < free.size(); ++k) with.push_back(name(free[k]));
    ArgumentMap arguments{{"statement", arg(name(free[0]))}, {"loop", arg(node->names.at(free[0]))}};
    if (!with.empty()) arguments["with"] = arg(with);
    if (!trial.attempt(make_step("distribute", std::move(arguments)), "", "", "")) return "";
    return "what carries no dependence of the loop has a nest of its own";
  }

  // Statements that are in no dependence between iterations of the loop.
  static std::vector<int> free_of(const Schedule& schedule, const Tree& loop, std::vector<int> statements) {
    for (const Dependence& d : *schedule.dependences) {
      if (!loop.member.count(d.source) || !loop.member.count(d.sink)) continue;
      const bool own = std::any_of(schedule.storage.begin(), schedule.storage.end(), [&](const StorageMap& m) {
        return m.kind == StorageMap::Kind::kContract && m.array == d.array && m.at >= 0;
      });
      if (own && d.kind != DependenceKind::kFlow) continue;  // each iteration has storage of its own
      if (!zero_distance(d, loop.member.at(d.source), loop.member.at(d.sink)))
        std::erase_if(statements, [&](int s) { return s == d.source || s == d.sink; });
    }
    return statements;
  }

  std::string wavefront(const GpuNest&, const TreePtr& node, GroupPlanner& trial) {
    return reschedule(node, trial, "") ? "rescheduled: a sequential loop around parallel ones" : "";
  }

  std::string parts(const GpuNest&, const TreePtr& node, GroupPlanner& trial) {
    if (!reschedule(node, trial, "")) return "";
    const TreePtr outer = nest_around(trial.schedule(), statements_of(node).front());
    if (outer->kind != Tree::Kind::kLoop) return "";
    const std::pair<int, std::string> address = address_of(trial.schedule(), outer);
    if (address.first < 0 || !reschedule(outer, trial, address.second)) return "";
    return "rescheduled: a sequential loop around nests of their own";
  }

  // With `below`: inside that outer loop of the nest, every component alone; else all of it, with parallel inner loops.
  bool reschedule(const TreePtr& node, GroupPlanner& trial, const std::string& below) {
    const int s = below.empty() ? statements_of(node).front() : address_of(trial.schedule(), node).first;
    std::vector<std::string> names{name(s)};
    if (!below.empty())
      for (const int other : statements_of(node))
        if (other != s) names.push_back(name(other));
    ArgumentMap arguments{{"statements", arg(names)}};
    if (below.empty()) {
      arguments["outer_coincidence"] = Argument{true};
    } else {
      arguments["below"] = arg(below);
      arguments["fusion"] = arg(std::string("minimal"));
    }
    return trial.attempt(make_step("reschedule", std::move(arguments)), "", "", "");
  }

  const std::string& name(int s) const { return planner_.schedule().statement(s).name; }

  GroupPlanner& planner_;
};

}  // namespace

void plan_gpu_nests(GroupPlanner& planner) { Nests(planner).run(); }

}  // namespace facet
