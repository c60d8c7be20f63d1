// The model for tiles over time: bytes that come from beyond L2 against arithmetic, and the threads that a wavefront keeps
// busy.
//
// A tile is T steps of time by s_k iterations of each tiled space loop; its box slides by f_k (the skew's factor) along loop k
// with every step. The box is what L2 has to hold,
//     box bytes = bytes of the arrays x prod (s_k + f_k) / E_k,
// and a point-step fetches the share  1 / T + sum_k f_k / s_k  of what it would without tiles: the first step reads the box,
// and every further one what slides in. Tiles of one wavefront (tile of time + tile of the first space loop) run at once:
//     time = sum over wavefronts of the busiest thread's tiles x time of a full tile + start of threads,
// where threads get equally many neighbouring tiles of a wavefront, each as full as the skewed arrays leave it.
// Source: Wolfe, More iteration space tiling, SC 1989; Wonnacott, Achieving scalable locality with time skewing, IJPP 2002.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "polyhedral/recipe/time_tiles.hpp"

namespace facet {

namespace {

constexpr double kShareOfCache = 0.6;  // for the box; the rest is for what slides through
constexpr double kRowUs = 0.006;       // start and rest of a vector loop: some 20 cycles
constexpr double kTileUs = 0.2;        // bounds of a tile
constexpr double kShareOfLast = 0.75;  // others use the last cache too, and its sets do not fill evenly
constexpr double kDefaultL3 = 25;      // GB/s of one core, read and write, where the machine does not say
constexpr double kDefaultMemory = 8;
constexpr double kInCache = 1e9;        // no transfer to speak of
constexpr double kStart = 3;            // a loop for threads ends with the last of them: more than their start alone
constexpr double kGain = 0.85;          // the model is rough: a smaller gain is none
constexpr std::int64_t kLongest = 512;  // of a tile, in each direction
constexpr double kMostTiles = 1 << 14;  // that are looked at one by one
constexpr double kOverlap = 0.3;        // of the shorter of arithmetic and transfer is not hidden behind the longer

class TileModel {
 public:
  TileModel(const CpuMachine& cpu, int threads, const TimeNest& nest) : cpu_(cpu), threads_(threads), nest_(nest) {}

  double cache(std::size_t level) const {
    return level < cpu_.caches.size() ? static_cast<double>(cpu_.caches[level].size_bytes) : 0;
  }
  double l2() const { return cpu_.caches.size() > 1 ? cache(1) : 1 << 20; }

  bool stays_in_cache() const { return nest_.bytes <= kShareOfCache * l2(); }

  // Bytes a microsecond from where arrays of this nest lie, one core.
  double rate() const {
    if (stays_in_cache()) return kInCache;
    const bool fits = cpu_.caches.size() > 2 && nest_.bytes < kShareOfLast * cache(2);
    if (fits) return 1000 * (cpu_.caches[2].read_gb_s > 0 ? 0.5 * cpu_.caches[2].read_gb_s : kDefaultL3);
    return 1000 * (cpu_.copy_gb_s > 0 ? cpu_.copy_gb_s / std::max(1, cpu_.cores) : kDefaultMemory);
  }

  static double joined(double a, double b) { return std::max(a, b) + kOverlap * std::min(a, b); }

  double plain_us() const {
    const double step = joined(nest_.step_us + nest_.rows * kRowUs, 2 * nest_.bytes / rate());
    return nest_.steps * (nest_.parallel ? std::min(step, step / threads_ + kStart * cpu_.thread_start_us) : step);
  }

  double tiled_us(const TimeTile& tile) const {
    const double steps = static_cast<double>(tile.steps);
    double share = 1 / steps, box = nest_.bytes, tiles = 1;
    for (std::size_t k = 0; k < tile.sizes.size(); ++k) {
      const double size = static_cast<double>(tile.sizes[k]), steep = static_cast<double>(nest_.steepness[k]);
      share += steep / size;
      box *= std::min(1.0, (size + steep) / nest_.extents[k]);
      if (k > 0) tiles *= std::ceil((nest_.extents[k] + steep * steps) / size);
    }
    if (box > kShareOfCache * l2()) share = 1;
    const double step =
        joined(nest_.step_us / nest_.chains + nest_.rows * kRowUs, 2 * nest_.bytes * std::min(share, 1.0) / rate());
    const double part = std::min(1.0, static_cast<double>(tile.sizes[0]) / nest_.extents[0]);
    const auto [rounds, waves] = wavefronts(tile);
    return rounds * (steps * step * part + tiles * kTileUs) + waves * kStart * cpu_.thread_start_us;
  }

 private:
  // How full tile `row` of the first space loop is in the tile of time that begins at `first`.
  double filled(const TimeTile& tile, double first, std::int64_t row) const {
    const double size = static_cast<double>(tile.sizes[0]), steep = static_cast<double>(nest_.steepness[0]);
    double sum = 0;
    for (const double step : {0.125, 0.375, 0.625, 0.875}) {
      const double low = first + steep * step * static_cast<double>(tile.steps);
      const double high = std::min(low + nest_.extents[0], static_cast<double>(row + 1) * size);
      sum += std::clamp((high - std::max(low, static_cast<double>(row) * size)) / size, 0.0, 1.0) / 4;
    }
    return sum;
  }

  // Full tiles that the busiest thread runs, and how many wavefronts there are.
  std::pair<double, double> wavefronts(const TimeTile& tile) const {
    const double size = static_cast<double>(tile.sizes[0]), slide = static_cast<double>(nest_.steepness[0] * tile.steps);
    const double columns = std::ceil(nest_.steps / static_cast<double>(tile.steps));
    const double rows = std::ceil((nest_.extents[0] + slide) / size);
    if (columns * rows > kMostTiles) return {columns * nest_.extents[0] / size / threads_, columns + rows * columns};
    std::map<std::int64_t, std::vector<double>> waves;
    for (std::int64_t column = 0; column < static_cast<std::int64_t>(columns); ++column) {
      const double first = slide * static_cast<double>(column);
      for (std::int64_t row = static_cast<std::int64_t>(first / size);
           static_cast<double>(row) * size < first + slide + nest_.extents[0]; ++row)
        waves[column + row].push_back(filled(tile, first, row));
    }
    double rounds = 0;
    for (const auto& [number, tiles] : waves) rounds += busiest(tiles);
    return {rounds, static_cast<double>(waves.size())};
  }

  // The most that one thread gets of the tiles of a wavefront.
  double busiest(const std::vector<double>& tiles) const {
    const std::size_t each = (tiles.size() + static_cast<std::size_t>(threads_) - 1) / static_cast<std::size_t>(threads_);
    double most = 0;
    for (std::size_t from = 0; from < tiles.size(); from += each) {
      double sum = 0;
      for (std::size_t k = from; k < std::min(from + each, tiles.size()); ++k) sum += tiles[k];
      most = std::max(most, sum);
    }
    return most;
  }

  const CpuMachine& cpu_;
  int threads_;
  const TimeNest& nest_;
};

}  // namespace

TimeTile choose_time_tile(const CpuMachine& cpu, int threads, const TimeNest& nest) {
  TimeTile best;
  if (nest.extents.empty()) return best;
  const TileModel model(cpu, threads, nest);
  best.plain_us = best.tiled_us = model.plain_us();
  if (model.stays_in_cache() && nest.parallel) return best;  // nothing to save, nothing to share out better
  double limit = kGain * best.plain_us;
  const auto consider = [&](TimeTile tile) {
    tile.plain_us = best.plain_us;
    tile.tiled_us = model.tiled_us(tile);
    if (tile.tiled_us >= limit) return;
    limit = tile.tiled_us;
    best = std::move(tile);
  };
  for (std::int64_t steps = 4; steps <= kLongest && static_cast<double>(steps) <= nest.steps; steps *= 2)
    for (std::int64_t first = 4; first <= kLongest && static_cast<double>(first) <= nest.extents[0]; first *= 2) {
      consider({steps, {first}, 0, 0});
      if (nest.extents.size() < 2) continue;
      for (std::int64_t second = 4; second <= kLongest && static_cast<double>(second) <= nest.extents[1]; second *= 2)
        consider({steps, {first, second}, 0, 0});
    }
  return best;
}

}  // namespace facet
