// Policy: tiles over time for stencils, in wavefronts on threads, whole rows inside.
//
// A loop over time t around nests that walk the same arrays again and again fetches them from memory in every step. Where each
// dependence reaches a bounded way back in space, the space loops can be skewed until none reaches back at all; t and the
// skewed loops are then tiled together:
//
//     for t {                                       for w                          wavefronts: tile of i + tile of t
//       for i for j  B[i,j] = f(A)                    for tt (parallel)            tiles of t
//       for i for j  A[i,j] = g(B) }      -->           for t in tt
//                                                         for i in w - tt {        i + 2t for the first, i + 2t + 1 for the
//                                                         second
//                                                           for j  B[i - 2t, j] = ..
//                                                           for j  A[i - 2t - 1, j] = .. }
//
// The innermost loop stays whole: rows keep their vectors. Statements on the border, which have fewer loops, are embedded.
// Each space loop gets the least skew and shifts that do so (alignment.hpp). Whether tiles pay is the model's business
// (time_tile_model).
// Not handled: dependences of unbounded reach (adi, floyd-warshall), loops whose bounds depend on each other's.
// Source: Wolfe, Loop skewing: the wavefront method revisited, IJPP 1986; Bondhugula et al., PLDI 2008 (permutable bands).
#include "polyhedral/recipe/time_tiles.hpp"

#include <algorithm>
#include <set>

#include "polyhedral/affine.hpp"
#include "polyhedral/legality.hpp"
#include "polyhedral/recipe/planner.hpp"
#include "polyhedral/recipe/time_parts.hpp"

namespace facet {

namespace {

constexpr std::int64_t kMostFactor = 4;
constexpr std::int64_t kChains = 8;  // a latency of 4 for each of some 9 additions, two of which start in a cycle
constexpr std::int64_t kPair = 2;    // more rows at once need more addresses than there are registers
constexpr double kOperationNs = 0.25;
constexpr double kLatencyNs = 2;  // an operation of a row that waits for the one before

class TimeTiles {
 public:
  TimeTiles(GroupPlanner& planner, TimeParts parts)
      : planner_(planner), time_(parts.time()), parts_(std::move(parts)), depth_(parts_.depth()) {}

  void run() {
    const std::string subject = "loop " + time_name(0) + " of " + name(0);
    const Result<Done> asked = guarded("time tiles", planner_.budget().part(0.5), [&] {
      find_facts();
      if (enough()) find_alignments();
      if (enough()) find_chains();
    });
    if (!asked) return planner_.decline("budget", subject, asked.errors()[0].message);
    if (!enough()) return;
    if (alignments_.empty()) return planner_.decline("time tiles", subject, "a dependence reaches back without bound in space");
    const TimeTile tile = choose_time_tile(planner_.options().machine.cpu, planner_.threads(), facts_);
    const std::string times = "all time steps are predicted at " + text(tile.tiled_us) + " us in tiles, at " +
                              text(tile.plain_us) + " us one after the other";
    if (tile.steps == 0)
      return planner_.decline("time tiles", subject,
                              "no tile is predicted to gain: all time steps take " + text(tile.plain_us) +
                                  " us one after the other, over " + text(facts_.bytes) + " bytes of arrays");
    if (chain_skew_ > 0 && planner_.attempt_all(steps(tile, true), "time tiles", subject, times + "; " + chains())) return;
    if (planner_.attempt_all(steps(tile, false), "time tiles", subject, times)) pair_rows(tile);
  }

 private:
  const Schedule& now() const { return planner_.schedule(); }
  const std::string& name(std::size_t part) const { return now().statement(parts_[part].statement).name; }
  static std::string text(double x) { return std::to_string(static_cast<long>(x)); }
  const std::string& time_name(std::size_t part) const { return parts_.time_name(part); }
  std::string loop_name(std::size_t part, std::size_t k) const { return parts_.loop_name(part, k); }

  // Is this a loop over time at all? It carries something, and walks the arrays more than a few times.
  bool enough() const { return carried_ && facts_.steps >= 8 && parts_.shares_no_name_with_time(); }

  void find_facts() {
    const std::map<int, Carried> carried = carried_dependences(now());
    carried_ = carried.at(time_->id).other;
    const Model model = planner_.model();
    facts_.steps = model.trips(*time_, parts_[0].statement);
    facts_.parallel = true;
    std::set<std::string> arrays;
    for (const TimePart& part : parts_.list()) {
      const Statement& s = now().statement(part.statement);
      arrays.insert(s.target);
      for (const Access& a : s.reads) arrays.insert(a.array);
      double points = 1, rows = 1;
      for (const TreePtr& l : part.loops) {
        points *= model.trips(*l, part.statement);
        if (l != part.loops.back()) rows *= model.trips(*l, part.statement);
      }
      const bool serial = !carried.at(part.loops.back()->id).none();
      serial_ = serial_ || serial;
      facts_.step_us += instances_us(planner_, s, points, serial);
      facts_.rows += rows;
      if (part.missing == 0) facts_.parallel = facts_.parallel && carried.at(part.loops[0]->id).none();
    }
    for (const std::string& a : arrays) facts_.bytes += model.array_bytes(a);
    const TimePart& all = parts_.full();
    for (std::size_t k = 0; k + 1 < depth_; ++k) facts_.extents.push_back(model.trips(*all.loops[k], all.statement));
  }

  void find_alignments() {
    for (std::size_t k = 0; k + 1 < depth_; ++k) {
      const std::optional<Alignment> found = align(*now().dependences, parts_.members(k), time_->member, kMostFactor);
      if (!found) break;
      facts_.steepness.push_back(found->factor);
      alignments_.push_back(*found);
    }
    facts_.extents.resize(alignments_.size());
  }

  // Rows whose points wait for the ones before them: where a row skewed against the next one waits for nothing of it that is
  // less than an iteration back, several rows at once hide the wait. The rows of one step of time matter, inside which they
  // run.
  //     for i for j  A[i,j] = f(A[i,j-1], A[i-1,j+1])    -->    for i for j  A[i,j-2i] = f(A[i,j-2i-1], A[i-1,j-2i+1])
  void find_chains() {
    if (!serial_ || parts_.size() != 1 || alignments_.size() + 1 != depth_) return;
    const int s = parts_[0].statement;
    const isl::pw_aff& time = time_->member.at(s);
    const isl::pw_aff& row = parts_[0].loops[depth_ - 2]->member.at(s);
    std::int64_t skew = 1;
    for (const Dependence& d : *now().dependences) {
      if (d.source != s || d.sink != s) continue;
      const isl::map rows = d.relation.intersect(compare_map(time, Compare::kEqual, time));
      const isl::map next = rows.intersect(compare_map(row, Compare::kLess, row));
      const auto along = [&](std::int64_t factor) { return parts_.member(parts_[0], depth_ - 1).add(multiply(row, factor)); };
      while (skew <= kMostFactor && !next.is_empty() && least_distance(next, along(skew), along(skew)).value_or(0) < 1) ++skew;
    }
    if (skew > kMostFactor) return;
    chain_skew_ = skew;
    facts_.chains = kChains;
  }

  std::string chains() const { return std::to_string(kChains) + " rows at once: each waits for its own last point"; }

  std::vector<Step> steps(const TimeTile& tile, bool in_chains) const {
    std::vector<Step> list;
    const std::size_t tiled = tile.sizes.size();
    std::vector<std::string> statements;
    ArgumentMap shared;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      statements.push_back(name(p));
      std::vector<std::string> names;
      for (std::size_t k = 0; k < tiled; ++k) {
        names.push_back(loop_name(p, k));
        add_alignment(p, k, &list);
      }
      shared[name(p)] = arg(names);
    }
    if (parts_.size() > 1) list.push_back(make_step("fuse", {{"statements", arg(statements)}, {"loops", arg(shared)}}));
    const Argument rows = arg(loop_name(0, depth_ - 2));
    if (in_chains)
      list.push_back(make_step(
          "skew",
          {{"statement", arg(name(0))}, {"loop", arg(loop_name(0, depth_ - 1))}, {"by", rows}, {"factor", arg(chain_skew_)}}));
    std::vector<std::string> loops{time_name(0)};
    std::vector<std::int64_t> sizes{tile.steps};
    for (std::size_t k = 0; k < tiled; ++k) {
      loops.push_back(loop_name(0, k));
      sizes.push_back(tile.sizes[k]);
    }
    for (Step& s : wavefront_steps(name(0), loops, sizes, planner_.threads() > 1)) list.push_back(std::move(s));
    if (in_chains)
      list.push_back(make_step("unroll_and_jam", {{"statement", arg(name(0))}, {"loop", rows}, {"factor", arg(kChains)}}));
    return list;
  }

  // Rows of the loop outside that meet again only after more than the first cache holds are walked in pairs: of the rows that
  // a pair reads, three of four serve both.
  void pair_rows(const TimeTile& tile) {
    const CpuMachine& cpu = planner_.options().machine.cpu;
    if (tile.sizes.size() < 2 || cpu.caches.empty() || tile.sizes[0] % kPair != 0) return;
    double between = facts_.bytes / facts_.extents[0];
    for (std::size_t k = 1; k < tile.sizes.size(); ++k)
      between *= std::min(1.0, static_cast<double>(tile.sizes[k]) / facts_.extents[k]);
    if (between < static_cast<double>(cpu.caches[0].size_bytes)) return;
    planner_.attempt(
        make_step("unroll_and_jam", {{"statement", arg(name(0))}, {"loop", arg(loop_name(0, 0))}, {"factor", arg(kPair)}}),
        "registers", "loop " + loop_name(0, 0) + " of " + name(0),
        "rows in pairs: " + text(between) + " bytes lie between rows that are read twice");
  }

  // Embeds, skews and shifts loop k of a part.
  void add_alignment(std::size_t p, std::size_t k, std::vector<Step>* list) const {
    const Argument statement = arg(name(p)), loop = arg(loop_name(p, k));
    if (std::optional<Step> embedded = parts_.embed(now(), p, k)) list->push_back(std::move(*embedded));
    if (alignments_[k].factor != 0)
      list->push_back(make_step(
          "skew",
          {{"statement", statement}, {"loop", loop}, {"by", arg(time_name(p))}, {"factor", arg(alignments_[k].factor)}}));
    if (alignments_[k].shifts[p] != 0)
      list->push_back(
          make_step("shift", {{"statement", statement}, {"loop", loop}, {"offset", arg(alignments_[k].shifts[p])}}));
  }

  GroupPlanner& planner_;
  TreePtr time_;
  TimeParts parts_;
  std::size_t depth_ = 0;
  bool carried_ = false, serial_ = false;
  std::int64_t chain_skew_ = 0;  // of rows by the loop around them; 0: their points wait for nothing, or no skew serves
  TimeNest facts_;
  std::vector<Alignment> alignments_;
};

}  // namespace

double instances_us(const GroupPlanner& planner, const Statement& s, double points, bool serial) {
  const double lanes = planner.options().machine.cpu.vector_bytes / static_cast<double>(size_bytes(s.value->type));
  return points * (1 + Model::operations(s)) * (serial ? kLatencyNs : kOperationNs / std::max(1.0, lanes)) / 1000;
}

std::vector<Step> wavefront_steps(const std::string& statement, const std::vector<std::string>& loops,
                                  const std::vector<std::int64_t>& sizes, bool threads) {
  std::vector<std::string> names;
  for (const std::string& l : loops) names.push_back(l + "t");
  const Argument first = arg(statement);
  std::vector<Step> list{
      make_step("tile", {{"statement", first}, {"loops", arg(loops)}, {"sizes", arg(sizes)}, {"names", arg(names)}})};
  if (!threads) return list;
  list.push_back(make_step("skew", {{"statement", first}, {"loop", arg(names[1])}, {"by", arg(names[0])}}));
  list.push_back(
      make_step("interchange", {{"statement", first}, {"order", arg(std::vector<std::string>{names[1], names[0]})}}));
  list.push_back(make_step("parallelize", {{"statement", first}, {"loop", arg(names[0])}}));
  return list;
}

void plan_time_tiles(GroupPlanner& planner) {
  for_each_nest(planner, [&](const TreePtr& loop) {
    const std::vector<int> all = statements_of(loop);
    const auto copies = [&](int s) { return planner.schedule().statement(s).kind == StatementKind::kCopy; };
    if (std::any_of(all.begin(), all.end(), copies)) return;  // into a panel: no step of time
    std::optional<TimeParts> parts = TimeParts::of(loop);
    if (parts && parts->depth() >= 2) TimeTiles(planner, std::move(*parts)).run();
  });
}

}  // namespace facet
