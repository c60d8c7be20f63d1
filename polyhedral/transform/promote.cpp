// promote: the part of an array that one iteration of a loop uses moves to a buffer of its own. Three forms:
//
//     read below `at`      for kt { B.tile.copy: B_tile[..] = B[k, j];  .. C[i, j] += A[i, k] * B_tile[..] }
//     written below `at`   for ir { C_tile[..] = 0;  .. C_tile[..] += ..;  C.tile.store: C[i, j] = C_tile[..] }
//                          (promote_result.cpp)
//     no `at`              B.packed.copy: B_packed[..] = B[k, j];  for .. C[i, j] += A[i, k] * B_packed[..]
//                          (promote_whole.cpp)
//
// The copy is an ordinary statement whose domain holds the values of the loops down to `at` and the element; its loops are
// named after the array's dimensions by the statement's loops (or d0, d1, ..) and can be tiled, parallelised and vectorised.
// What it owes to readers and writers is in the dependences that the step adds, so that later steps are judged with it. The
// footprint is covered by construction: the copy's domain is the footprint, its box isl's fixed box hull. With `fill` the
// domain is the whole box: elements that the array does not have get the padding value of the reads, else zero, so that readers
// may run past the array's end (register tiles without code for partial ones) and padded reads become plain ones.
//
// Parts may stand inside each other: the inner one is copied from the outer one (and stored to it), readers take the nearest. A
// statement that joins the loop later goes past the part, for whose elements it was not made, to the array.
//
// Known elsewhere as packing (BLIS), cache read and cache write (TVM), shared-memory staging. Refuses: an array both read from
// outside and written below `at`; a dimension without a constant size (tile the loop that walks it first). Source: Verdoolaege
// et al., PPCG, TACO 2013, section 6.
#include <algorithm>

#include "polyhedral/affine.hpp"
#include "polyhedral/storage.hpp"
#include "polyhedral/transform/memory_steps.hpp"
#include "polyhedral/transform/promote_parts.hpp"

namespace facet {

namespace {

bool reads_a_part(const Schedule& schedule, const std::string& array, const TreePtr& at) {
  if (!at) return false;
  const std::vector<int> below = statements_of(at);
  return std::none_of(below.begin(), below.end(), [&](int s) { return schedule.statement(s).target == array; });
}

Schedule apply(const Schedule& schedule, Arguments& args) {
  const Array* const found = args.array();
  const int s = args.statement();
  const TreePtr at = args.has("at") ? args.loop(s, args.text("at")) : nullptr;
  if (args.problem()) return schedule;
  const std::string array = found->name;
  if (args.integer("buffers", 1, 1) > 1 && !reads_a_part(schedule, array, at))
    args.refuse("`buffers` are for a part that is read per iteration of a loop and not written there", {"leave `buffers` out"});
  for (const StorageMap& m : schedule.storage) {
    if (m.array != array) continue;
    if (!m.fold.empty()) args.refuse("'" + array + "' lives in places that are taken in turns", {"promote first, then fold"});
    if (args.integer("buffers", 1, 1) > 1)
      args.refuse("'" + array + "' has a part of its own already ('" + m.buffer + "')", {"promote with `buffers` first"});
  }
  if (args.problem()) return schedule;
  if (!at) return promote_whole(schedule, args, array, s);
  refuse_second_part(schedule, args, array, StorageMap::Kind::kPromote, at->id);
  if (args.problem()) return schedule;
  for (const int x : statements_of(at))
    if (schedule.statement(x).target == array) return promote_result(schedule, args, array, s, at);
  return promote_part(schedule, args, array, s, at);
}

// Is it a part of the array at a loop around loop `at`? A part there takes its elements from it.
bool is_around(const Schedule& schedule, const StorageMap& part, const std::string& array, int at) {
  if (part.kind != StorageMap::Kind::kPromote || part.array != array || part.at < 0) return false;
  const TreePtr loop = find_loop(schedule.tree, part.at);
  return loop && find_loop(loop, at);
}

// Is it the buffer of such a part, copied in? The new part is then copied from there.
bool outer_part(const Schedule& schedule, const StorageMap& m, const std::string& buffer) {
  return std::any_of(schedule.storage.begin(), schedule.storage.end(), [&](const StorageMap& p) {
    return p.buffer == buffer && p.copy_in >= 0 && is_around(schedule, p, m.array, m.at);
  });
}

// What orders the copy: every reader waits for it, { copy[outer, element] -> S[i] : S runs in that iteration and reads that
// element }, and what holds between a reader and a writer of an element holds between the copy of that element and the writer.
// (Copies of whole boxes: keep_order_of_boxes.)
Dependences with_copy(const Schedule& schedule, const StorageMap& m, const Statement& copy) {
  Dependences all = *schedule.dependences;
  for (const int s : statements_of(find_loop(schedule.tree, m.at))) {
    const isl::map outer = outer_schedule(schedule, s, m.at);
    for (const Access& a : schedule.statement(s).reads) {
      if (a.array != m.array) continue;
      const isl::map& needed = a.reach && copy.reads[0].reach ? *a.reach : a.relation;
      const isl::map to_copy = with_flat_range(outer, needed, statement_id(copy.name)).intersect_range(copy.domain);
      all.push_back(make_dependence(DependenceKind::kFlow, m.copy_in, s, m.buffer, to_copy.reverse()));
      if (copy.reads[0].reach) continue;
      for (const Dependence& d : *schedule.dependences) {
        if (d.array != m.array && (d.sink != s || !outer_part(schedule, m, d.array))) continue;
        if (d.sink == s && d.source != s)
          all.push_back(
              make_dependence(d.kind, d.source, m.copy_in, d.array,
                              d.relation.apply_range(to_copy).intersect(of_one_element(schedule.statement(d.source), copy))));
        if (d.source == s && d.sink != s)
          all.push_back(make_dependence(
              d.kind, m.copy_in, d.sink, d.array,
              to_copy.reverse().apply_range(d.relation).intersect(of_one_element(schedule.statement(d.sink), copy).reverse())));
      }
    }
  }
  return all;
}

// What the reads below `at` name, elements outside the array included: { [outer] -> A[e] }.
isl::map reached(const Schedule& schedule, const std::string& array, const TreePtr& at) {
  std::optional<isl::map> all;
  for (const int s : statements_of(at))
    for (const Access& a : schedule.statement(s).reads) {
      if (a.array != array) continue;
      const isl::map part = outer_schedule(schedule, s, at->id).reverse().apply_range(a.reach ? *a.reach : a.relation);
      all = all ? all->unite(part) : part;
    }
  return all ? *all : isl::map();
}

}  // namespace

Schedule promote_part(const Schedule& schedule, Arguments& args, const std::string& array, int s, const TreePtr& at) {
  StorageMap m;
  m.kind = StorageMap::Kind::kPromote;
  m.array = array;
  m.buffer = fresh_buffer(schedule, array, ".tile");
  m.at = at->id;
  m.space = space_of(args.text("memory", "l2"), args);
  const bool whole = args.truth("fill", false);
  const std::int64_t buffers = args.integer("buffers", 1, 1);
  const ExprPtr fill = whole ? fill_of(schedule, statements_of(at), schedule.scop->arrays.at(array)) : nullptr;
  if (whole && !fill)
    args.refuse("'" + array + "' is read with different padding values there", {"distribute the readers first"});
  for (const StorageMap& p : schedule.storage)
    if (whole && is_around(schedule, p, array, at->id))
      args.refuse("`fill` copies a whole box, which '" + p.buffer + "' around it does not hold",
                  {"promote the inner part without `fill`"});
  if (args.problem()) return schedule;
  const isl::map part = whole ? reached(schedule, array, at) : footprint(schedule, array, at->id);
  if (part.is_null() || part.is_empty()) {
    args.refuse("'" + array + "' is not read inside loop '" + args.text("at") + "'",
                {"name a loop around its readers in `at`"});
    return schedule;
  }
  if (!whole && padded_reads(schedule, array, at->id)) {
    args.refuse("'" + array + "' is read with a padding value there, which needs the whole array's bounds",
                {"promote it with `fill`: the copy then holds the padding"});
    return schedule;
  }
  const std::vector<BoxDimension> box = box_hull(part);
  const std::vector<std::string> dims = dimension_names(schedule.statement(s), array, box.size());
  for (std::size_t d = 0; d < box.size(); ++d) {
    if (!box[d].size) {
      args.refuse("dimension " + std::to_string(d) + " of the part of '" + array + "' used per iteration of '" +
                      args.text("at") + "' has no constant size",
                  {"tile the loop that walks it and promote at the tile loop"});
      return schedule;
    }
    m.sizes.push_back(idx(*box[d].size));
    m.offsets.push_back(*box[d].offset);
  }
  read_layout(args, dims, m);
  if (args.problem()) return schedule;
  Schedule next = schedule;
  const std::vector<TreePtr> around = loops_down_to(schedule, s, at->id);
  std::vector<std::string> outer;
  for (const TreePtr& loop : around) outer.push_back(loop->names.at(s));
  std::vector<std::string> copy_loops = dims;  // a name that a loop around has already would be ambiguous
  for (std::size_t d = 0; d < copy_loops.size(); ++d)
    if (std::count(outer.begin(), outer.end(), copy_loops[d])) copy_loops[d] = "d" + std::to_string(d);
  const int number = schedule.statement_count();
  m.copy_in = number;
  const isl::map copied = whole ? whole_boxes(part, m) : part;
  Statement copy = copy_statement(schedule, m, flat_domain(copied, statement_id(m.buffer + ".copy")), outer, copy_loops, false);
  if (whole) read_with_fill(*schedule.scop, copy, fill);
  next.dependences = std::make_shared<const Dependences>(with_copy(schedule, m, copy));
  // The copy runs first in each iteration of `at`; every loop around knows its value for it.
  const TreePtr nest = copy_nest(next, copy, number, around.size(), m.order);
  next.tree = with_outer_loops(replace_node(schedule.tree, at->children[0], make_sequence({nest, at->children[0]})), around, s,
                               copy, number);
  next.copies.push_back(std::move(copy));
  if (whole) keep_order_of_boxes(next, m);
  next.storage.push_back(std::move(m));
  return buffers > 1 ? with_buffers(next, args, s, buffers) : next;
}

extern const Transform kPromote;
const Transform kPromote = {
    "promote",
    "The part of an array used per iteration of a loop moves to a buffer of its own: copied in where it is read, stored back "
    "where it is computed there; without `at` the whole array, laid out anew for one statement, padding values included.",
    {{"array", "array", true, "the array, inside the loop only read, or only computed and then used"},
     {"statement", "statement", true, "a statement that reads (or computes) it"},
     {"at", "loop", false, "the loop at whose body's start (or end) the copy runs; absent: once, before the statement's nest"},
     {"memory", "text", false,
      "registers or stack (one memory, a thread's own: what does not fit the registers lies on the stack), l1, l2 (default), l3 or shared"},
     {"layout", "layout", false,
      "{order: dimensions by loop name, slowest first; inner: {dimension: size} split off and placed last; pad: {dimension: "
      "elements} kept free after each of its rows in shared memory, stack or registers; room: {dimension: elements} kept free "
      "after it, without `at`}"},
     {"fill", "bool", false,
      "with `at`: copy whole boxes, the padding value of the reads or zero where the array has no element; readers may then run "
      "past its end"},
     {"buffers", "int", false,
      "with `at`, of a part that is read: so many in turns, filled that many less one iterations ahead"}},
    apply,
    {"for it { .. for k  S reads A[it, k] }", "for it { copy A[it, ..] to A.tile;  .. for k  S reads A.tile[k] }",
     "cache_read and cache_write (TVM), store_in (Halide), packing",
     "parts without a constant size, arrays that are written and read in the loop"}};

}  // namespace facet
