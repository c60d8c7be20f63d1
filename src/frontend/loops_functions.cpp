// Tables of C functions and constants.
#include "src/frontend/loops_functions.hpp"

#include <limits>

namespace facet {

namespace {

constexpr CFunction kFunctions[] = {
    {"exp", Op::kExp, 1, CFunction::kMath},          {"log", Op::kLog, 1, CFunction::kMath},
    {"sqrt", Op::kSqrt, 1, CFunction::kMath},        {"rsqrt", Op::kRsqrt, 1, CFunction::kMath},
    {"tanh", Op::kTanh, 1, CFunction::kMath},        {"erf", Op::kErf, 1, CFunction::kMath},
    {"sigmoid", Op::kSigmoid, 1, CFunction::kMath},  {"sin", Op::kSin, 1, CFunction::kMath},
    {"cos", Op::kCos, 1, CFunction::kMath},          {"tan", Op::kTan, 1, CFunction::kMath},
    {"asin", Op::kAsin, 1, CFunction::kMath},        {"acos", Op::kAcos, 1, CFunction::kMath},
    {"atan", Op::kAtan, 1, CFunction::kMath},        {"sinh", Op::kSinh, 1, CFunction::kMath},
    {"cosh", Op::kCosh, 1, CFunction::kMath},        {"asinh", Op::kAsinh, 1, CFunction::kMath},
    {"acosh", Op::kAcosh, 1, CFunction::kMath},      {"atanh", Op::kAtanh, 1, CFunction::kMath},
    {"log1p", Op::kLog1p, 1, CFunction::kMath},      {"expm1", Op::kExpm1, 1, CFunction::kMath},
    {"fabs", Op::kAbs, 1, CFunction::kMath},         {"floor", Op::kFloor, 1, CFunction::kMath},
    {"ceil", Op::kCeil, 1, CFunction::kMath},        {"trunc", Op::kTrunc, 1, CFunction::kMath},
    {"rint", Op::kRound, 1, CFunction::kMath},       {"nearbyint", Op::kRound, 1, CFunction::kMath},
    {"round", Op::kRound, 1, CFunction::kRoundAway}, {"pow", Op::kPow, 2, CFunction::kMath},
    {"fmod", Op::kFMod, 2, CFunction::kMath},        {"fmin", Op::kCFMin, 2, CFunction::kMath},
    {"fmax", Op::kCFMax, 2, CFunction::kMath},       {"min", Op::kMin, 2, CFunction::kCommon},
    {"max", Op::kMax, 2, CFunction::kCommon},        {"abs", Op::kAbs, 1, CFunction::kAbs},
    {"labs", Op::kAbs, 1, CFunction::kAbs},          {"isnan", Op::kIsNan, 1, CFunction::kTest},
    {"isinf", Op::kIsInf, 1, CFunction::kTest}};

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

const CFunction* find_c_function(const std::string& name, char* suffix) {
  *suffix = 0;
  for (const CFunction& f : kFunctions)
    if (name == f.name) return &f;
  if (name.size() < 2 || (name.back() != 'f' && name.back() != 'l')) return nullptr;
  for (const CFunction& f : kFunctions) {
    if (name.substr(0, name.size() - 1) != f.name || f.kind == CFunction::kCommon || f.kind == CFunction::kAbs) continue;
    *suffix = name.back();
    return &f;
  }
  return nullptr;
}

std::vector<std::string> c_function_names() {
  std::vector<std::string> names;
  for (const CFunction& f : kFunctions) names.push_back(f.name);
  return names;
}

const double* find_c_constant(const std::string& name) {
  for (const Constant& c : kConstants)
    if (name == c.name) return &c.value;
  return nullptr;
}

}  // namespace facet
