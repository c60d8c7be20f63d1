// What a block needs of shared memory.
#include "codegen/cuda/shared.hpp"

#include "codegen/arena.hpp"
#include "codegen/passes/tree.hpp"

namespace facet {

std::int64_t shared_bytes_of(const LoopList& body) {
  std::int64_t total = 0;
  passes::walk_nodes(body, [&](const LoopPtr& n) {
    const Allocate* a = passes::as<Allocate>(n);
    if (a == nullptr || a->buffer.space != MemorySpace::kShared || total < 0) return;
    const ExprPtr elements = span_elements(a->buffer);
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
