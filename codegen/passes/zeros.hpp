// Sums over copies with padding: which elements of a copy are zero, which products therefore add nothing, and whether to leave
// them out.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/passes/context.hpp"

namespace facet::passes {

// Elements of `buffer` are zero unless 0 <= subscript[dim] + shift < extent.
struct ZeroBorder {
  std::string buffer;
  std::size_t dim = 0;
  ExprPtr shift, extent;
};

// Of the local and workspace arrays that this kernel fills with padded copies only. For a tree whose loops are still scalar.
std::vector<ZeroBorder> zero_borders(const LoopList& body, const Context& context);

// A position that may lie outside of 0 <= position < extent, where the product is zero.
struct BorderTest {
  ExprPtr position, extent;
  bool before = false, behind = false;  // it may be negative; it may reach the extent
};

// set sum = fma(padded, factor, sum), where `padded` is zero outside of the tests.
struct PaddedTerm {
  std::string sum;
  ExprPtr factor;  // a read
  std::vector<BorderTest> tests;
  std::vector<const For*> path;  // loops around it, outermost first
};

// What the search for terms knows at a place.
struct TermScope {
  Facts facts;
  std::map<std::string, ExprPtr> lets;  // named values that are never assigned
  std::vector<const For*> path;

  void enter(const For& f);
  void see(const LoopPtr& node);  // a Let becomes known
};

// The term that a Set adds; false when it is none, or cannot be outside.
bool term_of(const LoopPtr& node, const TermScope& scope, const std::vector<ZeroBorder>& borders, PaddedTerm* term);
// All terms below a block, in textual order.
std::vector<PaddedTerm> terms_in(const LoopList& block, const TermScope& scope, const std::vector<ZeroBorder>& borders);

// Those of the loops that the expressions mention, and that the bounds of these do; outermost first.
std::vector<const For*> loops_of(std::vector<ExprPtr> asks, const std::vector<const For*>& path);

// The policy. The depth in the paths, `from` or more, of the loop in front of which the factors are looked through; -1 where
// that costs more than the products that are saved. `may_stand(depth)`: the factors do not change in that loop.
int depth_of_scan(const std::vector<PaddedTerm>& terms, std::size_t from, const std::function<bool(std::size_t)>& may_stand);

// The mechanism: bounds and conditions that leave those products out.
LoopList skip_zeros(const LoopList& body, const std::vector<ZeroBorder>& borders, Context& context);

}  // namespace facet::passes
