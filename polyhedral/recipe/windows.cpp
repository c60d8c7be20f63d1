// Policy: short reductions inside a vector loop, as pooling and depthwise convolutions have them.
//
//     for q { y[q] = 0;  for r, s in 3 x 3  y[q] += x[p + r, q + s] * w[r, s] }
//     -->  for q in vectors { y = 0;  y += x[p + 0, q.. + 0] * w[0, 0];  .. nine of them }
//
// The innermost loops are the reduction's: their few iterations would fill a fraction of a vector and end in a sum over its
// lanes. The loop around them walks the result's last dimension: it gets the lanes, and the taps are unrolled, so that the sum
// never leaves its register. Left alone: reductions as long as several vectors, and results that are not contiguous.
#include <algorithm>

#include "facet/expr_facts.hpp"
#include "polyhedral/recipe/lane_axis.hpp"
#include "polyhedral/recipe/planner.hpp"

namespace facet {

namespace {

constexpr double kMostTaps = 64;      // more are a matter for a reduction's own lanes
constexpr double kMostUnrolled = 32;  // copies, each for several vectors: compilers take time for more
constexpr double kLeastLanes = 4;

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
  planner.attempt_all(steps, "vector", "loop " + w->around->names.at(statement) + " of " + name,
                      "around a reduction of " + std::to_string(static_cast<long>(w->count)) + " terms");
}

}  // namespace

void plan_windows(GroupPlanner& planner) {
  for (const int s : statements_of(planner.schedule().tree)) plan_window(planner, s);
}

}  // namespace facet
