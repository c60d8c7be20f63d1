// Blocks of a convolution's reduction that all points of a panel of filters meet in turn.
//
//     for mr                                        for mr
//       for p, qr                                     for ct                          16 of c
//         for r, s, c                        -->        B.tile = the filters of 16 m, 16 c     (where they are packed here)
//           C.tile[q, m] += A * B                       for p, qr
//       C = C.tile                                        for c in 16, r, s
//                                                           C.tile[p, q, m] += A * B
//                                                     C = C.tile
//
// A panel of filters over the whole reduction is larger than L1, so every row of points fetches it from L2 again; a block of it
// stays in L1 until all points have met it, and C's tiles, which are loaded and stored once a block, in L2. Inside a block the
// reduction runs as the panel lies. Where L1 holds the whole panel nothing is cut, and a piece of C is one row of points: it is
// turned in whole lines, not in the few points of a tile. (Zen 4 with 32-byte vectors, two cores, batch 1, packing included:
// 7^2 512 -> 512 3 x 3 2.62 ms to 2.01, 14^2 256 -> 256 2.16 to 1.54; on one, 224^2 3 -> 64 7 x 7 stride 2 5.5 ms to 3.6.)
#include <algorithm>
#include <cmath>

#include "facet/expr_facts.hpp"
#include "polyhedral/recipe/contraction.hpp"

namespace facet {

namespace {

constexpr double kFirstShare = 0.75;      // of L1, for a block of filters and what a tile's points read of it
constexpr double kSecondShare = 1.0 / 4;  // of L2, for C
constexpr double kLineBytes = 64;
constexpr double kFewTiles = 4;     // of points: a panel that fewer meet comes once
constexpr double kLeastDepth = 64;  // multiply-adds of a tile's element in a block, for its way from and to L2

double extent_of(const Contraction& c, const Statement& s, const Model& model, const std::string& loop) {
  const auto at = std::find(s.iterators.begin(), s.iterators.end(), loop) - s.iterators.begin();
  return model.extent(c.statement, static_cast<std::size_t>(at));
}

// Blocks of at most `most`: of equal size if that is not much smaller, else the last one is shorter.
std::int64_t block_size(std::int64_t extent, std::int64_t most) {
  for (std::int64_t size = std::min(extent, most); 2 * size > most; --size)
    if (extent % size == 0) return size;
  const std::int64_t blocks = (extent + most - 1) / most;
  return (extent + blocks - 1) / blocks;
}

// The reduction's loops in the order of B's dimensions, those that walk none alone last.
std::vector<std::string> as_panels_lie(const Contraction& c) {
  std::vector<std::string> order;
  const auto add = [&](const std::string& k) {
    if (std::count(c.k.begin(), c.k.end(), k) && !std::count(order.begin(), order.end(), k)) order.push_back(k);
  };
  for (const ExprPtr& e : c.b->args)
    if (e->op == Op::kIndex) add(e->name);
  for (const std::string& k : c.k) add(k);
  return order;
}

// What the points of a tile read of A for one iteration of the blocks' loop, in lines of the cache: one run for each place of
// the reduction beside A's last dimension.
double window_bytes(const Contraction& c, const Statement& s, const Model& model, const DepthBlocks& blocks,
                    const ContractionTile& tile) {
  double runs = 1, taps = 1;
  for (const std::string& k : blocks.order)
    if (k != blocks.loop) (mentions_index(c.a->args.back(), k) ? taps : runs) *= extent_of(c, s, model, k);
  const double bytes = (static_cast<double>(tile.mr) + taps - 1) * static_cast<double>(size_bytes(c.a->type));
  return runs * (std::ceil(bytes / kLineBytes) + 1) * kLineBytes;
}

}  // namespace

std::optional<DepthBlocks> depth_blocks(const Contraction& c, const Statement& s, Numerics::Reassociate sums,
                                        const Model& model, const CpuMachine& cpu, const ContractionSize& size,
                                        const ContractionTile& tile, double points) {
  if (walks_dimension(*c.a, c.i) || !walks_dimension(*c.b, c.j) || c.b->pad || !size.even) return std::nullopt;
  DepthBlocks made;
  made.order = as_panels_lie(c);
  made.loop = made.order.front();
  for (const std::string& k : made.order)
    if (extent_of(c, s, model, k) > extent_of(c, s, model, made.loop)) made.loop = k;
  const bool same = made.order == c.k && made.loop == c.k.front();
  if (sums == Numerics::Reassociate::kStrict && !same) return std::nullopt;
  const double extent = extent_of(c, s, model, made.loop), others = size.k / std::max(extent, 1.0);
  const double bytes = static_cast<double>(size_bytes(s.value->type)), columns = static_cast<double>(tile.nr) * bytes;
  const double l1 = cpu.caches.empty() ? 32768 : static_cast<double>(cpu.caches[0].size_bytes);
  const double l2 = static_cast<double>(second_cache_bytes(cpu));
  const double each = columns * others + window_bytes(c, s, model, made, tile);
  const double most = std::max(std::floor(l1 * kFirstShare / each), std::ceil(kLeastDepth / others));
  if (size.k * columns <= l1 / 2 || most >= extent) {
    const bool row = c.across && size.i >= 2 * static_cast<double>(tile.mr) && size.i * columns <= l1 / 2;
    return row ? std::optional(made) : std::nullopt;
  }
  const bool few = points < kFewTiles * static_cast<double>(tile.mr);
  if (few || points * columns > l2 * kSecondShare) return std::nullopt;
  made.size = block_size(static_cast<std::int64_t>(extent), static_cast<std::int64_t>(most));
  return made;
}

}  // namespace facet
