// Scalar arithmetic of the interpreter: integers (wrapping, floor and C division), comparison, casts, memory formats.
// Floating-point functions are in slot_float.cpp.
#include "src/run/interpret/slot.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "facet/host_tensor.hpp"
#include "src/run/interpret/slot_float.hpp"

namespace facet::agents {

namespace {

bool is_unsigned(DType t) {
  return t == DType::kU8 || t == DType::kU16 || t == DType::kU32 || t == DType::kU64 || t == DType::kBool;
}

std::int64_t width_bits(DType t) { return size_bytes(t) * 8; }

std::uint64_t bits(std::int64_t a) { return static_cast<std::uint64_t>(a); }

// C's quotient and remainder; a zero divisor gives 0 for both, MIN / -1 wraps (contract V2).
std::int64_t trunc_div(DType t, std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  if (t == DType::kU64) return static_cast<std::int64_t>(bits(a) / bits(b));
  if (b == -1) return wrap(t, static_cast<std::int64_t>(0 - bits(a)));
  return a / b;
}

std::int64_t trunc_mod(DType t, std::int64_t a, std::int64_t b) {
  if (b == 0 || (b == -1 && t != DType::kU64)) return 0;
  if (t == DType::kU64) return static_cast<std::int64_t>(bits(a) % bits(b));
  return a % b;
}

std::int64_t floor_div(DType t, std::int64_t a, std::int64_t b) {
  const std::int64_t q = trunc_div(t, a, b);
  if (is_unsigned(t) || b == 0) return q;
  return trunc_mod(t, a, b) != 0 && ((a < 0) != (b < 0)) ? q - 1 : q;
}

std::int64_t floor_mod(DType t, std::int64_t a, std::int64_t b) {
  const std::int64_t r = trunc_mod(t, a, b);
  return !is_unsigned(t) && r != 0 && ((r < 0) != (b < 0)) ? r + b : r;
}

bool less(DType t, std::int64_t a, std::int64_t b) { return t == DType::kU64 ? bits(a) < bits(b) : a < b; }

// Powers by squaring, wrapping; a negative exponent leaves only +-1 (others round to 0).
std::int64_t int_pow(DType t, std::int64_t base, std::int64_t exponent) {
  if (exponent < 0 && !is_unsigned(t)) return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  std::uint64_t result = 1, square = bits(base);
  for (std::uint64_t e = bits(exponent); e; e >>= 1, square *= square)
    if (e & 1) result *= square;
  return wrap(t, static_cast<std::int64_t>(result));
}

std::int64_t shift_right(DType t, std::int64_t a, std::int64_t count) {
  return t == DType::kU64 ? static_cast<std::int64_t>(bits(a) >> count) : a >> count;
}

std::int64_t int_binary(Op op, DType t, std::int64_t a, std::int64_t b) {
  const auto wrapped = [t](std::uint64_t v) { return wrap(t, static_cast<std::int64_t>(v)); };
  const std::int64_t count = b & (width_bits(t) - 1);
  switch (op) {
    case Op::kAdd: return wrapped(bits(a) + bits(b));
    case Op::kSub: return wrapped(bits(a) - bits(b));
    case Op::kMul: return wrapped(bits(a) * bits(b));
    case Op::kDiv:
    case Op::kTruncDiv: return trunc_div(t, a, b);
    case Op::kFMod:
    case Op::kTruncMod: return trunc_mod(t, a, b);
    case Op::kFloorDiv: return wrap(t, floor_div(t, a, b));
    case Op::kFloorMod: return floor_mod(t, a, b);
    case Op::kPow: return int_pow(t, a, b);
    case Op::kMin:
    case Op::kCFMin: return less(t, b, a) ? b : a;
    case Op::kMax:
    case Op::kCFMax: return less(t, a, b) ? b : a;
    case Op::kLt: return less(t, a, b);
    case Op::kLe: return !less(t, b, a);
    case Op::kGt: return less(t, b, a);
    case Op::kGe: return !less(t, a, b);
    case Op::kEq: return a == b;
    case Op::kNe: return a != b;
    case Op::kAnd: return a && b;
    case Op::kOr: return a || b;
    case Op::kXor: return !a != !b;
    case Op::kBitAnd: return a & b;
    case Op::kBitOr: return a | b;
    case Op::kBitXor: return wrap(t, a ^ b);
    case Op::kShl: return wrapped(bits(a) << count);
    case Op::kShr: return shift_right(t, a, count);
    default: return 0;
  }
}

std::int64_t int_unary(Op op, DType t, std::int64_t a) {
  switch (op) {
    case Op::kNeg: return wrap(t, static_cast<std::int64_t>(0 - bits(a)));
    case Op::kNot: return !a;
    case Op::kBitNot: return wrap(t, ~a);
    case Op::kAbs: return !is_unsigned(t) && a < 0 ? wrap(t, static_cast<std::int64_t>(0 - bits(a))) : a;
    case Op::kSign: return is_unsigned(t) ? a != 0 : (a > 0) - (a < 0);
    case Op::kIsNan:
    case Op::kIsInf: return 0;
    default: return a;  // floor, ceil, round, trunc
  }
}

// Saturating conversion; NaN gives 0.
std::int64_t float_to_int(DType to, double v) {
  if (to == DType::kBool) return v != 0;
  if (std::isnan(v)) return 0;
  if (to == DType::kU64) {
    if (v <= 0) return 0;
    return v >= 18446744073709551616.0 ? -1 : static_cast<std::int64_t>(static_cast<std::uint64_t>(v));
  }
  const int bits_total = static_cast<int>(width_bits(to));
  const double high = std::ldexp(1.0, is_unsigned(to) ? bits_total : bits_total - 1);
  const double low = is_unsigned(to) ? 0.0 : -high;
  if (v >= high) return to == DType::kI64 ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(high) - 1;
  if (v <= low) return to == DType::kI64 ? std::numeric_limits<std::int64_t>::min() : static_cast<std::int64_t>(low);
  return static_cast<std::int64_t>(v);
}

float round_half(DType t, float v) {
  if (t == DType::kF16) return f16_to_f32(f32_to_f16(v));
  if (t == DType::kBF16) return bf16_to_f32(f32_to_bf16(v));
  return v;
}

template <class T>
T load_as(const void* address) {
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

template <class T>
void store_as(void* address, T value) {
  std::memcpy(address, &value, sizeof value);
}

}  // namespace

std::int64_t wrap(DType type, std::int64_t v) {
  switch (type) {
    case DType::kBool: return v != 0;
    case DType::kI8: return static_cast<std::int8_t>(v);
    case DType::kU8: return static_cast<std::uint8_t>(v);
    case DType::kI16: return static_cast<std::int16_t>(v);
    case DType::kU16: return static_cast<std::uint16_t>(v);
    case DType::kI32: return static_cast<std::int32_t>(v);
    case DType::kU32: return static_cast<std::uint32_t>(v);
    default: return v;
  }
}

Slot literal_slot(DType type, double float_value, std::int64_t int_value) {
  if (type == DType::kF64) return slot_of_f64(float_value);
  if (is_float(type)) return slot_of_f32(round_half(type, static_cast<float>(float_value)));
  return slot_of(wrap(type, int_value));
}

Slot unary_slot(Op op, DType type, Slot a) {
  if (!is_float(type)) return slot_of(int_unary(op, type, a.i));
  if (op == Op::kIsNan) return slot_of(type == DType::kF64 ? std::isnan(a.d) : std::isnan(a.f));
  if (op == Op::kIsInf) return slot_of(type == DType::kF64 ? std::isinf(a.d) : std::isinf(a.f));
  return type == DType::kF64 ? slot_of_f64(float_unary(op, a.d)) : slot_of_f32(float_unary(op, a.f));
}

Slot binary_slot(Op op, DType type, Slot a, Slot b) {
  if (!is_float(type)) return slot_of(int_binary(op, type, a.i, b.i));
  if (op >= Op::kLt && op <= Op::kNe)
    return slot_of(type == DType::kF64 ? float_compare(op, a.d, b.d) : float_compare(op, a.f, b.f));
  return type == DType::kF64 ? slot_of_f64(float_binary(op, a.d, b.d)) : slot_of_f32(float_binary(op, a.f, b.f));
}

Slot cast_slot(DType from, DType to, Slot a) {
  if (is_float(to)) {
    if (to == DType::kF64) return slot_of_f64(slot_value(from, a));
    float v = a.f;
    if (from == DType::kF64) {
      // f64 -> 16 bits must round once: go through the target's own rounding of the double.
      v = to == DType::kF32 ? static_cast<float>(a.d) : static_cast<float>(round_to(to, a.d));
    } else if (from == DType::kU64) {
      v = static_cast<float>(bits(a.i));
    } else if (!is_float(from)) {
      v = static_cast<float>(a.i);
    }
    return slot_of_f32(round_half(to, v));
  }
  if (is_float(from)) return slot_of(float_to_int(to, slot_value(from, a)));
  return slot_of(wrap(to, a.i));
}

Slot fma_slot(DType type, Slot a, Slot b, Slot c) {
  if (type == DType::kF64) return slot_of_f64(std::fma(a.d, b.d, c.d));
  if (is_float(type)) return slot_of_f32(std::fma(a.f, b.f, c.f));
  return binary_slot(Op::kAdd, type, binary_slot(Op::kMul, type, a, b), c);
}

Slot identity_slot(ReduceKind kind, DType type) {
  const double inf = std::numeric_limits<double>::infinity();
  switch (kind) {
    case ReduceKind::kProd:
    case ReduceKind::kAll: return literal_slot(type, 1.0, 1);
    case ReduceKind::kMax:
      if (is_float(type)) return literal_slot(type, -inf, 0);
      return slot_of(is_unsigned(type) ? 0 : std::numeric_limits<std::int64_t>::min() >> (64 - width_bits(type)));
    case ReduceKind::kMin:
      if (is_float(type)) return literal_slot(type, inf, 0);
      if (type == DType::kBool) return slot_of(1);
      return slot_of(is_unsigned(type) ? wrap(type, -1) : std::numeric_limits<std::int64_t>::max() >> (64 - width_bits(type)));
    default: return literal_slot(type, 0.0, 0);
  }
}

Slot combine_slot(ReduceKind kind, DType type, Slot a, Slot b) {
  switch (kind) {
    case ReduceKind::kSum: return binary_slot(Op::kAdd, type, a, b);
    case ReduceKind::kProd: return binary_slot(Op::kMul, type, a, b);
    case ReduceKind::kMax: return binary_slot(Op::kMax, type, a, b);
    case ReduceKind::kMin: return binary_slot(Op::kMin, type, a, b);
    case ReduceKind::kAny: return slot_of(a.i || b.i);
    case ReduceKind::kAll: return slot_of(a.i && b.i);
    default: return a;
  }
}

Slot load_slot(DType type, const void* p) {
  switch (type) {
    case DType::kBool: return slot_of(load_as<std::uint8_t>(p) != 0);
    case DType::kI8: return slot_of(load_as<std::int8_t>(p));
    case DType::kU8: return slot_of(load_as<std::uint8_t>(p));
    case DType::kI16: return slot_of(load_as<std::int16_t>(p));
    case DType::kU16: return slot_of(load_as<std::uint16_t>(p));
    case DType::kI32: return slot_of(load_as<std::int32_t>(p));
    case DType::kU32: return slot_of(load_as<std::uint32_t>(p));
    case DType::kI64:
    case DType::kU64: return slot_of(load_as<std::int64_t>(p));
    case DType::kF16: return slot_of_f32(f16_to_f32(load_as<std::uint16_t>(p)));
    case DType::kBF16: return slot_of_f32(bf16_to_f32(load_as<std::uint16_t>(p)));
    case DType::kF32: return slot_of_f32(load_as<float>(p));
    case DType::kF64: return slot_of_f64(load_as<double>(p));
  }
  return slot_of(0);
}

void store_slot(DType type, void* p, Slot v) {
  switch (type) {
    case DType::kBool: return store_as(p, static_cast<std::uint8_t>(v.i != 0));
    case DType::kI8:
    case DType::kU8: return store_as(p, static_cast<std::uint8_t>(v.i));
    case DType::kI16:
    case DType::kU16: return store_as(p, static_cast<std::uint16_t>(v.i));
    case DType::kI32:
    case DType::kU32: return store_as(p, static_cast<std::uint32_t>(v.i));
    case DType::kI64:
    case DType::kU64: return store_as(p, v.i);
    case DType::kF16: return store_as(p, f32_to_f16(v.f));
    case DType::kBF16: return store_as(p, f32_to_bf16(v.f));
    case DType::kF32: return store_as(p, v.f);
    case DType::kF64: return store_as(p, v.d);
  }
}

double slot_value(DType type, Slot a) {
  if (type == DType::kF64) return a.d;
  if (is_float(type)) return static_cast<double>(a.f);
  return type == DType::kU64 ? static_cast<double>(bits(a.i)) : static_cast<double>(a.i);
}

}  // namespace facet::agents
