// Accesses to memory and when two of them are certainly the same or certainly
// apart.
#include "codegen/passes/tree.hpp"

#include <cstdlib>

namespace facet::passes {

Access access_of(const Expr& read) {
  Access a;
  a.buffer = read.name;
  a.subscripts = read.args;
  a.lanes = read.lanes;
  a.mask = read.mask;
  a.padded = read.pad != nullptr;
  a.type = read.type;
  return a;
}

Access access_of(const Store& store, DType type) {
  Access a;
  a.buffer = store.buffer;
  a.subscripts = store.subscripts;
  a.lanes = store.lanes;
  a.lane_stride = store.lane_stride;
  a.mask = store.mask;
  a.type = type;
  a.writes = true;
  a.atomic = store.atomic;
  a.reads = store.update.has_value();
  return a;
}

std::vector<Access> accesses_of(const ExprPtr& e) {
  std::vector<Access> all;
  walk(e, [&](const Expr& node) {
    if (node.op == Op::kRead) all.push_back(access_of(node));
  });
  return all;
}

std::vector<Access> accesses_of(const LoopList& body) {
  std::vector<Access> all;
  walk_nodes(body, [&](const LoopPtr& node) {
    rebuild(
        node,
        [&](const ExprPtr& e) {
          for (Access& a : accesses_of(e)) all.push_back(std::move(a));
          return e;
        },
        [](const LoopList& inner) { return inner; });
    if (const Store* s = as<Store>(node)) all.push_back(access_of(*s, s->value->type));
    if (const AsyncCopy* c = as<AsyncCopy>(node)) all.push_back(access_of(c->copy, c->copy.value->type));
  });
  return all;
}

bool same_place(const Access& a, const Access& b) {
  if (a.buffer != b.buffer || a.lanes != b.lanes || a.lane_stride != b.lane_stride ||
      a.subscripts.size() != b.subscripts.size())
    return false;
  if (!same(a.mask, b.mask) || a.padded || b.padded || a.atomic || b.atomic) return false;
  for (std::size_t d = 0; d < a.subscripts.size(); ++d) {
    if (same(a.subscripts[d], b.subscripts[d])) continue;
    if (a.subscripts[d]->lanes != 1 || b.subscripts[d]->lanes != 1) return false;
    const Linear apart = difference(a.subscripts[d], b.subscripts[d]);
    if (!apart.is_constant() || apart.constant != 0) return false;
  }
  return true;
}

bool disjoint(const Access& a, const Access& b) {
  if (a.buffer != b.buffer) return true;
  for (std::size_t d = 0; d < a.subscripts.size() && d < b.subscripts.size(); ++d) {
    if (a.subscripts[d]->lanes != 1 || b.subscripts[d]->lanes != 1) continue;
    const Linear apart = difference(b.subscripts[d], a.subscripts[d]);
    if (!apart.is_constant() || apart.constant == 0) continue;
    const bool innermost = d + 1 == a.subscripts.size();
    if (!innermost) return true;
    // Lanes of one vector follow each other in the innermost subscript.
    if (a.lane_stride < 1 || b.lane_stride < 1) continue;
    const std::int64_t span_a = (a.lanes - 1) * a.lane_stride + 1;
    const std::int64_t span_b = (b.lanes - 1) * b.lane_stride + 1;
    if (apart.constant >= span_a || -apart.constant >= span_b) return true;
  }
  return false;
}

bool constant_stride(const Buffer& buffer, std::size_t d, std::int64_t* stride) {
  if (!buffer.strides.empty()) return constant_value(buffer.strides[d], stride);
  std::int64_t product = 1;
  for (std::size_t k = buffer.extents.size(); k-- > d + 1;) {
    std::int64_t extent = 0;
    if (!constant_value(buffer.extents[k], &extent)) return false;
    product *= extent;
  }
  *stride = product;
  return true;
}

}  // namespace facet::passes
