// Bands: factorizations become permutable loops in tiles; what has nothing to permute stays as it is.
#include <algorithm>

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
  Ledger ledger;
  const Result<Recipe> recipe = plan(p, Recipe{}, options, ledger);
  EXPECT_TRUE(recipe.ok());
  return recipe ? recipe->variants[0].groups.back().steps : std::vector<Step>{};
}

TEST(Bands, AFactorizationIsTiledInWavefronts) {
  const std::vector<Step> steps = planned(matrix(kLu, 2000));
  EXPECT_EQ(count(steps, "reschedule"), 1);
  EXPECT_EQ(count(steps, "tile"), 1);
  EXPECT_EQ(count(steps, "skew"), 1);
  EXPECT_EQ(count(steps, "parallelize"), 1);
  EXPECT_EQ(count(steps, "vectorize"), 2);  // both updates; the division's loop runs once
}

TEST(Bands, SmallOnesAreLeftAlone) { EXPECT_EQ(count(planned(matrix(kLu, 40)), "reschedule"), 0); }

// Rows of step k are read by rows before and after them: nothing permutes.
TEST(Bands, WhatDoesNotPermuteKeepsItsOrder) {
  const std::vector<Step> steps = planned(matrix(
      "for (int k = 0; k < N; k++) for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) A[i][j] = A[i][k] + A[k][j];", 500));
  EXPECT_EQ(count(steps, "reschedule"), 0);
}

}  // namespace
}  // namespace facet
