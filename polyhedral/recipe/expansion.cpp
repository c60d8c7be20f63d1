// Policy: sums whose result is started anew in each iteration of the loops outside get a place for each of these iterations.
//
//     for r, q {                                                for r, q { for p  sum[r, q, p] = 0
//       for p  sum[p] = 0                                                  for p, s  sum[r, q, p] += A[r, q, s] * C[s, p] }
//       for p, s  sum[p] += A[r, q, s] * C[s, p]         -->    for r, q  for p  A[r, q, p] = sum[r, q, p]
//       for p  A[r, q, p] = sum[p] }
//
// One row of the result is no matrix product, all rows are: the statement becomes a contraction, register tiles meet several
// rows at once. That is done where it makes a contraction of what was none, and only then; the nest leaves the loops that it
// shares with others. The memory is that of the result as a whole, which must not be more than the group has in one array
// already: it goes to memory and back once, for a reuse of mr rows (doitgen of PolyBench: 30 ms before, 11.6 so).
//
// Not handled: scalars (contraction.cpp expands those that are in its way), results that others use outside the loops.
#include <algorithm>

#include "facet/expr_facts.hpp"
#include "polyhedral/recipe/contraction.hpp"

namespace facet {

namespace {

constexpr double kLeastWork = 500000;  // multiply-adds

class Expansion {
 public:
  Expansion(GroupPlanner& planner, int statement) : planner_(planner), s_(statement) {}

  void run() {
    if (!is_wanted()) return;
    find_loops();
    if (outside_.empty() || bytes() > largest_array()) return;
    const std::vector<Step> steps = expansions();
    const StepOutcome trial = apply_steps(now(), steps, planner_.budget());
    if (!trial.schedule) return;
    const Model model(*trial.schedule, planner_.options().sizes);
    if (recognise_contractions(trial.schedule->statement(s_), s_, model).empty()) return;
    std::vector<Step> all = steps;
    if (const std::optional<Step> apart = distribution()) all.push_back(*apart);
    planner_.attempt_all(all, "expansion", "array " + target(), "makes a contraction of " + st().name);
  }

 private:
  GroupPlanner& planner_;
  int s_;
  std::vector<TreePtr> outside_;  // loops that use the result inside only and do not walk it, outermost first

  const Schedule& now() const { return planner_.schedule(); }
  const Statement& st() const { return now().statement(s_); }
  const std::string& target() const { return st().target; }

  bool is_wanted() const {
    const Array& a = now().scop->arrays.at(target());
    return st().update && st().kind == StatementKind::kReduce && !a.external && !a.live_out && !a.scalar &&
           planner_.model().instances(s_) >= kLeastWork && recognise_contractions(st(), s_, planner_.model()).empty();
  }

  std::vector<int> users() const {
    std::vector<int> list;
    for (const int s : statements_of(now().tree))
      if (now().statement(s).touches(target())) list.push_back(s);
    return list;
  }

  void find_loops() {
    const std::vector<int> all = users();
    for (const TreePtr& l : loops_around(now().tree, s_)) {
      const std::string name = walked_iterator(now(), *l, s_);
      const bool inside = std::all_of(all.begin(), all.end(), [&](int s) { return contains(l, s); });
      if (name.empty() || !inside || l->mark.kind != LoopKind::kSerial || mentions_index(st().subscripts, name)) return;
      outside_.push_back(l);
    }
  }

  double bytes() const {
    double product = planner_.model().array_bytes(target());
    for (const TreePtr& l : outside_) product *= planner_.model().trips(*l, s_);
    return product;
  }

  double largest_array() const {
    double most = 0;
    for (const auto& [name, a] : now().scop->arrays)
      if (!a.scalar) most = std::max(most, planner_.model().array_bytes(name));
    return most;
  }

  // One dimension a loop, that of the outermost loop first.
  std::vector<Step> expansions() const {
    std::vector<Step> steps;
    std::string array = target();
    for (auto l = outside_.rbegin(); l != outside_.rend(); ++l) {
      steps.push_back(
          make_step("expand", {{"array", arg(array)}, {"statement", arg(st().name)}, {"at", arg((*l)->names.at(s_))}}));
      array += ".each";
    }
    return steps;
  }

  // The sum and its start leave the loops; nullopt: nothing else is there.
  std::optional<Step> distribution() const {
    std::vector<std::string> starts;
    std::size_t own = 1;
    for (const int s : users())
      if (s != s_ && !now().statement(s).reads_of(target()) && now().statement(s).target == target()) {
        starts.push_back(now().statement(s).name);
        ++own;
      }
    if (statements_of(outside_.front()).size() == own) return std::nullopt;
    return make_step("distribute",
                     {{"statement", arg(st().name)}, {"loop", arg(outside_.front()->names.at(s_))}, {"with", arg(starts)}});
  }
};

}  // namespace

void plan_expansions(GroupPlanner& planner) {
  for (const int s : statements_of(planner.schedule().tree)) Expansion(planner, s).run();
}

}  // namespace facet
