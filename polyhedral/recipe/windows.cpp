// Policy: short reductions inside a vector loop, as pooling and depthwise convolutions have them.
//
//     for q { y[q] = 0;  for r, s in 3 x 3  y[q] += x[p + r, q + s] * w[r, s] }
//     -->  for q in vectors { y = 0;  y += x[p + 0, q.. + 0] * w[0, 0];  .. nine of them }
//
// The innermost loops are the reduction's: their few iterations would fill a fraction of a vector and end in a sum over its
// lanes. The loop around them walks the result's last dimension: it gets the lanes, and the taps are unrolled, so that the sum
// never leaves its register. Left alone: reductions as long as several vectors, and results that are not contiguous.
//
// Windows of neighbouring rows overlap: several rows side by side, unrolled inside the vectors' loop, load what they share once
// and have sums of their own to hide the latency of one; where these are all rows, what is outside of the array is known
// when the code is written. How many: the fewest that come near the best by
//     cycles a row = max(multiply-adds, loads, a chain of the taps' latencies over the rows)
// 56^2 128 3x3 depthwise took 0.065 ms in single rows and 0.037 in eight, 14^2 512 5x5 0.061 and 0.025 in all 14 (two Sapphire
// Rapids cores).
#include <algorithm>
#include <cmath>
#include <set>

#include "facet/expr_facts.hpp"
#include "polyhedral/recipe/lane_axis.hpp"
#include "polyhedral/recipe/planner.hpp"

namespace facet {

namespace {

constexpr double kMostTaps = 64;      // more are a matter for a reduction's own lanes
constexpr double kMostUnrolled = 32;  // copies, each for several vectors: compilers take time for more
constexpr double kLeastLanes = 4;
constexpr double kMostCopies = 400;       // of the update, rows and vectors included: what a compiler takes half a second for
constexpr double kMostVectors = 8;        // of a row that the loop passes lay side by side
constexpr double kFmaLatency = 4;         // cycles
constexpr double kLoadsPerCycle = 1;      // of vectors across lines, which all but one tap's are
constexpr double kConditionCycles = 0.5;  // a load that asks whether its row is there
constexpr double kConditionOps = 1;  // and its mask, where multiply-adds run (14^2 512 5x5 on Zen 4: 5 rows 0.049, 14 0.034)
constexpr double kNearBest = 1.1;

struct Window {
  TreePtr around;             // the loop for the lanes
  std::vector<TreePtr> taps;  // outermost first
  double count = 1;           // of all taps
};

// The reduction's loops at the end of those around the statement, and the loop before them.
std::optional<Window> window_of(const GroupPlanner& planner, int statement) {
  const Schedule& schedule = planner.schedule();
  const Statement& s = schedule.statement(statement);
  if (!s.update || s.kind == StatementKind::kCopy) return std::nullopt;
  const std::vector<TreePtr> loops = loops_around(schedule.tree, statement);
  Window w;
  std::size_t first = loops.size();
  while (first > 0) {
    const std::string name = walked_iterator(schedule, *loops[first - 1], statement);
    if (name.empty() || mentions_index(s.subscripts, name)) break;
    w.count *= planner.model().trips(*loops[--first], statement);
  }
  if (first == 0 || first == loops.size() || w.count > kMostTaps) return std::nullopt;
  w.around = loops[first - 1];
  w.taps.assign(loops.begin() + static_cast<std::ptrdiff_t>(first), loops.end());
  for (const TreePtr& l : loops)
    if (l->mark.kind != LoopKind::kSerial) return std::nullopt;
  return w;
}

// The lanes that every statement of the loop can have along it; 0 where one cannot.
std::int64_t common_lanes(const GroupPlanner& planner, const TreePtr& loop) {
  const Schedule& schedule = planner.schedule();
  std::int64_t width = 64;
  for (const int s : statements_of(loop)) {
    const Statement& st = schedule.statement(s);
    const std::string name = walked_iterator(schedule, *loop, s);
    std::string why;
    const bool contiguous = !name.empty() && Model::stride(st.subscripts, name) == Model::Stride::kUnit;
    if (!contiguous || gathers(st, name) > 0 || !good_lanes(st, name, &why)) return 0;
    width = std::min<std::int64_t>(width, planner.options().machine.cpu.vector_bytes / size_bytes(widest_type(st)));
  }
  return width;
}

// Places along the row that a block of rows reads, by the steps of its subscript: each once.
double distinct_places(std::int64_t rows, std::int64_t row_step, const std::vector<std::pair<std::int64_t, double>>& taps) {
  std::set<std::int64_t> places;
  for (std::int64_t r = 0; r < rows; ++r) places.insert(r * row_step);
  for (const auto& [step, extent] : taps) {
    std::set<std::int64_t> more;
    for (const std::int64_t place : places)
      for (std::int64_t t = 0; t < static_cast<std::int64_t>(extent); ++t) more.insert(place + t * step);
    places = std::move(more);
  }
  return static_cast<double>(places.size());
}

// Rows of windows side by side: the loop around the lanes, and how many of its iterations pay.
class Rows {
 public:
  Rows(const GroupPlanner& planner, const Window& w, int statement, std::int64_t width)
      : model_(planner.model()), schedule_(planner.schedule()), window_(w), statement_(statement) {
    cpu_ = planner.options().machine.cpu;
    const std::vector<TreePtr> loops = loops_around(schedule_.tree, statement);
    for (std::size_t l = 1; l < loops.size(); ++l)
      if (loops[l]->id == w.around->id && loops[l - 1]->children[0] == loops[l]) loop_ = loops[l - 1];
    if (!loop_ || w.count > kMostUnrolled) return;
    row_ = walked_iterator(schedule_, *loop_, statement);
    const double vectors = std::ceil(model_.trips(*w.around, statement) / static_cast<double>(width));
    vectors_ = vectors > kMostVectors ? 1 : vectors;
    choose();
  }

  std::int64_t count() const { return rows_; }
  const TreePtr& loop() const { return loop_; }

 private:
  const Statement& s() const { return schedule_.statement(statement_); }

  void choose() {
    if (row_.empty() || !mentions_index(s().subscripts, row_)) return;
    const double extent = model_.trips(*loop_, statement_);
    std::vector<double> cycles{0};
    double best = 1e18;
    for (std::int64_t rows = 1; static_cast<double>(rows) <= extent && copies(rows) <= kMostCopies; ++rows) {
      const std::optional<double> here = cycles_a_row(rows, extent);
      if (!here) return;
      cycles.push_back(*here);
      best = std::min(best, *here);
    }
    for (std::size_t rows = cycles.size(); rows-- > 1;)
      if (cycles[rows] <= best * kNearBest) rows_ = static_cast<std::int64_t>(rows);
  }

  double copies(std::int64_t rows) const { return static_cast<double>(rows) * vectors_ * window_.count; }

  // nullopt where the windows of rows have nothing in common, or no model.
  std::optional<double> cycles_a_row(std::int64_t rows, double extent) const {
    const double block = static_cast<double>(rows);
    double loads = 0;
    bool overlap = false, padded = false;
    for (const Expr* read : reads_along_rows()) {
      const std::optional<double> places = places_of(*read, rows);
      if (!places) return std::nullopt;
      overlap = overlap || *places < block * window_.count || rows == 1;
      padded = padded || read->pad;
      loads += *places * vectors_;
    }
    if (!overlap) return std::nullopt;
    const bool asks = padded && block < extent;
    const double asked = asks ? 1 + kConditionCycles : 1;
    const double operations = window_.count * vectors_ * block + (asks ? kConditionOps * loads : 0);
    const double used = extent / (std::ceil(extent / block) * block);
    const double chain = window_.count * kFmaLatency;
    return std::max({operations / cpu_.fma_per_cycle, loads * asked / kLoadsPerCycle, chain}) / block / used;
  }

  std::vector<const Expr*> reads_along_rows() const {
    std::vector<const Expr*> list;
    walk(s().value, [&](const Expr& e) {
      if (e.op == Op::kRead && mentions_index(e.args, row_)) list.push_back(&e);
    });
    return list;
  }

  // Vectors that a block of rows loads of one operand, one vector to a row.
  std::optional<double> places_of(const Expr& read, std::int64_t rows) const {
    double places = 1;
    for (const ExprPtr& e : read.args) {
      std::vector<std::pair<std::int64_t, double>> taps;
      for (const TreePtr& tap : window_.taps) {
        const std::string name = walked_iterator(schedule_, *tap, statement_);
        if (!mentions_index(e, name)) continue;
        const std::optional<std::int64_t> step = Model::step(e, name);
        if (!step) return std::nullopt;
        taps.emplace_back(*step, model_.trips(*tap, statement_));
      }
      const std::optional<std::int64_t> step = mentions_index(e, row_) ? Model::step(e, row_) : 0;
      if (!step) return std::nullopt;
      places *= distinct_places(*step == 0 ? 1 : rows, *step, taps);
    }
    return places;
  }

  Model model_;
  const Schedule& schedule_;
  const Window& window_;
  int statement_;
  CpuMachine cpu_;
  TreePtr loop_;
  std::string row_;
  double vectors_ = 1;
  std::int64_t rows_ = 1;
};

std::vector<Step> row_steps(const Schedule& schedule, const Window& w, const Rows& rows, int statement) {
  const std::string name = schedule.statement(statement).name, row = rows.loop()->names.at(statement),
                    lanes = w.around->names.at(statement);
  return {make_step("tile", {{"statement", arg(name)},
                             {"loops", arg(std::vector<std::string>{row})},
                             {"sizes", arg(std::vector<std::int64_t>{rows.count()})},
                             {"names", arg(std::vector<std::string>{row + "r"})}}),
          make_step("interchange", {{"statement", arg(name)}, {"order", arg(std::vector<std::string>{lanes, row})}}),
          make_step("unroll", {{"statement", arg(name)}, {"loop", arg(row)}})};
}

void plan_window(GroupPlanner& planner, int statement) {
  const std::optional<Window> w = window_of(planner, statement);
  if (!w) return;
  std::int64_t width = common_lanes(planner, w->around);
  const double trips = planner.model().trips(*w->around, statement);
  const double taps = planner.model().trips(*w->taps.back(), statement);
  if (width < 2 || trips < kLeastLanes || taps >= trips) return;
  while (static_cast<double>(width) >= 2 * trips) width /= 2;
  const std::string name = planner.schedule().statement(statement).name;
  std::vector<Step> steps{
      make_step("vectorize", {{"statement", arg(name)}, {"loop", arg(w->around->names.at(statement))}, {"width", arg(width)}})};
  double copies = 1;
  for (auto tap = w->taps.rbegin(); tap != w->taps.rend(); ++tap) {
    copies *= planner.model().trips(**tap, statement);
    if (copies > kMostUnrolled) break;
    steps.push_back(make_step("unroll", {{"statement", arg(name)}, {"loop", arg((*tap)->names.at(statement))}}));
  }
  const std::string subject = "loop " + w->around->names.at(statement) + " of " + name,
                    why = "around a reduction of " + std::to_string(static_cast<long>(w->count)) + " terms";
  const Rows rows(planner, *w, statement, width);
  if (rows.count() > 1) {
    std::vector<Step> all = row_steps(planner.schedule(), *w, rows, statement);
    all.insert(all.end() - 1, steps.begin(), steps.end());
    if (planner.attempt_all(all, "vector", subject, why + ", " + std::to_string(rows.count()) + " rows side by side")) return;
  }
  planner.attempt_all(steps, "vector", subject, why);
}

}  // namespace

void plan_windows(GroupPlanner& planner) {
  for (const int s : statements_of(planner.schedule().tree)) plan_window(planner, s);
}

}  // namespace facet
