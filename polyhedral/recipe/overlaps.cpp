// Policy: the stages of a pipeline of stencils in overlapped tiles (steps `tile` and `compute_at`).
//
//     for i  for j  p[i, j] = f(x[i + 0..2, j])            for it  for jt {
//     for i  for j  q[i, j] = g(p[i, j + 0..2])     -->      p.at[0..R + 2, 0..W + 2] = f(x)
//     for i  for j  y[i, j] = h(q[i + 0..2, j])              q.at[0..R + 2, 0..W]     = g(p.at)
//                                                            y[R rows, W columns]     = h(q.at) }
//
// A stage that reads its producer at neighbouring elements cannot share both loops with it, so arrays between stages pass
// through memory twice when they are larger than the caches. Tiles that compute again what their neighbours also need keep
// them in a core's own cache, and wait for nobody: threads share out the tiles. Rows stay long, since lanes and prefetchers
// walk along them: the tile starts as 16 rows of at most 4096 elements and loses half of its columns, then of its rows, until
// all arrays between fit half of the second level. Kept where it is predicted to be faster than the nests one after another.
//
// Source: Ragan-Kelley et al., Halide, PLDI 2013; Krishnamoorthy et al., Effective automatic parallelization of stencil
// computations, PLDI 2007 (overlapped tiling). Near twin: plan_time_tiles, one stencil over many time steps.
#include <algorithm>

#include "polyhedral/recipe/planner.hpp"
#include "polyhedral/transform/memory_steps.hpp"

namespace facet {

namespace {

constexpr std::int64_t kRows = 16, kLeastRows = 4, kMostColumns = 4096, kLeastColumns = 64;
constexpr double kShareOfCache = 0.5;
constexpr double kTrialShare = 0.2;

class Overlap {
 public:
  Overlap(GroupPlanner& planner, const TreePtr& nest)
      : planner_(planner), nest_(nest), band_(loop_chain(nest)), reader_(statements_of(nest).front()) {}

  void run() {
    if (band_.size() < 2 || is_planned(nest_)) return;
    rows_ = name_of(band_[band_.size() - 2]);
    columns_ = name_of(band_.back());
    if (array_to_compute(planner_.schedule(), nest_->id).empty()) return;
    const double columns = planner_.model().trips(*band_.back(), reader_);
    std::int64_t w = kLeastColumns, r = kRows;
    while (w < kMostColumns && static_cast<double>(w) < columns) w *= 2;
    for (;;) {
      if (!made(r, w)) return;
      if (bytes_ <= most_bytes()) break;
      if (w > kLeastColumns && w > 64 * r)
        w /= 2;
      else if (r > kLeastRows)
        r /= 2;
      else if (w > kLeastColumns)
        w /= 2;
      else
        return planner_.decline("overlap", subject(), "the arrays between take " + kilobytes() + " in the smallest tile");
    }
    decide(r, w);
  }

 private:
  std::string name_of(const TreePtr& loop) const { return loop->names.at(reader_); }
  std::string subject() const {
    std::string text;
    for (const std::string& a : arrays_) text += (text.empty() ? "" : ", ") + a;
    return "arrays " + text + " at " + planner_.schedule().statement(reader_).name;
  }
  std::string kilobytes() const { return std::to_string(static_cast<std::int64_t>(bytes_ / 1024) + 1) + " KB"; }

  double most_bytes() const { return kShareOfCache * static_cast<double>(second_cache_bytes(planner_.options().machine.cpu)); }

  // An intermediate that the nest of this outermost loop reads, that others write and nobody else wants.
  static std::string array_to_compute(const Schedule& schedule, int loop) {
    const TreePtr nest = find_loop(schedule.tree, loop);
    for (const auto& [name, array] : schedule.scop->arrays) {
      if (array.external || array.live_out || array.scalar || is_stored_otherwise(schedule, name)) continue;
      bool read = false, apart = true, written = false;
      for (const int s : statements_of(schedule.tree)) {
        const Statement& st = schedule.statement(s);
        const bool inside = contains(nest, s);
        if (st.target == name) {
          written = true;
          apart = apart && !inside;
        }
        if (!st.reads_of(name)) continue;
        read = read || inside;
        apart = apart && (inside || st.target == name);
      }
      if (read && written && apart) return name;
    }
    return "";
  }

  // A statement of the nest that reads the array.
  static std::string reader_of(const Schedule& schedule, int loop, const std::string& array) {
    for (const int s : statements_of(find_loop(schedule.tree, loop)))
      if (schedule.statement(s).reads_of(array)) return schedule.statement(s).name;
    return "";
  }

  // The tile and, from the last stage to the first, what can be computed inside it. False, with a word to the ledger, if
  // nothing can.
  bool made(std::int64_t r, std::int64_t w) {
    steps_ = {make_step("tile", {{"statement", arg(planner_.schedule().statement(reader_).name)},
                                 {"loops", arg(std::vector<std::string>{rows_, columns_})},
                                 {"sizes", arg(std::vector<std::int64_t>{r, w})}})};
    arrays_.clear();
    bytes_ = 0;
    StepOutcome now = apply_step(planner_.schedule(), steps_.front(), planner_.budget());
    if (!now.schedule) return declined(rows_ + ", " + columns_, now);
    const std::size_t maps = now.schedule->storage.size();
    for (;;) {
      const int outer = loops_around(now.schedule->tree, reader_).front()->id;
      const std::string array = array_to_compute(*now.schedule, outer);
      if (array.empty()) break;
      const Step step = make_step(
          "compute_at",
          {{"array", arg(array)}, {"statement", arg(reader_of(*now.schedule, outer, array))}, {"at", arg(columns_ + "t")}});
      StepOutcome next = apply_step(*now.schedule, step, planner_.budget());
      if (!next.schedule || !has_constant_box(next.schedule->storage.back())) {
        if (arrays_.empty()) return declined(array, next);
        break;
      }
      steps_.push_back(step);
      arrays_.push_back(array);
      now = std::move(next);
    }
    for (std::size_t m = maps; m < now.schedule->storage.size(); ++m)
      bytes_ += bytes_of(*now.schedule, now.schedule->storage[m]);
    made_ = std::move(now.schedule);
    return !arrays_.empty();
  }

  bool declined(const std::string& what, const StepOutcome& outcome) {
    planner_.decline("overlap", "array " + what + " at " + planner_.schedule().statement(reader_).name,
                     outcome.refusal ? outcome.refusal->diagnostic.message : "its part of a tile has no constant size");
    return false;
  }

  static bool has_constant_box(const StorageMap& m) {
    return std::all_of(m.sizes.begin(), m.sizes.end(), [](const ExprPtr& e) { return e->op == Op::kLiteral; });
  }

  static double bytes_of(const Schedule& schedule, const StorageMap& m) {
    double bytes = static_cast<double>(size_bytes(schedule.scop->arrays.at(m.array).dtype));
    for (const ExprPtr& e : m.sizes) bytes *= static_cast<double>(e->int_value);
    return bytes;
  }

  void decide(std::int64_t r, std::int64_t w) {
    const std::optional<double> tiled = predicted_us(planner_, *made_, kTrialShare);
    const std::optional<double> apart = predicted_us(planner_, planner_.schedule(), kTrialShare);
    if (!tiled || !apart) return planner_.decline("overlap", subject(), "not predicted: no time left");
    const std::string costs = time_text(*tiled) + " predicted, apart " + time_text(*apart);
    if (*tiled >= *apart) return planner_.decline("overlap", subject(), costs);
    planner_.attempt_all(steps_, "overlap", subject(),
                         "in tiles of " + std::to_string(r) + " x " + std::to_string(w) + ", " + kilobytes() + ": " + costs);
  }

  GroupPlanner& planner_;
  TreePtr nest_;
  std::vector<TreePtr> band_;
  int reader_;
  std::string rows_, columns_;
  std::vector<Step> steps_;
  std::vector<std::string> arrays_;  // computed inside the tile, the last stage first
  double bytes_ = 0;                 // of their parts
  std::optional<Schedule> made_;
};

}  // namespace

void plan_overlaps(GroupPlanner& planner) {
  if (!planner.options().fusion) return;
  // From the last nest on: what it computes inside its tiles is no nest any more.
  for (std::size_t left = 0;; ++left) {
    const TreePtr root = planner.schedule().tree;
    if (root->kind != Tree::Kind::kSequence || left + 1 >= root->children.size()) return;
    const TreePtr nest = root->children[root->children.size() - 1 - left];
    if (nest->kind == Tree::Kind::kLoop) Overlap(planner, nest).run();
  }
}

}  // namespace facet
