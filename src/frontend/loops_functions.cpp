// Tables of C functions and constants.
#include "src/frontend/loops_functions.hpp"

#include <limits>

namespace facet {

namespace {

constexpr CMathFunction kFunctions[] = {
    {"exp", Op::kExp, 1, CMathFunction::kMath},          {"log", Op::kLog, 1, CMathFunction::kMath},
    {"sqrt", Op::kSqrt, 1, CMathFunction::kMath},        {"rsqrt", Op::kRsqrt, 1, CMathFunction::kMath},
    {"tanh", Op::kTanh, 1, CMathFunction::kMath},        {"erf", Op::kErf, 1, CMathFunction::kMath},
    {"sigmoid", Op::kSigmoid, 1, CMathFunction::kMath},  {"sin", Op::kSin, 1, CMathFunction::kMath},
    {"cos", Op::kCos, 1, CMathFunction::kMath},          {"tan", Op::kTan, 1, CMathFunction::kMath},
    {"asin", Op::kAsin, 1, CMathFunction::kMath},        {"acos", Op::kAcos, 1, CMathFunction::kMath},
    {"atan", Op::kAtan, 1, CMathFunction::kMath},        {"sinh", Op::kSinh, 1, CMathFunction::kMath},
    {"cosh", Op::kCosh, 1, CMathFunction::kMath},        {"asinh", Op::kAsinh, 1, CMathFunction::kMath},
    {"acosh", Op::kAcosh, 1, CMathFunction::kMath},      {"atanh", Op::kAtanh, 1, CMathFunction::kMath},
    {"log1p", Op::kLog1p, 1, CMathFunction::kMath},      {"expm1", Op::kExpm1, 1, CMathFunction::kMath},
    {"fabs", Op::kAbs, 1, CMathFunction::kMath},         {"floor", Op::kFloor, 1, CMathFunction::kMath},
    {"ceil", Op::kCeil, 1, CMathFunction::kMath},        {"trunc", Op::kTrunc, 1, CMathFunction::kMath},
    {"rint", Op::kRound, 1, CMathFunction::kMath},       {"nearbyint", Op::kRound, 1, CMathFunction::kMath},
    {"round", Op::kRound, 1, CMathFunction::kRoundAway}, {"pow", Op::kPow, 2, CMathFunction::kMath},
    {"fmod", Op::kFMod, 2, CMathFunction::kMath},        {"fmin", Op::kCFMin, 2, CMathFunction::kMath},
    {"fmax", Op::kCFMax, 2, CMathFunction::kMath},       {"min", Op::kMin, 2, CMathFunction::kCommon},
    {"max", Op::kMax, 2, CMathFunction::kCommon},        {"abs", Op::kAbs, 1, CMathFunction::kAbs},
    {"labs", Op::kAbs, 1, CMathFunction::kAbs},          {"isnan", Op::kIsNan, 1, CMathFunction::kTest},
    {"isinf", Op::kIsInf, 1, CMathFunction::kTest}};

struct Constant {
  const char* name;
  double value;
};
// Of math.h, float.h: known where no variable or tensor has the name. Open like literals.
constexpr Constant kConstants[] = {{"INFINITY", std::numeric_limits<double>::infinity()},
                                   {"NAN", std::numeric_limits<double>::quiet_NaN()},
                                   {"M_PI", 3.14159265358979323846},
                                   {"M_E", 2.7182818284590452354},
                                   {"FLT_MAX", std::numeric_limits<float>::max()},
                                   {"FLT_MIN", std::numeric_limits<float>::min()},
                                   {"FLT_EPSILON", std::numeric_limits<float>::epsilon()},
                                   {"DBL_MAX", std::numeric_limits<double>::max()},
                                   {"DBL_EPSILON", std::numeric_limits<double>::epsilon()}};

}  // namespace

const CMathFunction* find_c_function(const std::string& name, char* suffix) {
  *suffix = 0;
  for (const CMathFunction& f : kFunctions)
    if (name == f.name) return &f;
  if (name.size() < 2 || (name.back() != 'f' && name.back() != 'l')) return nullptr;
  for (const CMathFunction& f : kFunctions) {
    if (name.substr(0, name.size() - 1) != f.name || f.kind == CMathFunction::kCommon || f.kind == CMathFunction::kAbs)
      continue;
    *suffix = name.back();
    return &f;
  }
  return nullptr;
}

std::vector<std::string> c_function_names() {
  std::vector<std::string> names;
  for (const CMathFunction& f : kFunctions) names.push_back(f.name);
  return names;
}

const double* find_c_constant(const std::string& name) {
  for (const Constant& c : kConstants)
    if (name == c.name) return &c.value;
  return nullptr;
}

}  // namespace facet
