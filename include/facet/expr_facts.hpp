// Questions about expressions that passes, models and front ends ask.
#pragma once

#include <string>
#include <vector>

#include "facet/expr.hpp"

namespace facet {

// Does the index, loop variable or symbol `name` occur in e?
bool mentions_index(const ExprPtr& e, const std::string& name);
bool mentions_index(const std::vector<ExprPtr>& list, const std::string& name);

// A function that a machine computes by many operations: exp, log, sqrt, tanh, erf, sin, pow, fmod, ...
bool is_function(Op op);
inline constexpr int kFunctionOperations = 10;  // as how many operations models count one: a polynomial and its reduction

}  // namespace facet
