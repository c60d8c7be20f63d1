// embed: a nest gets a loop of one iteration around it.
//
//     for t {                                          for t {
//       for j  S(t, j)                                   for i in 0..1  for j  S(t, j)           embed S in loop i around j
//       for i  for j  T(t, i, j) }           -->         for i  for j  T(t, i, j) }
//
// What works on the border of an array has fewer loops than what works on its inside. With the loop it can be fused, skewed,
// shifted and tiled like its neighbours. The order of instances stays, so the step itself cannot be illegal.
// The near twin is `tile` with size 1, which makes a loop of another loop's values.
#include "polyhedral/transform/transform.hpp"

namespace facet {

namespace {

Schedule apply(const Schedule& schedule, Arguments& args) {
  const int s = args.statement();
  const std::string name = args.text("loop");
  const std::int64_t at = args.integer("at", 0, -1'000'000'000);
  if (args.problem()) return schedule;
  if (find_loop(schedule.tree, s, name)) args.refuse("a loop named '" + name + "' exists already", {"choose another `loop`"});
  const std::vector<TreePtr> around = loops_around(schedule.tree, s);
  if (around.empty())
    args.refuse("statement '" + schedule.statement(s).name + "' has no loop to embed", {"leave the step out"});
  const TreePtr inner = args.has("around") ? args.loop(s, args.text("around")) : around.empty() ? nullptr : around.back();
  if (args.problem() || !inner) return schedule;
  Schedule next = schedule;
  Tree loop;
  loop.id = next.next_loop++;
  for (const auto& [statement, f] : inner->member) {
    loop.names[statement] = name;
    loop.member.emplace(statement, add_constant(multiply(f, 0), at));
  }
  next.tree = replace_node(schedule.tree, inner, make_loop_tree(std::move(loop), inner));
  return next;
}

}  // namespace

extern const Transform kEmbed;
const Transform kEmbed = {"embed",
                          "A nest gets a loop of one iteration around it, to be fused and tiled like its neighbours.",
                          {{"statement", "statement", true, "a statement of the nest"},
                           {"loop", "text", true, "the name of the new loop"},
                           {"around", "loop", false, "the loop that comes to stand inside it; otherwise the innermost"},
                           {"at", "int", false, "the value of its one iteration, 0 when not given"}},
                          apply,
                          {"for j  S(j)", "for i in 0..1  for j  S(j)", "adding a unit loop",
                           "names of loops that exist, statements without a loop"}};

}  // namespace facet
