// The model for hexagons: launches, bytes and the steps of a block, against the same step by step.
//
// Step by step each nest is a launch that moves its arrays once:
//     plain = steps x sum over nests of  launch + bytes / bandwidth
// In hexagons H steps of time high and W wide there are steps / H + 1 launches of E / W blocks. A front moves all arrays in and
// out once, and a block goes through 2 H steps for each tile of its rows, in which a hexagon has W / 2 rows on the average:
//     front = launch + max(bytes in and out / bandwidth, rounds x tiles x 2 H x sum over nests of  latency + transfer)
//     transfer = points of a multiprocessor's blocks x max(accesses / first-level rate,
//                                                          elements moved / share of the second level, where they do not stay)
// Threads beyond a row's length idle, and the last round of blocks may be short of them: both by whole numbers.
// Source: Grosser et al., CGO 2014, section 3.7 (sizes by the ratio of loads to computed points); the rates are measured
// (docs/performance.md).
#include <algorithm>
#include <cmath>

#include "polyhedral/recipe/gpu_time_tiles.hpp"

namespace facet {

namespace {

constexpr double kLaunchUs = 3;           // between the starts of two short kernels of one stream (H200: 2.5 to 3.5)
constexpr double kFrontUs = 4;            // of larger blocks, which start one after the other
constexpr double kL2Bytes = 45e6;         // arrays that stay in the second level between launches
constexpr double kL2Gain = 1.4;           // its bandwidth over the memory's
constexpr double kLatencyUs = 0.6;        // a nest of a block: bounds, first loads, arithmetic, barrier
constexpr double kFirstLevelGb = 110;     // loads and stores of a multiprocessor
constexpr double kFirstLevelBytes = 2e5;  // what of its first level holds data
constexpr double kResident = 2048;        // threads of a multiprocessor
constexpr double kGain = 0.85;            // the model is rough: a smaller gain is none
constexpr std::int64_t kWidest = 128;     // wider ones take isl long to scan
constexpr std::int64_t kWarp = 32, kFewestThreads = 64;

class HexagonModel {
 public:
  HexagonModel(const GpuMachine& gpu, const GpuTimeNest& nest) : gpu_(gpu), nest_(nest) {}

  double plain_us() const {
    double step = 0;
    for (const GpuTimePart& p : nest_.parts) step += kLaunchUs + p.bytes / rate();
    return nest_.steps * step;
  }

  double launches(const GpuTimeTile& tile) const { return std::ceil(nest_.steps / static_cast<double>(tile.sizes[0])) + 1; }

  double tiled_us(const GpuTimeTile& tile) const {
    const double height = static_cast<double>(tile.sizes[0]), width = static_cast<double>(tile.sizes[1]);
    const double threads = static_cast<double>(tile.threads), processors = static_cast<double>(gpu_.multiprocessors);
    const double blocks = std::ceil(nest_.extents[0] / width);
    const double each = std::min(std::floor(kResident / threads), std::ceil(blocks / processors));
    const double rounds = std::ceil(blocks / (processors * each));
    double tiles = 1, share = (width + 2) / nest_.extents[0];
    if (tile.sizes.size() > 2) {
      const double size = static_cast<double>(tile.sizes[2]), slide = static_cast<double>(nest_.steepness[0]);
      tiles = std::ceil((nest_.extents[1] + 2 * height * slide) / size);
      share *= std::min(1.0, (size + slide) / nest_.extents[1]);
    }
    const bool stays = each * nest_.bytes * share <= kFirstLevelBytes;
    double steps = 0;
    for (const GpuTimePart& p : nest_.parts) steps += kLatencyUs + transfer_us(p, tile, each, stays);
    return launches(tile) * (kFrontUs + std::max(2 * nest_.bytes / rate(), rounds * tiles * 2 * height * steps));
  }

 private:
  // Bytes a microsecond between all multiprocessors and where the arrays lie.
  double rate() const { return 1000 * gpu_.copy_gb_s * (nest_.bytes < kL2Bytes ? kL2Gain : 1); }

  double transfer_us(const GpuTimePart& part, const GpuTimeTile& tile, double blocks, bool stays) const {
    const bool flat = nest_.extents.size() == 1;
    const double rows = flat ? 1 : static_cast<double>(tile.sizes[1]) / 2;
    const double length = flat                    ? static_cast<double>(tile.sizes[1]) / 2
                          : tile.sizes.size() > 2 ? static_cast<double>(tile.sizes[2])
                                                  : nest_.extents[1];
    const double threads = static_cast<double>(tile.threads), filled = std::ceil(length / threads) * threads;
    const double points = blocks * rows * filled * std::min(1.0, part.points / nest_.points());
    const double first = part.accesses * nest_.element_bytes / (1000 * kFirstLevelGb);
    const double second =
        part.arrays * nest_.element_bytes * static_cast<double>(gpu_.multiprocessors) / (1000 * kL2Gain * gpu_.copy_gb_s);
    return points * (stays ? first : std::max(first, second));
  }

  const GpuMachine& gpu_;
  const GpuTimeNest& nest_;
};

std::int64_t warps_for(double threads) { return static_cast<std::int64_t>(std::ceil(threads / kWarp)) * kWarp; }

// Narrow ones, and such as give every multiprocessor the same number of blocks.
std::vector<std::int64_t> widths(const GpuMachine& gpu, const GpuTimeNest& nest, std::int64_t height) {
  const std::int64_t least = std::max<std::int64_t>(2, nest.cut.least_width(height));
  std::vector<std::int64_t> list{least, least + least / 2, 2 * least};
  for (int each = 1; each <= 4; ++each)
    list.push_back(static_cast<std::int64_t>(std::ceil(nest.extents[0] / (each * gpu.multiprocessors))));
  std::erase_if(list, [&](std::int64_t w) { return w < least || w > kWidest || static_cast<double>(w) > nest.extents[0]; });
  return list;
}

}  // namespace

double GpuTimeNest::points() const {
  double all = 1;
  for (const double e : extents) all *= e;
  return all;
}

GpuTimeTile choose_gpu_time_tile(const GpuMachine& gpu, const GpuTimeNest& nest) {
  const HexagonModel model(gpu, nest);
  GpuTimeTile best;
  best.plain_us = best.tiled_us = model.plain_us();
  double limit = kGain * best.plain_us;
  const auto consider = [&](GpuTimeTile tile) {
    const double length = static_cast<double>(nest.extents.size() == 1 ? tile.sizes[1]
                                              : tile.sizes.size() > 2  ? tile.sizes[2]
                                                                       : static_cast<std::int64_t>(nest.extents[1]));
    for (int columns = 1; columns <= 4; ++columns) {
      tile.threads = std::max(kFewestThreads, warps_for(length / columns));
      if (tile.threads > gpu.max_threads_per_block) continue;
      tile.plain_us = best.plain_us;
      tile.tiled_us = model.tiled_us(tile);
      tile.launches = model.launches(tile);
      if (tile.tiled_us >= limit) continue;
      limit = tile.tiled_us;
      best = tile;
    }
  };
  for (const std::int64_t height : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32}) {
    if (static_cast<double>(2 * height) > nest.steps) break;
    for (const std::int64_t width : widths(gpu, nest, height)) {
      consider({{height, width}, 0, 0, 0, 0});
      if (nest.extents.size() < 2 || nest.steepness.empty()) continue;
      for (const std::int64_t size : {256, 512, 1024})
        if (static_cast<double>(size) < nest.extents[1]) consider({{height, width, size}, 0, 0, 0, 0});
    }
  }
  return best;
}

}  // namespace facet
