// repair: the smallest steps before a refused one that make it, and what follows it, legal.
#pragma once

#include <optional>
#include <vector>

#include "polyhedral/transform/apply.hpp"

namespace facet {

struct Repair {
  std::vector<Step> insert;     // before the refused step
  std::optional<Step> instead;  // the refused step with an argument more, in its place

  bool empty() const { return insert.empty() && !instead; }
};

// `before` is the schedule that the first of `steps` was refused on, with `violation`. Empty when no repair is found in the
// small space that is searched, or when the budget ends.
Repair find_repair(const Schedule& before, const std::vector<Step>& steps, const Violation& violation, const Budget& budget);

}  // namespace facet
