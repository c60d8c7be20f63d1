// Floating-point functions of the interpreter, for float and double.
#pragma once

#include <cstdint>

#include "facet/expr.hpp"

namespace facet::agents {

// Float functions of f32 are computed in f64 and rounded once, so they are the closest value to within rare double rounding.
float float_unary(Op op, float a);
double float_unary(Op op, double a);
float float_binary(Op op, float a, float b);
double float_binary(Op op, double a, double b);
std::int64_t float_compare(Op op, double a, double b);

}  // namespace facet::agents
