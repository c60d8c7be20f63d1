// promote of an array that is computed below `at`: each iteration works on a tile of its own and stores it at its end.
//
//     for ir { for i, j  C[i, j] = 0;  for k, i, j  C[i, j] += ..; }                      promote C at ir
//     -->  for ir { for i, j  C_tile[..] = 0;  for k, i, j  C_tile[..] += ..;  for i, j  C[i, j] = C_tile[..] }
//
// The tile has constant extents whatever the array's are, so register tiles need no code for partial ones: only the store does.
// Refused where an iteration needs a value from outside (nothing is copied in): every element touched must be written plainly
// in the iteration, and no flow may cross iterations. Known elsewhere as cache write (TVM), accumulator tile.
#include <algorithm>

#include "polyhedral/affine.hpp"
#include "polyhedral/storage.hpp"
#include "polyhedral/transform/promote_parts.hpp"

namespace facet {

namespace {

// { [outer] -> A[e] }: the elements that plain writes below `at` define in an iteration.
std::optional<isl::map> plainly_written(const Schedule& schedule, const std::string& array, const TreePtr& at) {
  std::optional<isl::map> all;
  for (const int x : statements_of(at)) {
    const Statement& st = schedule.statement(x);
    if (st.target != array || st.update || st.kind == StatementKind::kRecurrence) continue;
    const isl::map part = outer_schedule(schedule, x, at->id).reverse().apply_range(st.write.relation);
    all = all ? all->unite(part) : part;
  }
  return all;
}

// Does a statement below `at` read a value of `array` that another iteration or another nest wrote?
bool needs_outside(const Schedule& schedule, const std::string& array, const TreePtr& at) {
  for (const Dependence& d : *schedule.dependences) {
    if (d.array != array || (d.kind != DependenceKind::kFlow && d.kind != DependenceKind::kReduction)) continue;
    if (!contains(at, d.sink)) continue;
    if (!contains(at, d.source)) return true;
    const isl::map f = outer_schedule(schedule, d.source, at->id), g = outer_schedule(schedule, d.sink, at->id);
    if (!d.relation.subtract(f.apply_range(g.reverse())).is_empty()) return true;
  }
  return false;
}

// { S[i] -> store[outer.., element..] } for the writers below `at`, and store -> reader for the readers outside.
Dependences duties(const Schedule& schedule, const StorageMap& m, const TreePtr& at, const Statement& store, int number) {
  Dependences list;
  for (const int x : statements_of(at)) {
    const Statement& st = schedule.statement(x);
    if (st.target != m.array) continue;
    list.push_back({DependenceKind::kFlow, x, number, m.buffer,
                    with_flat_range(outer_schedule(schedule, x, at->id), st.write.relation, statement_id(store.name))});
  }
  for (const int x : statements_of(schedule.tree)) {
    if (contains(at, x)) continue;
    for (const Access& a : schedule.statement(x).reads)
      if (a.array == m.array)
        list.push_back({DependenceKind::kFlow, number, x, m.array, store.write.relation.apply_range(a.relation.reverse())});
  }
  return list;
}

}  // namespace

Schedule promote_result(const Schedule& schedule, Arguments& args, const std::string& array, int s, const TreePtr& at) {
  const std::string where = "loop '" + args.text("at") + "'";
  const std::optional<isl::map> written = plainly_written(schedule, array, at);
  const isl::map touched = footprint(schedule, array, at->id);
  if (!written || !touched.is_subset(*written) || needs_outside(schedule, array, at)) {
    args.refuse("'" + array + "' is written inside " + where + ", and an iteration there needs values of it from outside",
                {"choose a loop whose iteration computes its elements from the start"});
    return schedule;
  }
  if (padded_reads(schedule, array, at->id)) {
    args.refuse("'" + array + "' is read with a padding value inside " + where + ", which needs the whole array's bounds");
    return schedule;
  }
  StorageMap m;
  m.kind = StorageMap::Kind::kPromote;
  m.array = array;
  m.buffer = fresh_buffer(schedule, array, ".tile");
  m.at = at->id;
  m.space = space_of(args.text("memory", "stack"), args);
  const std::vector<BoxDimension> box = box_hull(touched);
  const std::vector<std::string> dims = dimension_names(schedule.statement(s), array, box.size());
  for (std::size_t d = 0; d < box.size() && !args.problem(); ++d) {
    if (!box[d].size) {
      args.refuse("dimension " + std::to_string(d) + " of the part of '" + array + "' computed per iteration of " + where +
                      " has no constant size",
                  {"tile the loop that walks it and promote at the tile loop"});
      break;
    }
    m.sizes.push_back(idx(*box[d].size));
    m.offsets.push_back(*box[d].offset);
  }
  if (!args.problem()) read_layout(args, dims, m);
  if (args.problem()) return schedule;
  Schedule next = schedule;
  const std::vector<TreePtr> around = loops_down_to(schedule, s, at->id);
  std::vector<std::string> outer;
  for (const TreePtr& loop : around) outer.push_back(loop->names.at(s));
  std::vector<std::string> loops = dims;
  for (std::size_t d = 0; d < loops.size(); ++d)
    if (std::count(outer.begin(), outer.end(), loops[d])) loops[d] = "d" + std::to_string(d);
  const int number = schedule.statement_count();
  m.copy_out = number;
  Statement store =
      copy_statement(schedule, m, flat_domain(*written, statement_id(m.buffer + ".store")).coalesce(), outer, loops, true);
  add_dependences(next, duties(schedule, m, at, store, number));
  std::vector<int> order;
  for (std::size_t d = 0; d < loops.size(); ++d) order.push_back(static_cast<int>(d));  // the array's own order
  const TreePtr nest = copy_nest(next, store, number, around.size(), order);
  next.tree = with_outer_loops(replace_node(schedule.tree, at->children[0], make_sequence({at->children[0], nest})), around, s,
                               store, number);
  next.copies.push_back(std::move(store));
  next.storage.push_back(std::move(m));
  return next;
}

}  // namespace facet
