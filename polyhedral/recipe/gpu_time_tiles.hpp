// Hexagonal tiles over time on a GPU: what the policy hands to its model, and what it gets back.
#pragma once

#include <string>
#include <vector>

#include "facet/machine.hpp"
#include "polyhedral/alignment.hpp"

namespace facet {

// One nest of a step of time.
struct GpuTimePart {
  double points = 1;
  double accesses = 1;  // of one point: reads and the store
  double moved = 0;     // bytes of what it reads and what it writes
  double arrays = 1;    // how many these are
};

// A loop over time around nests that walk the same arrays.
struct GpuTimeNest {
  double steps = 1;                     // of time
  std::vector<double> extents;          // of the space loops, outermost first
  HexagonSlopes cut;                    // of the first
  std::vector<std::int64_t> steepness;  // of each further loop that can be tiled
  std::vector<GpuTimePart> parts;
  double bytes = 0;          // of all arrays
  double element_bytes = 4;  // of the widest

  double points() const;  // of space
};

struct GpuTimeTile {
  std::vector<std::int64_t> sizes;    // of the step `hexagons`: time, width, rows' tiles; empty: leave the nest as it is
  std::vector<std::int64_t> threads;  // of a block, along the loops of space
  double plain_us = 0, tiled_us = 0;  // modelled
  double launches = 0;
};

GpuTimeTile choose_gpu_time_tile(const GpuMachine& gpu, const GpuTimeNest& nest);

}  // namespace facet
