// Integer operations of the reference interpreter; see the header for the rules.
#include "src/run/reference/integer.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

namespace facet::reference {

namespace {

using U = std::uint64_t;

int width_of(DType type) { return static_cast<int>(size_bytes(type)) * 8; }

std::int64_t trunc_div(std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return static_cast<std::int64_t>(U{0} - static_cast<U>(a));
  return a / b;
}

std::int64_t trunc_mod(std::int64_t a, std::int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const std::int64_t q = trunc_div(a, b);
  return trunc_mod(a, b) != 0 && ((a < 0) != (b < 0)) ? q - 1 : q;
}

std::int64_t floor_mod(std::int64_t a, std::int64_t b) {
  const std::int64_t r = trunc_mod(a, b);
  return r != 0 && ((r < 0) != (b < 0)) ? r + b : r;
}

// a^b by squaring; a negative exponent gives the truncated real quotient (0, or +-1 for a base of +-1).
std::int64_t power(DType type, std::int64_t a, std::int64_t b) {
  if (b < 0 && is_signed(type)) {
    if (a == 1) return 1;
    if (a == -1) return b % 2 == 0 ? 1 : -1;
    return 0;
  }
  U result = 1;
  U base = static_cast<U>(a);
  for (U e = static_cast<U>(b); e != 0; e >>= 1) {
    if (e & 1) result *= base;
    base *= base;
  }
  return static_cast<std::int64_t>(result);
}

// The operations whose meaning differs for u64 (the smaller unsigned dtypes fit in int64).
bool unsigned64(Op op, std::int64_t a, std::int64_t b, std::int64_t* out) {
  const U x = static_cast<U>(a);
  const U y = static_cast<U>(b);
  switch (op) {
    case Op::kFloorDiv:
    case Op::kTruncDiv: *out = static_cast<std::int64_t>(y == 0 ? 0 : x / y); return true;
    case Op::kFloorMod:
    case Op::kTruncMod:
    case Op::kFMod: *out = static_cast<std::int64_t>(y == 0 ? 0 : x % y); return true;
    case Op::kMin:
    case Op::kCFMin: *out = static_cast<std::int64_t>(std::min(x, y)); return true;
    case Op::kMax:
    case Op::kCFMax: *out = static_cast<std::int64_t>(std::max(x, y)); return true;
    case Op::kLt: *out = x < y; return true;
    case Op::kLe: *out = x <= y; return true;
    case Op::kGt: *out = x > y; return true;
    case Op::kGe: *out = x >= y; return true;
    case Op::kShr: *out = static_cast<std::int64_t>(x >> (y & 63)); return true;
    default: return false;
  }
}

std::int64_t raw_binary(Op op, DType type, std::int64_t a, std::int64_t b) {
  const int shift = static_cast<int>(b & (width_of(type) - 1));
  switch (op) {
    case Op::kAdd: return static_cast<std::int64_t>(static_cast<U>(a) + static_cast<U>(b));
    case Op::kSub: return static_cast<std::int64_t>(static_cast<U>(a) - static_cast<U>(b));
    case Op::kMul: return static_cast<std::int64_t>(static_cast<U>(a) * static_cast<U>(b));
    case Op::kDiv:
    case Op::kTruncDiv: return trunc_div(a, b);
    case Op::kTruncMod:
    case Op::kFMod: return trunc_mod(a, b);
    case Op::kFloorDiv: return floor_div(a, b);
    case Op::kFloorMod: return floor_mod(a, b);
    case Op::kPow: return power(type, a, b);
    case Op::kMin:
    case Op::kCFMin: return std::min(a, b);
    case Op::kMax:
    case Op::kCFMax: return std::max(a, b);
    case Op::kLt: return a < b;
    case Op::kLe: return a <= b;
    case Op::kGt: return a > b;
    case Op::kGe: return a >= b;
    case Op::kEq: return a == b;
    case Op::kNe: return a != b;
    case Op::kAnd: return a != 0 && b != 0;
    case Op::kOr: return a != 0 || b != 0;
    case Op::kXor: return (a != 0) != (b != 0);
    case Op::kBitAnd: return a & b;
    case Op::kBitOr: return a | b;
    case Op::kBitXor: return a ^ b;
    case Op::kShl: return static_cast<std::int64_t>(static_cast<U>(a) << shift);
    case Op::kShr: return a >> shift;
    default: assert(false && "not an integer operation"); return 0;
  }
}

}  // namespace

std::int64_t integer_unary(Op op, DType type, std::int64_t a) {
  switch (op) {
    case Op::kNeg: return wrap(type, static_cast<std::int64_t>(U{0} - static_cast<U>(a)));
    case Op::kNot: return a == 0;
    case Op::kBitNot: return type == DType::kBool ? a == 0 : wrap(type, ~a);
    case Op::kAbs: return a < 0 && is_signed(type) ? integer_unary(Op::kNeg, type, a) : a;
    case Op::kSign: return type == DType::kU64 ? a != 0 : (a > 0) - (a < 0);
    case Op::kIsNan:
    case Op::kIsInf: return 0;
    case Op::kFloor:
    case Op::kCeil:
    case Op::kRound:
    case Op::kTrunc: return a;
    default: assert(false && "not an integer operation"); return 0;
  }
}

std::int64_t integer_binary(Op op, DType type, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (type == DType::kU64 && unsigned64(op, a, b, &result)) return result;
  const bool comparison = op >= Op::kLt && op <= Op::kXor;
  result = raw_binary(op, type, a, b);
  return comparison ? result : wrap(type, result);
}

}  // namespace facet::reference
