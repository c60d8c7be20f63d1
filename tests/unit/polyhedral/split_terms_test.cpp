// The rewrites split_terms and precompute, and when the scheduler takes them and expansions: what they make, what they refuse.
#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

Program symmetric(int n, const std::string& value, const std::string& numerics = "tree") {
  return program_of(R"({"facet": 1, "name": "p", "numerics": {"reassociate": ")" + numerics +
                    R"("}, "symbols": {"N": {"min": 3, "max": 10000, "default": )" + std::to_string(n) +
                    R"(}}, "tensors": {"alpha": {"dtype": "f64", "shape": []}, "A": {"dtype": "f64", "shape": ["N", "N"]},
    "B": {"dtype": "f64", "shape": ["N", "N"]}, "C": {"dtype": "f64", "shape": ["N", "N"]}},
    "inputs": ["alpha", "A", "B", "C"], "ops": [{"op": "loops", "in": ["alpha", "A", "B", "N"], "inout": ["C"], "code":
    "for (int i = 0; i < N; i++) for (int k = 0; k < N; k++) for (int j = 0; j <= i; j++) C[i][j] += )" +
                    value + R"(;"}], "outputs": ["C"]})");
}

const char* const kTwoProducts = "A[j][k] * alpha * B[i][k] - B[j][k] * A[i][k]";

LegalReport judged(const Program& p, const std::string& rewrites) {
  Recipe recipe = recipe_of(p, "");
  recipe.variants[0].groups[0].rewrites = recipe_of(p, rewrites).variants[0].groups[0].steps;
  const Result<LegalReport> report = check_recipe(p, recipe, ScheduleOptions{});
  EXPECT_TRUE(report.ok()) << to_text(report.errors());
  return report.ok() ? *report : LegalReport{};
}

std::string planned(const Program& p) {
  ScheduleOptions options;
  options.threads = 2;
  options.machine.cpu.vector_bytes = 64;
  Ledger ledger;
  const Result<Recipe> recipe = plan(p, Recipe{}, options, ledger);
  EXPECT_TRUE(recipe.ok());
  return recipe ? to_json(*recipe) : "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(SplitTerms, EachTermIsAnUpdate) {
  const std::string text = kernel_loops(symmetric(20, kTwoProducts), "", R"({"do": "split_terms", "statement": "C"})");
  const std::size_t first = text.find("C[i, j] sum= A[j, k] * alpha[] * B[i, k]"),
                    second = text.find("C[i, j] sum= -(B[j, k] * A[i, k])");
  ASSERT_NE(first, std::string::npos) << text;
  ASSERT_NE(second, std::string::npos) << text;
  EXPECT_LT(first, second) << text;
}

TEST(SplitTerms, Refuses) {
  const std::string step = R"({"do": "split_terms", "statement": "C"})";
  EXPECT_TRUE(judged(symmetric(20, kTwoProducts), step).legal);
  EXPECT_TRUE(has(judged(symmetric(20, "A[i][k]"), step).message, "is no sum"));
  EXPECT_TRUE(has(judged(symmetric(20, kTwoProducts, "strict"), step).message, "strict"));
  EXPECT_TRUE(has(judged(in_place("[\"N\"]", "for (int i = 1; i < N; i++) A[i] += A[i - 1] + 1.0;"),
                         R"({"do": "split_terms", "statement": "A"})")
                      .message,
                  "reads 'A' itself"));
  EXPECT_TRUE(
      has(judged(in_place("[\"N\"]", "for (int i = 0; i < N; i++) A[i] = 2.0;"), R"({"do": "split_terms", "statement": "A"})")
              .message,
          "adds nothing up"));
}

TEST(Precompute, TheOperandIsMultipliedOnce) {
  const std::string text =
      kernel_loops(symmetric(20, "alpha * A[i][k] * A[j][k]"), "", R"({"do": "precompute", "statement": "C", "array": "A"})");
  EXPECT_TRUE(has(text, "A.computed[i, k] = alpha[] * A[i, k]")) << text;
  EXPECT_TRUE(has(text, "C[i, j] sum= A.computed[i, k] * A[j, k]")) << text;
}

// Elements that nobody reads are not computed: k runs from i on.
TEST(Precompute, OnlyWhatIsRead) {
  const Program p = program_of(R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 3, "max": 100, "default": 10}},
    "tensors": {"a": {"dtype": "f64", "shape": []}, "A": {"dtype": "f64", "shape": ["N", "N"]},
                "y": {"dtype": "f64", "shape": ["N"]}}, "inputs": ["a", "A", "y"],
    "ops": [{"op": "loops", "in": ["a", "A", "N"], "inout": ["y"],
      "code": "for (int i = 0; i < N; i++) for (int k = i; k < N; k++) y[i] += 3.0 + a * A[k][i];"}], "outputs": ["y"]})");
  const std::string text = kernel_loops(p, "", R"({"do": "precompute", "statement": "y", "array": "A"})");
  EXPECT_TRUE(has(text, "for i in 0..k + 1")) << text;
}

TEST(Precompute, Refuses) {
  const auto message = [](const Program& p, const std::string& statement, const std::string& array) {
    const LegalReport report =
        judged(p, R"({"do": "precompute", "statement": ")" + statement + R"(", "array": ")" + array + R"("})");
    EXPECT_FALSE(report.legal);
    return report.message;
  };
  const std::string alone = message(symmetric(20, "A[i][k] * B[j][k]"), "C", "A");
  EXPECT_TRUE(has(alone, "makes nothing of 'A'")) << alone;
  const std::string mixed = message(symmetric(20, "alpha * A[i][j + k - j] * alpha * B[j][k]"), "C", "B");
  EXPECT_TRUE(has(mixed, "makes nothing of 'B'")) << mixed;
  const std::string written = message(
      in_place("[\"N\", \"N\"]", "for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) A[i][j] = 1.0 + 2.0 * A[j][i];"), "A",
      "A");
  EXPECT_TRUE(has(written, "'A' writes 'A'")) << written;
}

TEST(Rewrites, TermsBecomeContractionsAndFactorsAreMultipliedOnce) {
  const std::string recipe = planned(symmetric(400, kTwoProducts));
  EXPECT_TRUE(has(recipe, "split_terms")) << recipe;
  EXPECT_TRUE(has(recipe, "precompute")) << recipe;
  EXPECT_TRUE(has(recipe, "C.term2")) << recipe;
  EXPECT_FALSE(has(planned(symmetric(400, "A[i][k] * B[j][k]")), "precompute"));
  EXPECT_FALSE(has(planned(symmetric(400, "A[j][k] + B[i][k]")), "split_terms"));  // terms that are no products
  EXPECT_FALSE(has(planned(symmetric(20, kTwoProducts)), "split_terms"));          // too small
  EXPECT_FALSE(has(planned(symmetric(400, kTwoProducts, "strict")), "split_terms"));
}

// A row of results for each (r, q): together they are a contraction, each alone is none.
Program rows(const std::string& outputs, const std::string& out) {
  return program_of(R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 3, "max": 1000, "default": 120}},
    "tensors": {"A": {"dtype": "f64", "shape": ["N", "N", "N"]}, "C": {"dtype": "f64", "shape": ["N", "N"]},
                "sum": {"dtype": "f64", "shape": ["N"]}}, "inputs": ["A", "C"],
    "ops": [{"op": "loops", "in": ["C", "N"], "inout": ["A"], "out": [)" +
                    out +
                    R"(], "code":
      "for (int r = 0; r < N; r++) for (int q = 0; q < N; q++) { for (int p = 0; p < N; p++) { sum[p] = 0.0; )"
                    R"(for (int s = 0; s < N; s++) sum[p] += A[r][q][s] * C[s][p]; } )"
                    R"(for (int p = 0; p < N; p++) A[r][q][p] = sum[p]; }"}], "outputs": [)" +
                    outputs + "]}");
}

TEST(Expansion, RowsOfASumBecomeAContraction) {
  const std::string recipe = planned(rows("\"A\"", "\"sum\""));
  EXPECT_TRUE(has(recipe, R"({"do": "expand", "array": "sum", "at": "q")")) << recipe;
  EXPECT_TRUE(has(recipe, R"({"do": "expand", "array": "sum.each", "at": "r")")) << recipe;
  EXPECT_TRUE(has(recipe, "registers")) << recipe;
  // The last row is wanted: it has to be where it was.
  EXPECT_FALSE(has(planned(rows(R"("A", "sum")", "\"sum\"")), "expand"));
}

}  // namespace
}  // namespace facet
