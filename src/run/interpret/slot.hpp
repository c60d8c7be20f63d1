// Slot: one register of the loop-tree interpreter, and scalar arithmetic on it with the element type's exact rules.
//
// Integers of every width are kept wrapped to their type in `i` (u64 as its bits), bool as 0/1. f32, f16 and bf16 values are
// held in `f` (f16 and bf16 are rounded at casts and stores only, contract V5); f64 in `d`.
#pragma once

#include <cstdint>

#include "facet/expr.hpp"

namespace facet::agents {

union Slot {
  std::int64_t i;
  double d;
  float f;
};

inline Slot slot_of(std::int64_t i) {
  Slot s;
  s.i = i;
  return s;
}
inline Slot slot_of_f64(double d) {
  Slot s;
  s.d = d;
  return s;
}
inline Slot slot_of_f32(float f) {
  Slot s;
  s.i = 0;
  s.f = f;
  return s;
}

// The integer wrapped to `type`'s width; bool: value != 0.
std::int64_t wrap(DType type, std::int64_t value);

// A literal of `type` (exact for integers).
Slot literal_slot(DType type, double float_value, std::int64_t int_value);

Slot unary_slot(Op op, DType type, Slot a);           // `type`: of the operand
Slot binary_slot(Op op, DType type, Slot a, Slot b);  // `type`: of the operands; comparisons give 0/1
Slot cast_slot(DType from, DType to, Slot a);         // saturating float -> integer, NaN -> 0; rounds to f16 and bf16
Slot fma_slot(DType type, Slot a, Slot b, Slot c);

// The neutral element and the operation of a reduction, for updates, lane reductions and collectives.
Slot identity_slot(ReduceKind kind, DType type);
Slot combine_slot(ReduceKind kind, DType type, Slot a, Slot b);

// Memory <-> slot, in the dtype's own bytes.
Slot load_slot(DType type, const void* address);
void store_slot(DType type, void* address, Slot value);

// For messages: the value as a double.
double slot_value(DType type, Slot a);

}  // namespace facet::agents
