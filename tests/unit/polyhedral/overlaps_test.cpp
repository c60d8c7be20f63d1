// The policy for overlapped tiles: when stages of a pipeline are computed again in tiles, and why not.
#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

// Three stages, each at neighbouring rows or columns of the one before.
Program pipeline(int n, const std::string& outputs = "\"y\"") {
  const std::string shape = R"({"dtype": "f32", "shape": ["N", "N"]})";
  return program_of(R"J({"facet": 1, "name": "p", "symbols": {"N": {"min": 5, "max": 20000, "default": )J" + std::to_string(n) +
                    R"J(}}, "tensors": {"x": )J" + shape + R"J(}, "inputs": ["x"], "ops": [
    {"op": "compute", "in": "x", "out": "p", "def": "p[i, j] = x[i, j] + x[i + 1, j] + x[i + 2, j] for i in 0..N - 2, j in 0..N"},
    {"op": "compute", "in": "p", "out": "q", "def": "q[i, j] = p[i, j] * p[i, j + 2] for i in 0..N - 2, j in 0..N - 2"},
    {"op": "compute", "in": "q", "out": "y", "def": "y[i, j] = q[i, j] + q[i + 2, j + 1] for i in 0..N - 4, j in 0..N - 4"}],
    "outputs": [)J" +
                    outputs + "]}");
}

TEST(Overlaps, StagesThatTheCachesDoNotHoldAreComputedInTiles) {
  const Planned made = plan_of(pipeline(6000), two_wide_threads(), "overlap");
  EXPECT_EQ(made.count("compute_at"), 2) << made.recipe << made.told();
  ASSERT_EQ(made.decisions.size(), 1u) << made.told();
  EXPECT_TRUE(made.decisions[0].done);
  EXPECT_NE(made.told().find(" predicted, apart "), std::string::npos) << made.told();
  EXPECT_NE(made.told().find("in tiles of 16 x 4096"), std::string::npos) << made.told();
  EXPECT_EQ(made.count("vectorize"), 3) << made.recipe;  // the last stage reads its part by the number of the tile, too
}

// The texts come from the machine: a small second level makes small tiles, a smaller one none.
TEST(Overlaps, TilesFitTheSecondLevel) {
  ScheduleOptions small = two_wide_threads();
  small.machine.cpu.caches = {{16 << 10}, {128 << 10}, {32 << 20}};
  const Planned made = plan_of(pipeline(6000), small, "overlap");
  EXPECT_EQ(made.count("compute_at"), 2) << made.told();
  EXPECT_EQ(made.told().find("16 x 4096"), std::string::npos) << made.told();
  small.machine.cpu.caches = {{1 << 10}, {2 << 10}, {32 << 20}};
  const Planned none = plan_of(pipeline(6000), small, "overlap");
  EXPECT_EQ(none.count("compute_at"), 0) << none.recipe;
  EXPECT_NE(none.told().find("in the smallest tile"), std::string::npos) << none.told();
}

TEST(Overlaps, WhatOthersWantStays) {
  const Planned made = plan_of(pipeline(6000, R"("y", "q")"), two_wide_threads());
  EXPECT_EQ(made.told().find("arrays q"), std::string::npos) << made.told();
  for (const Step& s : made.steps) {
    if (s.verb != "compute_at") continue;
    EXPECT_EQ(std::get<std::string>(s.arguments.at("array").value), "p");
  }
}

}  // namespace
}  // namespace facet
