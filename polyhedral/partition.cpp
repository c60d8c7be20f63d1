// partition: groups of nodes.
//
// Nodes are visited in program order. The only group a node may join is that of its latest producer: then every group's inputs
// come from earlier groups, and the group graph cannot have a cycle (trap A9). It joins when some equation of it reads the
// producer's result element by element along at least one shared outer loop, so that the tensor need not travel through memory.
// So does a sum of everything, or of long columns, into few elements: on the CPU it is taken in parts along that loop.
// Nests of the `loops` language stay alone: their order is theirs.
#include "polyhedral/partition.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "facet/nearest.hpp"
#include "polyhedral/copies.hpp"

namespace facet {

namespace {

constexpr std::size_t kMaxGroupNodes = 12;  // keeps every isl question of a group in milliseconds

// The tensors a node really defines or updates.
std::vector<std::string> results_of(const Node& n) {
  std::vector<std::string> names = n.out;
  names.insert(names.end(), n.inout.begin(), n.inout.end());
  return names;
}

// The tensor's first writer has its name, further ones have numbers.
std::string numbered(const std::string& tensor, int writers_above) {
  return writers_above == 0 ? tensor : tensor + "." + std::to_string(writers_above);
}

// Does the node read `tensor` with its first left index in the first dimension of the read: T[i, ..] -> U[i, ..]?
bool aligned_read(const Node& node, const std::string& tensor) {
  for (const Equation& q : node.equations) {
    if (q.indices.empty()) continue;
    bool found = false;
    walk(q.value, [&](const Expr& e) {
      if (e.op != Op::kRead || e.name != tensor) return;
      for (const ExprPtr& a : e.args)
        if (a->op == Op::kIndex && a->name == q.indices[0].name) found = true;
    });
    if (found) return true;
  }
  return false;
}

constexpr std::int64_t kFewResults = 1024, kManyTerms = 64;

std::int64_t elements_of(const std::string& tensor, const Program& program, const SymbolValues& sizes) {
  std::int64_t n = 1;
  for (const std::int64_t e : extents_of(program.tensor(tensor), sizes)) n *= std::max<std::int64_t>(e, 1);
  return n;
}

// Is the node a reduction into few elements that runs over the first index of `tensor`?
bool sums_up(const Node& node, const std::string& tensor, const Program& program, const ScheduleOptions& options) {
  if (options.for_gpu() || node.equations.size() != 1) return false;
  if (program.numerics.reassociate == Numerics::Reassociate::kStrict) return false;
  const Equation& q = node.equations[0];
  if (elements_of(q.tensor, program, options.sizes) > kFewResults ||
      elements_of(tensor, program, options.sizes) < kManyTerms * kFewResults)
    return false;
  bool along = false;
  walk(q.value, [&](const Expr& sum) {
    if (sum.op != Op::kReduce) return;
    walk(sum.reduction->body, [&](const Expr& e) {
      if (e.op != Op::kRead || e.name != tensor || e.args.empty() || e.args[0]->op != Op::kIndex) return;
      for (const Range& r : sum.reduction->ranges) along = along || r.name == e.args[0]->name;
    });
  });
  return along;
}

std::int64_t work_of(const Node& node, const Program& program, const SymbolValues& sizes) {
  std::int64_t points = 0;
  for (const Equation& q : node.equations) points += elements_of(q.tensor, program, sizes);
  return points;
}

}  // namespace

std::string node_tensor(const Node& node) {
  for (const std::string& t : node.out)
    if (!t.empty()) return t;
  return node.inout.empty() ? "" : node.inout[0];
}

std::vector<std::string> node_names(const Program& program) {
  std::vector<std::string> names;
  std::map<std::string, int> writers;  // tensor -> nodes above that define or update it
  for (const Node& n : program.nodes) {
    if (is_copy(n)) {
      names.push_back(copy_op(n));
      continue;
    }
    const std::string tensor = node_tensor(n);
    names.push_back(numbered(tensor, writers[tensor]));
    for (const std::string& t : results_of(n)) ++writers[t];
  }
  return names;
}

std::vector<NodeGroup> partition(const Program& program, const ScheduleOptions& options, Ledger& ledger) {
  std::vector<NodeGroup> groups;
  std::map<std::string, int> group_of;  // tensor -> group that defines it last
  std::size_t copies = 0;
  for (std::size_t n = 0; n < program.nodes.size(); ++n) {
    const Node& node = program.nodes[n];
    if (is_copy(node)) {  // first of all, and nobody's producer to join
      groups.push_back({copy_group(node), {static_cast<int>(n)}});
      ++copies;
      continue;
    }
    int latest = -1;
    std::string through;
    for (const std::vector<std::string>* list : {&node.in, &node.inout})
      for (const std::string& t : *list)
        if (const auto it = group_of.find(t); it != group_of.end() && it->second > latest) {
          latest = it->second;
          through = t;
        }
    std::string why;
    if (latest < 0) {
      why = "no producer";
    } else if (!options.fusion) {
      why = "fusion is off";
    } else if (!node.loops.empty() ||
               !program.nodes[static_cast<std::size_t>(groups[static_cast<std::size_t>(latest)].nodes[0])].loops.empty()) {
      why = "a loop nest keeps its own order";
    } else if (groups[static_cast<std::size_t>(latest)].nodes.size() >= kMaxGroupNodes) {
      why = "the group has " + std::to_string(kMaxGroupNodes) + " operators already";
    } else if (!aligned_read(node, through) && !sums_up(node, through, program, options)) {
      why = "no shared outer loop: '" + through + "' is not read along the first index";
    }
    if (latest >= 0)
      ledger.push_back(
          {"partition", through + " -> " + node_tensor(node), why.empty(), why.empty() ? "read along the same outer loop" : why,
           why.empty() ? groups[static_cast<std::size_t>(latest)].name : "k" + std::to_string(groups.size() - copies),
           static_cast<double>(work_of(node, program, options.sizes))});
    int mine = latest;
    if (!why.empty()) {
      mine = static_cast<int>(groups.size());
      groups.push_back({"k" + std::to_string(groups.size() - copies), {}});
    }
    groups[static_cast<std::size_t>(mine)].nodes.push_back(static_cast<int>(n));
    for (const std::string& t : results_of(node)) group_of[t] = mine;
  }
  return groups;
}

namespace {

// Groups without a name are k0, k1, .. as the planner calls them, past what the recipe calls others.
Result<Done> name_groups(const Program& program, const std::vector<Group>& given, std::vector<NodeGroup>* groups) {
  std::set<std::string> taken;
  for (const Group& g : given)
    if (!g.name.empty() && !taken.insert(g.name).second)
      return diagnose(Code::kListedTwice, g.place, {g.name, "the names of groups"},
                      {"give each a name of its own, or leave \"name\" out"});
  int number = 0;
  for (NodeGroup& g : *groups) {
    const auto copied = [&](int n) { return is_copy(program.nodes[static_cast<std::size_t>(n)]); };
    if (!g.nodes.empty() && std::all_of(g.nodes.begin(), g.nodes.end(), copied)) {
      if (g.name.empty()) g.name = copy_group(program.nodes[static_cast<std::size_t>(g.nodes[0])]);
      continue;
    }
    std::string name = "k" + std::to_string(number++);
    if (!g.name.empty()) continue;
    while (!taken.insert(name).second) name = "k" + std::to_string(number++);
    g.name = name;
  }
  return Done{};
}

// The nodes by the names that a recipe's "ops" call them.
std::map<std::string, int> nodes_by_op(const Program& program) {
  std::map<std::string, int> node_of, writers;
  for (std::size_t n = 0; n < program.nodes.size(); ++n)
    if (is_copy(program.nodes[n])) node_of[copy_op(program.nodes[n])] = static_cast<int>(n);
  for (std::size_t n = 0; n < program.nodes.size(); ++n)
    for (const std::string& t : is_copy(program.nodes[n]) ? std::vector<std::string>{} : results_of(program.nodes[n]))
      node_of[numbered(t, writers[t]++)] = static_cast<int>(n);
  return node_of;
}

// Where a group names the node.
Place place_of_node(const Group& group, const std::map<std::string, int>& node_of, int node) {
  for (std::size_t i = 0; i < group.ops.size(); ++i)
    if (node_of.at(group.ops[i]) == node) return place_of(group, i);
  return group.place;
}

// Does every node stand in a group, and none before one whose result it reads?
Result<Done> check_order(const Program& program, const Variant& variant, const std::map<std::string, int>& node_of,
                         const std::map<int, int>& placed) {
  const std::vector<std::string> names = node_names(program);
  std::map<std::string, int> writer;  // tensor -> group of its last writer so far in program order
  for (std::size_t n = 0; n < program.nodes.size(); ++n) {
    const Node& node = program.nodes[n];
    const auto it = placed.find(static_cast<int>(n));
    if (it == placed.end())
      return diagnose(Code::kBadGroups, variant.place, {"'" + names[n] + "' is in no group"},
                      {"add \"" + names[n] + "\" to the \"ops\" of a group, or a group {\"ops\": [\"" + names[n] + "\"]}"});
    const Group& group = variant.groups[static_cast<std::size_t>(it->second)];
    for (const std::vector<std::string>* reads : {&node.in, &node.inout})
      for (const std::string& t : *reads)
        if (const auto w = writer.find(t); w != writer.end() && w->second > it->second)
          return diagnose(Code::kBadGroups, place_of_node(group, node_of, static_cast<int>(n)),
                          {"'" + names[n] + "' runs before '" + t + "', which it reads"},
                          {"groups run in the order of the list: write the group of '" + t + "' before this one"});
    for (const std::string& t : results_of(node)) writer[t] = it->second;
  }
  return Done{};
}

}  // namespace

Result<std::vector<NodeGroup>> groups_of_recipe(const Program& program, const Variant& variant) {
  const std::vector<Group>& groups = variant.groups;
  const std::map<std::string, int> node_of = nodes_by_op(program);
  std::vector<NodeGroup> list;
  std::map<int, int> placed;  // node -> group
  for (std::size_t g = 0; g < groups.size(); ++g) {
    NodeGroup made{groups[g].name, {}};
    for (std::size_t i = 0; i < groups[g].ops.size(); ++i) {
      const std::string& op = groups[g].ops[i];
      const auto it = node_of.find(op);
      if (it == node_of.end())
        return diagnose(Code::kBadGroups, place_of(groups[g], i), {"no operator defines '" + op + "'"},
                        did_you_mean(op, node_names(program)));
      if (placed.count(it->second) && placed[it->second] != static_cast<int>(g))
        return diagnose(Code::kBadGroups, place_of(groups[g], i), {"'" + op + "' is in two groups"},
                        {"leave it out here, or in the group before"});
      if (placed.emplace(it->second, static_cast<int>(g)).second) made.nodes.push_back(it->second);
    }
    if (made.nodes.empty()) return diagnose(Code::kEmptyList, groups[g].place, {"\"ops\" of a group"});
    std::sort(made.nodes.begin(), made.nodes.end());
    list.push_back(std::move(made));
  }
  const Result<Done> ordered = check_order(program, variant, node_of, placed);
  if (!ordered) return ordered.errors();
  const Result<Done> named = name_groups(program, groups, &list);
  if (!named) return named.errors();
  return list;
}

}  // namespace facet
