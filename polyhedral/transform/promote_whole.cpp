// promote without `at`: a whole array is laid out anew for one statement, once, before the statement's nest.
//
//     promote B for S, layout {order [j, k], inner {j: 32}}
//     -->  for j, k  B_packed[j / 32][k][j % 32] = B[k, j];    for ..  S: C[i, j] += A[i, k] * B_packed[..]
//
// The box is the hull of what the statement reads, its sizes constants or expressions of the symbols. The copy covers it up to
// whole `inner` parts and the `room` asked for; elements that the array does not have get the padding value of the statement's
// reads, else zero. So a padded read (a convolution's) becomes a plain one, and a register tile may run past the array's end.
// Other statements keep reading the array itself. Refuses an array that the statement's nest or a later one writes, reads with
// different padding values, and parts without single bounds.
#include <algorithm>

#include "polyhedral/affine.hpp"
#include "polyhedral/storage.hpp"
#include "polyhedral/transform/bounds_text.hpp"
#include "polyhedral/transform/promote_parts.hpp"

namespace facet {

namespace {

// What the reads of `array` in `s` reach, elements outside the array included: { S[i] -> A[e] }.
std::optional<isl::map> reach_of(const Statement& s, const std::string& array) {
  std::optional<isl::map> all;
  for (const Access& a : s.reads) {
    if (a.array != array) continue;
    const isl::map& part = a.reach ? *a.reach : a.relation;
    all = all ? all->unite(part) : part;
  }
  return all;
}

// Elements kept free behind a dimension: layout {room: {dimension: elements}}.
std::int64_t room_of(Arguments& args, const std::string& dimension) {
  const ArgumentMap* layout = args.map("layout");
  const auto room = layout ? layout->find("room") : ArgumentMap::const_iterator{};
  if (!layout || room == layout->end()) return 0;
  const auto* by_dimension = std::get_if<ArgumentMap>(&room->second.value);
  if (!by_dimension) {
    args.bad("layout", "room: an object dimension -> elements", "something else");
    return 0;
  }
  const auto it = by_dimension->find(dimension);
  if (it == by_dimension->end()) return 0;
  const auto* n = std::get_if<std::int64_t>(&it->second.value);
  if (n && *n >= 0 && *n <= kMostInLayout) return *n;
  args.bad("layout", "room of " + dimension + ": elements from 0 to " + std::to_string(kMostInLayout),
           n ? std::to_string(*n) : "something else");
  return 0;
}

// Fills sizes and offsets of the storage map; the text of the copy's domain, empty with a complaint.
std::string box_text(Arguments& args, const Scop& scop, const isl::map& part, const std::vector<std::string>& dims,
                     StorageMap& m) {
  std::string constraints = "1 = 1";
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const std::optional<DimensionBounds> bounds = dimension_bounds(part, static_cast<unsigned>(d));
    if (!bounds) {
      args.refuse("what the statement reads of '" + m.array + "' along '" + dims[d] + "' goes " +
                      bounds_text(part, static_cast<unsigned>(d)) +
                      ", as the sizes are: a copy has one first element and one last",
                  {"promote a part of it: give `at`",
                   "or a variant for each case, as \"when\": \"N >= 10\", in which one bound holds"});
      return "";
    }
    const ExprPtr low = expr_of(bounds->low, {});
    m.offsets.push_back(bounds->low);
    m.sizes.push_back(idx_add(extent_of(*bounds, scop.context), idx(room_of(args, dims[d]))));
    const std::int64_t inner = std::max<std::int64_t>(m.inner[d], 1);
    const ExprPtr whole = idx_mul(idx(inner), idx_floordiv(idx_add(m.sizes[d], idx(inner - 1)), inner));
    const std::string i = "i" + std::to_string(d);
    constraints += " and " + *isl_text(low, {}) + " <= " + i + " < " + *isl_text(idx_add(low, whole), {});
  }
  return parameter_prefix(scop.symbols) + "{ " + tuple_text(statement_id(m.buffer + ".copy"), dims.size()) + " : " +
         constraints + " }";
}

// The top-level nest of the tree that holds the statement.
std::size_t nest_of(const std::vector<TreePtr>& nests, int statement) {
  std::size_t n = 0;
  while (!contains(nests[n], statement)) ++n;
  return n;
}

// Everything that defines the array must have run before the nest.
bool defined_before(const Schedule& schedule, const std::vector<TreePtr>& nests, std::size_t nest, const std::string& array) {
  for (std::size_t n = nest; n < nests.size(); ++n)
    for (const int x : statements_of(nests[n]))
      if (schedule.statement(x).target == array) return false;
  return true;
}

}  // namespace

Schedule promote_whole(const Schedule& schedule, Arguments& args, const std::string& array, int s) {
  const Statement& reader = schedule.statement(s);
  const std::optional<isl::map> reach = reach_of(reader, array);
  const std::vector<TreePtr> nests =
      schedule.tree->kind == Tree::Kind::kSequence ? schedule.tree->children : std::vector<TreePtr>{schedule.tree};
  const std::size_t nest = nest_of(nests, s);
  StorageMap m;
  m.kind = StorageMap::Kind::kPromote;
  m.array = array;
  m.buffer = fresh_buffer(schedule, array, ".packed");
  m.space = space_of(args.text("memory", "l2"), args);
  m.reader = s;
  const Array& source = schedule.scop->arrays.at(array);
  const ExprPtr fill = fill_of(schedule, {s}, source);
  if (!reach) args.refuse("'" + array + "' is not read by '" + reader.name + "'", {"name a statement that reads it"});
  if (!fill)
    args.refuse("'" + reader.name + "' reads '" + array + "' with different padding values",
                {"promote a part of it: give `at`"});
  if (m.space != MemorySpace::kGlobal) args.bad("memory", "l1, l2 or l3 for a whole array", "\"" + args.text("memory") + "\"");
  if (!defined_before(schedule, nests, nest, array))
    args.refuse("'" + array + "' is written in the nest of '" + reader.name + "' or after it",
                {"promote a part of it inside that nest: give `at`"});
  for (const StorageMap& other : schedule.storage)
    if (other.array == array && other.kind == StorageMap::Kind::kContract)
      args.refuse("'" + array + "' is contracted: it has no whole", {"promote first, or leave one of the steps out"});
  for (const StorageMap& other : schedule.storage)
    if (other.array == array && other.kind == StorageMap::Kind::kPromote && schedule.storage_of(s, array) == &other)
      args.refuse("'" + reader.name + "' reads '" + array + "' from '" + other.buffer + "' already",
                  {"leave one of the steps out"});
  if (args.problem()) return schedule;
  const std::vector<std::string> dims = dimension_names(reader, array, source.extents.size());
  read_layout(args, dims, m);
  if (args.problem()) return schedule;
  const isl::map part = map_to_values(reader.domain, {}).reverse().apply_range(*reach);  // { [] -> A[e] }
  const std::string text = box_text(args, *schedule.scop, part, dims, m);
  if (args.problem()) return schedule;

  Schedule next = schedule;
  const int number = schedule.statement_count();
  m.copy_in = number;
  Statement copy = copy_statement(schedule, m, read_set(text).intersect_params(schedule.scop->context), {}, dims, false);
  read_with_fill(*schedule.scop, copy, fill);
  const isl::map every = *copy.reads[0].reach;
  Dependences list{{DependenceKind::kFlow, number, s, m.buffer, every.apply_range(reach->reverse())}};
  for (const int w : statements_of(schedule.tree))
    if (schedule.statement(w).target == array)
      list.push_back({DependenceKind::kFlow, w, number, array,
                      schedule.statement(w).write.relation.apply_range(copy.reads[0].relation.reverse())});
  add_dependences(next, std::move(list));
  std::vector<TreePtr> order = nests;
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(nest), copy_nest(next, copy, number, 0, m.order));
  next.tree = make_sequence(std::move(order));
  next.copies.push_back(std::move(copy));
  next.storage.push_back(std::move(m));
  return next;
}

}  // namespace facet
