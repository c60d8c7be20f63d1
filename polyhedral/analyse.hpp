// analyse: a group of nodes as its statements, their dependences, and the schedule of the program's own order.
#pragma once

#include "polyhedral/facet_polyhedral.hpp"
#include "polyhedral/partition.hpp"
#include "polyhedral/schedule.hpp"

namespace facet {

Budget budget_of(const ScheduleOptions& options);

// Lowering is linear and runs without a quota, so that a program always has a schedule; the dependences run under `budget`.
Result<Schedule> analyse(const Program& program, const NodeGroup& group, const Budget& budget);

}  // namespace facet
