// Arrays of a kernel: their sizes, and what a block needs of shared memory.
#pragma once

#include <cstdint>
#include <variant>

#include "facet/loop_ast.hpp"

namespace facet {

inline constexpr std::int64_t kSharedAlignment = 16;  // of each shared array: the widest access of one thread

inline ExprPtr elements_of(const Buffer& b) {
  ExprPtr n = idx(1);
  for (std::size_t d = 0; d < b.extents.size(); ++d)
    n = b.strides.empty() ? idx_mul(n, b.extents[d]) : idx_add(n, idx_mul(idx_sub(b.extents[d], idx(1)), b.strides[d]));
  return n;
}

template <class F>
void each_node(const LoopList& body, const F& visit) {
  for (const LoopPtr& n : body) {
    visit(*n);
    if (const For* f = std::get_if<For>(&n->node)) each_node(f->body, visit);
    if (const Sequence* s = std::get_if<Sequence>(&n->node)) each_node(s->body, visit);
    if (const If* i = std::get_if<If>(&n->node)) {
      each_node(i->then, visit);
      each_node(i->otherwise, visit);
    }
  }
}

// Bytes of all shared arrays, each aligned; -1 when one has a run-time size.
inline std::int64_t shared_bytes_of(const LoopList& body) {
  std::int64_t total = 0;
  each_node(body, [&](const LoopNode& n) {
    const Allocate* a = std::get_if<Allocate>(&n.node);
    if (a == nullptr || a->buffer.space != MemorySpace::kShared || total < 0) return;
    const ExprPtr elements = elements_of(a->buffer);
    if (elements->op != Op::kLiteral) {
      total = -1;
      return;
    }
    const std::int64_t bytes = elements->int_value * size_bytes(a->buffer.dtype);
    total += (bytes + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
  });
  return total;
}

}  // namespace facet
