// Winograd convolutions: whether they pay, and how their stages run.
#pragma once

#include "polyhedral/recipe/planner.hpp"

namespace facet {

// Steps for the stages that the rewrite `winograd` has made; false where those of some product are in no form that it knows.
bool plan_winograd(GroupPlanner& planner);

// The tile of the rewrite that is estimated to pay for this statement; 0: none.
std::int64_t winograd_tile(const GroupPlanner& planner, int statement);

}  // namespace facet
