// Tiles over time: which nests get them and which do not, and what `embed` does for their borders.
#include <algorithm>

#include "polyhedral/recipe/time_tiles.hpp"
#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

// A `loops` program over T steps of N x N arrays.
Program stencil(const std::string& code, int n) {
  return program_of(R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 4, "max": 100000, "default": )" + std::to_string(n) +
                    R"(}, "T": {"min": 1, "max": 10000, "default": 500}},
    "tensors": {"A": {"dtype": "f64", "shape": ["N", "N"]}, "B": {"dtype": "f64", "shape": ["N", "N"]}}, "inputs": ["A", "B"],
    "ops": [{"op": "loops", "in": ["N", "T"], "inout": ["A", "B"], "code": ")" +
                    code + R"("}], "outputs": ["A", "B"]})");
}

const char* const kJacobi =
    "for (int t = 0; t < T; t++) {"
    " for (int i = 1; i < N - 1; i++) for (int j = 1; j < N - 1; j++) B[i][j] = A[i-1][j] + A[i+1][j] + A[i][j-1] + A[i][j+1];"
    " for (int i = 1; i < N - 1; i++) for (int j = 1; j < N - 1; j++) A[i][j] = B[i][j]; }";

ScheduleOptions two_threads() {
  ScheduleOptions o;
  o.threads = 2;
  return o;
}

Planned planned(const Program& p, const ScheduleOptions& options) { return plan_of(p, options, "time tiles"); }

TEST(TimeTiles, AStencilLargerThanTheCachesIsTiledOverTime) {
  const Planned made = planned(stencil(kJacobi, 3000), two_threads());
  ASSERT_EQ(made.decisions.size(), 1u);
  EXPECT_TRUE(made.decisions[0].done) << made.decisions[0].reason;
  EXPECT_EQ(made.count("tile"), 1);
  EXPECT_EQ(made.count("fuse"), 1);
  EXPECT_EQ(made.count("parallelize"), 1);
  EXPECT_EQ(made.count("vectorize"), 2);  // rows keep their lanes
}

// Rows whose points wait for each other run several at once, skewed against each other.
TEST(TimeTiles, RowsThatWaitForThemselvesRunInChains) {
  const Planned made =
      planned(stencil("for (int t = 0; t < T; t++) for (int i = 1; i < N - 1; i++) for (int j = 1; j < N - 1; j++)"
                      " A[i][j] = A[i-1][j+1] + A[i][j-1] + A[i][j+1] + A[i+1][j];",
                      3000),
              two_threads());
  ASSERT_EQ(made.decisions.size(), 1u);
  EXPECT_TRUE(made.decisions[0].done) << made.decisions[0].reason;
  EXPECT_EQ(made.count("skew"), 3);  // rows by time, tiles by tiles, points by rows
  EXPECT_EQ(made.count("unroll_and_jam"), 1);
}

// What lies between two visits of a row decides whether rows are walked in pairs.
TEST(TimeTiles, RowsThatLeaveTheFirstCacheAreWalkedInPairs) {
  const auto pairs = [](std::int64_t first_cache) {
    ScheduleOptions o = two_threads();
    o.machine.cpu.caches = {{first_cache}, {2 << 20}, {8 << 20}};
    const Program p = program_of(
        R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 4, "max": 1000, "default": 160},
      "T": {"min": 1, "max": 1000, "default": 500}}, "tensors": {"A": {"dtype": "f64", "shape": ["N", "N", "N"]},
      "B": {"dtype": "f64", "shape": ["N", "N", "N"]}}, "inputs": ["A", "B"],
      "ops": [{"op": "loops", "in": ["N", "T"], "inout": ["A", "B"], "code": "for (int t = 0; t < T; t++) {)"
        R"( for (int i = 1; i < N - 1; i++) for (int j = 1; j < N - 1; j++) for (int k = 0; k < N; k++) B[i][j][k] = A[i-1][j][k] + A[i+1][j][k] + A[i][j-1][k] + A[i][j+1][k];)"
        R"( for (int i = 1; i < N - 1; i++) for (int j = 1; j < N - 1; j++) for (int k = 0; k < N; k++) A[i][j][k] =B[i-1][j][k] + B[i+1][j][k]; }"}], "outputs": ["A", "B"]})");
    return planned(p, o).count("unroll_and_jam");
  };
  EXPECT_EQ(pairs(16 << 10), 1);
  EXPECT_EQ(pairs(1 << 20), 0);
}

// The same program at a size whose arrays stay in cache.
TEST(TimeTiles, WhatStaysInCacheIsLeftAlone) {
  const Planned small = planned(stencil(kJacobi, 40), two_threads());
  ASSERT_EQ(small.decisions.size(), 1u);
  EXPECT_FALSE(small.decisions[0].done);
  EXPECT_EQ(small.count("tile"), 0);
}

// The reach of a transposed read grows with N: no skew by a constant helps.
TEST(TimeTiles, UnboundedReachIsDeclined) {
  const Planned made = planned(stencil("for (int t = 0; t < T; t++) {"
                                       " for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) B[i][j] = A[j][i];"
                                       " for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) A[i][j] = B[i][j]; }",
                                       3000),
                               two_threads());
  ASSERT_EQ(made.decisions.size(), 1u);
  EXPECT_FALSE(made.decisions[0].done);
  EXPECT_NE(made.decisions[0].reason.find("without bound"), std::string::npos) << made.decisions[0].reason;
}

TEST(TimeTiles, ABorderIsEmbedded) {
  const Planned made = planned(stencil("for (int t = 0; t < T; t++) {"
                                       " for (int j = 0; j < N; j++) A[0][j] = B[1][j];"
                                       " for (int i = 1; i < N; i++) for (int j = 0; j < N; j++) A[i][j] = A[i][j] + B[i-1][j];"
                                       " for (int i = 0; i < N - 1; i++) for (int j = 0; j < N; j++) B[i][j] = A[i+1][j]; }",
                                       3000),
                               two_threads());
  ASSERT_EQ(made.decisions.size(), 1u);
  EXPECT_TRUE(made.decisions[0].done) << made.decisions[0].reason;
  EXPECT_EQ(made.count("embed"), 1);
}

// The model: more bytes than cache make tiles pay, a faster memory does not need them; a box never exceeds the cache.
TEST(TimeTiles, TheModelWeighsBytesAgainstArithmetic) {
  CpuMachine cpu;
  cpu.cores = 2;
  cpu.caches = {{32 << 10}, {512 << 10}, {8 << 20}};
  cpu.copy_gb_s = 20;
  TimeNest nest;
  nest.steps = 500;
  nest.extents = {1300};
  nest.steepness = {2};
  nest.bytes = 2 * 1300 * 1300 * 8.0;
  nest.step_us = 1000;
  nest.rows = 2600;
  nest.parallel = true;
  const TimeTile tile = choose_time_tile(cpu, 2, nest);
  ASSERT_GT(tile.steps, 0);
  EXPECT_LT(tile.tiled_us, tile.plain_us);
  EXPECT_LT(static_cast<double>(tile.sizes[0]) / 1300 * nest.bytes, 512 << 10);
  cpu.copy_gb_s = 2000;
  EXPECT_EQ(choose_time_tile(cpu, 2, nest).steps, 0);
}

// A last cache that others use as well holds no arrays of nearly its size (heat-3d, 27.6 MB beside 32 MiB: 1.02 s step by step,
// 0.63 in tiles).
TEST(TimeTiles, AnArrayNearlyAsLargeAsTheLastCacheDoesNotStayThere) {
  CpuMachine cpu;
  cpu.cores = 2;
  cpu.caches = {{32 << 10}, {1 << 20}, {32 << 20}};
  cpu.copy_gb_s = 20;
  TimeNest nest;
  nest.steps = 500;
  nest.extents = {1300};
  nest.steepness = {2};
  nest.step_us = 3000;
  nest.rows = 2600;
  nest.parallel = true;
  nest.bytes = 0.85 * (32 << 20);
  EXPECT_GT(choose_time_tile(cpu, 2, nest).steps, 0);
  nest.bytes = 0.6 * (32 << 20);
  EXPECT_EQ(choose_time_tile(cpu, 2, nest).steps, 0);
}

TEST(Embed, GivesANestALoopOfOneIteration) {
  const Program p =
      in_place("[\"N\", \"N\"]", "for (int t = 1; t < N; t++) for (int j = 0; j < N; j++) A[t][j] = A[t-1][j] + 1.0;");
  EXPECT_TRUE(judge(p, R"({"do": "embed", "statement": "A", "loop": "i", "around": "j", "at": 2},
                          {"do": "skew", "statement": "A", "loop": "i", "by": "t"})")
                  .legal);
  // The border's loop takes part in tiles: blocks of four values of t + 2.
  const std::string tiled = loops_text(p, R"({"do": "embed", "statement": "A", "loop": "i", "around": "j", "at": 2},
      {"do": "skew", "statement": "A", "loop": "i", "by": "t"},
      {"do": "tile", "statement": "A", "loops": ["i"], "sizes": [4], "names": ["it"]},
      {"do": "interchange", "statement": "A", "order": ["it", "t"]})");
  EXPECT_NE(tiled.find("A.it"), std::string::npos) << tiled;
  const LegalReport twice = judge(p, R"({"do": "embed", "statement": "A", "loop": "j"})");
  EXPECT_FALSE(twice.legal);
  EXPECT_NE(twice.message.find("a loop named 'j' exists already"), std::string::npos) << twice.message;
}

}  // namespace
}  // namespace facet
