// Source of what a GPU can do: PTX ISA, instruction "red".
#include "polyhedral/atomic_updates.hpp"

namespace facet {

namespace {

bool gpu_can(ReduceKind kind, DType type) {
  const bool whole = type == DType::kI32 || type == DType::kI64;
  if (kind == ReduceKind::kSum) return whole || type == DType::kF32 || type == DType::kF64;
  return (kind == ReduceKind::kMin || kind == ReduceKind::kMax) && whole;
}

}  // namespace

AtomicAnswer may_be_atomic(const Scop& scop, const LoopMark& mark, const Statement& update) {
  if (update.rounds() && scop.reassociate != Numerics::Reassociate::kFree)
    return {"atomic updates of '" + update.target + "' would be rounded in another order on each run",
            {"numerics reassociate=free allows it"}};
  const DType type = update.value->type;
  if (mark.kind == LoopKind::kMapped && !gpu_can(*update.update, type))
    return {"a GPU has no atomic " + to_text(*update.update) + " of " + to_text(type),
            {"it has sums of 32 and 64-bit numbers, minima and maxima of 32 and 64-bit integers"}};
  return {};
}

}  // namespace facet
