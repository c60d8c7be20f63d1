// The rewrite rfactor: where parts are filled and combined, what it refuses.
#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

Program row_sums() { return equations({"y[i] = sum[j](x[i, j])"}, "y"); }

TEST(Rfactor, SumsInInterleavedParts) {
  const std::string text = kernel_loops(row_sums(), "", R"({"do": "rfactor", "statement": "y", "by": "j % 4"})");
  const std::size_t start = text.find("for r in 0..4\n      y.part[r, i] = 0.0"), sum = text.find("sum= x[i, j]"),
                    combine = text.find("for r in 0..4\n      y[i] sum= y.part[r, i]");
  ASSERT_NE(start, std::string::npos) << text;
  ASSERT_NE(combine, std::string::npos) << text;
  EXPECT_LT(start, sum) << text;
  EXPECT_LT(sum, combine) << text;
  EXPECT_NE(text.find("y.part[j "), std::string::npos) << text;
}

TEST(Rfactor, SumsInContiguousParts) {
  const std::string text = kernel_loops(row_sums(), "", R"({"do": "rfactor", "statement": "y", "by": "j / 3"})");
  EXPECT_NE(text.find("for r in 0..3\n      y.part[r, i] = 0.0"), std::string::npos) << text;
  EXPECT_NE(text.find(" 3, i] sum= x[i, j]"), std::string::npos) << text;
}

// The parts are a dimension: after tiling by their length the reduction's outer loop may be parallel.
TEST(Rfactor, PartsRunOnThreads) {
  const Program p = row_sums();
  const std::string cut = R"({"do": "strip_mine", "statement": "y", "loop": "j", "size": 4})";
  const std::string threads = R"({"do": "parallelize", "statement": "y", "loop": "jt"})";
  EXPECT_FALSE(judge(p, cut + ", " + threads).legal);
  Recipe recipe = recipe_of(p, cut + ", " + threads);
  recipe.variants[0].groups[0].rewrites =
      recipe_of(p, R"({"do": "rfactor", "statement": "y", "by": "j / 4"})").variants[0].groups[0].steps;
  const Result<LegalReport> report = check_recipe(p, recipe, ScheduleOptions{});
  ASSERT_TRUE(report.ok()) << to_text(report.errors());
  EXPECT_TRUE(report->legal) << report->message;
}

Program sums_anew() {
  return program_of(R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 1, "max": 100, "default": 10}},
    "tensors": {"A": {"dtype": "f64", "shape": ["N", "N"]}, "t": {"dtype": "f64", "shape": [3]},
                "R": {"dtype": "f64", "shape": ["N"]}}, "inputs": ["A"],
    "ops": [{"op": "loops", "in": ["A", "N"], "out": ["R", "t"], "code":
      "for (int k = 0; k < N; k++) { for (int j = 0; j < 3; j++) t[j] = 0; )"
                    R"(for (int j = 0; j < 3; j++) for (int i = 0; i < N; i++) t[j] = t[j] + A[i][k]; R[k] = t[0] + t[2]; }"}],
    "outputs": ["R"]})");
}

// The sum is started anew and read in each iteration of k, so its parts are combined there.
TEST(Rfactor, CombinesWhereTheResultIsRead) {
  const std::string text = kernel_loops(sums_anew(), "", R"({"do": "rfactor", "statement": "t.1", "by": "i % 4"})");
  EXPECT_NE(text.find("for k in 0..N\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n    for r in 0..4\n      for j in 0..3\n        t[j] sum= t.part[r, j]"), std::string::npos) << text;
  Recipe recipe = recipe_of(sums_anew(), "");
  recipe.variants[0].groups[0].rewrites =
      recipe_of(sums_anew(), R"({"do": "rfactor", "statement": "t.1", "by": "k % 4"})").variants[0].groups[0].steps;
  const Result<LegalReport> across = check_recipe(sums_anew(), recipe, ScheduleOptions{});
  ASSERT_TRUE(across.ok()) << to_text(across.errors());
  EXPECT_FALSE(across->legal);
  EXPECT_NE(across->message.find("touches 't' in each iteration of loop 'k'"), std::string::npos) << across->message;
}

TEST(Rfactor, Refuses) {
  const auto judged = [](Program p, const std::string& rewrite) {
    Recipe recipe = recipe_of(p, "");
    recipe.variants[0].groups[0].rewrites = recipe_of(p, rewrite).variants[0].groups[0].steps;
    return check_recipe(p, recipe, ScheduleOptions{});
  };
  const Result<LegalReport> no_reduction =
      judged(equations({"y[i, j] = x[i, j] * 2.0"}, "y"), R"({"do": "rfactor", "statement": "y", "by": "j % 4"})");
  ASSERT_TRUE(no_reduction.ok());
  EXPECT_FALSE(no_reduction->legal);
  EXPECT_NE(no_reduction->message.find("no reduction"), std::string::npos) << no_reduction->message;
  Program strict = row_sums();
  strict.numerics.reassociate = Numerics::Reassociate::kStrict;
  const Result<LegalReport> rounding = judged(strict, R"({"do": "rfactor", "statement": "y", "by": "j % 4"})");
  ASSERT_TRUE(rounding.ok());
  EXPECT_NE(rounding->message.find("strict"), std::string::npos) << rounding->message;
  for (const char* wrong :
       {R"({"do": "rfactor", "statement": "y", "by": "i % 4"})", R"({"do": "rfactor", "statement": "y", "by": "j"})",
        R"({"do": "rfactor", "statement": "y", "by": "j % 1"})"}) {
    const Result<LegalReport> r = judged(row_sums(), wrong);
    ASSERT_FALSE(r.ok()) << wrong;
    EXPECT_EQ(r.errors()[0].code, Code::kBadStepArgument);
  }
  const Result<LegalReport> step = judged(row_sums(), R"({"do": "tile", "statement": "y", "loops": ["j"], "sizes": [4]})");
  ASSERT_FALSE(step.ok());
  EXPECT_EQ(step.errors()[0].code, Code::kUnknownStep);
  EXPECT_NE(to_text(step.errors()).find("belongs into \"steps\""), std::string::npos);
}

}  // namespace
}  // namespace facet
