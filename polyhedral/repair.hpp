// repair: the smallest steps before a refused one that make it, and what follows it, legal; or at least the refused one.
#pragma once

#include <optional>
#include <vector>

#include "polyhedral/transform/apply.hpp"

namespace facet {

struct Repair {
  std::vector<Step> insert;     // before the refused step
  std::optional<Step> instead;  // the refused step with an argument more, in its place

  // Not empty: the repair serves the refused step, and this is what refuses a later one; its `step` counts in `steps`.
  std::optional<StepRefusal> still;

  bool empty() const { return insert.empty() && !instead; }
};

// `before` is the schedule that the first of `steps` was refused on, with `violation`. Where nothing in the small space that is
// searched makes all of `steps` legal, the repair is the first of those that bring most of them to pass. Empty when there is
// none either, or when the budget ends before one is found.
Repair find_repair(const Schedule& before, const std::vector<Step>& steps, const Violation& violation, const Budget& budget);

}  // namespace facet
