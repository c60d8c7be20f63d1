// predict: what a schedule costs at typical sizes, by counting. Compared between schedules, never taken for a measurement.
#pragma once

#include "polyhedral/facet_polyhedral.hpp"
#include "polyhedral/schedule.hpp"

namespace facet {

// Throws isl's exceptions: call it inside guarded().
Prediction predict(const Schedule& schedule, const ScheduleOptions& options);

}  // namespace facet
