// What people should know beside a verb's result: lines on stderr.
#pragma once

#include "facet/machine.hpp"
#include "polyhedral/facet_polyhedral.hpp"
#include "src/driver/options.hpp"

namespace facet {

// One line where the time budget ended before all groups were planned, with the option that gives more.
void warn_of_budget(const Ledger& ledger, const Options& options);

// Which ceilings the plan was made by.
void tell_ceilings(const Options& options, const Machine& machine);

}  // namespace facet
