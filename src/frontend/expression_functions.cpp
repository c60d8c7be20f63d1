// The table of scalar functions.
#include "src/frontend/expression_functions.hpp"

namespace facet {

namespace {

constexpr ScalarFunction kFunctions[] = {
    {"exp", Op::kExp, 1, Domain::kFloats},         {"log", Op::kLog, 1, Domain::kFloats},
    {"sqrt", Op::kSqrt, 1, Domain::kFloats},       {"rsqrt", Op::kRsqrt, 1, Domain::kFloats},
    {"tanh", Op::kTanh, 1, Domain::kFloats},       {"erf", Op::kErf, 1, Domain::kFloats},
    {"sigmoid", Op::kSigmoid, 1, Domain::kFloats}, {"sin", Op::kSin, 1, Domain::kFloats},
    {"cos", Op::kCos, 1, Domain::kFloats},         {"tan", Op::kTan, 1, Domain::kFloats},
    {"asin", Op::kAsin, 1, Domain::kFloats},       {"acos", Op::kAcos, 1, Domain::kFloats},
    {"atan", Op::kAtan, 1, Domain::kFloats},       {"sinh", Op::kSinh, 1, Domain::kFloats},
    {"cosh", Op::kCosh, 1, Domain::kFloats},       {"asinh", Op::kAsinh, 1, Domain::kFloats},
    {"acosh", Op::kAcosh, 1, Domain::kFloats},     {"atanh", Op::kAtanh, 1, Domain::kFloats},
    {"log1p", Op::kLog1p, 1, Domain::kFloats},     {"expm1", Op::kExpm1, 1, Domain::kFloats},
    {"floor", Op::kFloor, 1, Domain::kRounding},   {"ceil", Op::kCeil, 1, Domain::kRounding},
    {"round", Op::kRound, 1, Domain::kRounding},   {"trunc", Op::kTrunc, 1, Domain::kRounding},
    {"abs", Op::kAbs, 1, Domain::kNumbers},        {"sign", Op::kSign, 1, Domain::kNumbers},
    {"isnan", Op::kIsNan, 1, Domain::kTest},       {"isinf", Op::kIsInf, 1, Domain::kTest},
    {"pow", Op::kPow, 2, Domain::kNumbers},        {"min", Op::kMin, 2, Domain::kNumbers},
    {"max", Op::kMax, 2, Domain::kNumbers},        {"fmod", Op::kFMod, 2, Domain::kNumbers},
    {"tdiv", Op::kTruncDiv, 2, Domain::kIntegers}, {"tmod", Op::kTruncMod, 2, Domain::kIntegers},
    {"xor", Op::kXor, 2, Domain::kBools},          {"not", Op::kNot, 1, Domain::kBools},
};

}  // namespace

const ScalarFunction* find_function(const std::string& name) {
  for (const ScalarFunction& f : kFunctions)
    if (name == f.name) return &f;
  return nullptr;
}

std::vector<std::string> function_names() {
  std::vector<std::string> names = {"select", "cast"};
  for (const ScalarFunction& f : kFunctions) names.push_back(f.name);
  return names;
}

}  // namespace facet
