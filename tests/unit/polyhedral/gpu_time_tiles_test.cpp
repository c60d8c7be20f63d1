// The policy of hexagons over time on a GPU: what it chooses by its model, and that decision and reason follow the machine.
#include "polyhedral/recipe/gpu_time_tiles.hpp"

#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

const char* const kJacobi =
    " for (int i = 1; i < N - 1; i++) for (int j = 1; j < N - 1; j++) B[i][j] = A[i-1][j] + A[i+1][j] + A[i][j-1] + A[i][j+1];"
    " for (int i = 1; i < N - 1; i++) for (int j = 1; j < N - 1; j++) A[i][j] = B[i-1][j] + B[i+1][j];";

Planned planned(const std::string& body, int n, const GpuMachine& gpu = {}) {
  const Program p =
      program_of(R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 4, "max": 100000, "default": )" + std::to_string(n) +
                 R"(}, "T": {"min": 1, "max": 10000, "default": 500}},
    "tensors": {"A": {"dtype": "f32", "shape": ["N", "N"]}, "B": {"dtype": "f32", "shape": ["N", "N"]}}, "inputs": ["A", "B"],
    "ops": [{"op": "loops", "in": ["N", "T"], "inout": ["A", "B"], "code": "for (int t = 0; t < T; t++) {)" +
                 body + R"(}"}], "outputs": ["A", "B"]})");
  ScheduleOptions options;
  options.target = "cuda";
  options.machine.gpu = gpu;
  return plan_of(p, options, "time tiles");
}

TEST(GpuTimeTilePolicy, WhatLaunchesBoundIsTiledOverTime) {
  const Planned made = planned(kJacobi, 1000);
  ASSERT_EQ(made.decisions.size(), 1u);
  EXPECT_TRUE(made.decisions[0].done) << made.decisions[0].reason;
  EXPECT_NE(made.decisions[0].reason.find("us one after the other"), std::string::npos) << made.decisions[0].reason;
  EXPECT_EQ(made.count("hexagons"), 1);
  EXPECT_EQ(made.count("map_gpu"), 3);  // a grid, two nests of its blocks
}

// Two multiprocessors have no use for a front of hexagons; another memory gives other times. The same program, and the reason
// names the times that the decision comes from.
TEST(GpuTimeTilePolicy, DecisionAndReasonFollowTheMachine) {
  GpuMachine small, slow;
  small.multiprocessors = 2;
  slow.copy_gb_s = 500;
  const Planned here = planned(kJacobi, 1000), there = planned(kJacobi, 1000, small), elsewhere = planned(kJacobi, 1000, slow);
  ASSERT_EQ(here.decisions.size(), 1u);
  ASSERT_EQ(there.decisions.size(), 1u);
  ASSERT_EQ(elsewhere.decisions.size(), 1u);
  EXPECT_TRUE(here.decisions[0].done);
  EXPECT_FALSE(there.decisions[0].done) << there.decisions[0].reason;
  EXPECT_EQ(there.count("hexagons"), 0);
  EXPECT_NE(there.decisions[0].reason.find("predicted to gain"), std::string::npos) << there.decisions[0].reason;
  EXPECT_NE(elsewhere.decisions[0].reason, here.decisions[0].reason);
}

// What blocks work on must stay in their first-level caches: rows of arrays that are larger are left to launches.
TEST(GpuTimeTilePolicy, TheModelWeighsLaunchesAgainstSteps) {
  GpuTimeNest nest;
  nest.steps = 100;
  nest.extents = {1000, 1000};
  nest.cut = {{2, {0, 1}}, {2, {0, 1}}};
  nest.bytes = 8e6;
  nest.parts = {{1e6, 6, 8e6, 2}, {1e6, 6, 8e6, 2}};
  const GpuTimeTile tile = choose_gpu_time_tile({}, nest);
  ASSERT_GE(tile.sizes.size(), 2u);
  EXPECT_LT(tile.tiled_us, 0.9 * tile.plain_us);
  EXPECT_GE(tile.sizes[1], nest.cut.least_width(tile.sizes[0]));
  EXPECT_LT(tile.launches, 100);
  nest.parts[0].accesses = nest.parts[1].accesses = 60;  // each step of a block takes longer than a launch
  EXPECT_TRUE(choose_gpu_time_tile({}, nest).sizes.empty());
}

TEST(GpuTimeTilePolicy, DeclinesWhatHasNoSlopes) {
  const Planned transposed = planned(
      " for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) B[i][j] = A[j][i];"
      " for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) A[i][j] = B[i][j];",
      8000);
  ASSERT_EQ(transposed.decisions.size(), 1u);
  EXPECT_FALSE(transposed.decisions[0].done);
  EXPECT_NE(transposed.decisions[0].reason.find("without bound"), std::string::npos) << transposed.decisions[0].reason;
  // In place along its rows, and a loop that is none over time: not this policy's business.
  EXPECT_TRUE(planned(" for (int i = 1; i < N - 1; i++) for (int j = 1; j < N - 1; j++) A[i][j] = A[i][j-1] + A[i+1][j];", 800)
                  .decisions.empty());
}

}  // namespace
}  // namespace facet
