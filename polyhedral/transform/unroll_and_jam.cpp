// strip_mine, unroll_and_jam.
//
//     strip_mine        for i in 0..N                for it in 0..ceil(N/4)
//       size 4            S(i)             -->         for i in 4*it..min(N, 4*it + 4)
//                                                        S(i)
//     unroll_and_jam    for i in 0..N                for it in 0..ceil(N/4)
//       factor 4          for k in 0..K    -->         for k in 0..K
//                           S(i, k)                      S(4*it, k); S(4*it + 1, k); S(4*it + 2, k); S(4*it + 3, k)
//
// strip_mine is `tile` of one loop. unroll_and_jam cuts the loop in the same way, and the point loop, unrolled, moves below all
// loops inside: around every statement, or around a whole body of statements without loops. Values that do not depend on i are
// then loaded once for several i. Known elsewhere as register blocking, register tiling. Where the loops inside have bounds
// that depend on i, they run over the hull and the copies are guarded. Legal where the point iterations may change places with
// the loops inside. Refuses factors below 2 and loops marked already. Source: Callahan, Carr and Kennedy, Improving register
// allocation for subscripted variables, PLDI 1990.
#include "polyhedral/transform/transform.hpp"

namespace facet {

extern const Transform kTile;

namespace {

// The same arguments in the words of `tile`.
Schedule cut(const Schedule& schedule, Arguments& args, std::int64_t size, const std::string& name) {
  Step step;
  step.verb = "tile";
  step.arguments["statement"] = Argument{args.text("statement")};
  step.arguments["loops"] = Argument{ArgumentList{Argument{args.text("loop")}}};
  step.arguments["sizes"] = Argument{ArgumentList{Argument{size}}};
  if (!name.empty()) step.arguments["names"] = Argument{ArgumentList{Argument{name}}};
  Arguments inner(schedule, step);
  Schedule next = kTile.apply(schedule, inner);
  if (inner.problem()) args.refuse(inner.problem()->message, inner.problem()->notes);
  return next;
}

Schedule strip_mine(const Schedule& schedule, Arguments& args) {
  const int s = args.statement();
  const TreePtr loop = args.loop(s, args.text("loop"));
  const std::int64_t size = args.integer("size", 1, 1);
  const std::string name = args.text("name");
  if (args.problem() || !loop) return schedule;
  return cut(schedule, args, size, name);
}

bool has_loops(const TreePtr& tree) {
  bool found = false;
  for_each_loop(tree, [&](const Tree&) { found = true; });
  return found;
}

// `point` around every piece of the tree that has no loops.
TreePtr sunk(const TreePtr& tree, const Tree& point, int* fresh) {
  if (!has_loops(tree)) {
    Tree loop = point;
    if (fresh) loop.id = (*fresh)++;
    std::erase_if(loop.names, [&](const auto& entry) { return !contains(tree, entry.first); });
    std::erase_if(loop.member, [&](const auto& entry) { return !contains(tree, entry.first); });
    return make_loop_tree(std::move(loop), tree);
  }
  std::vector<TreePtr> children;
  for (const TreePtr& c : tree->children) children.push_back(sunk(c, point, fresh));
  if (tree->kind == Tree::Kind::kSequence) return make_sequence(std::move(children));
  return make_loop_tree(*tree, children[0]);
}

Schedule unroll_and_jam(const Schedule& schedule, Arguments& args) {
  const int s = args.statement();
  const TreePtr loop = args.loop(s, args.text("loop"));
  const std::int64_t factor = args.integer("factor", 2, 2);
  if (args.problem() || !loop) return schedule;
  if (loop->mark.kind != LoopKind::kSerial)
    args.refuse("loop '" + args.text("loop") + "' is marked by " + marker_of(loop->mark) + " already",
                {"unroll_and_jam first: the loop over pieces can be marked then"});
  if (!has_loops(loop->children[0]))
    args.refuse("loop '" + args.text("loop") + "' has no loops inside to jam",
                {"unroll repeats the body of an innermost loop"});
  if (factor > 64) args.bad("factor", "from 2 to 64", std::to_string(factor));
  if (args.problem()) return schedule;
  Schedule next = cut(schedule, args, factor, "");
  if (args.problem()) return schedule;
  const int pieces = schedule.next_loop;  // the loop over pieces: the first that `tile` has made
  for (StorageMap& m : next.storage)
    if (m.at == loop->id) m.at = pieces;  // one box for the iterations that run side by side
  const TreePtr point = find_loop(next.tree, loop->id);
  Tree unrolled = *point;
  unrolled.mark.kind = LoopKind::kUnroll;
  next.tree = replace_node(next.tree, point, sunk(point->children[0], unrolled, &next.next_loop));
  return next;
}

}  // namespace

extern const Transform kStripMine, kUnrollAndJam;
const Transform kStripMine = {"strip_mine",
                              "A loop becomes a loop over pieces around a loop within a piece: `tile` of one loop.",
                              {{"statement", "statement", true, "a statement inside the loop"},
                               {"loop", "loop", true, "the loop; inside a piece it keeps its name"},
                               {"size", "int", true, "iterations of a piece"},
                               {"name", "name", false, "name of the loop over pieces, otherwise NAMEt"}},
                              strip_mine,
                              {"for i in 0..N  S(i)", "for it in 0..ceil(N/4)\n  for i in 4*it..min(N, 4*it + 4)  S(i)",
                               "split", "used names; it is `tile` of one loop"}};
const Transform kUnrollAndJam = {
    "unroll_and_jam",
    "A loop is cut into pieces whose iterations are unrolled inside all loops below it: register tiles.",
    {{"statement", "statement", true, "a statement inside the loop"},
     {"loop", "loop", true, "the loop; it keeps its name inside, the loop over pieces is NAMEt"},
     {"factor", "int", true, "iterations of a piece, from 2 to 64"}},
    unroll_and_jam,
    {"for i in 0..N\n  for k  S(i, k)", "for it in 0..ceil(N/2)\n  for k { S(2*it, k); S(2*it + 1, k) }", "register blocking",
     "marked loops, loops with no loop inside; illegal where iterations of a piece may not change places with the loops inside"}};

}  // namespace facet
