// The comparison with the program's own order, and the prediction that it rests on.
#include "polyhedral/analyse.hpp"
#include "polyhedral/partition.hpp"
#include "polyhedral/recipe/planner.hpp"
#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

ScheduleOptions options() {
  ScheduleOptions o;
  o.threads = 2;
  o.machine.cpu.vector_bytes = 64;
  o.machine.cpu.caches = {{48 << 10}, {2 << 20}, {32 << 20}};
  return o;
}

Schedule analysed(const Program& p) {
  const Result<Schedule> s = analyse(p, readers_of(p), {"k0", {0}}, Budget{0, {}}, {});
  EXPECT_TRUE(s.ok()) << (s.ok() ? "" : to_text(s.errors()));
  return *s;
}

Program rows() {
  return in_place("[4000, 4000]", "for (int i = 0; i < 4000; i++) for (int j = 0; j < 4000; j++) A[i][j] = A[i][j] + N;");
}

TEST(OriginalOrder, WinsOverAWalkAcrossTheLines) {
  const Schedule original = analysed(rows());
  const ScheduleOptions o = options();
  Ledger ledger;
  GroupPlanner planner(original, o, Budget{0, {}}, ledger);
  ASSERT_TRUE(
      planner.attempt(make_step("interchange", {{"statement", arg("A")}, {"order", arg(std::vector<std::string>{"j", "i"})}}),
                      "order", "A", "for the test"));
  const std::optional<std::vector<Step>> plain = better_original_order(original, planner);
  ASSERT_TRUE(plain.has_value());
  for (const Step& s : *plain) EXPECT_NE(s.verb, "interchange");
  EXPECT_FALSE(plain->empty());
  EXPECT_FALSE(ledger.back().done);
  EXPECT_NE(ledger.back().reason.find("not taken"), std::string::npos) << ledger.back().reason;
}

TEST(OriginalOrder, LosesAgainstTiles) {
  const Schedule original = analysed(rows());
  const ScheduleOptions o = options();
  Ledger ledger;
  GroupPlanner planner(original, o, Budget{0, {}}, ledger);
  EXPECT_FALSE(better_original_order(original, planner).has_value());  // nothing was done: nothing to compare
  EXPECT_TRUE(ledger.empty());
  ASSERT_TRUE(planner.attempt(make_step("tile", {{"statement", arg("A")},
                                                 {"loops", arg(std::vector<std::string>{"i"})},
                                                 {"sizes", arg(std::vector<std::int64_t>{1000})}}),
                              "tile", "A", "for the test"));
  plan_vectors(planner);
  plan_threads(planner);
  EXPECT_FALSE(better_original_order(original, planner).has_value());
  EXPECT_TRUE(ledger.back().done);
  EXPECT_NE(ledger.back().reason.find("the original order"), std::string::npos);
}

// A scalar of a triangular block has as many values as the block has iterations: an extent that an index decides.
TEST(Prediction, ScalarsOfTrianglesHaveNoExtentOfTheirOwn) {
  const Program p = in_place("[\"N\", \"N\"]",
                             "for (int i = 0; i < N; i++) for (int j = 0; j < i; j++) { double w = A[i][j]; "
                             "for (int k = 0; k < j; k++) w = w - A[i][k] * A[k][j]; A[i][j] = w; }");
  const Result<std::vector<PredictedKernel>> made =
      predict_program(p, recipe_of(p, R"({"do": "expand", "array": "A.w.each"})"), options());
  ASSERT_TRUE(made.ok()) << to_text(made.errors());
  EXPECT_GT(made->back().prediction.bytes.back(), 0);
}

}  // namespace
}  // namespace facet
