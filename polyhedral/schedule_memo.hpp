// What planning has scheduled and judged already, for scheduling the same recipe right after it.
#pragma once

#include <string>
#include <vector>

#include "facet/recipe.hpp"
#include "polyhedral/schedule.hpp"

namespace facet {

struct ScheduleMemo {
  struct Entry {
    int variant = 0;  // position in the recipe
    std::vector<int> nodes;
    std::vector<Step> steps;
    Schedule original, scheduled;  // before and after the steps
  };
  const Program* program = nullptr;  // the caller's object that was planned
  std::vector<Entry> entries;

  // Null unless planning ended with just these steps.
  const Entry* find(int variant, const std::vector<int>& nodes, const std::vector<Step>& steps) const {
    for (const Entry& e : entries)
      if (e.variant == variant && e.nodes == nodes && e.steps == steps) return &e;
    return nullptr;
  }
};

}  // namespace facet
