// Error propagation of the floating operations; see the header for what a correct kernel may do.
#include "src/run/reference/error_model.hpp"

#include <algorithm>
#include <cassert>

#include "facet/host_tensor.hpp"
#include "src/run/reference/integer.hpp"

namespace facet::reference {

namespace {

double plain_binary(Op op, double a, double b) {
  switch (op) {
    case Op::kAdd: return a + b;
    case Op::kSub: return a - b;
    case Op::kMul: return a * b;
    case Op::kDiv: return a / b;
    case Op::kPow: return std::pow(a, b);
    case Op::kFMod:
    case Op::kTruncMod: return std::fmod(a, b);
    case Op::kFloorMod: return a - b * std::floor(a / b);
    case Op::kFloorDiv: return std::floor(a / b);
    case Op::kTruncDiv: return std::trunc(a / b);
    case Op::kCFMin: return std::fmin(a, b);
    case Op::kCFMax: return std::fmax(a, b);
    case Op::kMin: return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::quiet_NaN() : std::min(a, b);
    case Op::kMax: return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::quiet_NaN() : std::max(a, b);
    default: assert(false && "not a floating operation"); return 0;
  }
}

bool same_nonfinite(double x, double y) { return (std::isnan(x) && std::isnan(y)) || x == y; }

// A result that is not finite is exact if the four corners of the operands' intervals all give it.
Value nonfinite(Op op, Value a, Value b, double v) {
  for (const double x : {a.f - a.bound, a.f + a.bound})
    for (const double y : {b.f - b.bound, b.f + b.bound})
      if (!same_nonfinite(plain_binary(op, x, y), v)) return float_value(v, kAmbiguous);
  return float_value(v, std::isinf(a.bound) || std::isinf(b.bound) ? kAmbiguous : 0);
}

// min, max and C's fmin, fmax are continuous: the interval of the result is made of the operands' ends.
Value extremum(Op op, Value a, Value b) {
  const double v = plain_binary(op, a.f, b.f);
  if (std::isinf(a.bound) || std::isinf(b.bound)) return float_value(v, kAmbiguous);
  if (a.bound == 0 && b.bound == 0) return float_value(v, 0);
  if (!std::isfinite(v)) return nonfinite(op, a, b, v);
  const double low = plain_binary(op, a.f - a.bound, b.f - b.bound);
  const double high = plain_binary(op, a.f + a.bound, b.f + b.bound);
  return float_value(v, std::max(high - v, v - low));
}

Value divide(DType type, const FloatFacts& facts, Value a, Value b) {
  const double v = a.f / b.f;
  if (!std::isfinite(v)) return nonfinite(Op::kDiv, a, b, v);
  if (std::isinf(b.f)) return float_value(v, std::isinf(a.bound) ? kAmbiguous : 0);
  const double room = std::fabs(b.f) - b.bound;
  if (room <= 0) return float_value(moved(facts, v), kAmbiguous);
  return finish(type, facts, v, (a.bound + std::fabs(v) * b.bound) / room);
}

Value power(DType type, const FloatFacts& facts, Value a, Value b) {
  const double v = std::pow(a.f, b.f);
  if (!std::isfinite(v)) return nonfinite(Op::kPow, a, b, v);
  double propagated = 0;
  if (a.bound != 0 || b.bound != 0)
    for (const double x : {a.f - a.bound, a.f + a.bound})
      for (const double y : {b.f - b.bound, b.f + b.bound}) propagated = std::max(propagated, std::fabs(std::pow(x, y) - v));
  if (!(propagated < kAmbiguous)) return float_value(v, kAmbiguous);
  // exp(b * log a) in the dtype loses |b log a| ulps beyond those of exp; products of a few factors lose less.
  const double exponent = a.f == 0 ? 0 : std::fabs(b.f * std::log(std::fabs(a.f)));
  const bool exact = propagated == 0 && b.f == std::nearbyint(b.f) && std::fabs(b.f) <= 64 && representable(type, v);
  return exact ? float_value(v, 0) : finish_slow(type, facts, v, propagated, 2 * (kMathUlps + exponent));
}

// Remainders jump where the quotient crosses an integer.
Value remainder(Op op, DType type, const FloatFacts& facts, Value a, Value b) {
  const double v = plain_binary(op, a.f, b.f);
  if (!std::isfinite(v)) return nonfinite(op, a, b, v);
  if (a.bound == 0 && b.bound == 0) return finish(type, facts, v, 0);
  const double room = std::fabs(b.f) - b.bound;
  if (!(room > 0)) return float_value(v, kAmbiguous);
  const double q = a.f / b.f;
  const double slack = (a.bound + std::fabs(q) * b.bound) / room;
  const bool jumps =
      op == Op::kFloorMod ? std::floor(q - slack) != std::floor(q + slack) : std::trunc(q - slack) != std::trunc(q + slack);
  if (jumps) return float_value(v, kAmbiguous);
  return finish(type, facts, v, a.bound + std::fabs(q) * b.bound);
}

double sigmoid(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }

double plain_unary(Op op, double a) {
  switch (op) {
    case Op::kExp: return std::exp(a);
    case Op::kLog: return std::log(a);
    case Op::kSqrt: return std::sqrt(a);
    case Op::kRsqrt: return 1 / std::sqrt(a);
    case Op::kTanh: return std::tanh(a);
    case Op::kErf: return std::erf(a);
    case Op::kSigmoid: return std::isnan(a) ? a : sigmoid(a);
    case Op::kSin: return std::sin(a);
    case Op::kCos: return std::cos(a);
    case Op::kTan: return std::tan(a);
    case Op::kAsin: return std::asin(a);
    case Op::kAcos: return std::acos(a);
    case Op::kAtan: return std::atan(a);
    case Op::kSinh: return std::sinh(a);
    case Op::kCosh: return std::cosh(a);
    case Op::kAsinh: return std::asinh(a);
    case Op::kAcosh: return std::acosh(a);
    case Op::kAtanh: return std::atanh(a);
    case Op::kLog1p: return std::log1p(a);
    case Op::kExpm1: return std::expm1(a);
    case Op::kFloor: return std::floor(a);
    case Op::kCeil: return std::ceil(a);
    case Op::kTrunc: return std::trunc(a);
    case Op::kRound: return std::nearbyint(a);
    case Op::kSign: return std::isnan(a) ? a : (a > 0) - (a < 0);
    default: assert(false && "not a floating operation"); return 0;
  }
}

bool is_step(Op op) { return op == Op::kFloor || op == Op::kCeil || op == Op::kTrunc || op == Op::kRound || op == Op::kSign; }

// How far f moves when its operand moves by the bound: both ends for monotone functions, Lipschitz for sine and cosine.
double propagate_unary(Op op, Value a, double v) {
  if (a.bound == 0) return 0;
  if (op == Op::kSin || op == Op::kCos) return a.bound;
  if (op == Op::kExp && a.bound < 1e-3) return v * a.bound * (1 + a.bound);
  const double low = plain_unary(op, a.f - a.bound);
  const double high = plain_unary(op, a.f + a.bound);
  if (!std::isfinite(low) || !std::isfinite(high)) return kAmbiguous;
  if (op == Op::kTan && (high < low || 2 * a.bound >= 3.14)) return kAmbiguous;
  double moved = std::max(std::fabs(low - v), std::fabs(high - v));
  if (op == Op::kCosh && std::fabs(a.f) < a.bound) moved = std::max(moved, v - 1);
  return moved;
}

}  // namespace

FloatFacts float_facts(DType type, bool flush_denormals, std::uint64_t seed) {
  // Unit roundoffs 2^-p, plus 2^-52 for f64, where the reference rounds as coarsely as the kernel.
  switch (type) {
    case DType::kF64: return {0x1p-52, flush_denormals ? 0x1p-1021 : 0x1p-1073, std::numeric_limits<double>::max(), true, seed};
    case DType::kF16: return {0x1.004p-11, 0x1p-24, 65504.0, false, seed};
    case DType::kBF16: return {0x1.02p-8, flush_denormals ? 0x1p-126 : 0x1p-133, 0x1.FEp127, false, seed};
    default: return {0x1.00001p-24, flush_denormals ? 0x1p-126 : 0x1p-149, std::numeric_limits<float>::max(), true, seed};
  }
}

Value finish_slow(DType type, const FloatFacts& facts, double v, double propagated, double ulp_factor) {
  const double size = std::fabs(v);
  const double bound = propagated + ulp_factor * (facts.unit * size + facts.tiny);
  if (!(bound < kAmbiguous) || std::isnan(v)) return float_value(moved(facts, v), kAmbiguous);
  if (size + bound <= facts.largest) return float_value(moved(facts, v), bound);
  // Beyond the largest value: a kernel of this precision has infinity; a 16-bit type may have been computed wider.
  if (type == DType::kF64) return float_value(v, bound);
  if (facts.wide && size - bound > facts.largest) return float_value(std::copysign(kAmbiguous, v), 0);
  return float_value(v, kAmbiguous);
}

Value float_unary(Op op, DType type, const FloatFacts& facts, Value a) {
  if (op == Op::kNeg) return float_value(-a.f, a.bound);
  if (op == Op::kAbs) return float_value(std::fabs(a.f), a.bound);
  if (op == Op::kIsNan || op == Op::kIsInf)
    return int_value(op == Op::kIsNan ? std::isnan(a.f) : std::isinf(a.f), std::isinf(a.bound) ? kAmbiguous : 0);
  const double v = plain_unary(op, a.f);
  if (std::isinf(a.bound)) return float_value(v, kAmbiguous);
  if (is_step(op)) {
    const bool jumps = a.bound != 0 && plain_unary(op, a.f - a.bound) != plain_unary(op, a.f + a.bound);
    return float_value(v, jumps ? kAmbiguous : 0);
  }
  if (!std::isfinite(v)) {
    const bool both = same_nonfinite(plain_unary(op, a.f - a.bound), v) && same_nonfinite(plain_unary(op, a.f + a.bound), v);
    return float_value(v, both ? 0 : kAmbiguous);
  }
  if (!std::isfinite(a.f)) return float_value(v, 0);  // exp(-inf) = 0, tanh(inf) = 1
  const double propagated = propagate_unary(op, a, v);
  if (op == Op::kSqrt) return propagated < kAmbiguous ? finish(type, facts, v, propagated) : float_value(v, kAmbiguous);
  return finish_slow(type, facts, v, propagated, 2 * kMathUlps);
}

Value float_binary(Op op, DType type, const FloatFacts& facts, Value a, Value b) {
  switch (op) {
    case Op::kMin:
    case Op::kMax:
    case Op::kCFMin:
    case Op::kCFMax: return extremum(op, a, b);
    case Op::kDiv: return divide(type, facts, a, b);
    case Op::kPow: return power(type, facts, a, b);
    case Op::kFMod:
    case Op::kTruncMod:
    case Op::kFloorMod: return remainder(op, type, facts, a, b);
    case Op::kFloorDiv: return float_unary(Op::kFloor, type, facts, divide(type, facts, a, b));
    case Op::kTruncDiv: return float_unary(Op::kTrunc, type, facts, divide(type, facts, a, b));
    default: return nonfinite(op, a, b, plain_binary(op, a.f, b.f));
  }
}

Value float_compare(Op op, Value a, Value b) {
  const double slack = a.bound + b.bound;
  const bool ambiguous = slack > 0 && (std::isinf(slack) || std::fabs(a.f - b.f) <= slack);
  bool result = false;
  switch (op) {
    case Op::kLt: result = a.f < b.f; break;
    case Op::kLe: result = a.f <= b.f; break;
    case Op::kGt: result = a.f > b.f; break;
    case Op::kGe: result = a.f >= b.f; break;
    case Op::kEq: result = a.f == b.f; break;
    default: result = a.f != b.f; break;
  }
  return int_value(result, ambiguous ? kAmbiguous : 0);
}

Value float_to_float(DType to, const FloatFacts& facts, Value a) {
  const double v = round_to(to, a.f);
  if (a.bound == 0 || std::isinf(a.bound)) return float_value(v, a.bound);
  if (std::isfinite(v)) {
    if (std::fabs(a.f) + a.bound > facts.largest) return float_value(v, kAmbiguous);
    return float_value(v, a.bound + 2 * facts.unit * std::fabs(a.f) + facts.tiny);
  }
  return float_value(v, same_nonfinite(round_to(to, a.f - a.bound), round_to(to, a.f + a.bound)) ? 0 : kAmbiguous);
}

Value float_to_int(DType to, Value a) {
  if (to == DType::kBool) return float_compare(Op::kNe, a, float_value(0));
  const auto convert = [&](double x) -> std::int64_t {
    if (to == DType::kU64)
      return std::isnan(x) || x <= 0 ? 0 : x >= 0x1p64 ? -1 : static_cast<std::int64_t>(static_cast<std::uint64_t>(x));
    if (to == DType::kI64)
      return std::isnan(x) ? 0 : x >= 0x1p63 ? highest_of(to) : x <= -0x1p63 ? lowest_of(to) : static_cast<std::int64_t>(x);
    return static_cast<std::int64_t>(round_to(to, x));
  };
  const std::int64_t result = convert(a.f);
  if (a.bound == 0) return int_value(result, 0);
  const bool jumps = std::isinf(a.bound) || convert(a.f - a.bound) != result || convert(a.f + a.bound) != result;
  return int_value(result, jumps ? kAmbiguous : 0);
}

Value int_to_float(DType from, DType to, Value a) {
  const bool wide_unsigned = from == DType::kU64;
  if (to == DType::kF32)  // one rounding, not two
    return float_value(wide_unsigned ? static_cast<float>(static_cast<std::uint64_t>(a.i)) : static_cast<float>(a.i), a.bound);
  const double v = wide_unsigned ? static_cast<double>(static_cast<std::uint64_t>(a.i)) : static_cast<double>(a.i);
  return float_value(round_to(to, v), a.bound);
}

Value choose(bool is_float, Value condition, Value then, Value otherwise) {
  const Value chosen = condition.i ? then : otherwise;
  if (condition.bound == 0) return chosen;
  if (!is_float) return then.i == otherwise.i ? chosen : int_value(chosen.i, kAmbiguous);
  // Where both choices agree within their bounds the function is continuous (relu written as a choice).
  const double gap = std::fabs(then.f - otherwise.f);
  if (!(gap <= then.bound + otherwise.bound)) return float_value(chosen.f, kAmbiguous);
  return float_value(chosen.f, gap + std::max(then.bound, otherwise.bound));
}

}  // namespace facet::reference
