// The sides of a factorization's tiles.
//
// With tiles of B in a matrix of N the products of finished tiles are all of the work but about 1.5 B / N. They run at the peak
// of multiply-adds, or wait for what they fetch: 2 elements for B multiply-adds. What is left inside a tile takes `slower`
// times as long as register tiles; cut once more into tiles of b, only 1.5 b / N does, and the products in between run a little
// below the peak (their register tiles start and end more often). Wavefronts of tiles start 2 N / B times, and the last tile of
// each keeps the other threads waiting, (threads - 1) B / N of the time in all.
//
//     time = (max(work, fetched) + 0.3 fetched + (kNested (inside - left) + slower left) work)
//            (1 + (threads - 1) B / N) / threads + starts
//
// Source: measured on lu, ludcmp and cholesky of PolyBench (docs/performance.md).
#include "polyhedral/recipe/block_sides.hpp"

#include <algorithm>

namespace facet {

namespace {

constexpr double kPlainSlower = 5;       // than register tiles (lu in tiles of 32, 64 and 128: 102, 80, 87 ms)
constexpr double kDotSlower = 10;        // without lanes along the columns there (cholesky: 32 44 ms, 64 49)
constexpr double kNested = 0.5;          // what products inside a tile take more than those of large ones (lu: 7 ms of 168)
constexpr double kDefaultL3 = 12;        // GB/s of one core where the machine does not say
constexpr double kWaveStarts = 3;        // a loop for threads ends with the last of them: more than their start alone
constexpr std::int64_t kInnerSide = 32;  // lu: 16 and 32 87 ms

class Sides {
 public:
  Sides(const CpuMachine& cpu, const BlockFacts& facts) : cpu_(cpu), facts_(facts) {
    work_us_ = 2 * facts.instances / (1000 * peak_gflop_s(cpu, facts.element_bytes));
    l3_ = cpu.caches.size() > 2 && cpu.caches[2].read_gb_s > 0 ? cpu.caches[2].read_gb_s : kDefaultL3;
    slower_ = facts.dot ? kDotSlower : kPlainSlower;
  }

  double untiled_us() const { return slower_ * work_us_ / facts_.threads; }

  double us(const BlockSides& sides) const {
    const double tiles = facts_.extent / static_cast<double>(sides.outer);
    const double fetched = 2 * facts_.element_bytes * facts_.instances / static_cast<double>(sides.outer) / (l3_ * 1000);
    const double inside = share_inside(sides.outer), left = sides.inner > 0 ? share_inside(sides.inner) : inside;
    const double busy = std::max(work_us_, fetched) + 0.3 * fetched + (kNested * (inside - left) + slower_ * left) * work_us_;
    const double waiting = (facts_.threads - 1) / tiles;
    return busy * (1 + waiting) / facts_.threads + 2 * tiles * kWaveStarts * cpu_.thread_start_us;
  }

 private:
  double share_inside(std::int64_t side) const { return std::min(1.0, 1.5 * static_cast<double>(side) / facts_.extent); }

  const CpuMachine& cpu_;
  const BlockFacts& facts_;
  double work_us_ = 0, l3_ = 0, slower_ = 0;
};

}  // namespace

BlockSides choose_block_sides(const CpuMachine& cpu, const BlockFacts& facts) {
  const Sides sides(cpu, facts);
  BlockSides best;
  double least = sides.untiled_us();
  for (const std::int64_t outer : {16, 32, 64, 96, 128, 192, 256}) {
    if (facts.extent / static_cast<double>(outer) < 2 * facts.threads) break;
    for (const std::int64_t inner : {std::int64_t{0}, kInnerSide}) {
      if (inner > 0 && (!facts.again || outer < 2 * inner)) continue;
      const BlockSides tried{outer, inner};
      const double us = sides.us(tried);
      if (us >= least) continue;
      least = us;
      best = tried;
    }
  }
  return best;
}

// Nothing is packed: the part of a finished tile that the columns walk stays in L1 until all rows have met it. Partial tiles
// inside each tile would cost more than a smaller one.
ContractionTile block_tile(const CpuMachine& cpu, std::int64_t element_bytes, std::int64_t side) {
  const std::int64_t l1 = cpu.caches.empty() ? 32768 : cpu.caches[0].size_bytes;
  std::int64_t columns = std::clamp<std::int64_t>(l1 / 2 / (kKBlock * element_bytes), 1, side);
  while (side % columns != 0) --columns;
  TileAccess whole;
  whole.divides = true;
  const double m = static_cast<double>(side), n = static_cast<double>(columns);
  return choose_tile(cpu, element_bytes, {m, n, m, n, m, 1}, whole);
}

ContractionTile dot_tile(const CpuMachine& cpu, std::int64_t element_bytes) {
  ContractionTile t;
  t.lanes = std::max<std::int64_t>(1, cpu.vector_bytes / element_bytes);
  while ((t.mr + 1) * (t.mr + 1) + 2 * (t.mr + 1) <= cpu.vector_registers) ++t.mr;
  t.nr = t.mr;
  return t;
}

}  // namespace facet
