// recompute: an intermediate is computed again where it is read, instead of going through memory.
//
//     for i (grid)                                        for i (grid)
//       m = max over j of x[i,j]                            m = max over j of x[i,j]
//       for j  p[i,j] = exp(x[i,j] - m)         -->         s = sum over j of exp(x[i,j] - m)
//       s = sum over j of p[i,j]                            for j  y[i,j] = exp(x[i,j] - m) / s
//       for j  y[i,j] = p[i,j] / s
//
// A block's row of x stays in the first-level cache, while what is written goes to the second level and comes back from there:
// three of five transfers of a softmax go. With W -> S a dependence into the definition S and S -> R the flow to a reader, the
// step adds W -> R, and for what overwrites a source of S later, R -> that: what the value is made of must reach its readers,
// also through contracted arrays, and the general judgement says whether it does.
//
// Known elsewhere as inlining (Halide's compute_inline). The twin is `reuse`. Refuses an array that is more than a row of a
// block's threads: defined by one statement, in one loop of the threads directly inside loops of the grid, read there in the
// same iteration of the grid. After map_gpu.
#include <algorithm>
#include <set>

#include "polyhedral/transform/memory_steps.hpp"

namespace facet {

namespace {

class Recompute {
 public:
  Recompute(const Schedule& schedule, Arguments& args) : schedule_(schedule), args_(args) {}

  Schedule run() {
    array_ = intermediate(schedule_, args_);
    if (!args_.problem()) find_definition();
    if (!args_.problem()) check_place();
    if (!args_.problem()) check_readers();
    return args_.problem() ? schedule_ : with_dependences();
  }

 private:
  const Statement& definition() const { return schedule_.statement(definition_); }

  void find_definition() {
    definition_ = only_writer(schedule_, array_, args_);
    if (args_.problem()) return;
    std::set<std::string> names;
    for (const ExprPtr& e : definition().subscripts)
      if (e->op == Op::kIndex) names.insert(e->name);
    if (names.size() != definition().subscripts.size() || names.size() != definition().iterators.size())
      args_.refuse("'" + definition().name + "' does not define one element of '" + array_ + "' in each instance",
                   {"leave it in memory"});
  }

  void check_place() {
    grid_ = loops_around(schedule_.tree, definition_);
    const TreePtr own = grid_.empty() ? nullptr : grid_.back();
    if (own) grid_.pop_back();
    const auto on_grid = [](const TreePtr& l) { return l->mark.kind == LoopKind::kMapped && l->mark.gpu.grid >= 0; };
    if (grid_.empty() || !std::all_of(grid_.begin(), grid_.end(), on_grid) || own->mark.kind != LoopKind::kMapped ||
        own->mark.gpu.grid >= 0 || own->mark.gpu.block < 0 || own->children[0]->kind != Tree::Kind::kLeaf)
      args_.refuse("'" + definition().name + "' has no loop of a block's threads for itself, directly inside loops of the grid",
                   {"map_gpu comes first"});
  }

  void check_readers() {
    for (const Dependence& d : *schedule_.dependences) {
      if (d.array != array_ || d.kind != DependenceKind::kFlow) continue;
      const Statement& reader = schedule_.statement(d.sink);
      for (const TreePtr& l : grid_)
        if (!l->member.count(d.sink) || !zero_distance(d, l->member.at(definition_), l->member.at(d.sink)))
          return args_.refuse("'" + reader.name + "' reads it in another iteration of the grid", {"leave it in memory"});
      for (const Access& a : reader.reads)
        if (a.array == array_ && !a.exact)
          return args_.refuse("'" + reader.name + "' reads it at places that data decides", {"leave it in memory"});
    }
  }

  Schedule with_dependences() const {
    Dependences all = *schedule_.dependences;
    for (const Dependence& use : *schedule_.dependences) {
      if (use.array != array_ || use.kind != DependenceKind::kFlow) continue;
      for (const Dependence& d : *schedule_.dependences) {
        if (d.sink == definition_ && d.kind == DependenceKind::kFlow)
          all.push_back(make_dependence(d.kind, d.source, use.sink, d.array, d.relation.apply_range(use.relation)));
        if (d.source == definition_ && d.kind == DependenceKind::kAnti)
          all.push_back(make_dependence(d.kind, use.sink, d.sink, d.array, use.relation.reverse().apply_range(d.relation)));
      }
    }
    Schedule next = schedule_;
    next.dependences = std::make_shared<const Dependences>(std::move(all));
    next.recomputed.push_back(array_);
    return next;
  }

  const Schedule& schedule_;
  Arguments& args_;
  std::string array_;
  int definition_ = -1;
  std::vector<TreePtr> grid_;
};

Schedule apply(const Schedule& schedule, Arguments& args) { return Recompute(schedule, args).run(); }

}  // namespace

extern const Transform kRecompute;
const Transform kRecompute = {
    "recompute",
    "An intermediate of a block's threads is computed again where it is read, instead of going through memory. After map_gpu.",
    {{"array", "array", true, "the array"}},
    apply,
    {"for j  p[j] = f(x[j]);  for j  y[j] = p[j] / s", "for j  y[j] = f(x[j]) / s", "compute_inline (Halide)",
     "more than a row of a block's threads"},
    "cuda"};

}  // namespace facet
