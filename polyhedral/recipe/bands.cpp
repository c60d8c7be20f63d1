// Policy: nests of three loops and more whose outer loops carry dependences (factorizations) become permutable bands in tiles.
//
// isl's scheduler puts all statements of such a nest into shared loops that permute, where there are any:
//
//     for i { for j < i { for k < j  A[i,j] -= A[i,k] A[k,j];  A[i,j] /= A[j,j] }       for w (wavefronts of tiles of i, k)
//             for j >= i  for k < i  A[i,j] -= A[i,k] A[k,j] }                   -->      for it (parallel)  for i in it  for k
//             in w - it {
//                                                                                           for j ..  A[i,j] -= A[i,k] A[k,j]
//                                                                                           A[i,k+1] /= A[k+1,k+1];  for j .. }
//
// The loop that most instances walk along memory comes innermost and every statement gets one of its own there (vectors); the
// two outermost of the others are tiled so that the rows that a tile meets again stay in L2, and run in wavefronts on threads.
// Whether that pays is asked of the model for tiles over time, the outermost loop in the part of time, with skews of zero.
// Not handled: bands of fewer than two loops; nests with contracted scalars that isl would have to expand.
// Source: Bondhugula et al., A practical automatic polyhedral parallelizer and locality optimizer, PLDI 2008.
#include <algorithm>
#include <set>

#include "polyhedral/legality.hpp"
#include "polyhedral/recipe/blocks.hpp"
#include "polyhedral/recipe/panels.hpp"
#include "polyhedral/recipe/time_tiles.hpp"

namespace facet {

namespace {

constexpr double kLeastUs = 20000;          // of work: below, isl's scheduler costs more than it saves
constexpr double kShare = 0.4;              // of the time left for isl's scheduler
constexpr std::size_t kMostStatements = 8;  // its integer programs grow with them: adi's 14 take it 10 s

class Band {
 public:
  Band(GroupPlanner& planner, TreePtr nest) : planner_(planner), nest_(std::move(nest)), statements_(statements_of(nest_)) {}

  void run() {
    if (!worthwhile()) return;
    const std::string subject = "loop " + nest_->names.at(statements_[0]) + " of " + name(statements_[0]);
    const std::vector<std::string> scalars = scalars_inside();
    Step reschedule;
    if (!scalars.empty()) {
      std::vector<Step> expansion;
      for (const std::string& s : scalars) expansion.push_back(make_step("expand", {{"array", arg(s)}}));
      const std::optional<Schedule> apart = rescheduled(expansion, subject, &reschedule);
      if (apart && in_blocks(scalars, reschedule, subject, *apart)) return;
    }
    const std::optional<Schedule> made = rescheduled({}, subject, &reschedule);
    if (!made) return;
    const std::vector<TreePtr> shared = shared_loops(*made);
    if (scalars.empty() && in_blocks(scalars, reschedule, subject, *made)) return;
    if (shared.empty()) return planner_.decline("band", subject, "no loops that all its statements share");
    std::vector<Step> steps{reschedule};
    if (!shape(*made, shared, subject, &steps)) return;
    planner_.attempt_all(steps, "band", subject, reason_);
  }

 private:
  const std::string& name(int s) const { return planner_.schedule().statement(s).name; }
  static std::string text(double x) { return std::to_string(static_cast<long>(x)); }

  // By isl's scheduler, after some steps. It keeps apart what need not share loops: when nothing is shared by all, as much as
  // possible shall be.
  std::optional<Schedule> rescheduled(std::vector<Step> steps, const std::string& subject, Step* reschedule) {
    *reschedule = make_step("reschedule", {{"statements", arg(std::vector<std::string>{name(statements_[0])})}});
    steps.push_back(*reschedule);
    StepOutcome made = apply_steps(planner_.schedule(), steps, planner_.budget().part(kShare));
    if (made.schedule && steps.size() == 1 && shared_loops(*made.schedule).empty()) {
      reschedule->arguments["fusion"] = arg(std::string("maximal"));
      steps.back() = *reschedule;
      made = apply_steps(planner_.schedule(), steps, planner_.budget().part(kShare));
    }
    if (!made.schedule) planner_.decline("band", subject, made.refusal->diagnostic.message);
    return std::move(made.schedule);
  }

  // The loops that all statements of the nest share, outermost first.
  std::vector<TreePtr> shared_loops(const Schedule& made) const {
    std::vector<TreePtr> shared;
    for (const TreePtr& l : loops_around(made.tree, statements_[0]))
      if (statements_of(l).size() == statements_.size()) shared.push_back(l);
    return shared;
  }

  // Scalars that live in an iteration of the nest: in arrays of their own they let its statements apart.
  std::vector<std::string> scalars_inside() const {
    std::vector<std::string> names;
    for (const StorageMap& m : planner_.schedule().storage)
      if (m.kind == StorageMap::Kind::kContract && m.sizes.empty() && m.at >= 0 && find_loop(nest_, m.at))
        names.push_back(m.array);
    return names;
  }

  bool in_blocks(const std::vector<std::string>& scalars, const Step& reschedule, const std::string& subject,
                 const Schedule& made) {
    // The nest of the heaviest statement: where values are set that its statements start from may stand before it.
    const std::vector<TreePtr> around = loops_around(made.tree, heaviest());
    if (around.empty()) return false;
    const std::vector<int> inside = statements_of(around[0]);
    std::vector<TreePtr> shared;
    for (const TreePtr& l : around)
      if (statements_of(l).size() == inside.size()) shared.push_back(l);
    BlockedNest blocked = plan_blocks(planner_, made, shared, inside, scalars);
    if (blocked.steps.empty()) blocked = plan_panels(planner_, made, shared, inside);
    if (blocked.steps.empty()) return false;
    blocked.steps.insert(blocked.steps.begin(), reschedule);
    for (const std::string& s : scalars) blocked.steps.insert(blocked.steps.begin(), make_step("expand", {{"array", arg(s)}}));
    return planner_.attempt_all(blocked.steps, "band", subject, blocked.reason);
  }

  bool worthwhile() {
    if (nest_->kind != Tree::Kind::kLoop || statements_.size() > kMostStatements) return false;
    bool plain = true;
    std::size_t deepest = 0;
    for_each_loop(nest_,
                  [&](const Tree& l) { plain = plain && l.mark.kind == LoopKind::kSerial && !l.comment.starts_with("tile"); });
    double work = 0;
    for (const int s : statements_) {
      const Statement& st = planner_.schedule().statement(s);
      work += instances_us(planner_, st, planner_.model().instances(s), true);
      deepest = std::max(deepest, st.iterators.size());
    }
    bool carried = false;
    const Result<Done> asked =
        guarded("bands", planner_.budget(), [&] { carried = carries_dependence(planner_.schedule(), nest_->id, true); });
    return asked && plain && carried && deepest >= 3 && work >= kLeastUs;
  }

  // The statement with the most instances decides on the lanes.
  int heaviest() const {
    return *std::max_element(statements_.begin(), statements_.end(),
                             [&](int a, int b) { return planner_.model().instances(a) < planner_.model().instances(b); });
  }

  static bool along_memory(const Statement& s, const std::string& iterator) {
    if (iterator.empty() || Model::stride(s.subscripts, iterator) == Model::Stride::kOther) return false;
    bool plain = s.update || Model::stride(s.subscripts, iterator) == Model::Stride::kUnit;
    walk(s.value, [&](const Expr& e) {
      plain = plain && (e.op != Op::kRead || Model::stride(e.args, iterator) != Model::Stride::kOther);
    });
    return plain;
  }

  // Orders, distributes and tiles the shared loops; false when there is nothing to gain.
  bool shape(const Schedule& made, const std::vector<TreePtr>& shared, const std::string& subject, std::vector<Step>* steps) {
    const int heavy = heaviest();
    const std::vector<TreePtr> around = loops_around(made.tree, heavy);
    TreePtr lanes;
    for (const TreePtr& l : around)
      if (along_memory(made.statement(heavy), walked_iterator(made, *l, heavy))) lanes = l;
    if (around.size() < 3) {
      planner_.decline("band", subject, "'" + name(heavy) + "' has fewer than three loops as isl's scheduler orders them");
      return false;
    }
    if (!lanes) {
      planner_.decline(
          "band", subject,
          "as isl's scheduler orders it, no loop walks an index of '" + name(heavy) + "' along every array that it touches");
      return false;
    }
    std::vector<std::string> order;
    for (const TreePtr& l : shared)
      if (l != lanes) order.push_back(l->names.at(heavy));
    if (order.size() < 2) {
      planner_.decline("band", subject, "its statements share fewer than two loops beside the lanes'");
      return false;
    }
    const bool among = std::find(shared.begin(), shared.end(), lanes) != shared.end();
    const std::string lane_name = lanes->names.at(heavy);
    std::vector<std::string> all = order;
    all.push_back(lane_name);
    if (among && lanes != shared.back())
      steps->push_back(make_step("interchange", {{"statement", arg(name(heavy))}, {"order", arg(all)}}));
    if (!among && lanes != around.back()) return false;
    separate(made, lanes, steps);
    const TimeTile tile = choose(made, shared, lanes);
    reason_ = "the nest is predicted at " + text(tile.tiled_us) + " us in tiles, at " + text(tile.plain_us) +
              " us without; lanes along " + lane_name;
    if (tile.steps == 0) {
      planner_.decline("band", subject, "no tile is predicted to gain: the nest takes " + text(tile.plain_us) + " us without");
      return false;
    }
    for (Step& s : wavefront_steps(name(heavy), {order[0], order[1]}, {tile.steps, tile.sizes[0]}, planner_.threads() > 1))
      steps->push_back(std::move(s));
    return true;
  }

  // Every statement in a loop of its own where they share the lanes', in their order.
  static void separate(const Schedule& made, const TreePtr& lanes, std::vector<Step>* steps) {
    const std::vector<int> inside = statements_of(lanes);
    for (std::size_t k = 0; k + 1 < inside.size(); ++k)
      steps->push_back(make_step(
          "distribute", {{"statement", arg(made.statement(inside[k]).name)}, {"loop", arg(lanes->names.at(inside[k]))}}));
  }

  TimeTile choose(const Schedule& made, const std::vector<TreePtr>& shared, const TreePtr& lanes) const {
    const Model model(made, planner_.options().sizes);
    const int heavy = heaviest();
    TimeNest facts;
    std::vector<double> trips;
    for (const TreePtr& l : shared)
      if (l != lanes) trips.push_back(model.trips(*l, heavy));
    facts.steps = trips[0];
    facts.extents = {trips[1]};
    facts.steepness = {0};
    std::set<std::string> arrays;
    for (const int s : statements_) {
      const Statement& st = made.statement(s);
      arrays.insert(st.target);
      for (const Access& a : st.reads) arrays.insert(a.array);
      facts.step_us += instances_us(planner_, st, model.instances(s), false) / facts.steps;
      facts.rows += model.instances(s) / facts.steps / (s == heavy ? model.trips(*lanes, heavy) : 1);
    }
    for (const std::string& a : arrays) facts.bytes += model.array_bytes(a);
    return choose_time_tile(planner_.options().machine.cpu, planner_.threads(), facts);
  }

  GroupPlanner& planner_;
  TreePtr nest_;
  std::vector<int> statements_;
  std::string reason_;
};

}  // namespace

void plan_bands(GroupPlanner& planner) {
  for_each_nest(planner, [&](const TreePtr& loop) { Band(planner, loop).run(); });
}

}  // namespace facet
