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
#include <algorithm>
#include <optional>

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

const std::vector<std::string> kOneMark = {
    "a loop runs in one way: leave one of the two steps out, or tile the loop before and mark the tile loop and the loop inside"};

Schedule mark(const Schedule& schedule, Arguments& args, const LoopMark& mark) {
  const int s = args.statement();
  const TreePtr loop = args.loop(s, args.text("loop"));
  if (args.problem() || !loop) return schedule;
  if (loop->mark.kind != LoopKind::kSerial) {
    args.refuse("loop '" + args.text("loop") + "' is marked by " + marker_of(loop->mark) + " already", kOneMark);
    return schedule;
  }
  if (const TreePtr outer = shares_threads_of(schedule, s, loop)) {
    args.refuse("loop '" + args.text("loop") + "' shares the threads of loop '" + outer->names.at(s) + "'",
                {"lower `collapse` of the step that parallelizes '" + outer->names.at(s) + "'"});
    return schedule;
  }
  Tree changed = *loop;
  changed.mark = mark;
  Schedule next = schedule;
  next.tree = replace_node(schedule.tree, loop, make_loop_tree(std::move(changed), loop->children[0]));
  return next;
}

// The values of the loops around `loop`.
std::vector<isl::pw_aff> values_around(const Schedule& schedule, int statement, const TreePtr& loop) {
  std::vector<isl::pw_aff> values;
  for (const TreePtr& l : loops_around(schedule.tree, statement)) {
    if (l->id == loop->id) break;
    values.push_back(l->member.at(statement));
  }
  return values;
}

// Are the last loop's values the same for all values of the others, in each iteration o of the loops around them? Then
//     { [o] -> [v1, .., vn] }  is the product of  { [o] -> [v1, .., v(n-1)] }  and  { [o] -> [vn] }.
bool is_rectangular(const Schedule& schedule, const std::vector<TreePtr>& loops) {
  std::optional<isl::map> all, others, last;
  const auto add = [](std::optional<isl::map>* sum, const isl::map& part) { *sum = *sum ? (*sum)->unite(part) : part; };
  for (const int s : statements_of(loops.back())) {
    const isl::set& domain = schedule.statement(s).domain;
    std::vector<isl::pw_aff> outer;
    for (std::size_t k = 0; k + 1 < loops.size(); ++k) outer.push_back(loops[k]->member.at(s));
    const std::vector<isl::pw_aff> inner{loops.back()->member.at(s)};
    std::vector<isl::pw_aff> both = outer;
    both.push_back(inner[0]);
    const isl::map from = map_to_values(domain, values_around(schedule, s, loops.front())).reverse();  // { [o] -> S[i] }
    add(&all, with_range_tuple(from.apply_range(map_to_values(domain, both)), "V"));
    add(&others, from.apply_range(map_to_values(domain, outer)));
    add(&last, from.apply_range(map_to_values(domain, inner)));
  }
  return all->is_equal(with_flat_range(*others, *last, "V"));
}

constexpr std::int64_t kMostLanes = 1024;   // 16 vectors of 64 bytes of the smallest elements
constexpr std::int64_t kMostCopies = 64;    // as many accumulators as two files of 32 registers hold
constexpr int kSomeCopies = 4;              // of a loop that cannot be written out: an addition's latency in cycles
constexpr std::int64_t kMostParts = 65535;  // as of a GPU's grid: each is a copy of what is updated
constexpr std::int64_t kParts = 64;         // one for each thread of common processors; more only make combining longer

void read_reduction(Arguments& args, LoopMark* m) {
  const std::string how = args.text("reduction");
  if (args.has("reduction") && how != "clause" && how != "atomic")
    args.bad("reduction", "\"clause\" or \"atomic\"", "\"" + how + "\"");
  if (how == "clause") m->updates = SharedUpdates::kParts;
  if (how == "atomic") m->updates = SharedUpdates::kAtomic;
  if (args.has("parts") && how != "clause")
    args.refuse("`parts` are for \"reduction\": \"clause\"", {"write that, or leave `parts` out"});
  if (how == "clause") m->parts = args.integer("parts", kParts, 2, kMostParts);
  if (how == "clause" && m->collapse > 1)
    args.refuse("\"reduction\": \"clause\" cuts one loop into parts: it does not go with `collapse`", {"leave `collapse` out"});
}

Schedule parallelize(const Schedule& schedule, Arguments& args) {
  LoopMark m;
  m.kind = LoopKind::kParallel;
  m.collapse = static_cast<int>(args.integer("collapse", 1, 1));
  read_reduction(args, &m);
  const int s = args.statement();
  TreePtr loop = args.loop(s, args.text("loop"));
  std::vector<TreePtr> together{loop};
  for (int i = 1; i < m.collapse && loop; ++i) {
    const TreePtr inner = loop->children[0];
    if (inner->kind != Tree::Kind::kLoop) {
      args.refuse(
          "there are no " + std::to_string(m.collapse) + " perfectly nested loops for `collapse`, only " + std::to_string(i),
          {i == 1 ? "leave it out" : "write " + std::to_string(i)});
      return schedule;
    }
    if (inner->mark.kind != LoopKind::kSerial)
      args.refuse(
          "loop '" + inner->names.at(s) + "' is marked by " + marker_of(inner->mark) + " already: it cannot share the threads",
          {"collapse the loops around it only"});
    loop = inner;
    together.push_back(loop);
    if (!args.problem() && !is_rectangular(schedule, together))
      args.refuse("the bounds of loop '" + loop->names.at(s) + "' depend on the loops that `collapse` joins it with",
                  {i == 1 ? "leave it out: iterations of a triangle go to the threads one by one, the longest first"
                          : "write " + std::to_string(i)});
  }
  Schedule marked = mark(schedule, args, m);
  if (args.problem() || m.updates == SharedUpdates::kNone) return marked;
  check_shared_updates(marked, {find_loop(marked.tree, s, args.text("loop"))}, args);
  return marked;
}

Schedule vectorize(const Schedule& schedule, Arguments& args) {
  LoopMark m;
  m.kind = LoopKind::kVector;
  const std::int64_t width = args.has("width") ? args.any_integer("width") : 0;
  if (width < 2 || width > kMostLanes || (width & (width - 1)) != 0)
    args.bad("width", "a power of two from 2 to " + std::to_string(kMostLanes), std::to_string(width));
  m.width = static_cast<int>(width);
  return mark(schedule, args, m);
}

// The iterations of a loop in each iteration of those around it, where their number is a constant: of whole tiles, of rows.
// nullopt: it depends on symbols or on loops around everywhere.
std::optional<std::int64_t> constant_trips(const Schedule& schedule, const TreePtr& loop) {
  std::optional<isl::map> values;  // { [o] -> [v] }
  for (const int s : statements_of(loop)) {
    const isl::set& domain = schedule.statement(s).domain;
    const isl::map own = map_to_values(domain, values_around(schedule, s, loop))
                             .reverse()
                             .apply_range(map_to_values(domain, {loop->member.at(s)}));
    values = values ? values->unite(own) : own;
  }
  const isl::pw_aff apart = values->lexmax_pw_multi_aff().at(0).sub(values->lexmin_pw_multi_aff().at(0));
  std::optional<std::int64_t> most;
  isl::pw_multi_aff(apart).foreach_piece([&](const isl::set&, const isl::multi_aff& piece) {
    const isl::aff value = piece.at(0);
    if (value.is_cst()) most = std::max<std::int64_t>(most.value_or(0), value.constant_val().num_si() + 1);
  });
  return most;
}

Schedule unroll(const Schedule& schedule, Arguments& args) {
  LoopMark m;
  m.kind = LoopKind::kUnroll;
  const std::int64_t factor = args.has("factor") ? args.any_integer("factor") : 0;
  if (factor < 0 || factor > kMostCopies)
    args.bad("factor", "copies from 1 to " + std::to_string(kMostCopies) + ", or 0 for all iterations", std::to_string(factor));
  const TreePtr loop = args.loop(args.statement(), args.text("loop"));
  if (args.problem() || !loop) return schedule;
  m.width = static_cast<int>(factor);
  if (factor == 0 && constant_trips(schedule, loop).value_or(kMostCopies + 1) > kMostCopies) m.width = kSomeCopies;
  return mark(schedule, args, m);
}

}  // namespace

std::string marker_of(const LoopMark& mark) {
  switch (mark.kind) {
    case LoopKind::kParallel: return "`parallelize`";
    case LoopKind::kVector: return "`vectorize`";
    case LoopKind::kUnroll: return "`unroll`";
    case LoopKind::kMapped: return "`map_gpu`";
    default: return "no step";
  }
}

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
     {"parts", "int", false,
      "with clause: how many pieces, 64 when not given, at most 65535; results depend on it, not on the threads"}},
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
     "marked loops, for `collapse` fewer nested loops or bounds that depend on each other; illegal where the loop, or one "
     "collapsed into it, carries a dependence "
     "other than the reductions that `reduction` covers. `reduction`: loops that carry none, sums and products of floats where "
     "numerics are strict, atomic ones also where they are tree; illegal with clause where an iteration reads or overwrites what "
     "it has updated"},
    "openmp"};
const Transform kVectorize = {
    "vectorize",
    "The loop runs in vectors of `width` lanes.",
    {{"statement", "statement", true, "a statement inside the loop"},
     {"loop", "loop", true, "the loop"},
     {"width", "int", true, "lanes, a power of two from 2 to 1024"}},
    vectorize,
    {"for j in 0..N  S(j)", "for j in 0..N step 8  S(j .. j + 7)", "SIMD",
     "widths that are no power of two, marked loops; sums may be carried: lanes keep partial results"},
    "openmp"};
const Transform kUnroll = {
    "unroll",
    "The loop's body is repeated.",
    {{"statement", "statement", true, "a statement inside the loop"},
     {"loop", "loop", true, "the loop"},
     {"factor", "int", false,
      "copies, from 1 (the loop as it is) to 64; 0 or nothing: all iterations where they are a constant number up to 64, "
      "otherwise 4 at a time"}},
    unroll,
    {"for i in 0..4  S(i)", "S(0); S(1); S(2); S(3)", "unroll", "marked loops"}};

}  // namespace facet
