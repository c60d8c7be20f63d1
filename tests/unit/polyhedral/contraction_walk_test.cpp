// choose_walk: where the reduction of a product is cut, and which rows of A are packed; decisions of the machine's caches.

#include <gtest/gtest.h>

#include <cmath>

#include "polyhedral/recipe/contraction.hpp"

namespace facet {
namespace {

// Two cores with 1 MiB of second cache each, 8 ways, beside 32 MiB.
CpuMachine two_cores() {
  CpuMachine cpu;
  cpu.cores = 2;
  cpu.vector_bytes = 64;
  cpu.vector_registers = 32;
  cpu.fma_per_cycle = 1;
  cpu.caches = {{32768, 64, 1, 8, 0}, {1 << 20, 64, 1, 8, 0}, {32 << 20, 64, 2, 16, 0}};
  return cpu;
}

ContractionSize product(double m, double n, double k) {
  ContractionSize size;
  size.i = size.m = m;
  size.j = size.n = n;
  size.k = k;
  return size;
}

ContractionWalk walk(const CpuMachine& cpu, std::int64_t bytes, const ContractionSize& size) {
  const ContractionTile tile = choose_tile(cpu, bytes, size, {}, 2);
  return choose_walk(cpu, bytes, size, tile, size.n * static_cast<double>(bytes), 2);
}

TEST(ContractionWalk, ReductionIsCutWherePanelsAreMoreThanTheThirdCacheHolds) {
  EXPECT_EQ(walk(two_cores(), 8, product(2048, 2048, 2048)).k_block, 512);  // 32 MiB of panels
  EXPECT_EQ(walk(two_cores(), 4, product(2048, 2048, 2048)).k_block, 0);    // 16 MiB
  EXPECT_EQ(walk(two_cores(), 8, product(1024, 1024, 1024)).k_block, 0);
}

TEST(ContractionWalk, MachineWithALargerThirdCacheLeavesItWhole) {
  CpuMachine cpu = two_cores();
  cpu.caches[2].size_bytes = 128 << 20;
  EXPECT_EQ(walk(cpu, 8, product(2048, 2048, 2048)).k_block, 0);
}

TEST(ContractionWalk, FastMemoryLeavesItWhole) {
  CpuMachine cpu = two_cores();
  cpu.copy_gb_s = 400;
  EXPECT_EQ(walk(cpu, 8, product(2048, 2048, 2048)).k_block, 0);
}

// The last block of one that does not divide the reduction is copied under masks.
TEST(ContractionWalk, BlocksDivideTheReductionWhereTheyCan) {
  for (const std::int64_t bytes : {4, 8})
    for (const double k : {4096.0, 4000.0, 3072.0}) {
      const std::int64_t block = walk(two_cores(), bytes, product(64, 4096, k)).k_block;
      ASSERT_GT(block, 0) << k;
      EXPECT_EQ(std::fmod(k, static_cast<double>(block)), 0) << block;
    }
  EXPECT_GT(walk(two_cores(), 4, product(64, 4096, 4099)).k_block, 0);  // a prime: the block stays as it is
}

// Threads share out rows; two panels of B are a little more than L1 holds.
TEST(ContractionWalk, RowsGoInBlocksThatTheSecondCacheHolds) {
  const ContractionWalk blocks = walk(two_cores(), 4, product(592704, 96, 96));
  EXPECT_FALSE(blocks.columns);
  EXPECT_LE(blocks.thread_block * 96 * 4, 1 << 19);
  CpuMachine cpu = two_cores();
  cpu.caches[0].size_bytes = 48 << 10;  // they stay in L1: every row meets both at once
  const ContractionWalk whole = walk(cpu, 4, product(592704, 96, 96));
  EXPECT_TRUE(whole.along_rows);
  EXPECT_GT(whole.thread_block, 200000);
}

TEST(ContractionWalk, RowsThatFallOnFewSetsOfTheSecondCacheAreFetchedAgain) {
  const ContractionTile narrow{4, 3, 8, 12, 0}, wide{8, 4, 6, 32, 0};
  const CpuMachine cpu = two_cores();
  EXPECT_TRUE(refetches_rows(cpu, 8, narrow, 64, 256, 4096 * 8));   // four places for 64 rows
  EXPECT_FALSE(refetches_rows(cpu, 8, narrow, 64, 256, 4104 * 8));  // spread
  EXPECT_FALSE(refetches_rows(cpu, 8, narrow, 16, 256, 4096 * 8));  // eight ways hold them
  EXPECT_FALSE(refetches_rows(cpu, 8, wide, 64, 256, 4096 * 8));    // asked for so seldom that L3 keeps up
  CpuMachine larger = cpu;
  larger.caches[1].size_bytes *= 4;
  EXPECT_FALSE(refetches_rows(larger, 8, narrow, 64, 256, 4096 * 8));
}

}  // namespace
}  // namespace facet
