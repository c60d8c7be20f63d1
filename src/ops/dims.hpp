// Extents as affine values: a normal form, equality, bounds and products of shape entries.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "facet/program.hpp"

namespace facet {

using Shape = std::vector<ExprPtr>;

std::optional<std::int64_t> constant_of(const ExprPtr& e);

// Sum of coefficient * atom + constant, atoms (symbols, quotients, remainders) in the order of their text.
ExprPtr normal(const ExprPtr& e);

bool same_dim(const ExprPtr& a, const ExprPtr& b);
bool same_shape(const Shape& a, const Shape& b);

// Smallest and largest value over the symbols' ranges (each symbol on its own, assumptions ignored); none if unknown.
std::optional<std::int64_t> lower_bound_of(const ExprPtr& e, const Program& program);
std::optional<std::int64_t> upper_bound_of(const ExprPtr& e, const Program& program);

// Product of extents; none if it would not be affine.
std::optional<ExprPtr> product_of(const Shape& dims);

// Quotient when `a` is exactly a multiple of the constant or of the expression b; none otherwise.
std::optional<ExprPtr> exact_quotient(const ExprPtr& a, const ExprPtr& b);

// e = content * rest with the largest whole content (gcd of all coefficients); content 0 for e = 0.
std::int64_t content_of(const ExprPtr& e);

std::string shape_text(const Shape& shape);  // "[N, 3]"

}  // namespace facet
