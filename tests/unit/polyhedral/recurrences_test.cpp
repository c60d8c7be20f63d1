// Recurrences: which loops get lanes, rows or tiles of columns; cuts at the row and column that an outer loop names.
#include <algorithm>

#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

Program in_place(const std::string& code, const std::string& dtype = "f64") {
  const std::string array = R"({"dtype": ")" + dtype + R"(", "shape": ["N", "N"]})";
  return program_of(R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 4, "max": 100000, "default": 1000}},
    "tensors": {"A": )" +
                    array + R"(, "B": )" + array + R"(, "r": {"dtype": "f64", "shape": ["N"]}}, "inputs": ["A", "B", "r"],
    "ops": [{"op": "loops", "in": ["N"], "inout": ["A", "B", "r"], "code": ")" +
                    code + R"("}], "outputs": ["A", "B", "r"]})");
}

std::vector<Step> planned(const Program& p) { return plan_of(p, two_wide_threads()).steps; }

// The loops that steps of a verb are asked for, in order.
std::vector<std::string> loops_of(const std::vector<Step>& steps, const std::string& verb) {
  std::vector<std::string> loops;
  for (const Step& s : steps)
    if (s.verb == verb)
      loops.push_back(std::get<std::string>(verb == "tile" ? std::get<ArgumentList>(s.arguments.at("loops").value)[0].value
                                                           : s.arguments.at("loop").value));
  return loops;
}

using Loops = std::vector<std::string>;

TEST(Recurrences, ColumnsThatLieSideBySideAreLanes) {
  const std::vector<Step> steps =
      planned(in_place("for (int j = 0; j < N; j++) for (int i = 1; i < N; i++) A[i][j] = A[i-1][j] / B[i][j];"));
  EXPECT_EQ(loops_of(steps, "vectorize"), Loops{"j"});
  EXPECT_EQ(loops_of(steps, "unroll_and_jam"), Loops{});
}

TEST(Recurrences, RowsRunSeveralAtOnce) {
  const std::vector<Step> steps =
      planned(in_place("for (int i = 0; i < N; i++) for (int j = 1; j < N; j++) A[i][j] = A[i][j-1] / B[i][j];"));
  EXPECT_EQ(loops_of(steps, "unroll_and_jam"), Loops{"i"});
  EXPECT_EQ(loops_of(steps, "parallelize"), Loops{"it"});
}

// Nothing waits: the loop inside has lanes of its own.
TEST(Recurrences, FreeRowsAreLeftAlone) {
  const std::vector<Step> steps =
      planned(in_place("for (int i = 1; i < N; i++) for (int j = 1; j < N; j++) A[i][j] = B[i][j-1] / B[i][j];"));
  EXPECT_EQ(loops_of(steps, "unroll_and_jam"), Loops{});
  EXPECT_EQ(loops_of(steps, "vectorize"), Loops{"j"});
}

TEST(Recurrences, ColumnsReadTwiceStayInCache) {
  const std::vector<Step> steps =
      planned(in_place("for (int j = 0; j < N; j++) { for (int i = 0; i < N; i++) r[j] += A[i][j] * A[i][j];"
                       " for (int i = 0; i < N; i++) A[i][j] = A[i][j] - r[j]; }"));
  EXPECT_EQ(loops_of(steps, "tile"), Loops{"j"});
  EXPECT_EQ(loops_of(steps, "vectorize"), (Loops{"j", "j"}));
  EXPECT_EQ(loops_of(steps, "parallelize"), Loops{"j0"});
}

// Before, at and behind k in both loops: nine parts, the long ones on lanes, rows before and behind on threads.
TEST(Pivots, ShortestPathsAreCutAtTheirRowAndColumn) {
  const std::vector<Step> steps =
      planned(in_place("for (int k = 0; k < N; k++) for (int i = 0; i < N; i++) for (int j = 0; j < N; j++)"
                       " A[i][j] = A[i][j] < A[i][k] + A[k][j] ? A[i][j] : A[i][k] + A[k][j];",
                       "i32"));
  EXPECT_EQ(loops_of(steps, "index_set_split"), (Loops{"i", "j", "j", "j"}));
  EXPECT_EQ(loops_of(steps, "vectorize").size(), 6u);
  EXPECT_GE(loops_of(steps, "parallelize").size(), 2u);
}

// The row before is read as well: the parts behind the cut still wait for each other.
TEST(Pivots, OtherDependencesKeepTheLoopsWhole) {
  const std::vector<Step> steps =
      planned(in_place("for (int k = 0; k < N; k++) for (int i = 1; i < N; i++) for (int j = 1; j < N; j++)"
                       " A[i][j] = A[i-1][j-1] + A[i][k] + A[k][j] + A[i-1][j] + A[i][j-1];",
                       "i32"));
  EXPECT_EQ(loops_of(steps, "index_set_split"), Loops{});
}

}  // namespace
}  // namespace facet
