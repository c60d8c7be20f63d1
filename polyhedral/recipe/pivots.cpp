// Policy: loops are cut where the row or column that an outer loop names passes through them.
//
// A nest in place that reads its own array at an outer loop's value carries a dependence in every loop, by that one row and
// that one column only; what lies before and behind them is free of each other.
//
//     for k for i for j                              for k {
//       A[i,j] = min(A[i,j], A[i,k] + A[k,j])  -->     for i < k (threads) { for j < k (lanes); j = k; for j > k (lanes) }
//                                                      i = k { .. }
//                                                      for i > k (threads) { .. } }
//
// Whether the parts are free is asked of the dependences; lanes and threads are given by the policies that follow. Not handled:
// nests of several statements (plan_bands), points other than the outer loop's value itself.
// Source: Griebl, Feautrier and Lengauer, Index set splitting, IJPP 2000.
#include <algorithm>

#include "polyhedral/legality.hpp"
#include "polyhedral/recipe/planner.hpp"
#include "polyhedral/recipe/time_tiles.hpp"

namespace facet {

namespace {

constexpr double kLeastUs = 1000;  // of work: below, lanes save less than planning takes
constexpr double kMostOfIt = 0.1;  // of the instances: parts that count

class Pivots {
 public:
  Pivots(GroupPlanner& planner, const TreePtr& nest) : planner_(planner), now_(planner.schedule()) {
    TreePtr t = nest;
    for (; t->kind == Tree::Kind::kLoop; t = t->children[0]) chain_.push_back(t);
    statement_ = t->kind == Tree::Kind::kLeaf ? t->statement : -1;
  }

  void run() {
    if (statement_ < 0 || chain_.size() < 2 || !plain() || !find_cuts()) return;
    const std::string subject = "loops of " + now_.statement(statement_).name;
    const Result<Done> asked = guarded("cuts", planner_.budget().part(0.5), [&] {
      if (!bound()) return;
      wanted_ = true;
      good_ = cut_all() && free();
    });
    if (!asked) return planner_.decline("cuts", subject, asked.errors()[0].message);
    if (!wanted_) return;
    if (!good_) return planner_.decline("cuts", subject, "the parts before and behind '" + cuts_[0].point + "' are not free");
    planner_.attempt_all(steps_, "cuts", subject, "before and behind '" + cuts_[0].point + "' nothing is carried");
  }

 private:
  struct Cut {
    std::string loop, point;  // names
  };

  bool plain() const {
    const Statement& st = now_.statement(statement_);
    bool serial = true;
    for (const TreePtr& l : chain_) serial = serial && l->mark.kind == LoopKind::kSerial && !l->comment.starts_with("tile");
    return serial && instances_us(planner_, st, planner_.model().instances(statement_), true) >= kLeastUs;
  }

  // The loop of the chain, outside loop `below`, that walks this index; chain_.size() when none does.
  std::size_t walker(const ExprPtr& index, std::size_t below) const {
    std::size_t k = 0;
    while (k < below && (index->op != Op::kIndex || walked_iterator(now_, *chain_[k], statement_) != index->name)) ++k;
    return k < below ? k : chain_.size();
  }

  bool find_cuts() {
    const Statement& st = now_.statement(statement_);
    std::vector<std::pair<std::size_t, std::size_t>> found;  // loop, loop whose value is the point
    walk(st.value, [&](const Expr& e) {
      if (e.op != Op::kRead || e.name != st.target) return;
      for (std::size_t d = 0; d < e.args.size(); ++d) {
        const std::size_t loop = walker(st.subscripts[d], chain_.size());
        if (loop == chain_.size()) continue;
        const std::size_t point = walker(e.args[d], loop);
        if (point < loop) found.push_back({loop, point});
      }
    });
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    for (const auto& [loop, point] : found) {
      if (!cuts_.empty() && cuts_.back().loop == chain_[loop]->names.at(statement_)) return false;  // two points in one loop
      cuts_.push_back({chain_[loop]->names.at(statement_), chain_[point]->names.at(statement_)});
    }
    return !cuts_.empty();
  }

  bool is_cut(const Tree& loop, int s) const {
    return std::any_of(cuts_.begin(), cuts_.end(), [&](const Cut& c) { return c.loop == loop.names.at(s); });
  }

  // Do the loops that would be cut carry something now?
  bool bound() const {
    const std::map<int, Carried> carried = carried_dependences(now_);
    return std::all_of(chain_.begin(), chain_.end(),
                       [&](const TreePtr& l) { return !is_cut(*l, statement_) || !carried.at(l->id).none(); });
  }

  bool apply(Step step) {
    StepOutcome made = apply_steps(now_, {step}, planner_.budget());
    if (!made.schedule) return false;
    now_ = std::move(*made.schedule);
    steps_.push_back(std::move(step));
    return true;
  }

  // Each cut in every loop of its name: before the point, the point, behind it.
  bool cut_all() {
    std::vector<int> parts{statement_};
    for (const Cut& c : cuts_) {
      const std::vector<int> before = parts;  // each has a loop of its own to cut: earlier cuts lie outside
      for (const int s : before) {
        const int from = now_.statement_count();
        if (!apply(
                make_step("index_set_split",
                          {{"statement", arg(now_.statement(s).name)}, {"loop", arg(c.loop)}, {"expression", arg(c.point)}})))
          return false;
        const int first = now_.statement_count();
        if (!apply(make_step(
                "peel",
                {{"statement", arg(now_.statement(from).name)}, {"loop", arg(c.loop)}, {"first", arg(std::int64_t{1})}})))
          return false;
        if (now_.statement_count() == first) return false;
        for (int n = from; n < now_.statement_count(); ++n) parts.push_back(n);
      }
    }
    parts_ = parts;
    return true;
  }

  // The parts that count carry nothing in the loops that were cut.
  bool free() const {
    const std::map<int, Carried> carried = carried_dependences(now_);
    const Model model(now_, planner_.options().sizes);
    const double all = planner_.model().instances(statement_);
    for (const int s : parts_) {
      if (model.instances(s) < kMostOfIt * all) continue;
      for (const TreePtr& l : loops_around(now_.tree, s))
        if (is_cut(*l, s) && !carried.at(l->id).none()) return false;
    }
    return true;
  }

  GroupPlanner& planner_;
  Schedule now_;
  std::vector<TreePtr> chain_;
  int statement_ = -1;
  std::vector<Cut> cuts_;
  bool wanted_ = false, good_ = false;
  std::vector<Step> steps_;
  std::vector<int> parts_;
};

}  // namespace

void plan_pivots(GroupPlanner& planner) {
  for_each_nest(planner, [&](const TreePtr& loop) { Pivots(planner, loop).run(); });
}

}  // namespace facet
