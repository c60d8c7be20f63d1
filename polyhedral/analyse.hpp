// analyse: a group of nodes as its statements, their dependences, and the schedule of the program's own order.
#pragma once

#include "polyhedral/facet_polyhedral.hpp"
#include "polyhedral/lower.hpp"
#include "polyhedral/partition.hpp"
#include "polyhedral/schedule.hpp"

namespace facet {

Budget budget_of(const ScheduleOptions& options);

// The schedule without dependences. Lowering is linear and runs without a quota, so that a program always has a schedule.
Result<Schedule> lower_group(const Program& program, const ReaderIndex& readers, const NodeGroup& group);

// With its dependences, which run under `budget`; after the group's rewrites.
Result<Schedule> analyse(const Program& program, const ReaderIndex& readers, const NodeGroup& group, const Budget& budget,
                         const std::vector<Step>& rewrites = {});

}  // namespace facet
