// Predicts how much work an interpretation is: nodes of each expression times the points of its domain.
//
// Ranges that depend on outer indices (triangles) are taken at the middle of the outer ranges, which is exact for linear bounds
// up to rounding. Conditions are not credited.
#include <algorithm>

#include "src/run/reference.hpp"

namespace facet {

namespace {

double count_expression(const ExprPtr& e, SymbolValues& at);

// The points of `range`, leaving its middle in `at` for the ranges inside.
double enter(const std::string& name, const ExprPtr& lower, const ExprPtr& upper, SymbolValues& at) {
  const std::int64_t lo = evaluate_index(lower, at);
  const std::int64_t hi = evaluate_index(upper, at);
  at[name] = lo + (std::max(hi, lo) - lo) / 2;
  return static_cast<double>(std::max<std::int64_t>(hi - lo, 0));
}

double count_reduction(const Reduction& r, SymbolValues& at) {
  double points = 1;
  for (const Range& range : r.ranges) points *= enter(range.name, range.lower, range.upper, at);
  double body = 1 + count_expression(r.body, at);
  for (const ExprPtr& condition : r.conditions) body += count_expression(condition, at);
  return points * body;
}

double count_expression(const ExprPtr& e, SymbolValues& at) {
  if (!e) return 0;
  if (e->op == Op::kReduce) return count_reduction(*e->reduction, at);
  if (e->op == Op::kLiteral || e->op == Op::kIndex) return 0;
  double count = 1;
  for (const ExprPtr& a : e->args)
    if (e->op != Op::kRead || a->op == Op::kRead) count += count_expression(a, at);
  return count;
}

double count_loops(const LoopBody& body, SymbolValues& at) {
  double count = 0;
  for (const LoopStatement& s : body) {
    if (s.kind == LoopStatement::Kind::kFor) {
      const bool up = s.step > 0;
      const double points = enter(s.name, up ? s.first : idx_add(s.bound, idx(1)), up ? s.bound : idx_add(s.first, idx(1)), at);
      count += points / static_cast<double>(std::abs(s.step)) * count_loops(s.body, at);
      continue;
    }
    count += 1 + count_expression(s.value, at) + std::max(count_loops(s.body, at), count_loops(s.otherwise, at));
  }
  return count;
}

}  // namespace

double predicted_operations(const Program& program, const SymbolValues& symbols) {
  double count = 0;
  SymbolValues at = symbols;
  for (const Node& node : program.nodes) {
    for (const Equation& q : node.equations) {
      double points = 1;
      for (const Range& r : q.indices) points *= enter(r.name, r.lower, r.upper, at);
      count += points * (1 + count_expression(q.value, at));
    }
    count += count_loops(node.loops, at);
  }
  return count;
}

}  // namespace facet
