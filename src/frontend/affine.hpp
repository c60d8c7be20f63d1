// Quasi-affine index expressions: shapes, bounds, subscripts and conditions.
//
// Allowed are + and -, products with a constant, / and % by a positive constant, min and max, and (where the caller's leaf
// function says so) integer tensor elements as opaque terms. Constants are folded, with overflow checked.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "facet/expr.hpp"
#include "facet/result.hpp"
#include "src/frontend/expression.hpp"

namespace facet {

// A shape entry as text, "2*N+1" (kI64). `symbols` are the only names.
Result<ExprPtr> parse_affine(const std::string& text, const std::vector<std::string>& symbols, const Place& place);

// A condition on symbols, "N % 16 == 0 and M < N" (kBool): an assumption, or `when` of a recipe.
Result<ExprPtr> parse_condition(const std::string& text, const std::vector<std::string>& symbols, const Place& place);

// True when `e` (kI64, or kBool with comparisons and logic) is quasi-affine in `names` and uses no other name.
bool is_affine(const ExprPtr& e, const std::set<std::string>& names);

// b - a when that is the same number for all values of the names, else nothing. N + 1 and 1 + N differ by 0.
std::optional<std::int64_t> constant_difference(const ExprPtr& a, const ExprPtr& b);

// Gives the value of a name, element or call that index arithmetic does not know; null after adding to the errors.
using IndexLeaf = std::function<ExprPtr(const Syntax&)>;

// Builds index expressions from syntax. Null results mean that a diagnostic was added to `errors`.
class IndexBuilder {
 public:
  IndexBuilder(const SourceText& source, Language language, IndexLeaf leaf, Diagnostics* errors)
      : source_(source), language_(language), leaf_(std::move(leaf)), errors_(errors) {}

  ExprPtr index(const Syntax& s);      // kI64. In C, / and % truncate (kTruncDiv, kTruncMod)
  ExprPtr condition(const Syntax& s);  // kBool

 private:
  ExprPtr arithmetic(const Syntax& s);
  ExprPtr divide(const Syntax& s, const ExprPtr& a, const ExprPtr& b);
  ExprPtr extreme(const Syntax& s);
  ExprPtr fail(const Syntax& s, const std::string& why);

  const SourceText& source_;
  Language language_;
  IndexLeaf leaf_;
  Diagnostics* errors_;
};

}  // namespace facet
