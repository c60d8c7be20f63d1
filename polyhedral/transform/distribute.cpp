// distribute: a shared loop is split so that one statement gets a nest of its own.
//
//     for i { R(i);  for k  S(i, k);  T(i) }    -->    for i R(i);   for i for k S(i, k);   for i T(i)       distribute S at i
//
// The inverse of fuse; also called loop fission. Everything before S in the body comes first, everything after it last.
// Refuses a loop that S does not share. Illegal where a dependence runs from a later to an earlier part across iterations.
#include "polyhedral/transform/transform.hpp"

namespace facet {

namespace {

Schedule apply(const Schedule& schedule, Arguments& args) {
  const int s = args.statement();
  const TreePtr loop = args.loop(s, args.text("loop"));
  if (args.problem() || !loop) return schedule;
  std::vector<int> before, after;
  bool passed = false;
  for (const int x : statements_of(loop)) {
    if (x == s) {
      passed = true;
    } else {
      (passed ? after : before).push_back(x);
    }
  }
  if (before.empty() && after.empty()) {
    args.refuse("statement '" + schedule.statement(s).name + "' shares loop '" + args.text("loop") + "' with no other");
    return schedule;
  }
  Schedule next = schedule;
  std::vector<TreePtr> parts;
  if (!before.empty()) parts.push_back(restrict_tree(loop, before, &next.next_loop));
  parts.push_back(restrict_tree(loop, {s}, nullptr));
  if (!after.empty()) parts.push_back(restrict_tree(loop, after, &next.next_loop));
  next.tree = replace_node(schedule.tree, loop, make_sequence(std::move(parts)));
  return next;
}

}  // namespace

extern const Transform kDistribute;
const Transform kDistribute = {"distribute", "A statement leaves the loop it shares with others: the loop is split around it.",
                               {{"statement", "statement", true, "the statement that gets a nest of its own"},
                                {"loop", "loop", true, "the outermost loop to split"}},
                               apply};

}  // namespace facet
