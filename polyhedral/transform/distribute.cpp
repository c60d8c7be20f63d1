// distribute: a shared loop is split so that one statement gets a nest of its own.
//
//     for i { R(i);  for k  S(i, k);  T(i) }    -->    for i R(i);   for i for k S(i, k);   for i T(i)       distribute S at i
//
// Statements named in `with` go along with S, in their own order. With `first` (`last`) the statement's nest comes before
// (after) all others, which stay together:  for i for k S(i, k);   for i { R(i); T(i) }.
//
// The inverse of fuse; also called loop fission. Everything before S in the body comes first, everything after it last.
// Refuses a loop that S does not share. Illegal where a dependence runs from a later to an earlier part across iterations.
#include <algorithm>
#include <map>
#include <utility>

#include "polyhedral/transform/transform.hpp"

namespace facet {

namespace {

// Are all accesses of the mapped array below `loop` made by `statements`? Otherwise the split tears its buffer apart, which the
// storage question refuses.
bool lives_in(const Schedule& schedule, const StorageMap& m, const TreePtr& loop, const std::vector<int>& statements) {
  for (const int x : statements_of(loop)) {
    const Statement& st = schedule.statement(x);
    if ((st.target == m.buffer || st.touches(m.array)) &&
        std::find(statements.begin(), statements.end(), x) == statements.end())
      return false;
  }
  return true;
}

Schedule apply(const Schedule& schedule, Arguments& args) {
  const int s = args.statement();
  const TreePtr loop = args.loop(s, args.text("loop"));
  if (args.problem() || !loop) return schedule;
  std::vector<int> mine{s}, before, after;
  for (const std::string& name : args.texts("with")) {
    const int other = schedule.find(name);
    if (other < 0 || !contains(loop, other)) {
      args.bad("with", "statements inside the loop", "\"" + name + "\"");
      return schedule;
    }
    mine.push_back(other);
  }
  bool passed = false;
  for (const int x : statements_of(loop)) {
    if (std::find(mine.begin(), mine.end(), x) != mine.end()) {
      passed = true;
    } else {
      (passed ? after : before).push_back(x);
    }
  }
  if (before.empty() && after.empty()) {
    args.refuse("statement '" + schedule.statement(s).name + "' shares loop '" + args.text("loop") + "' with no other",
                {"leave the step out: it has that loop alone"});
    return schedule;
  }
  Schedule next = schedule;
  std::vector<TreePtr> parts;
  const auto split_off = [&](const std::vector<int>& statements) {
    if (statements.empty()) return;
    std::map<int, int> renamed;
    parts.push_back(restrict_tree(loop, statements, &next.next_loop, &renamed));
    for (StorageMap& m : next.storage)
      if (renamed.count(m.at) && lives_in(schedule, m, loop, statements)) m.at = renamed.at(m.at);
  };
  const bool first = args.truth("first", false), last = args.truth("last", false);
  if (first && last) args.bad("last", "one of `first` and `last`", "both");
  if (first || last) {
    before.insert(before.end(), after.begin(), after.end());
    after = first ? std::exchange(before, {}) : std::vector<int>{};
  }
  if (args.problem()) return schedule;
  split_off(before);
  parts.push_back(restrict_tree(loop, mine, nullptr));
  split_off(after);
  next.tree = replace_node(schedule.tree, loop, make_sequence(std::move(parts)));
  return next;
}

}  // namespace

extern const Transform kDistribute;
const Transform kDistribute = {
    "distribute",
    "A statement leaves the loop it shares with others: the loop is split around it.",
    {{"statement", "statement", true, "the statement that gets a nest of its own"},
     {"loop", "loop", true, "the outermost loop to split"},
     {"with", "statements", false, "statements that go along with it"},
     {"first", "bool", false, "its nest comes before all others, which stay together"},
     {"last", "bool", false, "its nest comes after all others, which stay together"}},
    apply,
    {"for i { S(i); T(i) }", "for i  S(i)\nfor i  T(i)", "loop fission",
     "a loop that the statement shares with no other; illegal where a later part feeds an earlier one in a later iteration"}};

}  // namespace facet
