// Floating-point functions of the interpreter: basic arithmetic in the type itself, mathematical functions in double.
#include "src/run/interpret/slot_float.hpp"

#include <cmath>

namespace facet::agents {

namespace {

double function_of(Op op, double a) {
  switch (op) {
    case Op::kExp: return std::exp(a);
    case Op::kLog: return std::log(a);
    case Op::kSqrt: return std::sqrt(a);
    case Op::kRsqrt: return 1.0 / std::sqrt(a);
    case Op::kTanh: return std::tanh(a);
    case Op::kErf: return std::erf(a);
    case Op::kSigmoid: return 1.0 / (1.0 + std::exp(-a));
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
    default: return a;
  }
}

template <class T>
T unary_of(Op op, T a) {
  switch (op) {
    case Op::kNeg: return -a;
    case Op::kAbs: return std::fabs(a);
    case Op::kFloor: return std::floor(a);
    case Op::kCeil: return std::ceil(a);
    case Op::kRound: return std::nearbyint(a);
    case Op::kTrunc: return std::trunc(a);
    case Op::kSign: return a != a ? a : static_cast<T>((a > 0) - (a < 0));
    default: return static_cast<T>(function_of(op, static_cast<double>(a)));
  }
}

template <class T>
T floor_mod_of(T a, T b) {
  const T r = std::fmod(a, b);
  return r != 0 && ((r < 0) != (b < 0)) ? r + b : r;
}

template <class T>
T binary_of(Op op, T a, T b) {
  switch (op) {
    case Op::kAdd: return a + b;
    case Op::kSub: return a - b;
    case Op::kMul: return a * b;
    case Op::kDiv: return a / b;
    case Op::kFloorDiv: return std::floor(a / b);
    case Op::kFloorMod: return floor_mod_of(a, b);
    case Op::kTruncDiv: return std::trunc(a / b);
    case Op::kTruncMod:
    case Op::kFMod: return std::fmod(a, b);
    case Op::kPow: return static_cast<T>(std::pow(static_cast<double>(a), static_cast<double>(b)));
    case Op::kMin: return a != a ? a : b != b ? b : b < a ? b : a;
    case Op::kMax: return a != a ? a : b != b ? b : a < b ? b : a;
    case Op::kCFMin: return std::fmin(a, b);
    case Op::kCFMax: return std::fmax(a, b);
    default: return a;
  }
}

}  // namespace

float float_unary(Op op, float a) { return unary_of(op, a); }
double float_unary(Op op, double a) { return unary_of(op, a); }
float float_binary(Op op, float a, float b) { return binary_of(op, a, b); }
double float_binary(Op op, double a, double b) { return binary_of(op, a, b); }

std::int64_t float_compare(Op op, double a, double b) {
  switch (op) {
    case Op::kLt: return a < b;
    case Op::kLe: return a <= b;
    case Op::kGt: return a > b;
    case Op::kGe: return a >= b;
    case Op::kEq: return a == b;
    default: return a != b;
  }
}

}  // namespace facet::agents
