#include "facet/expr_facts.hpp"

#include <algorithm>

namespace facet {

bool mentions_index(const ExprPtr& e, const std::string& name) {
  bool found = false;
  walk(e, [&](const Expr& x) { found = found || (x.op == Op::kIndex && x.name == name); });
  return found;
}

bool mentions_index(const std::vector<ExprPtr>& list, const std::string& name) {
  return std::any_of(list.begin(), list.end(), [&](const ExprPtr& e) { return mentions_index(e, name); });
}

bool is_function(Op op) {
  return (op >= Op::kExp && op <= Op::kSigmoid) || (op >= Op::kSin && op <= Op::kExpm1) || op == Op::kPow || op == Op::kFMod;
}

}  // namespace facet
