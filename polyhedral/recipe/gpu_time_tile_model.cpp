// The model for hexagons: launches, bytes and the steps of a block, against the same step by step.
//
// Step by step each nest is a launch that moves its arrays once, or, where they are small, one block does all:
//     plain = steps x sum over nests of  min(launch + bytes / bandwidth, step of a block)
// In hexagons H steps of time high and W wide there are steps / H + 1 launches of E / W blocks. A front moves all arrays in and
// out once, and a block goes through 2 H steps for each tile of its rows, in which a hexagon has W / 2 rows on the average:
//     front = launch + bytes in and out / bandwidth + rounds x tiles x 2 H x sum over nests of  step of a block
// (from the second level the bytes come while others are worked on: the larger of both).
//     step  = latency + bounds x warps + points x (accesses / first level's rate + elements that left it / second's rate)
// Rows and columns that do not fill the threads count as if they did. The rates are fitted to times of the generated kernels
// for jacobi-1d and -2d, heat and fdtd-2d on an H200 (docs/performance.md), which they meet within a third.
// Source: Grosser et al., CGO 2014, section 3.7 (sizes by the ratio of loads to computed points).
#include <algorithm>
#include <cmath>

#include "polyhedral/recipe/gpu_time.hpp"
#include "polyhedral/recipe/gpu_time_tiles.hpp"

namespace facet {

namespace {

constexpr double kL2Bytes = 45e6;           // arrays that stay in the second level between launches
constexpr double kL2Gain = 1.4;             // its bandwidth over the memory's, by neighbouring elements
constexpr double kLatencyUs = 0.07;         // first load, arithmetic, barrier
constexpr double kBoundsUs = 0.3;           // bounds of loops, by 1024 threads
constexpr double kFirstLevelGb = 200;       // loads and stores of a multiprocessor
constexpr double kExtraBytes = 2;           // an access costs more than its bytes
constexpr double kFirstLevelBytes = 256e3;  // what of it holds data
constexpr double kSecondShare = 0.55;       // of the memory's bandwidth, for rows that have left the first level
constexpr double kCrowd = 1.4;              // blocks that share a first level
constexpr double kGain = 0.9;               // the model is rough: a smaller gain is none
constexpr std::int64_t kWidest = 128;       // wider ones take isl long to scan
constexpr double kWarp = 32, kMostThreads = 1024;

using Threads = std::vector<std::int64_t>;

double padded(double n, double to) { return std::ceil(n / to) * to; }

class HexagonModel {
 public:
  HexagonModel(const GpuMachine& gpu, const GpuTimeNest& nest) : gpu_(gpu), nest_(nest) {}

  double plain_us() const {
    double launched = 0, block = 0;
    for (const GpuTimePart& p : nest_.parts) {
      launched += kLaunchUs + p.moved / rate();
      block += step_us(p, p.points, kMostThreads, nest_.bytes);
    }
    return nest_.steps * std::min(launched, block);
  }

  double launches(const GpuTimeTile& tile) const { return std::ceil(nest_.steps / static_cast<double>(tile.sizes[0])) + 1; }

  double tiled_us(const GpuTimeTile& tile) const {
    const double height = static_cast<double>(tile.sizes[0]), width = static_cast<double>(tile.sizes[1]);
    double threads = 1;
    for (const std::int64_t t : tile.threads) threads *= static_cast<double>(t);
    const double processors = gpu_.multiprocessors, blocks = std::ceil(nest_.extents[0] / width);
    const double each = std::min(std::floor(kResident / threads), std::ceil(blocks / processors));
    const double rounds = std::ceil(blocks / (processors * each));
    double tiles = 1, held = nest_.bytes * std::min(1.0, (width + 2) / nest_.extents[0]);
    if (tile.sizes.size() > 2) {
      const double size = static_cast<double>(tile.sizes[2]), slide = static_cast<double>(nest_.steepness[0]);
      tiles = std::ceil((nest_.extents[1] + 2 * height * slide) / size);
      held *= std::min(1.0, (size + slide) / nest_.extents[1]);
    }
    double steps = 0;
    for (const GpuTimePart& p : nest_.parts)
      steps += step_us(p, each * filled(p, tile) * (each > 1 ? kCrowd : 1), each * threads, each * held);
    const double moves = 2 * nest_.bytes / rate(), walks = rounds * tiles * 2 * height * steps;
    return launches(tile) * (kLaunchUs + (nest_.bytes < kL2Bytes ? std::max(moves, walks) : moves + walks));
  }

 private:
  // Bytes a microsecond between all multiprocessors and where the arrays lie.
  double rate() const { return 1000 * gpu_.copy_gb_s * (nest_.bytes < kL2Bytes ? kL2Gain : 1); }

  // One nest of a step, on a multiprocessor whose blocks work on `held` bytes.
  double step_us(const GpuTimePart& part, double points, double threads, double held) const {
    const double left = std::max(0.0, 1 - kFirstLevelBytes / held),
                 share = kSecondShare * gpu_.copy_gb_s / gpu_.multiprocessors;
    const double first = part.accesses * (nest_.element_bytes + kExtraBytes) / kFirstLevelGb;
    const double second = left * part.arrays * nest_.element_bytes / share;
    return kLatencyUs + kBoundsUs * threads / kMostThreads + points * (first + second) / 1000;
  }

  // Points of a hexagon in one step on the average, with those of threads that idle.
  double filled(const GpuTimePart& part, const GpuTimeTile& tile) const {
    const double rows = static_cast<double>(tile.sizes[1]) / 2, part_of_all = std::min(1.0, part.points / nest_.points());
    if (nest_.extents.size() == 1) return part_of_all * padded(rows, static_cast<double>(tile.threads[0]));
    const double length = tile.sizes.size() > 2 ? static_cast<double>(tile.sizes[2]) : nest_.extents[1];
    return part_of_all * (rows + (static_cast<double>(tile.threads[0]) - 1) / 2) *
           padded(length, static_cast<double>(tile.threads[1]));
  }

  const GpuMachine& gpu_;
  const GpuTimeNest& nest_;
};

// Narrow ones, and such as give every multiprocessor the same number of blocks.
std::vector<std::int64_t> widths(const GpuMachine& gpu, const GpuTimeNest& nest, std::int64_t height) {
  const std::int64_t least = std::max<std::int64_t>(2, nest.cut.least_width(height));
  std::vector<std::int64_t> list{least, least + least / 2, 2 * least};
  for (int each = 1; each <= 2; ++each)
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
  const auto consider = [&](std::vector<std::int64_t> sizes) {
    const auto line = static_cast<std::int64_t>(padded(static_cast<double>(sizes[1]), kWarp));
    for (const Threads& threads :
         nest.extents.size() == 1 ? std::vector<Threads>{{line}} : std::vector<Threads>{{2, 512}, {4, 256}}) {
      GpuTimeTile tile{sizes, threads, best.plain_us, 0, 0};
      tile.tiled_us = model.tiled_us(tile);
      tile.launches = model.launches(tile);
      if (tile.tiled_us >= limit) continue;
      limit = tile.tiled_us;
      best = std::move(tile);
    }
  };
  for (const std::int64_t height : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32}) {
    if (static_cast<double>(2 * height) > nest.steps) break;
    for (const std::int64_t width : widths(gpu, nest, height)) {
      consider({height, width});
      if (nest.extents.size() < 2 || nest.steepness.empty()) continue;
      for (const std::int64_t size : {256, 512, 1024})
        if (static_cast<double>(size) < nest.extents[1]) consider({height, width, size});
    }
  }
  return best;
}

}  // namespace facet
