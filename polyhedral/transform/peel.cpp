// peel: the first or last iterations of a loop get a loop of their own, whatever its bounds are.
//
//     for i in 0..N                               for j in i..i+1
//       for j in i..N                               S.first(i, j)
//         S(i, j)             -->   for i in 0..N   for j in i+1..N
//                                                     S(i, j)                 peel j, first 1
//
// With f the loop's value and o those of the loops around it, the first k are the instances with f < min{ f at o } + k, over
// all statements that share the loop: the loop may start at other values for each o. Peeled statements are called S.first or
// S.last. Known elsewhere as loop peeling (GCC, Pluto's --lbtile variants). The near twin that cuts at one value is
// `index_set_split`. Refuses counts below 1, loops that have no more iterations than are peeled, arrays in buffers inside the
// loop.
#include "polyhedral/transform/split_instances.hpp"

namespace facet {

namespace {

// { S[i] -> [values of the loops outside `loop`] }
isl::map around(const Schedule& schedule, int statement, const TreePtr& loop) {
  int outer = -1;
  for (const TreePtr& l : loops_around(schedule.tree, statement)) {
    if (l == loop) break;
    outer = l->id;
  }
  return outer_schedule(schedule, statement, outer);
}

isl::map value_of(const Schedule& schedule, int statement, const TreePtr& loop) {
  return map_to_values(schedule.statement(statement).domain, {loop->member.at(statement)});
}

// The instances of the first (last) `count` iterations.
std::map<int, isl::set> ends(const Schedule& schedule, const TreePtr& loop, std::int64_t count, bool last) {
  std::optional<isl::map> values;  // { [outer] -> [value] }
  for (const auto& [s, f] : loop->member) {
    const isl::map mine = around(schedule, s, loop).reverse().apply_range(value_of(schedule, s, loop));
    values = values ? values->unite(mine) : mine;
  }
  const isl::map end = last ? values->lexmax() : values->lexmin();
  const std::string n = std::to_string(count);
  const isl::map near = read_map(last ? "{ [x] -> [y] : y > x - " + n + " }" : "{ [x] -> [y] : y < x + " + n + " }");
  std::map<int, isl::set> apart;
  for (const auto& [s, f] : loop->member)
    apart.emplace(s,
                  value_of(schedule, s, loop).intersect(around(schedule, s, loop).apply_range(end).apply_range(near)).domain());
  return apart;
}

Schedule apply(const Schedule& schedule, Arguments& args) {
  const int s = args.statement();
  const TreePtr loop = args.loop(s, args.text("loop"));
  const std::int64_t first = args.integer("first", 0, 1), last = args.integer("last", 0, 1);
  if (args.problem() || !loop) return schedule;
  if ((first > 0) == (last > 0)) {
    args.bad("first", "one of `first` and `last`", first > 0 ? "both" : "neither");
    return schedule;
  }
  return split_loop(schedule, args, loop, ends(schedule, loop, first + last, last > 0), first > 0,
                    first > 0 ? ".first" : ".last", (first > 0 ? "`first` " : "`last` ") + std::to_string(first + last));
}

}  // namespace

extern const Transform kPeel;
const Transform kPeel = {
    "peel",
    "The first or last iterations of a loop get a loop of their own; its statements are called S.first or S.last.",
    {{"statement", "statement", true, "a statement inside the loop"},
     {"loop", "loop", true, "the loop"},
     {"first", "int", false, "so many from the start"},
     {"last", "int", false, "or so many at the end"}},
    apply,
    {"for i in 0..N  S(i)", "S.first(0)\nfor i in 1..N  S(i)", "loop peeling",
     "as many iterations as there are; arrays in buffers inside the loop: peel first"}};

}  // namespace facet
