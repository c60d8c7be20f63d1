// Which nests can be computed in the register tile of a contraction, the steps that bring them there, and what lets it leave
// the nest that it stands in.
//
//     for i, j  C[i, j] = ..;   for i, j  D[i, j] = f(C[i, j])           fused at i, j
//     for o, e  C[o, e] = ..;   for p  D[p] = f(C[p % 2, p / 2])         p becomes its quotient and its remainder first: fused
//                                                                        at o, e, so that D takes its places from the tile
//
// The second form has the results of a transposed convolution, class by class of its strides, and whatever else shuffles what
// it consumes by quotients.
#include <algorithm>

#include "facet/expr_facts.hpp"
#include "polyhedral/recipe/contraction.hpp"

namespace facet {

namespace {

using Names = std::vector<std::string>;

// How a subscript walks an iterator of the reader: as it is, by its quotient or by its remainder.
struct Part {
  std::string iterator;
  std::int64_t size = 1;  // 1: as it is
  bool quotient = false;

  std::string loop() const { return quotient ? iterator + "t" : iterator; }
};

std::optional<Part> part_of(const ExprPtr& e) {
  if (e->op == Op::kIndex) return Part{e->name, 1, false};
  if (e->op != Op::kFloorDiv && e->op != Op::kFloorMod) return std::nullopt;
  if (e->args[0]->op != Op::kIndex || e->args[1]->op != Op::kLiteral || e->args[1]->int_value < 2) return std::nullopt;
  return Part{e->args[0]->name, e->args[1]->int_value, e->op == Op::kFloorDiv};
}

bool same_parts(const std::vector<Part>& a, const std::vector<Part>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Part& x, const Part& y) {
    return x.iterator == y.iterator && x.size == y.size && x.quotient == y.quotient;
  });
}

// Does every iterator occur once as it is, or as the quotient and the remainder of one number?
bool covers(const std::vector<Part>& parts, const Names& iterators) {
  for (const std::string& name : iterators) {
    std::vector<Part> own;
    std::copy_if(parts.begin(), parts.end(), std::back_inserter(own), [&](const Part& p) { return p.iterator == name; });
    const bool whole = own.size() == 1 && own[0].size == 1;
    const bool cut = own.size() == 2 && own[0].size > 1 && own[0].size == own[1].size && own[0].quotient != own[1].quotient;
    if (!whole && !cut) return false;
  }
  return true;
}

// The reader's part that each loop of the cluster walks, when the nest computes one element of the consumer from one element of
// what the cluster computes, and each from another; else empty.
std::vector<Part> parts_of(const Schedule& now, int statement, const TreePtr& nest, const TreePtr& cluster) {
  const std::size_t rank = now.statement(statement).subscripts.size();
  const Statement& reader = now.statement(statements_of(nest).front());
  const std::vector<TreePtr> loops = loops_around(cluster, statement);
  std::vector<Part> result;
  bool good = true;
  for (const int w : statements_of(cluster)) {
    const Statement& writer = now.statement(w);
    if (writer.update) continue;
    walk(reader.value, [&](const Expr& e) {
      if (e.op != Op::kRead || e.name != writer.target) return;
      std::vector<Part> mine;
      for (std::size_t l = 0; l < rank; ++l)
        for (std::size_t d = 0; d < e.args.size() && d < writer.subscripts.size(); ++d)
          if (writer.subscripts[d]->op == Op::kIndex && writer.subscripts[d]->name == loops[l]->names.at(w))
            if (const std::optional<Part> part = part_of(e.args[d])) mine.push_back(*part);
      good = good && !e.pad && e.args.size() == rank && mine.size() == rank && (result.empty() || same_parts(result, mine));
      result = mine;
    });
  }
  return good && covers(result, reader.iterators) ? result : std::vector<Part>{};
}

}  // namespace

std::vector<Step> joining_steps(const Schedule& now, int statement, const TreePtr& nest, const TreePtr& cluster) {
  const int reader = statements_of(nest).front();
  const Statement& consumer = now.statement(reader);
  if (statements_of(nest).size() != 1 || consumer.update || consumer.kind != StatementKind::kMap) return {};
  Names own, wanted, mine;
  for (const TreePtr& l : loops_around(nest, reader)) own.push_back(l->names.at(reader));
  const std::vector<Part> parts = parts_of(now, statement, nest, cluster);
  if (parts.empty() || own.size() != consumer.iterators.size()) return {};
  std::vector<Step> steps;
  for (const Part& p : parts) {
    mine.push_back(loops_around(cluster, statement)[wanted.size()]->names.at(statement));
    wanted.push_back(p.loop());
    if (!p.quotient) continue;
    // The remainder's loop walks i from size * it on: without that it starts at 0.
    steps.push_back(tile_loop(consumer.name, p.iterator, p.size, p.loop()));
    steps.push_back(make_step(
        "skew",
        {{"statement", arg(consumer.name)}, {"loop", arg(p.iterator)}, {"by", arg(p.loop())}, {"factor", arg(-p.size)}}));
  }
  const std::string& name = now.statement(statement).name;
  if (own != wanted) steps.push_back(make_step("interchange", {{"statement", arg(consumer.name)}, {"order", arg(wanted)}}));
  steps.push_back(make_step(
      "fuse", {{"statements", arg(Names{name, consumer.name})},
               {"loops", mine == wanted ? arg(mine) : arg(ArgumentMap{{name, arg(mine)}, {consumer.name, arg(wanted)}})}}));
  return steps;
}

void join_consumers(GroupPlanner& planner, int statement) {
  if (!planner.options().fusion) return;
  const auto now = [&]() -> const Schedule& { return planner.schedule(); };
  const std::string name = now().statement(statement).name;
  for (;;) {
    const TreePtr root = now().tree;
    if (root->kind != Tree::Kind::kSequence) return;
    std::size_t at = 0;
    while (!contains(root->children[at], statement)) ++at;
    if (at + 1 == root->children.size()) return;
    const TreePtr cluster = root->children[at], nest = root->children[at + 1];
    const std::vector<Step> steps = joining_steps(now(), statement, nest, cluster);
    if (steps.empty()) return;
    const std::string consumer = now().statement(statements_of(nest).front()).name;
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
