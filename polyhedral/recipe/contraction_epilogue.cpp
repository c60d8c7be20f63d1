// Which nests can be computed in the register tile of a contraction.
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

}  // namespace facet
