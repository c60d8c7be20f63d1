// Policy: stencils over time in hexagonal tiles, a block a hexagon.
//
// Launched once a step of time, each nest of a stencil reads its arrays from memory and writes them back, or, where they are
// small, ends before the next launch has begun. In hexagons of H steps a front of blocks fetches what it works on once in H
// steps, out of which nearly all of its reads come from the caches nearby, and there are H times fewer launches:
//
//     for t (processor)                           for tf (processor)
//       grid i, j:  B[i,j] = f(A)                   grid ih                            a block a hexagon
//       grid i, j:  A[i,j] = g(B)        -->          for tt for t                     all threads in step
//                                                       threads i, j:  B[i,j] = f(A)
//                                                       barrier
//                                                       threads i, j:  A[i,j] = g(B)
//                                                       barrier
//
// Rows are whole, or, where a hexagon's rows do not stay in the first-level cache, tiled as parallelograms that a block walks
// one after the other. Nests that have fewer loops, a border, are embedded. Whether it pays is the model's business
// (gpu_time_tile_model).
// Not handled: sweeps in place (seidel), dependences of unbounded reach, innermost loops that walk across memory, more than two
// space loops: the planes of a hexagon fill no first-level cache but that of small arrays, which have few hexagons.
// Source: Grosser et al., Hybrid hexagonal/classical tiling for GPUs, CGO 2014, sections 3 and 4.1.
#include "polyhedral/recipe/gpu_time_tiles.hpp"

#include <algorithm>
#include <set>

#include "polyhedral/legality.hpp"
#include "polyhedral/recipe/gpu_nest.hpp"
#include "polyhedral/recipe/time_parts.hpp"

namespace facet {

namespace {

constexpr std::int64_t kMostFactor = 4;
constexpr double kFewSteps = 4;
constexpr std::size_t kMostLoops = 2;

class GpuTimeTiles {
 public:
  GpuTimeTiles(GroupPlanner& planner, TimeParts parts) : planner_(planner), parts_(std::move(parts)) {}

  void run() {
    const std::string subject = "loop " + parts_.time_name(0) + " of " + name(0);
    bool parallel = false, bounded = false;
    const Result<Done> asked = guarded("time tiles", planner_.budget().part(0.5), [&] {
      find_facts();
      parallel = is_stencil();
      if (parallel) bounded = find_slopes();
    });
    if (!asked) return planner_.decline("budget", subject, asked.errors()[0].message);
    if (!parallel) return;
    if (!bounded)
      return planner_.decline("time tiles", subject, "data run without bound, or within one iteration, along its first loop");
    const GpuTimeTile tile = choose_gpu_time_tile(planner_.options().machine.gpu, facts_);
    if (tile.sizes.empty())
      return planner_.decline(
          "time tiles", subject,
          "no hexagons are predicted to gain: all time steps take " + text(tile.plain_us) + " us one after the other");
    planner_.attempt_all(steps(tile), "time tiles", subject,
                         "all time steps are predicted at " + text(tile.tiled_us) + " us in hexagons of " +
                             text(static_cast<double>(tile.sizes[0])) + " steps, " + text(tile.launches) + " launches, at " +
                             text(tile.plain_us) + " us one after the other");
  }

 private:
  const Schedule& now() const { return planner_.schedule(); }
  const std::string& name(std::size_t part) const { return now().statement(parts_[part].statement).name; }
  static std::string text(double x) { return std::to_string(static_cast<long>(x)); }

  void find_facts() {
    const Model model = planner_.model();
    facts_.steps = model.trips(*parts_.time(), parts_[0].statement);
    std::set<std::string> all;
    facts_.element_bytes = 0;
    for (const TimePart& part : parts_.list()) {
      const Statement& s = now().statement(part.statement);
      GpuTimePart made;
      std::set<std::string> arrays{s.target};
      for (const Access& a : s.reads) arrays.insert(a.array);
      made.arrays = static_cast<double>(arrays.size());
      for (const TreePtr& l : part.loops) made.points *= model.trips(*l, part.statement);
      made.accesses = 1 + static_cast<double>(s.reads.size());
      std::set<std::string> read;
      for (const Access& a : s.reads) read.insert(a.array);
      for (const std::string& a : read) made.moved += model.array_bytes(a);
      made.moved += model.array_bytes(s.target);
      all.insert(arrays.begin(), arrays.end());
      facts_.element_bytes = std::max(facts_.element_bytes, static_cast<double>(size_bytes(s.value->type)));
      facts_.parts.push_back(made);
    }
    for (const std::string& a : all) facts_.bytes += model.array_bytes(a);
    const TimePart& full = parts_.full();
    for (const TreePtr& l : full.loops) facts_.extents.push_back(model.trips(*l, full.statement));
  }

  // Is it a loop over time around nests that are parallel in space, with memory along their innermost loops?
  bool is_stencil() const {
    if (facts_.steps < kFewSteps || parts_.depth() > kMostLoops || !parts_.shares_no_name_with_time()) return false;
    const std::map<int, Carried> carried = carried_dependences(now());
    if (!carried.at(parts_.time()->id).other) return false;
    for (const TimePart& part : parts_.list()) {
      for (const TreePtr& l : part.loops)
        if (!carried.at(l->id).none()) return false;
      const Statement& s = now().statement(part.statement);
      const std::string iterator = walked_iterator(now(), *part.loops.back(), part.statement);
      if (iterator.empty() || Model::stride(s.subscripts, iterator) != Model::Stride::kUnit) return false;
    }
    return true;
  }

  bool find_slopes() {
    const std::map<int, isl::pw_aff>& time = parts_.time()->member;
    const std::vector<AlignedPart> first = parts_.members(0);
    const std::optional<Alignment> on = align(*now().dependences, first, time, kMostFactor),
                                   back = align(*now().dependences, backwards(first), time, kMostFactor);
    if (!on || !back || on->factor + back->factor == 0) return false;
    facts_.cut = {*on, *back};
    for (std::size_t k = 1; k < parts_.depth(); ++k) {
      const std::optional<Alignment> further = align(*now().dependences, parts_.members(k), time, kMostFactor);
      if (!further) break;
      facts_.steepness.push_back(further->factor);
    }
    return true;
  }

  std::vector<Step> steps(const GpuTimeTile& tile) const {
    std::vector<Step> list;
    std::vector<std::string> statements;
    ArgumentMap loops;
    const std::size_t tiled = tile.sizes.size() - 1;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      for (std::size_t k = 0; k < parts_.depth(); ++k)
        if (std::optional<Step> embedded = parts_.embed(now(), p, k)) list.push_back(std::move(*embedded));
      std::vector<std::string> names;
      for (std::size_t k = 0; k < tiled; ++k) names.push_back(parts_.loop_name(p, k));
      statements.push_back(name(p));
      loops[name(p)] = arg(names);
    }
    const std::vector<std::string> made = loop_names(tiled);
    list.push_back(make_step("hexagons", {{"statements", arg(statements)},
                                          {"time", arg(parts_.time_name(0))},
                                          {"loops", arg(loops)},
                                          {"sizes", arg(tile.sizes)},
                                          {"names", arg(made)}}));
    list.push_back(make_step("map_gpu", {{"statement", arg(name(0))}, {"grid", arg(std::vector<std::string>{made[1]})}}));
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      std::vector<std::string> block;
      for (std::size_t k = 0; k < parts_.depth(); ++k) block.push_back(parts_.loop_name(p, k));
      list.push_back(
          make_step("map_gpu", {{"statement", arg(name(p))}, {"block", arg(block)}, {"threads", arg(tile.threads)}}));
    }
    return list;
  }

  // Of the front, the hexagons, further tiles and tiles of time: such as no statement has.
  std::vector<std::string> loop_names(std::size_t tiled) const {
    std::vector<std::string> names{parts_.time_name(0) + "f", parts_.loop_name(0, 0) + "h"};
    for (std::size_t k = 1; k < tiled; ++k) names.push_back(parts_.loop_name(0, k) + "t");
    names.push_back(parts_.time_name(0) + "t");
    for (std::size_t n = 0; n < names.size(); ++n)
      while (std::count(names.begin(), names.end(), names[n]) > 1 || is_used(names[n])) names[n] += "h";
    return names;
  }

  bool is_used(const std::string& wanted) const {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      if (find_loop(now().tree, parts_[p].statement, wanted)) return true;
      for (std::size_t k = 0; k < parts_.depth(); ++k)
        if (parts_.loop_name(p, k) == wanted) return true;
    }
    return false;
  }

  GroupPlanner& planner_;
  TimeParts parts_;
  GpuTimeNest facts_;
};

}  // namespace

void plan_gpu_time_tiles(GroupPlanner& planner) {
  for_each_nest(planner, [&](const TreePtr& loop) {
    if (std::optional<TimeParts> parts = TimeParts::of(loop)) GpuTimeTiles(planner, std::move(*parts)).run();
  });
}

}  // namespace facet
