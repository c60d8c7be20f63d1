// Integer arithmetic as the contract defines it (V2, P10): wraps in the dtype, division by zero gives 0, INT_MIN / -1 gives
// INT_MIN, shift counts modulo the width. Values travel as int64 (u64 as its bit pattern).
#pragma once

#include <cstdint>

#include "facet/dtype_range.hpp"
#include "facet/expr.hpp"

namespace facet::reference {

// Brings an int64 back into `type` by wrapping.
inline std::int64_t wrap(DType type, std::int64_t x) {
  switch (type) {
    case DType::kBool: return x != 0;
    case DType::kI8: return static_cast<std::int8_t>(x);
    case DType::kU8: return static_cast<std::uint8_t>(x);
    case DType::kI16: return static_cast<std::int16_t>(x);
    case DType::kU16: return static_cast<std::uint16_t>(x);
    case DType::kI32: return static_cast<std::int32_t>(x);
    case DType::kU32: return static_cast<std::uint32_t>(x);
    default: return x;
  }
}

// One operation with the result wrapped to `type`, the operands' dtype. Comparisons give 0 or 1.
std::int64_t integer_unary(Op op, DType type, std::int64_t a);
std::int64_t integer_binary(Op op, DType type, std::int64_t a, std::int64_t b);

}  // namespace facet::reference
