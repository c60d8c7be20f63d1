// The copying statements of promote, and how its arguments become a storage map.
#include "polyhedral/transform/promote_parts.hpp"

#include <algorithm>

#include "polyhedral/affine.hpp"
#include "polyhedral/storage.hpp"

namespace facet {

MemorySpace space_of(const std::string& memory, Arguments& args) {
  if (memory == "stack" || memory == "registers") return MemorySpace::kStack;
  if (memory == "l1" || memory == "l2" || memory == "l3") return MemorySpace::kGlobal;  // per-thread workspace
  if (memory == "shared") return MemorySpace::kShared;
  args.bad("memory", "registers, stack, l1, l2, l3 or shared", "\"" + memory + "\"");
  return MemorySpace::kStack;
}

std::vector<std::string> dimension_names(const Statement& s, const std::string& array, std::size_t rank) {
  std::vector<std::string> names;
  for (std::size_t d = 0; d < rank; ++d) {
    std::string name;
    const auto walked_by = [&](const std::vector<ExprPtr>& subscripts) {
      if (d < subscripts.size() && subscripts[d]->op == Op::kIndex &&
          std::count(s.iterators.begin(), s.iterators.end(), subscripts[d]->name))
        name = subscripts[d]->name;
    };
    if (s.target == array) walked_by(s.subscripts);
    walk(s.value, [&](const Expr& e) {
      if (e.op == Op::kRead && e.name == array) walked_by(e.args);
    });
    // A dot: the loop around a copy or a twin, by a name that copies made from here use as well.
    const bool taken = name.find('.') != std::string::npos || std::count(names.begin(), names.end(), name) > 0;
    names.push_back(name.empty() || taken ? "d" + std::to_string(d) : name);
  }
  return names;
}

void read_layout(Arguments& args, const std::vector<std::string>& dims, StorageMap& m) {
  const ArgumentMap* layout = args.map("layout");
  for (std::size_t d = 0; d < dims.size(); ++d) m.order.push_back(static_cast<int>(d));
  m.inner.assign(dims.size(), 0);
  if (!layout) return;
  for (const auto& [key, value] : *layout)
    if (key != "order" && key != "inner" && key != "pad" && key != "room")
      return args.bad("layout", "an object of order, inner, pad and room", "\"" + key + "\"");
  if (layout->count("room") && (m.at >= 0 || m.kind == StorageMap::Kind::kContract))
    args.refuse("`room` is for a whole array: a part at a loop has its tile's size", {"leave `at` or `room` out"});
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
  const auto by_dimension = [&](const std::string& key, const std::string& what, std::vector<std::int64_t>& values) {
    const auto it = layout->find(key);
    if (it == layout->end() || args.problem()) return;
    const auto* map = std::get_if<ArgumentMap>(&it->second.value);
    if (!map) return args.bad_at("layout/" + key, key + ": an object dimension -> " + what, describe(it->second));
    for (const auto& [name, number] : *map) {
      const auto* n = std::get_if<std::int64_t>(&number.value);
      const std::string path = "layout/" + key + "/" + name;
      if (position(name) >= dims.size()) {
        std::string known;
        for (const std::string& dim : dims) known += (known.empty() ? "" : ", ") + dim;
        return args.bad_at(path, key + " of the array's dimensions, which are " + known, "\"" + name + "\"");
      }
      if (!n || *n < 1 || *n > kMostInLayout)
        return args.bad_at(path, key + " of " + name + " from 1 to " + std::to_string(kMostInLayout) + " " + what,
                           describe(number));
      values.resize(dims.size());
      values[position(name)] = *n;
    }
  };
  by_dimension("inner", "elements", m.inner);
  by_dimension("pad", "elements", m.pad);
  for (std::size_t d = 0; d < m.pad.size(); ++d)
    if (m.pad[d] > 0 && m.inner[d] > 0)
      args.refuse("dimension '" + dims[d] + "' is split: it has no rows to pad",
                  {"pad another dimension, or leave `inner` out"});
  if (!m.pad.empty() && m.space == MemorySpace::kGlobal)
    args.refuse("`pad` is for tiles of a block or a thread", {"choose \"memory\": \"shared\", \"stack\" or \"registers\""});
  const std::size_t slowest = static_cast<std::size_t>(m.order.empty() ? 0 : m.order.front());
  if (slowest < m.pad.size() && m.pad[slowest] > 0 && args.integer("buffers", 1, 1) == 1)
    args.refuse("dimension '" + dims[slowest] + "' is the slowest of the part: nothing lies behind it that `pad` would move",
                {"pad a dimension inside it, or put another one first by `order`"});
}

ExprPtr fill_of(const Schedule& schedule, const std::vector<int>& statements, const Array& array) {
  ExprPtr pad;
  bool same_pad = true;
  for (const int s : statements)
    walk(schedule.statement(s).value, [&](const Expr& e) {
      if (e.op != Op::kRead || e.name != array.name || !e.pad) return;
      if (pad && !same(pad, e.pad)) same_pad = false;
      pad = e.pad;
    });
  if (!same_pad) return nullptr;
  if (pad) return pad;
  return is_float(array.dtype) ? literal(array.dtype, 0) : int_literal(array.dtype, 0);
}

void read_with_fill(const Scop& scop, Statement& copy, const ExprPtr& fill) {
  Access& from = copy.reads[0];
  from.reach = from.relation;
  from.relation = from.relation.intersect_range(array_set(scop, from.array));
  from.whole = from.relation;
  copy.value = read(from.array, copy.value->type, copy.subscripts, fill);
}

isl::map whole_boxes(const isl::map& part, const StorageMap& m) {
  std::optional<isl::map> boxes;
  for (std::size_t d = 0; d < m.offsets.size(); ++d) {
    const isl::map side = m.offsets[d].as_map().apply_range(
        read_map("{ [x] -> [e] : x <= e < x + " + std::to_string(m.sizes[d]->int_value) + " }"));
    boxes = boxes ? with_flat_range(*boxes, side, array_id(m.array)) : with_range_tuple(side, array_id(m.array));
  }
  return boxes ? boxes->intersect_domain(part.domain()) : part;  // an array of rank 0 is its box
}

Statement copy_statement(const Schedule& schedule, const StorageMap& m, const isl::set& domain,
                         const std::vector<std::string>& outer, const std::vector<std::string>& dims, bool store) {
  Statement s;
  s.name = m.buffer + (store ? ".store" : ".copy");
  s.kind = StatementKind::kCopy;
  s.target = store ? m.array : m.buffer;
  s.domain = domain;
  for (std::size_t i = 0; i < outer.size(); ++i) s.iterators.push_back("o" + std::to_string(i) + "." + outer[i]);
  for (const std::string& d : dims) s.iterators.push_back(d);
  std::vector<isl::pw_aff> position;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    s.subscripts.push_back(index(dims[d]));
    position.push_back(output_dimension(s.domain, static_cast<unsigned>(outer.size() + d)));
  }
  const isl::map at = map_to_values(s.domain, position);
  const std::string& source = store ? m.buffer : m.array;
  s.write = {s.target, with_range_tuple(at, array_id(s.target)), with_range_tuple(at, array_id(s.target)), true, {}};
  s.reads = {{source, with_range_tuple(at, array_id(source)), with_range_tuple(at, array_id(source)), true, {}}};
  s.value = read(source, schedule.scop->arrays.at(m.array).dtype, s.subscripts);
  return s;
}

std::vector<TreePtr> loops_down_to(const Schedule& schedule, int statement, int at) {
  std::vector<TreePtr> around;
  for (const TreePtr& loop : loops_around(schedule.tree, statement)) {
    around.push_back(loop);
    if (loop->id == at) break;
  }
  return around;
}

TreePtr copy_nest(Schedule& next, const Statement& copy, int number, std::size_t outer, const std::vector<int>& order) {
  TreePtr nest = make_leaf(number);
  for (auto d = order.rbegin(); d != order.rend(); ++d) {
    const std::size_t position = outer + static_cast<std::size_t>(*d);
    Tree loop;
    loop.id = next.next_loop++;
    loop.names[number] = copy.iterators[position];
    loop.member[number] = output_dimension(copy.domain, static_cast<unsigned>(position));
    nest = make_loop_tree(std::move(loop), std::move(nest));
  }
  return nest;
}

TreePtr with_outer_loops(const TreePtr& tree, const std::vector<TreePtr>& around, int statement, const Statement& copy,
                         int number) {
  TreePtr changed = tree;
  for (std::size_t k = 0; k < around.size(); ++k) {
    const TreePtr old_loop = find_loop(changed, around[k]->id);
    Tree loop = *old_loop;
    loop.names[number] = around[k]->names.at(statement);
    loop.member[number] = output_dimension(copy.domain, static_cast<unsigned>(k));
    changed = replace_node(changed, old_loop, make_loop_tree(std::move(loop), old_loop->children[0]));
  }
  return changed;
}

void add_dependences(Schedule& next, Dependences list) {
  Dependences all = *next.dependences;
  for (Dependence& d : list)
    if (!d.relation.is_empty()) all.push_back(std::move(d));
  next.dependences = std::make_shared<const Dependences>(std::move(all));
}

std::string fresh_buffer(const Schedule& schedule, const std::string& array, const std::string& suffix) {
  // Buffers of different kernels share one workspace: the group's name keeps them apart.
  const std::string base = array + suffix + (schedule.scop->name == "k0" ? "" : "." + schedule.scop->name);
  std::string name = base;
  const auto used = [&](const std::string& n) {
    return std::any_of(schedule.storage.begin(), schedule.storage.end(), [&](const StorageMap& m) { return m.buffer == n; });
  };
  for (int i = 2; used(name); ++i) name = base + std::to_string(i);
  return name;
}

}  // namespace facet
