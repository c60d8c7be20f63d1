// Facts: what is known about indices at one point of a loop tree, and proofs of
// inequalities from it.
//
// Known: symbols lie in their ranges; a loop's iterator lies between its
// bounds; the conditions of enclosing ifs hold. nonnegative(f) eliminates the
// atoms of the linear form f, innermost first, each by one of its bounds
// (Fourier-Motzkin along one path at a time):
//     f = ... + c*x, c > 0:  x >= lower        c < 0:  x <= upper - 1
//     floor(e/d):  (e - d + 1)/d <= floor(e/d) <= e/d min(a, b): prove for both
//     where it enters positively, for either where negatively; max the other
//     way round
// It is sound and not complete: "false" means "not proved". The search is
// bounded (kMaxSteps); forms met in practice need < 20.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/passes/linear.hpp"
#include "facet/loop_ast.hpp"
#include "facet/program.hpp"

namespace facet::passes {

class Facts {
 public:
  explicit Facts(const std::vector<Symbol>& symbols = {});

  // lower <= name < upper (lower may be a max, upper a min).
  void add_range(const std::string& name, const ExprPtr& lower, const ExprPtr& upper);
  // A kBool condition that holds here (conjunctions are taken apart; what is
  // not affine is ignored).
  void add_condition(const ExprPtr& condition);
  void add_negation(const ExprPtr& condition);

  std::vector<ExprPtr> lower_bounds(const std::string& name) const;  // name >= each

  bool nonnegative(const Linear& f) const;
  bool less(const ExprPtr& a, const ExprPtr& b) const;     // a < b
  bool at_most(const ExprPtr& a, const ExprPtr& b) const;  // a <= b
  bool holds(const ExprPtr& condition) const;              // certainly true
  bool fails(const ExprPtr& condition) const;              // certainly false
  bool inside(const std::vector<ExprPtr>& subscripts,
              const std::vector<ExprPtr>& extents) const;  // 0 <= s < extent, each

 private:
  struct Range {
    std::string name;
    std::vector<ExprPtr> lowers;  // name >= each
    std::vector<ExprPtr> uppers;  // name <= each - 1
  };
  std::vector<Range> ranges_;  // outermost first: bounds of a later one may
                               // mention earlier ones
  std::vector<Linear> known_;  // each >= 0

  int rank(const ExprPtr& atom) const;
  bool prove(const Linear& f, int* steps) const;
  bool prove_without(const Linear& f, std::size_t term, int* steps) const;
  bool prove_range(const Linear& f, const Term& t, int* steps) const;
  bool prove_division(const Linear& f, const Term& t, int* steps) const;
  bool prove_choice(const Linear& f, const Term& t, int* steps) const;
};

}  // namespace facet::passes
