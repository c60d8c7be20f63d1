// Reductions in parts for the threads: what the policies for rewrites and for vectors share.
#pragma once

#include <optional>
#include <string>

#include "polyhedral/recipe/planner.hpp"

namespace facet {

// The rewrite that gives every thread parts of the reduction `statement`, where its nest offers the threads nothing else; `why`
// says so. nullopt: it is no such reduction, or threads do not pay. `group_us`: all of the group as scalar code on one thread.
std::optional<Step> parts_for_threads(const Schedule& plain, int statement, const ScheduleOptions& options, double group_us,
                                      std::string* why);

// After that rewrite, with the dependences: does its loop carry nothing but sums from one part to another?
bool parts_run_in_parallel(const Schedule& made, int statement);

// Does the statement sum into parts that are numbered along a loop?
bool has_parts(const Statement& s);

// Parts before the loops of their results where the operand lies so.
void plan_parts(GroupPlanner& planner);

// Loops that run over the parts of a reduction in tiles of one part each: the tiles' loop carries nothing.
void cut_parts(GroupPlanner& planner);

// The statement as the loops around it see it: the number of a part is fixed within the part's tile.
Statement within_parts(const Schedule& schedule, int statement);

}  // namespace facet
