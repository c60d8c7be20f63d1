// tell_updates: what became of the updates that a schedule's concurrent loops share, for the ledger.
#pragma once

#include "polyhedral/facet_polyhedral.hpp"
#include "polyhedral/schedule.hpp"

namespace facet {

void tell_updates(const Schedule& schedule, Ledger* ledger);

}  // namespace facet
