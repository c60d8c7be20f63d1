// replay: a refused step's witness as programs to run, in the original order and in the refused one.
#pragma once

#include "polyhedral/facet_polyhedral.hpp"
#include "polyhedral/transform/apply.hpp"

namespace facet {

// `original` is the group in the program's own order; `refusal` holds a violated pair and the schedule that was refused.
Replay make_replay(const Schedule& original, const StepRefusal& refusal, const Budget& budget);

}  // namespace facet
