// Linear forms: an index expression as c0 + c1*atom1 + c2*atom2 + ... over
// opaque integer atoms.
//
// Every pass that reasons about addresses (is this subscript contiguous along
// the lanes? do these two touch the same element?) asks it here. An atom is an
// index, a symbol, or whatever is not linear: floor(e/c), e mod c, min, max, a
// product, a read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "facet/expr.hpp"

namespace facet::passes {

struct Term {
  ExprPtr atom;                  // kI64 scalar, never a literal, sum, difference or multiple
  std::int64_t coefficient = 0;  // not 0
};

// constant + sum of coefficient * atom. Terms keep the order of first
// appearance, so that text stays as it was written.
struct Linear {
  std::vector<Term> terms;
  std::int64_t constant = 0;

  bool is_constant() const { return terms.empty(); }
  std::int64_t coefficient_of(const std::string& index) const;  // of the plain index atom; 0 if absent
};

Linear constant_form(std::int64_t value);
Linear to_linear(const ExprPtr& e);  // kI64, lanes 1
Linear sum(const Linear& a, const Linear& b,
           std::int64_t scale_b = 1);  // a + scale_b * b
Linear scaled(const Linear& a, std::int64_t factor);
Linear difference(const ExprPtr& a, const ExprPtr& b);  // a - b
ExprPtr to_expr(const Linear& form);                    // positive terms first, then negative ones

// The value of a kI64 literal expression, after folding. False when it is not
// constant.
bool constant_value(const ExprPtr& e, std::int64_t* value);

// Does the index or value `name` occur anywhere in e?
bool mentions(const ExprPtr& e, const std::string& name);

// A kI64 named value that a pass introduced for index arithmetic (marked, so
// that it is told from data).
ExprPtr index_value(const std::string& name);

// No reads and no named data values in e: arithmetic on indices and symbols
// only, which cannot overflow.
bool is_index_arithmetic(const ExprPtr& e);

// The operands of nested min (or max) as one list.
std::vector<ExprPtr> operands_of(Op op, const ExprPtr& e);

std::int64_t floor_div(std::int64_t a, std::int64_t b);

}  // namespace facet::passes
