// interchange: the loops of a chain in another order.
//
//     for i { for j { for k  S(i, j, k) } }   -->   for k { for i { for j  S(i, j, k) } }       order [k, i, j]
//
// Known elsewhere as reorder, permute. Refuses loops that do not stand directly inside each other. Legal where the chain is
// permutable in the pairs that change places.
#include "polyhedral/transform/transform.hpp"

namespace facet {

namespace {

Schedule apply(const Schedule& schedule, Arguments& args) {
  const int s = args.statement();
  const std::vector<std::string> order = args.texts("order");
  if (args.problem()) return schedule;
  if (order.size() < 2) args.bad("order", "at least two loops", std::to_string(order.size()));
  const std::vector<TreePtr> chain = loop_chain(schedule, s, order, args);
  if (args.problem()) return schedule;
  std::vector<Tree> loops;
  for (const std::string& name : order) loops.push_back(*find_loop(schedule.tree, s, name));
  return replace_chain(schedule, chain, std::move(loops));
}

}  // namespace

extern const Transform kInterchange;
const Transform kInterchange = {
    "interchange",
    "The named loops, which stand directly inside each other, in a new order.",
    {{"statement", "statement", true, "a statement inside the loops"}, {"order", "loops", true, "the loops, outermost first"}},
    apply,
    {"for i  for j  S(i, j)", "for j  for i  S(i, j)", "reorder, permute", "loops with others between them"}};

}  // namespace facet
