// reuse: an intermediate that dies where another array is made lives in that array's memory.
//
//     for i (grid) { .. p[i,j] = exp(x[i,j] - m) ..            for i (grid) { .. y[i,j] = exp(x[i,j] - m) ..
//                    s += p[i,j] ..                    -->                    s += y[i,j] ..
//                    for j  y[i,j] = p[i,j] / s }                             for j  y[i,j] = y[i,j] / s }
//
// A third of a softmax's memory traffic goes. Every other reader of an element of p must come before the instance that writes
// that element of y: the step adds these anti dependences, and the general judgement says whether the order and the mapping
// keep them.
//
// Known elsewhere as storage folding, in-place update. The twin is `recompute`. Refuses arrays of different shape or type, an
// array made by more than one statement or read at other elements than it writes, and nests that are not on the grid. After
// map_gpu.
#include <algorithm>

#include "polyhedral/transform/memory_steps.hpp"

namespace facet {

namespace {

class Reuse {
 public:
  Reuse(const Schedule& schedule, Arguments& args) : schedule_(schedule), args_(args) {}

  Schedule run() {
    array_ = intermediate(schedule_, args_);
    const Array* const of = args_.array("of");
    if (args_.problem()) return schedule_;
    of_ = of->name;
    check_memory(*of);
    if (!args_.problem()) end_ = only_writer(schedule_, of_, args_);
    if (!args_.problem()) check_end();
    if (!args_.problem()) check_nest();
    return args_.problem() ? schedule_ : with_dependences();
  }

 private:
  void check_memory(const Array& of) {
    const Array& own = schedule_.scop->arrays.at(array_);
    bool equal = own.dtype == of.dtype && own.extents.size() == of.extents.size() && !own.extents.empty() && array_ != of_;
    for (std::size_t d = 0; equal && d < own.extents.size(); ++d) equal = same(own.extents[d], of.extents[d]);
    if (!equal)
      return args_.refuse("'" + array_ + "' and '" + of_ + "' do not have one type and shape",
                          {"leave it in memory of its own"});
    if (of.external || is_stored_otherwise(schedule_, of_))
      return args_.refuse("'" + of_ + "' is not made in this group, or not in memory of its own", {"name an array that is"});
    for (int s = 0; s < schedule_.statement_count(); ++s)
      for (const Access& a : schedule_.statement(s).reads)
        if (a.array == of_) return args_.refuse("'" + of_ + "' is read in the group", {"leave it in memory of its own"});
  }

  void check_end() {
    const Statement& end = schedule_.statement(end_);
    bool any = false, in_place = true;
    walk(end.value, [&](const Expr& e) {
      if (e.op != Op::kRead || e.name != array_) return;
      any = true;
      for (std::size_t d = 0; d < e.args.size(); ++d) in_place = in_place && same(e.args[d], end.subscripts[d]);
    });
    if (!any || !in_place)
      args_.refuse("'" + end.name + "' does not make each element of '" + of_ + "' from that of '" + array_ + "'",
                   {"leave it in memory of its own"});
  }

  void check_nest() {
    const std::vector<TreePtr> around = loops_around(schedule_.tree, end_);
    if (around.empty() || around[0]->mark.kind != LoopKind::kMapped || around[0]->mark.gpu.grid < 0)
      return args_.refuse("'" + schedule_.statement(end_).name + "' is not in a nest on the grid", {"map_gpu comes first"});
    for (const int s : statements_of(schedule_.tree)) {
      const Statement& st = schedule_.statement(s);
      if (st.touches(array_) && !contains(around[0], s))
        return args_.refuse("'" + st.name + "' is in another nest", {"fuse the nests first"});
    }
  }

  Schedule with_dependences() const {
    Dependences all = *schedule_.dependences;
    isl::map made;  // { end -> element }
    for (const Access& a : schedule_.statement(end_).reads)
      if (a.array == array_) made = a.relation;
    for (int s = 0; s < schedule_.statement_count(); ++s) {
      if (s == end_) continue;
      for (const Access& a : schedule_.statement(s).reads)
        if (a.array == array_)
          all.push_back(make_dependence(DependenceKind::kAnti, s, end_, of_, a.relation.apply_range(made.reverse())));
    }
    Schedule next = schedule_;
    next.dependences = std::make_shared<const Dependences>(std::move(all));
    next.reused.emplace_back(array_, of_);
    return next;
  }

  const Schedule& schedule_;
  Arguments& args_;
  std::string array_, of_;
  int end_ = -1;
};

Schedule apply(const Schedule& schedule, Arguments& args) { return Reuse(schedule, args).run(); }

}  // namespace

extern const Transform kReuse;
const Transform kReuse = {
    "reuse",
    "An intermediate lives in the memory of the array that is made from it, element by element. After map_gpu.",
    {{"array", "array", true, "the intermediate"}, {"of", "array", true, "the array whose memory it uses"}},
    apply,
    {"for j  p[j] = f(x[j]);  for j  y[j] = p[j] / s", "for j  y[j] = f(x[j]);  for j  y[j] = y[j] / s", "in-place buffers",
     "arrays of another shape or type, readers of other elements"},
    "cuda"};

}  // namespace facet
