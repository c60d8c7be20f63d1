// apply: runs a step, asks legality, keeps or refuses. A refused step changes nothing.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "facet/recipe.hpp"
#include "polyhedral/legality.hpp"
#include "polyhedral/transform/transform.hpp"

namespace facet {

// Why a step did not happen: the diagnostic, and for an illegal step the violated pair.
struct StepRefusal {
  Diagnostic diagnostic;
  std::optional<Violation> violation;
  std::shared_ptr<const Schedule> schedule;  // with the violated pair: what the step would have made
  int step = -1;                             // position in the list, for apply_steps
};

struct StepOutcome {
  std::optional<Schedule> schedule;  // the new schedule, or none when refused
  std::optional<StepRefusal> refusal;
};

StepOutcome apply_step(const Schedule& schedule, const Step& step, const Budget& budget);

// All steps in order; stops at the first refusal.
StepOutcome apply_steps(const Schedule& schedule, const std::vector<Step>& steps, const Budget& budget);

}  // namespace facet
