// Names used by nodes.
#include "src/run/uses.hpp"

#include <algorithm>

#include "facet/loop_walk.hpp"

namespace facet {

namespace {

void names_read(const ExprPtr& e, std::set<std::string>* names) {
  walk(e, [&](const Expr& node) {
    if (node.op == Op::kRead) names->insert(node.name);
  });
}

void names_in(const LoopBody& body, std::set<std::string>* names) {
  for (const LoopStatement& s : body) {
    if (s.kind == LoopStatement::Kind::kAssign) names->insert(s.target);
    if (s.kind == LoopStatement::Kind::kDeclare) names->insert(s.name);
    for (const ExprPtr& e : s.subscripts) names_read(e, names);
    names_read(s.value, names);
    names_read(s.operand, names);
    names_read(s.condition, names);
    names_in(s.body, names);
    names_in(s.otherwise, names);
  }
}

}  // namespace

std::set<std::string> names_of(const Node& node) {
  std::set<std::string> names;
  for (const Equation& q : node.equations) {
    names.insert(q.tensor);
    names_read(q.value, &names);
  }
  names_in(node.loops, &names);
  if (!node.loops.empty()) names.insert(node.out.begin(), node.out.end());
  return names;
}

std::set<std::string> defined_by(const Node& node) {
  std::set<std::string> names;
  for (const Equation& q : node.equations) names.insert(q.tensor);
  if (node.loops.empty()) return names;
  names.insert(node.out.begin(), node.out.end());
  for (const std::string& name : assigned_arrays(node.loops))  // arrays of an operator's own nest
    if (std::find(node.inout.begin(), node.inout.end(), name) == node.inout.end()) names.insert(name);
  return names;
}

std::map<std::string, std::size_t> last_uses(const Program& program) {
  std::map<std::string, std::size_t> last;
  for (std::size_t n = 0; n < program.nodes.size(); ++n)
    for (const std::string& name : names_of(program.nodes[n])) last[name] = n;
  return last;
}

bool is_output(const Program& program, const std::string& name) {
  return std::find(program.outputs.begin(), program.outputs.end(), name) != program.outputs.end();
}

}  // namespace facet
