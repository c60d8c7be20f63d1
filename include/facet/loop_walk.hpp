// Walks over the statements of `loops` nests.
#pragma once

#include <set>
#include <string>

#include "facet/expr_walk.hpp"
#include "facet/program.hpp"

namespace facet {

template <class F>
void walk_statements(const LoopBody& body, const F& visit) {
  for (const LoopStatement& s : body) {
    visit(s);
    walk_statements(s.body, visit);
    walk_statements(s.otherwise, visit);
  }
}

// Gives the tensors and scalars of a nest new names.
template <class F>
void rename_tensors(LoopBody* body, const F& name_of) {
  const auto renamed = [&](const ExprPtr& e) {
    return rewrite(e, [&](const ExprPtr& x) -> ExprPtr {
      if (x->op != Op::kRead) return x;
      Expr copy = *x;
      copy.name = name_of(x->name);
      return std::make_shared<const Expr>(std::move(copy));
    });
  };
  for (LoopStatement& s : *body) {
    if (s.kind == LoopStatement::Kind::kAssign) s.target = name_of(s.target);
    if (s.kind == LoopStatement::Kind::kDeclare) s.name = name_of(s.name);
    s.value = renamed(s.value);
    s.operand = renamed(s.operand);
    rename_tensors(&s.body, name_of);
    rename_tensors(&s.otherwise, name_of);
  }
}

// The arrays that a nest assigns: not the scalars that it declares.
inline std::set<std::string> assigned_arrays(const LoopBody& body) {
  std::set<std::string> names, declared;
  walk_statements(body, [&](const LoopStatement& s) {
    if (s.kind == LoopStatement::Kind::kAssign) names.insert(s.target);
    if (s.kind == LoopStatement::Kind::kDeclare) declared.insert(s.name);
  });
  for (const std::string& scalar : declared) names.erase(scalar);
  return names;
}

}  // namespace facet
