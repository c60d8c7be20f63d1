// Walks over the statements of `loops` nests.
#pragma once

#include <set>
#include <string>

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
