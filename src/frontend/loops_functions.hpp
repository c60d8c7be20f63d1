// The functions and constants of math.h that op `loops` knows.
#pragma once

#include <string>
#include <vector>

#include "facet/expr.hpp"

namespace facet {

struct CMathFunction {
  const char* name;
  Op op;
  int arguments;
  enum Kind {
    kMath,       // floats -> float; integers are converted
    kTest,       // float -> bool
    kCommon,     // min, max: two or more arguments of one common type
    kAbs,        // floats and integers
    kRoundAway,  // round: half away from zero
  } kind;
};

// By name, or by name and C's suffix: then `suffix` is 'f' or 'l', else 0. Null if there is none.
const CMathFunction* find_c_function(const std::string& name, char* suffix);
std::vector<std::string> c_function_names();

// INFINITY, M_PI and so on; null if there is none.
const double* find_c_constant(const std::string& name);

}  // namespace facet
