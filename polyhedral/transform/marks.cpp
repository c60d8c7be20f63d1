// parallelize, vectorize, unroll: a loop gets a mark that says how it is executed. The order of instances stays; legality asks
// whether the mark may stand there.
//
//     parallelize   iterations run on threads in any order; the loop may carry no dependence, reductions included unless
//                   `reduction` says how the threads share what they update (see below)
//     vectorize     `width` iterations run as lanes; the loop may carry no dependence but reductions, for which lanes keep
//                   partial results
//     unroll        the body is repeated; an unrolled loop around a vector loop is a register tile (unroll-and-jam after
//                   interchange)
//
// With `collapse` the loops directly inside share the threads and are judged like the first: they get no mark of their own.
//
// Shared updates, A[f(i)] op= e(i) with an associative and commutative op:
//
//     clause   the loop is cut into `parts` pieces; each updates a copy of the elements that the loop updates, which starts at
//              the operation's identity. After the loop the copies are combined into A in the order of the pieces. As with
//              OpenMP's clause of the name, threads meet at no update; unlike there, the copies are numbered by the recipe and
//              not by the threads, so that rounded sums are the same on every run and with every number of threads, as
//              numerics `tree` promise
//     atomic   each update of A is one action. No memory beside A, but threads that meet wait for each other, and the order is
//              another one on each run: rounded sums need numerics `free`
//
// Integers wrap, and a minimum or maximum is the same in any order: for these both are allowed whatever the numerics are. Which
// updates are shared is a fact of the dependences, found anew where it is asked; the mark only says what to do with them.
// Sources: OpenMP 5.2, sections 5.5.8 and 15.8.4; Suriana, Adams and Kamil, Parallel associative reductions in Halide, 2017.
#include "polyhedral/transform/shared_updates.hpp"
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

constexpr std::int64_t kParts = 64;  // one for each thread of common processors; more only make combining longer

void read_reduction(Arguments& args, LoopMark* m) {
  const std::string how = args.text("reduction");
  if (args.has("reduction") && how != "clause" && how != "atomic")
    args.bad("reduction", "\"clause\" or \"atomic\"", "\"" + how + "\"");
  if (how == "clause") m->updates = SharedUpdates::kParts;
  if (how == "atomic") m->updates = SharedUpdates::kAtomic;
  if (args.has("parts") && how != "clause") args.refuse("`parts` are for \"reduction\": \"clause\"");
  if (how == "clause") m->parts = args.integer("parts", kParts, 2);
  if (how == "clause" && m->collapse > 1)
    args.refuse("\"reduction\": \"clause\" cuts one loop into parts: it does not go with `collapse`");
}

Schedule parallelize(const Schedule& schedule, Arguments& args) {
  LoopMark m;
  m.kind = LoopKind::kParallel;
  m.collapse = static_cast<int>(args.integer("collapse", 1, 1));
  read_reduction(args, &m);
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
  Schedule marked = mark(schedule, args, m);
  if (args.problem() || m.updates == SharedUpdates::kNone) return marked;
  check_shared_updates(marked, {find_loop(marked.tree, s, args.text("loop"))}, args);
  return marked;
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
     {"collapse", "int", false, "this many perfectly nested loops from here share the threads"},
     {"reduction", "text", false,
      "of a loop that carries reductions: clause (pieces of the loop update copies, combined afterwards in order) or atomic "
      "(each update is one action; rounded sums need numerics `free`)"},
     {"parts", "int", false, "with clause: how many pieces, 64 when not given; results depend on it, not on the threads"}},
    parallelize,
    {"for i  S(i)\nfor i  A[f(i)] += e(i)",
     "#pragma omp parallel for\nfor i  S(i)\n"
     "// \"reduction\": \"clause\", \"parts\": 8\n"
     "#pragma omp parallel for\nfor r in 0..8 { A.copies[r] = 0; for i in piece r  A.copies[r, f(i)] += e(i) }\n"
     "for r in 0..8  A += A.copies[r]\n"
     "// \"reduction\": \"atomic\"\n"
     "#pragma omp parallel for\nfor i  atomic A[f(i)] += e(i)",
     "parallel (Halide, TVM), `reduction` clause and `atomic` (OpenMP); `rfactor` is the same as a rewrite, with a dimension "
     "that other steps can move",
     "marked loops, fewer nested loops than `collapse`; illegal where the loop, or one collapsed into it, carries a dependence "
     "other than the reductions that `reduction` covers. `reduction`: loops that carry none, sums and products of floats where "
     "numerics are strict, atomic ones also where they are tree; illegal with clause where an iteration reads or overwrites what "
     "it has updated"}};
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
