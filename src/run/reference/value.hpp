// A scalar of the reference interpreter: a value and how far a correct kernel may be from it.
//
// Floats are kept in f64 whatever their dtype. `bound` is absolute; 0 is "every correct kernel computes exactly this";
// infinity is "ambiguous": the value hangs on a comparison, floor, cast or argmax that rounding may turn over.
// Integers and bools use `i` (u64 as its bit pattern) and a bound of 0 or infinity only.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "facet/expr.hpp"

namespace facet::reference {

struct Value {
  union {
    double f;
    std::int64_t i;
  };
  double bound;
};

constexpr double kAmbiguous = std::numeric_limits<double>::infinity();

inline Value float_value(double f, double bound = 0) {
  Value v;
  v.f = f;
  v.bound = bound;
  return v;
}

inline Value int_value(std::int64_t i, double bound = 0) {
  Value v;
  v.i = i;
  v.bound = bound;
  return v;
}

// What the error model needs to know of a floating dtype.
struct FloatFacts {
  double unit;     // largest relative error of one correctly rounded operation (half an ulp), plus the f64 reference's own
  double tiny;     // largest absolute error of one operation near zero (underflow)
  double largest;  // largest finite value
  bool wide;       // kernels compute in exactly this precision (f32, f64); 16-bit types may be computed wider
  std::uint64_t seed = 0;  // nonzero: every rounded result is moved by one unit, up or down at random (reference/spread.hpp)
};
FloatFacts float_facts(DType type, bool flush_denormals, std::uint64_t seed = 0);

// True if a result that is this f64 `value` is a value of `type` without rounding. The reference computes in f64, so for f64
// the value itself cannot tell whether it was rounded: there only multiples of 2^-20 below 2^32 count, which roundings never
// hit.
inline bool representable(DType type, double value) {
  switch (type) {
    case DType::kF64: return std::fabs(value) < 0x1p32 && value * 0x1p20 == std::nearbyint(value * 0x1p20);
    case DType::kF32: return static_cast<double>(static_cast<float>(value)) == value;
    default: break;
  }
  // 16-bit types: enough trailing zero bits for the precision, inside the normal range (subnormals count as rounded).
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return true;
  const double scale = type == DType::kF16 ? 0x1p42 + 1 : 0x1p45 + 1;  // Veltkamp split to 11 or 8 bits
  const double c = scale * value;
  const double high = c - (c - value);
  if (type == DType::kF16) return high == value && magnitude <= 65504.0 && magnitude >= 0x1p-14;
  return high == value && magnitude <= 0x1.FEp127 && magnitude >= 0x1p-126;
}

}  // namespace facet::reference
