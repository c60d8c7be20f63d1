// promote of an array that is computed below `at`: each iteration works on a tile of its own and stores it at its end.
//
//     for ir { for i, j  C[i, j] = 0;  for k, i, j  C[i, j] += ..; }                      promote C at ir
//     -->  for ir { for i, j  C_tile[..] = 0;  for k, i, j  C_tile[..] += ..;  for i, j  C[i, j] = C_tile[..] }
//
// The tile has constant extents whatever the array's are, so register tiles need no code for partial ones: only the store does.
// Refused where an iteration needs a value from outside (nothing is copied in): every element touched must be written plainly
// in the iteration, and legality asks that no flow comes in. Known elsewhere as cache write (TVM), accumulator tile.
#include <algorithm>
#include <map>

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

// Is it the buffer of a result tile of the same array at a loop around? The new tile is then stored there.
bool outer_tile(const Schedule& schedule, const StorageMap& m, const std::string& buffer) {
  return std::any_of(schedule.storage.begin(), schedule.storage.end(), [&](const StorageMap& p) {
    const TreePtr loop = p.buffer == buffer && p.array == m.array && p.at >= 0 ? find_loop(schedule.tree, p.at) : nullptr;
    return loop && p.copy_out >= 0 && find_loop(loop, m.at);
  });
}

// { S[i] -> store[outer.., element..] } for the writers below `at`. What holds between a writer there and a statement outside
// holds between the store and that one; updates outside go on from what the store leaves, so they need its value.
Dependences duties(const Schedule& schedule, const StorageMap& m, const TreePtr& at, const Statement& store, int number) {
  Dependences list;
  std::map<int, isl::map> stored;
  for (const int x : statements_of(at)) {
    const Statement& st = schedule.statement(x);
    if (st.target != m.array) continue;
    stored[x] = with_flat_range(outer_schedule(schedule, x, at->id), st.write.relation, statement_id(store.name));
    list.push_back(make_dependence(DependenceKind::kFlow, x, number, m.buffer, stored[x]));
  }
  for (const Dependence& d : *schedule.dependences) {
    if (contains(at, d.source) == contains(at, d.sink)) continue;
    if (d.array != m.array && !outer_tile(schedule, m, d.array)) continue;
    const DependenceKind kind = d.kind == DependenceKind::kReduction ? DependenceKind::kFlow : d.kind;
    if (const auto x = stored.find(d.source); x != stored.end())
      list.push_back(make_dependence(kind, number, d.sink, d.array, x->second.reverse().apply_range(d.relation)));
    if (const auto x = stored.find(d.sink); x != stored.end() && (kind != DependenceKind::kFlow))
      list.push_back(make_dependence(kind, d.source, number, d.array, d.relation.apply_range(x->second)));
  }
  return list;
}

}  // namespace

bool writes_its_part(const Schedule& schedule, const std::string& array, const TreePtr& at) {
  const std::optional<isl::map> written = plainly_written(schedule, array, at);
  return written && footprint(schedule, array, at->id).is_subset(*written);
}

Schedule promote_result(const Schedule& schedule, Arguments& args, const std::string& array, int s, const TreePtr& at) {
  const std::string where = "loop '" + args.text("at") + "'";
  const std::optional<isl::map> written = plainly_written(schedule, array, at);
  const isl::map touched = footprint(schedule, array, at->id);
  if (!written || !touched.is_subset(*written)) {
    args.refuse("'" + array + "' is written inside " + where + ", and an iteration there needs values of it from outside",
                {"choose a loop whose iteration computes its elements from the start"});
    return schedule;
  }
  if (padded_reads(schedule, array, at->id)) {
    args.refuse("'" + array + "' is read with a padding value inside " + where + ", which needs the whole array's bounds",
                {"distribute that reader first"});
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
