// holes: arguments that a recipe leaves to the scheduler, completed by the model; what is fixed stays.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "polyhedral/recipe/planner.hpp"

namespace facet {

bool has_hole(const Step& step);

// A place inside a step's arguments that holds "?": the argument, and the position in its list (-1: the argument itself).
struct HoleSlot {
  std::string argument;
  int position = -1;
};

bool is_listed_text(const std::string& argument);  // a text that is one of a few words

// What may stand there, the preferred value first; empty: nothing that the scheduler would choose. The step's earlier holes are
// filled. A value of kind Hole means: leave the argument out.
std::vector<Argument> hole_candidates(const Schedule& schedule, const ScheduleOptions& options, const Step& step,
                                      const HoleSlot& slot);

// Completes the steps of one group in order. A step "?" stands for all that the policies would do from there on: `rest` does
// it. Tells the ledger each choice with its predicted time, and which fixed step keeps the result from being about as good as
// the scheduler's own. A refusal of a fixed step, and a hole for which nothing is legal, are errors.
Result<std::vector<Step>> complete_steps(const Schedule& original, const std::vector<Step>& steps,
                                         const ScheduleOptions& options, const Budget& budget,
                                         const std::function<void(GroupPlanner&)>& rest, Ledger& ledger);

}  // namespace facet
