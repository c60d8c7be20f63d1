// Variants: which sizes each variant of a recipe serves. They are tried in order; the first whose condition holds is taken.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "facet/program.hpp"
#include "facet/recipe.hpp"

namespace facet {

struct VariantCase {
  int index = 0;                           // position in Recipe::variants
  ExprPtr when;                            // its condition and none before it; null: every size
  std::shared_ptr<const Program> program;  // for these sizes: its own condition is one more assumption
  SymbolValues sizes;                      // the sizes nearest to the typical ones that it serves
  std::string never;                       // why no allowed sizes are served by it; "" when some are
};

// One for each variant, in order. `typical` sizes may lack symbols. Throws isl's exceptions: call it inside guarded().
std::vector<VariantCase> cases_of(const Program& program, const Recipe& recipe, const SymbolValues& given);

}  // namespace facet
