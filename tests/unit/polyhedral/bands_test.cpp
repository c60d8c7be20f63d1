// Bands: factorizations become permutable loops in tiles; what has nothing to permute stays as it is.
#include <algorithm>

#include "polyhedral/recipe/block_sides.hpp"
#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

Program matrix(const std::string& code, int n) {
  return program_of(R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 3, "max": 100000, "default": )" + std::to_string(n) +
                    R"(}}, "tensors": {"A": {"dtype": "f64", "shape": ["N", "N"]}}, "inputs": ["A"],
    "ops": [{"op": "loops", "in": ["N"], "inout": ["A"], "code": ")" +
                    code + R"("}], "outputs": ["A"]})");
}

const char* const kLu =
    "for (int i = 0; i < N; i++) {"
    " for (int j = 0; j < i; j++) { for (int k = 0; k < j; k++) A[i][j] -= A[i][k] * A[k][j]; A[i][j] /= A[j][j]; }"
    " for (int j = i; j < N; j++) for (int k = 0; k < i; k++) A[i][j] -= A[i][k] * A[k][j]; }";

int count(const std::vector<Step>& steps, const std::string& verb) {
  return static_cast<int>(std::count_if(steps.begin(), steps.end(), [&](const Step& s) { return s.verb == verb; }));
}

std::vector<Step> planned(const Program& p) {
  ScheduleOptions options;
  options.threads = 2;
  return plan_of(p, options).steps;
}

// Tiles in wavefronts; in each, the products of finished tiles first, in registers: split off where the tile itself begins.
// What is left is cut once more in the same way.
TEST(Bands, AFactorizationIsTiledInWavefronts) {
  const std::vector<Step> steps = planned(matrix(kLu, 2000));
  EXPECT_EQ(count(steps, "reschedule"), 1);
  EXPECT_EQ(count(steps, "index_set_split"), 2);
  EXPECT_EQ(count(steps, "unroll"), 4);  // rows of the register tiles: below the diagonal, and from it on; large and small
  EXPECT_EQ(count(steps, "skew"), 1);
  EXPECT_EQ(count(steps, "parallelize"), 1);
  EXPECT_EQ(count(steps, "vectorize"), 6);  // both updates, in three parts; the division's loop runs once
  EXPECT_EQ(count(steps, "shift"), 0);      // the division is done for all rows before they go on
}

// Register tiles walk operands that nothing packs: whole vectors, whose columns stay in L1.
TEST(Bands, RegisterTilesOfFactorizationsDivideTheirTile) {
  CpuMachine cpu;
  cpu.vector_bytes = 64;
  cpu.vector_registers = 32;
  cpu.caches.resize(1);
  cpu.caches[0].size_bytes = 32768;
  for (const std::int64_t side : {32, 96, 128}) {
    const ContractionTile t = block_tile(cpu, 8, side);
    EXPECT_EQ(t.lanes, 8);
    EXPECT_EQ(side % t.nr, 0);
    EXPECT_EQ(side % t.mr, 0);
    EXPECT_LE(t.nr * kKBlock * 8, 16384);
  }
}

// Small tiles inside large ones where they may be, one size where not, and none for a handful.
TEST(Bands, SidesOfTiles) {
  CpuMachine cpu;
  BlockFacts facts{2000, 2.0 * 2000 * 2000 * 2000 / 3, 8, 2, false, true};
  const BlockSides both = choose_block_sides(cpu, facts);
  EXPECT_GE(both.outer, 2 * both.inner);
  EXPECT_GT(both.inner, 0);
  facts.again = false;
  const BlockSides one = choose_block_sides(cpu, facts);
  EXPECT_EQ(one.inner, 0);
  EXPECT_LT(one.outer, both.outer);
  facts.extent = 40;
  facts.instances = 40 * 40 * 40 / 3;
  EXPECT_EQ(choose_block_sides(cpu, facts).outer, 0);
}

// A[j, k] has no lanes along j: they run along k, and both sides of the register tile are unrolled.
TEST(Bands, RowsTimesRowsHaveLanesAlongTheReduction) {
  const std::vector<Step> steps = planned(matrix(
      "for (int i = 0; i < N; i++) { for (int j = 0; j < i; j++) { for (int k = 0; k < j; k++) A[i][j] -= A[i][k] * A[j][k];"
      " A[i][j] /= A[j][j]; } for (int k = 0; k < i; k++) A[i][i] -= A[i][k] * A[i][k]; A[i][i] = sqrt(A[i][i]); }",
      2000));
  EXPECT_EQ(count(steps, "index_set_split"), 1);
  EXPECT_EQ(count(steps, "unroll"), 2);
  EXPECT_EQ(count(steps, "parallelize"), 1);
}

// A loop that runs backwards has its finished tiles on the other side; scalars that hold a nest together become arrays.
TEST(Bands, BackwardLoopsAndScalars) {
  const std::vector<Step> parens =
      planned(matrix("for (int i = N - 1; i >= 0; i--) for (int j = i + 1; j < N; j++) {"
                     " A[i][j] = max(A[i][j], A[i][j-1]); for (int k = i + 1; k < j; k++)"
                     " A[i][j] = max(A[i][j], A[i][k] + A[k+1][j]); }",
                     2000));
  EXPECT_EQ(count(parens, "index_set_split"), 2);
  const std::vector<Step> scalar = planned(
      matrix("double w; for (int i = 0; i < N; i++) { for (int j = 0; j < i; j++) { w = A[i][j]; for (int k = 0; k < j; k++)"
             " w -= A[i][k] * A[k][j]; A[i][j] = w / A[j][j]; } for (int j = i; j < N; j++) { w = A[i][j];"
             " for (int k = 0; k < i; k++) w -= A[i][k] * A[k][j]; A[i][j] = w; } }",
             2000));
  EXPECT_EQ(count(scalar, "expand"), 2);
  EXPECT_EQ(count(scalar, "index_set_split"), 2);
}

const char* const kOrthogonal =
    "for (int k = 0; k < N; k++) { double norm = 0.0; for (int i = 0; i < N; i++) norm += A[i][k] * A[i][k];"
    " R[k][k] = sqrt(norm); for (int i = 0; i < N; i++) Q[i][k] = A[i][k] / R[k][k];"
    " for (int j = k + 1; j < N; j++) { R[k][j] = 0.0; for (int i = 0; i < N; i++) R[k][j] += Q[i][k] * A[i][j];"
    " for (int i = 0; i < N; i++) A[i][j] = A[i][j] - Q[i][k] * R[k][j]; } }";

Program orthogonal(int n) {
  return program_of(R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 3, "max": 100000, "default": )" + std::to_string(n) +
                    R"(}}, "tensors": {"A": {"dtype": "f64", "shape": ["N", "N"]}, "Q": {"dtype": "f64", "shape": ["N", "N"]},
    "R": {"dtype": "f64", "shape": ["N", "N"]}}, "inputs": ["A", "R"],
    "ops": [{"op": "loops", "in": ["N"], "inout": ["A", "R"], "out": ["Q"], "code": ")" +
                    std::string(kOrthogonal) + R"("}], "outputs": ["Q", "R"]})");
}

// Columns in panels that stay in the second cache: those behind a block's own run on threads.
TEST(Bands, AnOrthogonalizationRunsInPanels) {
  const std::vector<Step> steps = planned(orthogonal(1000));
  EXPECT_EQ(count(steps, "reschedule"), 1);
  ASSERT_EQ(count(steps, "index_set_split"), 1);
  EXPECT_GE(count(steps, "interchange"), 2);  // the sum and the update: rows outside, lanes inside
  EXPECT_EQ(count(steps, "skew"), 0);
  const auto split = std::find_if(steps.begin(), steps.end(), [](const Step& s) { return s.verb == "index_set_split"; });
  const auto threads = std::find_if(steps.begin(), steps.end(), [](const Step& s) { return s.verb == "parallelize"; });
  ASSERT_NE(threads, steps.end());
  EXPECT_LT(split, threads);
  EXPECT_EQ(std::get<std::string>(threads->arguments.at("loop").value), "jt");
  EXPECT_EQ(count(steps, "unroll") + count(steps, "unroll_and_jam"), 0) << "a panel's rows are in registers already";
}

// A matrix that the second cache holds is walked as it was.
TEST(Bands, PanelsAreForMatricesLargerThanTheCache) { EXPECT_EQ(count(planned(orthogonal(300)), "index_set_split"), 0); }

TEST(Bands, SmallOnesAreLeftAlone) { EXPECT_EQ(count(planned(matrix(kLu, 40)), "reschedule"), 0); }

// Rows of step k are read by rows before and after them: nothing permutes.
TEST(Bands, WhatDoesNotPermuteKeepsItsOrder) {
  const std::vector<Step> steps = planned(matrix(
      "for (int k = 0; k < N; k++) for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) A[i][j] = A[i][k] + A[k][j];", 500));
  EXPECT_EQ(count(steps, "reschedule"), 0);
}

}  // namespace
}  // namespace facet
