// promote: the part of an array that one iteration of a loop uses is copied into a buffer of its own.
//
//     for kt { for i, j, k in tile  C[i, j] += A[i, k] * B[k, j] }          promote B at kt, layout {order [j, k], inner {j:
//     32}}
//     -->  for kt { for j, k  B_tile[j / 32][k][j % 32] = B[k, j];  for i, j, k in tile  C[i, j] += A[i, k] * B_tile[..] }
//
// The copy is an ordinary statement "B.copy" whose domain holds the values of the loops down to `at` and the element; its loops
// are named after the array's dimensions by the statement's loops (or d0, d1, ..) and can be parallelised and vectorised.
// The footprint is covered by construction: the copy's domain is the footprint, its box isl's fixed box hull.
// Known elsewhere as packing (BLIS), cache read (TVM), shared-memory staging. Refuses: an array written below `at`; a dimension
// without a constant size (tile the loop that walks it first). Source: Verdoolaege et al., PPCG, TACO 2013, section 6.
#include <algorithm>

#include "polyhedral/affine.hpp"
#include "polyhedral/storage.hpp"
#include "polyhedral/transform/transform.hpp"

namespace facet {

namespace {

MemorySpace space_of(const std::string& memory, Arguments& args) {
  if (memory == "stack" || memory == "registers") return MemorySpace::kStack;
  if (memory == "l1" || memory == "l2" || memory == "l3") return MemorySpace::kGlobal;  // per-thread workspace
  if (memory == "shared") return MemorySpace::kShared;
  args.bad("memory", "registers, stack, l1, l2, l3 or shared", "\"" + memory + "\"");
  return MemorySpace::kStack;
}

// The statement's loop name that walks dimension `d` of the array, "dN" when none does alone.
std::string dimension_name(const Statement& s, const std::string& array, std::size_t d) {
  std::string name = "d" + std::to_string(d);
  walk(s.value, [&](const Expr& e) {
    if (e.op != Op::kRead || e.name != array || d >= e.args.size()) return;
    if (e.args[d]->op == Op::kIndex && std::count(s.iterators.begin(), s.iterators.end(), e.args[d]->name))
      name = e.args[d]->name;
  });
  return name;
}

void read_layout(Arguments& args, const std::vector<std::string>& dims, StorageMap& m) {
  const ArgumentMap* layout = args.map("layout");
  for (std::size_t d = 0; d < dims.size(); ++d) m.order.push_back(static_cast<int>(d));
  m.inner.assign(dims.size(), 0);
  if (!layout) return;
  const auto position = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(dims.begin(), dims.end(), name) - dims.begin());
  };
  if (const auto it = layout->find("order"); it != layout->end()) {
    std::vector<int> order;
    if (const auto* list = std::get_if<ArgumentList>(&it->second.value))
      for (const Argument& a : *list)
        if (const auto* s = std::get_if<std::string>(&a.value); s && position(*s) < dims.size())
          order.push_back(static_cast<int>(position(*s)));
    std::vector<int> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    if (sorted != m.order) {
      std::string known;
      for (const std::string& n : dims) known += (known.empty() ? "" : ", ") + n;
      args.bad("layout", "an order of all dimensions: " + known, "another list");
      return;
    }
    m.order = order;
  }
  if (const auto it = layout->find("inner"); it != layout->end()) {
    const auto* inner = std::get_if<ArgumentMap>(&it->second.value);
    if (!inner) return args.bad("layout", "inner: an object dimension -> size", "something else");
    for (const auto& [name, size] : *inner) {
      const auto* n = std::get_if<std::int64_t>(&size.value);
      if (position(name) >= dims.size() || !n || *n < 1)
        return args.bad("layout", "inner sizes of the array's dimensions", "\"" + name + "\"");
      m.inner[position(name)] = *n;
    }
  }
}

// The copying statement: domain { copy[outer.., element..] }, value = the array's element.
Statement copy_statement(const Schedule& schedule, const StorageMap& m, const isl::map& part,
                         const std::vector<std::string>& outer_names, const std::vector<std::string>& dims,
                         const std::string& name) {
  Statement s;
  s.name = name;
  s.kind = StatementKind::kCopy;
  s.target = m.buffer;
  s.domain = flat_domain(part, statement_id(name));
  for (std::size_t i = 0; i < outer_names.size(); ++i) s.iterators.push_back("o" + std::to_string(i) + "." + outer_names[i]);
  for (const std::string& d : dims) s.iterators.push_back(d);
  std::vector<ExprPtr> element;
  for (const std::string& d : dims) element.push_back(index(d));
  s.subscripts = element;
  std::vector<isl::pw_aff> position;
  for (std::size_t d = 0; d < dims.size(); ++d)
    position.push_back(output_dimension(s.domain, static_cast<unsigned>(outer_names.size() + d)));
  const isl::map at = map_to_values(s.domain, position);
  s.write = {m.buffer, with_range_tuple(at, array_id(m.buffer)), with_range_tuple(at, array_id(m.buffer)), true};
  s.reads = {{m.array, with_range_tuple(at, array_id(m.array)), with_range_tuple(at, array_id(m.array)), true}};
  s.value = read(m.array, schedule.scop->arrays.at(m.array).dtype, element);
  return s;
}

std::string fresh_buffer(const Schedule& schedule, const std::string& array) {
  // Buffers of different kernels share one workspace: the group's name keeps them apart.
  const std::string base = array + ".tile" + (schedule.scop->name == "k0" ? "" : "." + schedule.scop->name);
  std::string name = base;
  const auto used = [&](const std::string& n) {
    return std::any_of(schedule.storage.begin(), schedule.storage.end(), [&](const StorageMap& m) { return m.buffer == n; });
  };
  for (int i = 2; used(name); ++i) name = base + std::to_string(i);
  return name;
}

// What orders the copy: every reader waits for it, { copy[outer, element] -> S[i] : S runs in that iteration and reads that
// element }, and what holds between a reader and the array's writers holds between the copy and them (for all elements that the
// reader needs: no writer is below `at`, so that costs nothing).
Dependences with_copy(const Schedule& schedule, const StorageMap& m, const Statement& copy) {
  Dependences all = *schedule.dependences;
  for (const int s : statements_of(find_loop(schedule.tree, m.at))) {
    const isl::map outer = outer_schedule(schedule, s, m.at);
    for (const Access& a : schedule.statement(s).reads) {
      if (a.array != m.array) continue;
      const isl::map to_copy = with_flat_range(outer, a.relation, statement_id(copy.name)).intersect_range(copy.domain);
      all.push_back({DependenceKind::kFlow, m.copy_in, s, m.buffer, to_copy.reverse()});
      for (const Dependence& d : *schedule.dependences) {
        if (d.array != m.array) continue;
        if (d.sink == s && d.source != s)
          all.push_back({d.kind, d.source, m.copy_in, d.array, d.relation.apply_range(to_copy)});
        if (d.source == s && d.sink != s)
          all.push_back({d.kind, m.copy_in, d.sink, d.array, to_copy.reverse().apply_range(d.relation)});
      }
    }
  }
  return all;
}

Schedule apply(const Schedule& schedule, Arguments& args) {
  const Array* const found = args.array();
  const int s = args.statement();
  const TreePtr at = args.loop(s, args.text("at"));
  const MemorySpace space = space_of(args.text("memory", "l2"), args);
  if (args.problem() || !at) return schedule;
  const std::string array = found->name;
  for (const int x : statements_of(at)) {
    if (schedule.statement(x).target != array) continue;
    args.refuse("'" + array + "' is written by '" + schedule.statement(x).name + "' inside loop '" + args.text("at") + "'",
                {"only arrays that are read there can be copied in; results are kept in registers by the loop passes"});
    return schedule;
  }
  const isl::map part = footprint(schedule, array, at->id);
  if (part.is_null() || part.is_empty()) {
    args.refuse("'" + array + "' is not read inside loop '" + args.text("at") + "'");
    return schedule;
  }
  if (padded_reads(schedule, array, at->id)) {
    args.refuse("'" + array + "' is read with a padding value there, which needs the whole array's bounds",
                {"pad it into a tensor of its own first (op pad), then promote that"});
    return schedule;
  }
  StorageMap m;
  m.kind = StorageMap::Kind::kPromote;
  m.array = array;
  m.buffer = fresh_buffer(schedule, array);
  m.at = at->id;
  m.space = space;
  std::vector<std::string> dims;
  const std::vector<BoxDimension> box = box_hull(part);
  for (std::size_t d = 0; d < box.size(); ++d) {
    std::string name = dimension_name(schedule.statement(s), array, d);
    if (std::count(dims.begin(), dims.end(), name)) name = "d" + std::to_string(d);
    dims.push_back(name);
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
  std::vector<TreePtr> around;
  for (const TreePtr& loop : loops_around(schedule.tree, s)) {
    around.push_back(loop);
    if (loop->id == at->id) break;
  }
  std::vector<std::string> outer_names;
  for (const TreePtr& loop : around) outer_names.push_back(loop->names.at(s));
  std::vector<std::string> copy_loops = dims;  // a name that a loop around has already would be ambiguous
  for (std::size_t d = 0; d < copy_loops.size(); ++d)
    if (std::count(outer_names.begin(), outer_names.end(), copy_loops[d])) copy_loops[d] = "d" + std::to_string(d);
  const int number = schedule.statement_count();
  m.copy_in = number;
  const std::string name = m.buffer + ".copy";
  Statement copy = copy_statement(schedule, m, part, outer_names, copy_loops, name);
  TreePtr nest = make_leaf(number);
  for (auto d = m.order.rbegin(); d != m.order.rend(); ++d) {
    Tree loop;
    loop.id = next.next_loop++;
    loop.names[number] = copy_loops[static_cast<std::size_t>(*d)];
    loop.member[number] = output_dimension(copy.domain, static_cast<unsigned>(around.size()) + static_cast<unsigned>(*d));
    nest = make_loop_tree(std::move(loop), std::move(nest));
  }
  // The copy runs first in each iteration of `at`; every loop around knows its value for it.
  TreePtr tree = replace_node(schedule.tree, at->children[0], make_sequence({nest, at->children[0]}));
  for (std::size_t k = 0; k < around.size(); ++k) {
    const TreePtr old_loop = find_loop(tree, around[k]->id);
    Tree loop = *old_loop;
    loop.names[number] = around[k]->names.at(s);
    loop.member[number] = output_dimension(copy.domain, static_cast<unsigned>(k));
    tree = replace_node(tree, old_loop, make_loop_tree(std::move(loop), old_loop->children[0]));
  }
  next.tree = tree;
  next.dependences = std::make_shared<const Dependences>(with_copy(schedule, m, copy));
  next.copies.push_back(std::move(copy));
  next.storage.push_back(std::move(m));
  return next;
}

}  // namespace

extern const Transform kPromote;
const Transform kPromote = {
    "promote",
    "The part of an array used per iteration of a loop is copied into a buffer of its own.",
    {{"array", "array", true, "the array, only read inside the loop"},
     {"statement", "statement", true, "a statement that reads it"},
     {"at", "loop", true, "the loop at whose body's start the copy runs"},
     {"memory", "text", false, "registers, stack, l1, l2 (default), l3 or shared"},
     {"layout", "layout", false,
      "{order: dimensions by loop name, slowest first; inner: {dimension: size} split off and placed last}"}},
    apply};

}  // namespace facet
