// parallelize, vectorize, unroll: a loop gets a mark that says how it is executed. The order of instances stays; legality asks
// whether the mark may stand there.
//
//     parallelize   iterations run on threads in any order; the loop may carry no dependence, reductions included
//     vectorize     `width` iterations run as lanes; the loop may carry no dependence but reductions (lanes keep partial
//     results) unroll        the body is repeated; an unrolled loop around a vector loop is a register tile (unroll-and-jam
//     after interchange)
#include "polyhedral/transform/transform.hpp"

namespace facet {

namespace {

Schedule mark(const Schedule& schedule, Arguments& args, const LoopMark& mark) {
  const int s = args.statement();
  const TreePtr loop = args.loop(s, args.text("loop"));
  if (args.problem() || !loop) return schedule;
  if (loop->mark.kind != LoopKind::kSerial) {
    args.refuse("loop '" + args.text("loop") + "' is marked already");
    return schedule;
  }
  Tree changed = *loop;
  changed.mark = mark;
  Schedule next = schedule;
  next.tree = replace_node(schedule.tree, loop, make_loop_tree(std::move(changed), loop->children[0]));
  return next;
}

Schedule parallelize(const Schedule& schedule, Arguments& args) {
  LoopMark m;
  m.kind = LoopKind::kParallel;
  m.collapse = static_cast<int>(args.integer("collapse", 1, 1));
  const int s = args.statement();
  TreePtr loop = args.loop(s, args.text("loop"));
  for (int i = 1; i < m.collapse && loop; ++i) {
    const TreePtr inner = loop->children[0];
    if (inner->kind != Tree::Kind::kLoop) {
      args.refuse("there are no " + std::to_string(m.collapse) + " perfectly nested loops to collapse");
      return schedule;
    }
    loop = inner;
  }
  return mark(schedule, args, m);
}

Schedule vectorize(const Schedule& schedule, Arguments& args) {
  LoopMark m;
  m.kind = LoopKind::kVector;
  m.width = static_cast<int>(args.integer("width", 0, 2));
  if (m.width == 0) args.bad("width", "lanes, a power of two from 2", "nothing");
  if ((m.width & (m.width - 1)) != 0) args.bad("width", "a power of two", std::to_string(m.width));
  return mark(schedule, args, m);
}

Schedule unroll(const Schedule& schedule, Arguments& args) {
  LoopMark m;
  m.kind = LoopKind::kUnroll;
  m.width = static_cast<int>(args.integer("factor", 0, 0));
  return mark(schedule, args, m);
}

}  // namespace

extern const Transform kParallelize, kVectorize, kUnroll;
const Transform kParallelize = {"parallelize",
                                "The loop's iterations run on threads.",
                                {{"statement", "statement", true, "a statement inside the loop"},
                                 {"loop", "loop", true, "the loop"},
                                 {"collapse", "int", false, "this many perfectly nested loops from here share the threads"}},
                                parallelize};
const Transform kVectorize = {"vectorize",
                              "The loop runs in vectors of `width` lanes.",
                              {{"statement", "statement", true, "a statement inside the loop"},
                               {"loop", "loop", true, "the loop"},
                               {"width", "int", true, "lanes, a power of two"}},
                              vectorize};
const Transform kUnroll = {"unroll",
                           "The loop's body is repeated.",
                           {{"statement", "statement", true, "a statement inside the loop"},
                            {"loop", "loop", true, "the loop"},
                            {"factor", "int", false, "copies; 0 or nothing: all iterations"}},
                           unroll};

}  // namespace facet
