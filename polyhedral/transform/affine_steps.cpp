// skew, shift, reverse: a loop's member becomes another affine function of the instance.
//
//     skew     f := f + factor * g      g: the member of an outer or inner loop `by`      (wavefronts; makes bands permutable)
//     shift    f := f + offset          for the statements below, or one of them          (aligns nests before fusing)
//     reverse  f := -f                                                                    (runs the loop backwards)
//
// Source: Wolfe, Loop skewing: the wavefront method revisited, IJPP 1986; Kelly and Pugh, A unifying framework, 1993.
#include "polyhedral/isl/points.hpp"
#include "polyhedral/transform/transform.hpp"

namespace facet {

namespace {

Schedule with_loop(const Schedule& schedule, const TreePtr& old_loop, Tree loop) {
  Schedule next = schedule;
  next.tree = replace_node(schedule.tree, old_loop, make_loop_tree(std::move(loop), old_loop->children[0]));
  return next;
}

constexpr double kLargestNumber = 1e9;  // times sizes below 2^31 it fits 64 bits

Schedule skew(const Schedule& schedule, Arguments& args) {
  const int s = args.statement();
  const TreePtr loop = args.loop(s, args.text("loop"));
  const TreePtr by = args.loop(s, args.text("by"));
  const std::int64_t factor = args.integer("factor", 1, -1000, 1000);
  if (args.problem() || !loop || !by) return schedule;
  if (loop->id == by->id) {
    args.refuse("a loop cannot be skewed by itself", {"name another loop around the statement in `by`"});
    return schedule;
  }
  Tree changed = *loop;
  for (auto& [statement, f] : changed.member) {
    const auto g = by->member.find(statement);
    if (g == by->member.end()) {
      args.refuse("statement '" + schedule.statement(statement).name + "' is not inside loop '" + args.text("by") + "'",
                  {"distribute it first, or skew by a loop around all statements in '" + args.text("loop") + "'"});
      return schedule;
    }
    f = f.add(multiply(g->second, factor));
    if (largest_number(f) > kLargestNumber) {
      args.refuse("loop '" + args.text("loop") + "' would count too far for 64 bits",
                  {"skew fewer times, or by a smaller factor"});
      return schedule;
    }
  }
  return with_loop(schedule, loop, std::move(changed));
}

Schedule shift(const Schedule& schedule, Arguments& args) {
  const int s = args.statement();
  const TreePtr loop = args.loop(s, args.text("loop"));
  const std::int64_t offset = args.integer("offset", 0, -1'000'000'000);
  if (args.problem() || !loop) return schedule;
  Tree changed = *loop;
  changed.member[s] = add_constant(changed.member.at(s), offset);
  return with_loop(schedule, loop, std::move(changed));
}

Schedule reverse(const Schedule& schedule, Arguments& args) {
  const int s = args.statement();
  const TreePtr loop = args.loop(s, args.text("loop"));
  if (args.problem() || !loop) return schedule;
  Tree changed = *loop;
  for (auto& [statement, f] : changed.member) f = f.neg();
  return with_loop(schedule, loop, std::move(changed));
}

}  // namespace

extern const Transform kSkew, kShift, kReverse;
const Transform kSkew = {"skew",
                         "Adds a multiple of another loop's value to a loop's.",
                         {{"statement", "statement", true, "a statement inside both loops"},
                          {"loop", "loop", true, "the loop that changes"},
                          {"by", "loop", true, "the loop that is added"},
                          {"factor", "int", false, "how often, 1 when not given"}},
                         skew,
                         {"for i  for j  S(i, j)", "for i  for j in i..i + M  S(i, j - i)", "wavefront, loop skewing",
                          "a loop by itself, a statement that is not inside both loops"}};
const Transform kShift = {
    "shift",
    "Delays one statement's instances in a loop by a constant.",
    {{"statement", "statement", true, "the statement to move"},
     {"loop", "loop", true, "the loop"},
     {"offset", "int", true, "iterations, negative is earlier"}},
    shift,
    {"for i in 0..N  T(i)", "for i in 1..N + 1  T(i - 1)", "retiming, loop alignment", "nothing; judged by dependences"}};
const Transform kReverse = {
    "reverse",
    "Runs a loop backwards.",
    {{"statement", "statement", true, "a statement inside the loop"}, {"loop", "loop", true, "the loop"}},
    reverse,
    {"for i in 0..N  S(i)", "for i in -N + 1..1  S(-i)", "loop reversal",
     "nothing; illegal where an iteration needs an earlier one, sums excepted unless numerics are strict"}};

}  // namespace facet
