// The scalar functions of equations and of C loop nests, one line each.
#pragma once

#include <string>
#include <vector>

#include "facet/expr.hpp"

namespace facet {

enum class Domain {
  kFloats,    // floats only
  kRounding,  // floats; on integers the identity
  kNumbers,   // floats and integers
  kIntegers,
  kBools,
  kTest,  // floats -> bool
};

struct ScalarFunction {
  const char* name;
  Op op;
  int arguments;
  Domain domain;
};

// The table of equations; null if there is none of that name. min and max take two or more arguments.
// select and cast are not in it: they have rules of their own.
const ScalarFunction* find_function(const std::string& name);
std::vector<std::string> function_names();

}  // namespace facet
