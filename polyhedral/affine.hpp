// Index expressions <-> isl: quasi-affine ExprPtr trees become isl text, isl affine expressions become ExprPtr trees.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "facet/expr.hpp"
#include "facet/program.hpp"
#include "polyhedral/isl/isl.hpp"

namespace facet {

// isl names never clash with isl's keywords: parameters are "p_NAME", statements "S_NAME", arrays "A_NAME" (dots become "__").
std::string parameter_id(const std::string& symbol);
std::string statement_id(const std::string& statement);
std::string array_id(const std::string& array);

// isl text of a quasi-affine expression or condition; iterators print as i0, i1, ... by their position in `iterators`.
// nullopt when it is not quasi-affine (a product of indices, a tensor element, ...).
std::optional<std::string> isl_text(const ExprPtr& e, const std::vector<std::string>& iterators);

// "[p_N, p_M] -> " for all symbols, "" without symbols.
std::string parameter_prefix(const std::vector<Symbol>& symbols);

// "S_h0[i0, i1]"
std::string tuple_text(const std::string& id, std::size_t arity);

// { : min <= p_N <= max and assumptions }
isl::set context_of(const std::vector<Symbol>& symbols, const std::vector<ExprPtr>& assumptions);

// An isl affine expression as index arithmetic: input dimension d becomes dims[d], parameters become symbol names.
ExprPtr expr_of(const isl::aff& aff, const std::vector<ExprPtr>& dims);

// high - low + 1; not below zero where a symbol within `context` leaves nothing between the bounds: a negative extent would
// make its array smaller than none.
ExprPtr extent_of(const DimensionBounds& bounds, const isl::set& context);

// An isl AST expression: identifiers go through `lookup`.
ExprPtr expr_of(const isl::ast_expr& e, const std::function<ExprPtr(const std::string&)>& lookup);

}  // namespace facet
