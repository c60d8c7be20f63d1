// Factorizations in square tiles, what finished tiles contribute as register-tiled products.
#pragma once

#include <string>
#include <vector>

#include "polyhedral/recipe/planner.hpp"

namespace facet {

struct BlockedNest {
  std::vector<Step> steps;  // empty: the nest is not of this kind
  std::string reason;       // what was chosen
};

// For a nest of permutable loops that all of `statements` share, outermost first; `made` is the schedule in which they stand.
// `expanded`: scalars that were given arrays, which shrink to tiles again.
BlockedNest plan_blocks(const GroupPlanner& planner, const Schedule& made, const std::vector<TreePtr>& shared,
                        const std::vector<int>& statements, const std::vector<std::string>& expanded);

}  // namespace facet
