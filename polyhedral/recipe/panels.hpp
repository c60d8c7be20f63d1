// Orthogonalizations: panels of columns stay in the second cache while one finished column after another meets them.
#pragma once

#include "polyhedral/recipe/blocks.hpp"

namespace facet {

// For a nest of two permutable loops that all of `statements` share, outermost first; `made` is the schedule in which they
// stand.
BlockedNest plan_panels(const GroupPlanner& planner, const Schedule& made, const std::vector<TreePtr>& shared,
                        const std::vector<int>& statements);

}  // namespace facet
