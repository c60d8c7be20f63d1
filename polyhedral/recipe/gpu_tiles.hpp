// Sums of products on a GPU: which tiles, and the steps that make them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "polyhedral/recipe/gpu_nest.hpp"

namespace facet {

// A product whose loops are tiled and whose tiles are promoted, and the steps that will map it.
struct GpuTiles {
  int statement = -1;
  std::string root;         // the statement's name for the outermost of the grid's loops
  std::vector<Step> steps;  // map_gpu
  std::string subject, why;
};

// Tiles every product that has one loop in each role; the rest of the plan is made around them.
std::vector<GpuTiles> plan_gpu_tiles(GroupPlanner& planner);

// Results of a thread along each side of a block's tile of 16 x 16 threads, so that the device has enough blocks.
std::int64_t points_of_product(const GpuProduct& product);
inline constexpr std::int64_t kGpuTileSide = 16;                           // threads along each side
inline constexpr std::int64_t kGpuTileDepth = 8;                           // terms of the sum at a time
void plan_gpu(GroupPlanner& planner, const std::vector<GpuTiles>& tiles);  // loops to grid, blocks and threads

}  // namespace facet
