// Winograd convolutions: whether they pay, and how their stages run.
#pragma once

#include "polyhedral/recipe/planner.hpp"

namespace facet {

// Steps for the stages that the rewrite `winograd` has made; false where those of some product are in no form that it knows.
bool plan_winograd(GroupPlanner& planner);

// The sizes of its stages, at the typical sizes of the symbols.
struct WinogradSizes {
  double batch = 1, tiles_y = 1, tiles_x = 1, channels = 1, filters = 1, points = 36, element = 4;

  double filter_bytes() const { return element * points * channels * filters; }
};

// Filters whose transforms stay in the second cache while the products read them; a vector of them at least.
double winograd_filter_block(const WinogradSizes& size, const CpuMachine& cpu);

// Channels of a block of transformed rows of tiles: two lines of the cache when its rows stay in half of the first one and each
// of the threads that share out the blocks gets some.
std::int64_t winograd_channel_block(const WinogradSizes& size, const CpuMachine& cpu, int threads);

// The tile of the rewrite that is estimated to pay for this statement; 0: none.
std::int64_t winograd_tile(const GroupPlanner& planner, int statement);

}  // namespace facet
