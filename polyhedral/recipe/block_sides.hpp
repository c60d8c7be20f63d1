// The tiles of a factorization: their sides, by a model of its products, what is left inside and the wavefronts; registers'.
#pragma once

#include <cstdint>

#include "facet/machine.hpp"
#include "polyhedral/recipe/contraction.hpp"

namespace facet {

struct BlockFacts {
  double extent = 0;     // iterations of each of the two tiled loops
  double instances = 0;  // multiply-adds
  double element_bytes = 8;
  int threads = 1;
  bool dot = false;    // lanes along the reduction
  bool again = false;  // tiles may be cut once more
};

struct BlockSides {
  std::int64_t outer = 0;  // 0: no tile is predicted to gain
  std::int64_t inner = 0;  // of tiles inside a tile; 0: none
};

BlockSides choose_block_sides(const CpuMachine& cpu, const BlockFacts& facts);

// Rows of another tile that a register tile passes before the next one meets them again: their pages are known then (lu: 64
// 83 ms, 128 and 256 80, all 93).
constexpr std::int64_t kKBlock = 128;

// Register tiles for the products of finished tiles of `side`: lanes along the columns, or along the reduction.
ContractionTile block_tile(const CpuMachine& cpu, std::int64_t element_bytes, std::int64_t side);
ContractionTile dot_tile(const CpuMachine& cpu, std::int64_t element_bytes);

}  // namespace facet
