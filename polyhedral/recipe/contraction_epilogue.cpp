// Which nests can be computed in the register tile of a contraction, and what lets it leave the nest that it stands in.
#include <algorithm>

#include "facet/expr_facts.hpp"
#include "polyhedral/recipe/contraction.hpp"

namespace facet {

using Names = std::vector<std::string>;

// Its loops in the order of C's, when the nest computes one element of the consumer from the same element of what the
// cluster computes; else empty.
Names elementwise_loops(const Schedule& now, int statement, const TreePtr& nest, const TreePtr& cluster) {
  const std::size_t rank = now.statement(statement).subscripts.size();
  if (statements_of(nest).size() != 1) return {};
  const Statement& reader = now.statement(statements_of(nest).front());
  const std::vector<TreePtr> loops = loops_around(cluster, statement);
  if (reader.update || reader.kind != StatementKind::kMap || loops_around(nest, statements_of(nest).front()).size() != rank)
    return {};
  Names result;
  bool plain = true;
  for (const int w : statements_of(cluster)) {
    const Statement& writer = now.statement(w);
    if (writer.update) continue;
    walk(reader.value, [&](const Expr& e) {
      if (e.op != Op::kRead || e.name != writer.target) return;
      Names mine;
      for (std::size_t l = 0; l < rank; ++l)
        for (std::size_t d = 0; d < e.args.size() && d < writer.subscripts.size(); ++d)
          if (writer.subscripts[d]->op == Op::kIndex && writer.subscripts[d]->name == loops[l]->names.at(w) &&
              e.args[d]->op == Op::kIndex)
            mine.push_back(e.args[d]->name);
      plain = plain && !e.pad && e.args.size() == rank && mine.size() == rank && (result.empty() || result == mine);
      result = mine;
    });
  }
  return plain ? result : Names{};
}

void join_consumers(GroupPlanner& planner, int statement) {
  if (!planner.options().fusion) return;
  const auto now = [&]() -> const Schedule& { return planner.schedule(); };
  const std::string name = now().statement(statement).name;
  const std::size_t rank = now().statement(statement).subscripts.size();
  for (;;) {
    const TreePtr root = now().tree;
    if (root->kind != Tree::Kind::kSequence) return;
    std::size_t at = 0;
    while (!contains(root->children[at], statement)) ++at;
    if (at + 1 == root->children.size()) return;
    const TreePtr cluster = root->children[at], nest = root->children[at + 1];
    const Names loops = elementwise_loops(now(), statement, nest, cluster);
    if (loops.empty()) return;
    const int reader = statements_of(nest).front();
    const std::string consumer = now().statement(reader).name;
    Names own, mine;
    for (const TreePtr& l : loops_around(nest, reader)) own.push_back(l->names.at(reader));
    for (std::size_t l = 0; l < rank; ++l) mine.push_back(loops_around(cluster, statement)[l]->names.at(statement));
    std::vector<Step> steps;
    if (own != loops) steps.push_back(make_step("interchange", {{"statement", arg(consumer)}, {"order", arg(loops)}}));
    steps.push_back(make_step(
        "fuse", {{"statements", arg(Names{name, consumer})},
                 {"loops", mine == loops ? arg(mine) : arg(ArgumentMap{{name, arg(mine)}, {consumer, arg(loops)}})}}));
    if (!planner.attempt_all(steps, "fusion", name + " -> " + consumer, "applied in the register tile")) return;
  }
}

Names lanes_last(const Statement& s, const std::string& lanes) {
  Names order;
  for (std::size_t d = 0; d < s.subscripts.size(); ++d) {
    const ExprPtr& e = s.subscripts[d];
    const bool plain = e->op == Op::kIndex && !std::count(order.begin(), order.end(), e->name);
    order.push_back(plain ? e->name : "d" + std::to_string(d));
  }
  std::erase(order, lanes);
  order.push_back(lanes);
  return order;
}

std::vector<std::vector<Step>> expansions(const Schedule& now, int statement) {
  std::vector<std::vector<Step>> list{{}};
  std::vector<Step> all;
  const TreePtr nest = loops_around(now.tree, statement).front();
  for (const StorageMap& m : now.storage)
    if (m.kind == StorageMap::Kind::kContract && m.sizes.empty() && m.at >= 0 && find_loop(nest, m.at))
      all.push_back(make_step("expand", {{"array", arg(m.array)}}));
  if (!all.empty()) list.push_back(std::move(all));
  return list;
}

}  // namespace facet
