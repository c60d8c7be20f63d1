// Dots keep the names apart from users' names.
#include "polyhedral/copies.hpp"

#include <algorithm>
#include <set>

namespace facet {

namespace {

const char* const kGiven = ".given";

std::set<std::string> updated_inputs(const Program& p) {
  std::set<std::string> names;
  for (const Node& n : p.nodes)
    for (const std::string& t : n.inout)
      if (std::count(p.inputs.begin(), p.inputs.end(), t)) names.insert(t);
  return names;
}

Node copy_of(const Tensor& t, const std::string& source) {
  Node node;
  node.op = "identity";
  node.in = {source};
  node.out = {t.name};
  node.place = t.place;
  Equation q;
  q.tensor = t.name;
  q.place = t.place;
  std::vector<ExprPtr> at;
  for (std::size_t d = 0; d < t.shape.size(); ++d) {
    const std::string name = "d" + std::to_string(d);
    q.indices.push_back({name, idx(0), t.shape[d]});
    at.push_back(index(name));
  }
  q.value = read(source, t.dtype, at);
  node.equations = {std::move(q)};
  return node;
}

}  // namespace

Program with_copies(const Program& program) {
  Program made = program;
  std::vector<Node> copies;
  for (const std::string& name : updated_inputs(program)) {
    Tensor given = program.tensor(name);
    given.name = name + kGiven;
    std::replace(made.inputs.begin(), made.inputs.end(), name, given.name);
    made.tensor_order.insert(std::find(made.tensor_order.begin(), made.tensor_order.end(), name), given.name);
    copies.push_back(copy_of(program.tensor(name), given.name));
    made.tensors[given.name] = std::move(given);
  }
  made.nodes.insert(made.nodes.begin(), copies.begin(), copies.end());
  return made;
}

bool is_copy(const Node& node) { return node.out.size() == 1 && node.in.size() == 1 && node.in[0] == node.out[0] + kGiven; }

std::string copy_op(const Node& copy) { return copy.out[0] + ".copy"; }
std::string copy_group(const Node& copy) { return "copy_" + copy.out[0]; }

std::vector<std::size_t> add_copy_groups(const Program& with_copies, bool steps_hole, Recipe* recipe) {
  std::vector<std::size_t> counts;
  for (Variant& v : recipe->variants) {
    std::vector<Group> missing;
    for (const Node& n : with_copies.nodes) {
      if (!is_copy(n)) continue;
      const auto holds = [&](const Group& g) { return std::count(g.ops.begin(), g.ops.end(), copy_op(n)) > 0; };
      if (v.groups_hole || std::any_of(v.groups.begin(), v.groups.end(), holds)) continue;
      Group g;
      g.name = copy_group(n);
      g.ops = {copy_op(n)};
      g.steps_hole = steps_hole;
      g.place = v.place;
      missing.push_back(std::move(g));
    }
    counts.push_back(missing.size());
    v.groups.insert(v.groups.begin(), missing.begin(), missing.end());
  }
  return counts;
}

}  // namespace facet
