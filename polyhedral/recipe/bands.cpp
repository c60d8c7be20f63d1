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
    const Step reschedule = make_step("reschedule", {{"statements", arg(std::vector<std::string>{name(statements_[0])})}});
    StepOutcome made = apply_step(planner_.schedule(), reschedule, planner_.budget().part(kShare));
    if (!made.schedule) return planner_.decline("band", subject, made.refusal->diagnostic.message);
    const TreePtr root = loops_around(made.schedule->tree, statements_[0]).empty()
                             ? nullptr
                             : loops_around(made.schedule->tree, statements_[0])[0];
    if (!root || statements_of(root).size() != statements_.size())
      return planner_.decline("band", subject, "no loops that all its statements share");
    std::vector<Step> steps{reschedule};
    if (!shape(*made.schedule, root, subject, &steps)) return;
    planner_.attempt_all(steps, "band", subject, reason_);
  }

 private:
  const std::string& name(int s) const { return planner_.schedule().statement(s).name; }
  static std::string text(double x) { return std::to_string(static_cast<long>(x)); }

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

  // Orders, distributes and tiles the shared loops below `root`; false when there is nothing to gain.
  bool shape(const Schedule& made, const TreePtr& root, const std::string& subject, std::vector<Step>* steps) {
    std::vector<TreePtr> shared;
    for (TreePtr t = root; t->kind == Tree::Kind::kLoop && statements_of(t).size() == statements_.size(); t = t->children[0])
      shared.push_back(t);
    const int heavy = heaviest();
    const std::vector<TreePtr> around = loops_around(made.tree, heavy);
    TreePtr lanes;
    for (const TreePtr& l : around)
      if (along_memory(made.statement(heavy), walked_iterator(made, *l, heavy))) lanes = l;
    if (!lanes || around.size() < 3) {
      planner_.decline("band", subject, "no loop walks along memory");
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
    reason_ = text(tile.tiled_us) + " us in tiles, " + text(tile.plain_us) + " us as it is; lanes along " + lane_name;
    if (tile.steps == 0) {
      planner_.decline("band", subject, "the model sees no gain: " + text(tile.plain_us) + " us as it is");
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
