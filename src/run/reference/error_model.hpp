// The running error model: each floating operation gives a value and a bound on how far a correct kernel may be from it.
//
// A correct kernel computes in the dtype (16-bit types possibly in f32), may contract a*b+c, may add the terms of a sum in any
// order, and uses mathematical functions within kMathUlps ulps. Bounds propagate by first order terms or by evaluating a
// monotone function at both ends. An operation on exact operands whose f64 result is representable in the dtype is exact for
// every correct kernel and keeps bound 0; so integer-valued float programs stay exact.
#pragma once

#include <cstring>

#include "src/run/reference/value.hpp"

namespace facet::reference {

// exp, log, tanh, erf, ... of the generated code are within this many ulps (codegen/openmp/prelude states its own).
constexpr double kMathUlps = 4;

// The value after a rounding of its own: one unit up or down, as a hash of its bits and the seed has it.
inline double moved(const FloatFacts& facts, double v) {
  if (facts.seed == 0) return v;
  std::uint64_t bits = 0;
  std::memcpy(&bits, &v, sizeof bits);
  bits = (bits ^ facts.seed) * 0x9E3779B97F4A7C15;  // the finalizer of SplitMix64 decides
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
  return bits >> 63 ? v + facts.unit * v : v - facts.unit * v;
}

// Adds the rounding of one operation of `type` to the propagated error; turns overflow into infinity or ambiguity.
Value finish_slow(DType type, const FloatFacts& facts, double v, double propagated, double ulp_factor);

inline Value finish(DType type, const FloatFacts& facts, double v, double propagated) {
  if (propagated == 0 && std::fabs(v) <= facts.largest && representable(type, v)) return float_value(v, 0);
  const double bound = propagated + facts.unit * std::fabs(v) + facts.tiny;
  if (std::fabs(v) + bound <= facts.largest) return float_value(moved(facts, v), bound);
  return finish_slow(type, facts, v, propagated, 1);
}

Value float_unary(Op op, DType type, const FloatFacts& facts, Value a);
Value float_binary(Op op, DType type, const FloatFacts& facts, Value a,
                   Value b);                                          // the less frequent ones, and non-finite cases
Value float_compare(Op op, Value a, Value b);                         // -> bool
Value float_to_float(DType to, const FloatFacts& to_facts, Value a);  // rounds
Value float_to_int(DType to, Value a);                                // truncates, saturates
Value int_to_float(DType from, DType to, Value a);
Value choose(bool is_float, Value condition, Value then, Value otherwise);

inline Value float_add(DType type, const FloatFacts& facts, Value a, Value b) {
  const double v = a.f + b.f;
  if (!std::isfinite(v)) return float_binary(Op::kAdd, type, facts, a, b);
  return finish(type, facts, v, a.bound + b.bound);
}

inline Value float_sub(DType type, const FloatFacts& facts, Value a, Value b) {
  const double v = a.f - b.f;
  if (!std::isfinite(v)) return float_binary(Op::kSub, type, facts, a, b);
  return finish(type, facts, v, a.bound + b.bound);
}

inline Value float_mul(DType type, const FloatFacts& facts, Value a, Value b) {
  const double v = a.f * b.f;
  if (!std::isfinite(v)) return float_binary(Op::kMul, type, facts, a, b);
  const double propagated = std::fabs(a.f) * b.bound + std::fabs(b.f) * a.bound + a.bound * b.bound;
  return finish(type, facts, v, propagated);
}

}  // namespace facet::reference
