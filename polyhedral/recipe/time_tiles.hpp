// Tiles over time: what the policy hands to its model, and what it gets back.
#pragma once

#include <string>
#include <vector>

#include "facet/machine.hpp"
#include "polyhedral/recipe/planner.hpp"

namespace facet {

// A loop over time around nests that walk the same arrays. One step moves `steepness[k]` along space loop k per iteration.
struct TimeNest {
  double steps = 1;                     // of time
  std::vector<double> extents;          // of the space loops that can be tiled, outermost first
  std::vector<std::int64_t> steepness;  // of their skews
  double bytes = 0;                     // of all arrays that are touched
  double step_us = 0;                   // of one step over all of space, by its arithmetic alone, on one thread
  double chains = 1;                    // so many rows at once, in tiles, take a step's arithmetic as long as one
  double rows = 0;                      // loops started in one step below the tiled ones, once for each point of them
  bool parallel = false;                // a step can be shared out to threads as it is
};

struct TimeTile {
  std::int64_t steps = 0;             // of time; 0: leave the nest as it is
  std::vector<std::int64_t> sizes;    // of the first loops of TimeNest::extents: how many are tiled
  double plain_us = 0, tiled_us = 0;  // modelled
};

TimeTile choose_time_tile(const CpuMachine& cpu, int threads, const TimeNest& nest);

// Tiles of a permutable chain of loops, as `statement` calls them; with threads, in wavefronts of the first two.
std::vector<Step> wavefront_steps(const std::string& statement, const std::vector<std::string>& loops,
                                  const std::vector<std::int64_t>& sizes, bool threads);

// What a step of time costs by its arithmetic alone, in microseconds on one thread: `points` instances of the statement.
double instances_us(const GroupPlanner& planner, const Statement& s, double points, bool serial);

}  // namespace facet
