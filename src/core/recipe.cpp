// Comparison of recipes' steps.
#include "facet/recipe.hpp"

namespace facet {

bool operator==(const Argument& a, const Argument& b) { return a.value == b.value; }

bool operator==(const Step& a, const Step& b) { return a.verb == b.verb && a.arguments == b.arguments; }

}  // namespace facet
