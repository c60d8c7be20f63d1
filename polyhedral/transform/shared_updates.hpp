// shared_updates: `reduction` of the steps that make loops concurrent: may the iterations share updates in that way?
#pragma once

#include "polyhedral/transform/transform.hpp"

namespace facet {

// Complains where the loops, marked as they are, carry no reduction, or where the numerics fix an order that the mark does not
// keep. The loops are found by their ids.
void check_shared_updates(const Schedule& marked, const std::vector<TreePtr>& loops, Arguments& args);

}  // namespace facet
