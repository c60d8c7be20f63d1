// Mathematical functions of a naive program: one wrapper for each that is used.
#include <array>
#include <cassert>

#include "src/run/naive/printer.hpp"

namespace facet::naive {

namespace {

struct Function {
  Op op;
  const char* name;
  const char* body;  // of a double x
  const char* kind;  // math, step, wave, or sqrt for a correctly rounded one
};
constexpr std::array kFunctions = {
    Function{Op::kExp, "exp", "std::exp(x)", "math"},           Function{Op::kLog, "log", "std::log(x)", "math"},
    Function{Op::kSqrt, "sqrt", "std::sqrt(x)", "sqrt"},        Function{Op::kRsqrt, "rsqrt", "1 / std::sqrt(x)", "math"},
    Function{Op::kTanh, "tanh", "std::tanh(x)", "math"},        Function{Op::kErf, "erf", "std::erf(x)", "math"},
    Function{Op::kSigmoid, "sigmoid", "sigmoid_of(x)", "math"}, Function{Op::kFloor, "floor", "std::floor(x)", "step"},
    Function{Op::kCeil, "ceil", "std::ceil(x)", "step"},        Function{Op::kRound, "round", "std::nearbyint(x)", "step"},
    Function{Op::kTrunc, "trunc", "std::trunc(x)", "step"},     Function{Op::kSign, "sign", "sign_of(x)", "step"},
    Function{Op::kSin, "sin", "std::sin(x)", "wave"},           Function{Op::kCos, "cos", "std::cos(x)", "wave"},
    Function{Op::kTan, "tan", "std::tan(x)", "math"},           Function{Op::kAsin, "asin", "std::asin(x)", "math"},
    Function{Op::kAcos, "acos", "std::acos(x)", "math"},        Function{Op::kAtan, "atan", "std::atan(x)", "math"},
    Function{Op::kSinh, "sinh", "std::sinh(x)", "math"},        Function{Op::kCosh, "cosh", "std::cosh(x)", "math"},
    Function{Op::kAsinh, "asinh", "std::asinh(x)", "math"},     Function{Op::kAcosh, "acosh", "std::acosh(x)", "math"},
    Function{Op::kAtanh, "atanh", "std::atanh(x)", "math"},     Function{Op::kLog1p, "log1p", "std::log1p(x)", "math"},
    Function{Op::kExpm1, "expm1", "std::expm1(x)", "math"}};

const Function& function_of(Op op) {
  for (const Function& f : kFunctions)
    if (f.op == op) return f;
  assert(false && "not a mathematical function");
  return kFunctions[0];
}

}  // namespace

std::string function_name(Op op) { return std::string(function_of(op).name) + "_real"; }

std::string function_wrappers(const std::set<Op>& functions) {
  std::string text;
  for (const Op op : functions) {
    const Function& f = function_of(op);
    const bool root = std::string(f.kind) == "sqrt";
    text += "template <int P> Real<P> " + function_name(op) + "(Real<P> a) { return " + (root ? "math" : f.kind) +
            "([](double x) { return " + f.body + "; }, a" + (root ? ", 1" : "") + "); }\n";
  }
  return text.empty() ? text : text + "\n";
}

const char* c_type(DType type) {
  switch (type) {
    case DType::kBool: return "bool";
    case DType::kI8: return "std::int8_t";
    case DType::kU8: return "std::uint8_t";
    case DType::kI16: return "std::int16_t";
    case DType::kU16: return "std::uint16_t";
    case DType::kI32: return "std::int32_t";
    case DType::kU32: return "std::uint32_t";
    case DType::kI64: return "std::int64_t";
    case DType::kU64: return "std::uint64_t";
    case DType::kF32: return "float";
    case DType::kF64: return "double";
    default: return "std::uint16_t";  // patterns of f16 and bf16
  }
}

int bits_of(DType type) {
  switch (type) {
    case DType::kF64: return 53;
    case DType::kF16: return 11;
    case DType::kBF16: return 8;
    default: return 24;
  }
}

}  // namespace facet::naive
