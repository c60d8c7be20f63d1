#include "src/graph/depth.hpp"

#include <algorithm>

namespace facet {

namespace {

std::size_t depth_of(const ExprPtr& e) {
  if (!e) return 0;
  std::size_t most = std::max(depth_of(e->pad), depth_of(e->mask));
  for (const ExprPtr& a : e->args) most = std::max(most, depth_of(a));
  if (e->reduction) most = std::max(most, e->reduction->ranges.size() + depth_of(e->reduction->body));
  return most;
}

std::size_t depth_of(const LoopBody& body) {
  std::size_t most = 0;
  for (const LoopStatement& s : body) {
    const std::size_t inside = std::max(depth_of(s.body), depth_of(s.otherwise));
    most = std::max(most, inside + (s.kind == LoopStatement::Kind::kFor ? 1 : 0));
  }
  return most;
}

}  // namespace

std::size_t loop_depth(const Node& node) {
  std::size_t most = depth_of(node.loops);
  for (const Equation& e : node.equations) most = std::max(most, e.indices.size() + depth_of(e.value));
  return most;
}

}  // namespace facet
