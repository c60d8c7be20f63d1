// parallelize, vectorize, unroll: a loop gets a mark that says how it is executed. The order of instances stays; legality asks
// whether the mark may stand there.
//
//     parallelize   iterations run on threads in any order; the loop may carry no dependence, reductions included
//     vectorize     `width` iterations run as lanes; the loop may carry no dependence but reductions, for which lanes keep
//                   partial results
//     unroll        the body is repeated; an unrolled loop around a vector loop is a register tile (unroll-and-jam after
//                   interchange)
//
// With `collapse` the loops directly inside share the threads and are judged like the first: they get no mark of their own.
#include "polyhedral/transform/transform.hpp"

namespace facet {

namespace {

// The parallel loop into which `loop` is collapsed; null when there is none.
TreePtr shares_threads_of(const Schedule& schedule, int s, const TreePtr& loop) {
  const std::vector<TreePtr> around = loops_around(schedule.tree, s);
  for (std::size_t i = 0; i < around.size(); ++i) {
    if (around[i]->mark.kind != LoopKind::kParallel) continue;
    TreePtr inner = around[i];
    for (int k = 1; k < around[i]->mark.collapse && inner->children[0]->kind == Tree::Kind::kLoop; ++k) {
      inner = inner->children[0];
      if (inner == loop) return around[i];
    }
  }
  return nullptr;
}

Schedule mark(const Schedule& schedule, Arguments& args, const LoopMark& mark) {
  const int s = args.statement();
  const TreePtr loop = args.loop(s, args.text("loop"));
  if (args.problem() || !loop) return schedule;
  if (loop->mark.kind != LoopKind::kSerial) {
    args.refuse("loop '" + args.text("loop") + "' is marked already");
    return schedule;
  }
  if (const TreePtr outer = shares_threads_of(schedule, s, loop)) {
    args.refuse("loop '" + args.text("loop") + "' shares the threads of loop '" + outer->names.at(s) + "'");
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
    if (inner->mark.kind != LoopKind::kSerial)
      args.refuse("loop '" + inner->names.at(s) + "' is marked already: it cannot share the threads");
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
const Transform kParallelize = {
    "parallelize",
    "The loop's iterations run on threads.",
    {{"statement", "statement", true, "a statement inside the loop"},
     {"loop", "loop", true, "the loop"},
     {"collapse", "int", false, "this many perfectly nested loops from here share the threads"}},
    parallelize,
    {"for i  S(i)", "#pragma omp parallel for\nfor i  S(i)", "parallel (Halide, TVM)",
     "marked loops, fewer nested loops than `collapse`; illegal where the loop, or one collapsed into it, carries a dependence"}};
const Transform kVectorize = {
    "vectorize",
    "The loop runs in vectors of `width` lanes.",
    {{"statement", "statement", true, "a statement inside the loop"},
     {"loop", "loop", true, "the loop"},
     {"width", "int", true, "lanes, a power of two"}},
    vectorize,
    {"for j in 0..N  S(j)", "for j in 0..N step 8  S(j .. j + 7)", "SIMD",
     "widths that are no power of two, marked loops; sums may be carried: lanes keep partial results"}};
const Transform kUnroll = {"unroll",
                           "The loop's body is repeated.",
                           {{"statement", "statement", true, "a statement inside the loop"},
                            {"loop", "loop", true, "the loop"},
                            {"factor", "int", false, "copies; 0 or nothing: all iterations"}},
                           unroll,
                           {"for i in 0..4  S(i)", "S(0); S(1); S(2); S(3)", "unroll", "marked loops"}};

}  // namespace facet
