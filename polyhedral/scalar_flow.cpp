// Upward exposed reads of one scalar, by structure: a loop that writes it may run zero times, a branch counts when both sides
// do.
#include "polyhedral/scalar_flow.hpp"

#include "facet/expr_walk.hpp"

namespace facet {

namespace {

bool reads(const ExprPtr& e, const std::string& name) {
  bool found = false;
  walk(e, [&](const Expr& x) { found = found || (x.op == Op::kRead && x.name == name); });
  return found;
}

ScalarFlow flow_of(const LoopStatement& s, const std::string& name) {
  switch (s.kind) {
    case LoopStatement::Kind::kFor:
      return scalar_flow(s.body, name) == ScalarFlow::kRead ? ScalarFlow::kRead : ScalarFlow::kNone;
    case LoopStatement::Kind::kIf: {
      const ScalarFlow a = scalar_flow(s.body, name), b = scalar_flow(s.otherwise, name);
      if (a == ScalarFlow::kRead || b == ScalarFlow::kRead) return ScalarFlow::kRead;
      return a == b ? a : ScalarFlow::kNone;
    }
    case LoopStatement::Kind::kBlock: return scalar_flow(s.body, name);
    case LoopStatement::Kind::kDeclare: return s.value && reads(s.value, name) ? ScalarFlow::kRead : ScalarFlow::kNone;
    case LoopStatement::Kind::kAssign: break;
  }
  if (reads(s.value, name)) return ScalarFlow::kRead;
  for (const ExprPtr& e : s.subscripts)
    if (reads(e, name)) return ScalarFlow::kRead;
  return s.target == name ? ScalarFlow::kWritten : ScalarFlow::kNone;
}

}  // namespace

ScalarFlow scalar_flow(std::span<const LoopStatement> statements, const std::string& name) {
  for (const LoopStatement& s : statements)
    if (const ScalarFlow flow = flow_of(s, name); flow != ScalarFlow::kNone) return flow;
  return ScalarFlow::kNone;
}

}  // namespace facet
