// Recipes that are wrong (exit 2) or refused (a report with a reason), each with its code or witness.
#include <gtest/gtest.h>

#include "polyhedral/facet_polyhedral.hpp"
#include "src/driver/pipeline.hpp"
#include "src/frontend/json.hpp"

namespace facet {
namespace {

const char* const kProgram = R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 2, "max": 64, "default": 9}},
  "tensors": {"x": {"dtype": "i32", "shape": ["N", 8]}, "s": {"dtype": "i32", "shape": ["N"]}}, "inputs": ["x"],
  "ops": [{"op": "compute", "in": "x", "out": "t", "def": "t[i, j] = x[i, j] + 1"},
          {"op": "loops", "in": ["t", "N"], "out": "s", "code": ["s[0] = t[0][0];", "for (int i = 1; i < N; i++) s[i] = s[i-1] + t[i][0];"]}],
  "outputs": ["t", "s"]})";

std::string recipe_of(const std::string& groups) {
  return R"({"facet_recipe": 1, "variants": [{"groups": [)" + groups + "]}]}";
}

std::string with_steps(const std::string& steps) {
  return recipe_of(R"({"name": "k0", "ops": ["t"], "steps": [)" + steps + R"(]}, {"name": "k1", "ops": ["s"], "steps": []})");
}

Result<LegalReport> judge(const std::string& text) {
  const Result<Program> program = check_text(kProgram, "p.json");
  if (!program) return program.errors();
  const Result<Recipe> recipe = read_recipe(text, "r.json");
  if (!recipe) return recipe.errors();
  ScheduleOptions options;
  options.sizes = *sizes_in_force(*program, {});
  return check_recipe(*program, *recipe, options);
}

struct Wrong {
  Code code;
  std::string text;
};

TEST(RecipeErrors, WrongRecipesAreInputErrors) {
  const std::vector<Wrong> table = {
      {Code::kUnknownStep, with_steps(R"({"do": "tyle", "statement": "t"})")},
      {Code::kUnknownStepArgument, with_steps(R"({"do": "tile", "statement": "t", "loops": ["i"], "sizes": [4], "size": 3})")},
      {Code::kMissingStepArgument, with_steps(R"({"do": "tile", "statement": "t", "loops": ["i"]})")},
      {Code::kBadStepArgument, with_steps(R"({"do": "tile", "statement": "t", "loops": ["i"], "sizes": [0]})")},
      {Code::kBadStepArgument, with_steps(R"({"do": "tile", "statement": "t", "loops": ["i"], "sizes": "big"})")},
      {Code::kUnknownStatement, with_steps(R"({"do": "unroll", "statement": "tt", "loop": "i"})")},
      {Code::kUnknownLoop, with_steps(R"({"do": "unroll", "statement": "t", "loop": "k"})")},
      {Code::kUnknownArray, with_steps(R"({"do": "promote", "array": "z", "statement": "t", "at": "i"})")},
      {Code::kUnknownArray, with_steps(R"({"do": "contract", "array": "xx"})")},
      {Code::kBadGroups, recipe_of(R"({"ops": ["t"]})")},
      {Code::kListedTwice, recipe_of(R"({"ops": ["t", "t"]}, {"ops": ["s"]})")},
      {Code::kBadHash, R"({"facet_recipe": 1, "program": "abc"})"},
      {Code::kUnknownField, R"({"facet_recipe": 1, "variant": []})"},
      {Code::kBadVersion, R"({"facet_recipe": 3})"}};
  for (const Wrong& w : table) {
    const Result<LegalReport> report = judge(w.text);
    ASSERT_FALSE(report) << w.text;
    EXPECT_EQ(code_name(report.errors()[0].code), code_name(w.code)) << w.text << to_text(report.errors());
  }
}

TEST(RecipeErrors, IllegalStepsAreRefusedWithAWitness) {
  const std::string groups = R"({"name": "k0", "ops": ["t"], "steps": []}, {"name": "k1", "ops": ["s"], "steps": [)";
  const Result<LegalReport> report = judge(recipe_of(groups + R"({"do": "parallelize", "statement": "s.1", "loop": "i"}]})"));
  ASSERT_TRUE(report) << to_text(report.errors());
  EXPECT_FALSE(report->legal);
  EXPECT_EQ(report->reason, "dependence");
  EXPECT_TRUE(report->has_violation);
  EXPECT_EQ(report->array, "s");
  EXPECT_EQ(report->step, "/variants/0/groups/1/steps/0");
  ASSERT_EQ(report->source.instance.size(), 1u);
  EXPECT_EQ(report->source.instance[0] + 1, report->sink.instance[0]);
}

// Where a recipe must be obeyed (run, compile, show), a refused step is an error with its place, exit 1.
Diagnostic refusal_of(const std::string& groups) {
  const Result<Program> program = check_text(kProgram, "p.json");
  const Result<Recipe> recipe = read_recipe(recipe_of(groups), "r.json");
  ScheduleOptions options;
  options.sizes = *sizes_in_force(*program, {});
  const Result<Scheduled> scheduled = schedule_program(*program, *recipe, options);
  return scheduled ? Diagnostic{} : scheduled.errors()[0];
}

TEST(RecipeErrors, RefusedStepsStopTheSchedule) {
  const std::string plain = R"({"name": "k0", "ops": ["t"], "steps": []}, )";
  const Diagnostic illegal =
      refusal_of(plain + R"({"name": "k1", "ops": ["s"], "steps": [{"do": "parallelize", "statement": "s.1", "loop": "i"}]})");
  EXPECT_EQ(illegal.code, Code::kIllegalStep);
  EXPECT_EQ(failure_of(illegal.code), Failure::kAnswerIsNo);
  EXPECT_EQ(illegal.place.pointer, "/variants/0/groups/1/steps/0");
  const Diagnostic refused = refusal_of(R"({"name": "k0", "ops": ["t"], "steps": [{"do": "contract", "array": "x"}]}, )"
                                        R"({"name": "k1", "ops": ["s"], "steps": []})");
  EXPECT_EQ(refused.code, Code::kStepPrecondition);
  EXPECT_NE(refused.message.find("'x' exists outside the group"), std::string::npos) << refused.message;
}

TEST(RecipeErrors, LegalStepsAreLegal) {
  for (
      const char* steps :
      {"", R"({"do": "tile", "statement": "t", "loops": ["i", "j"], "sizes": [3, 5]})",
       R"({"do": "parallelize", "statement": "t", "loop": "i"}, {"do": "vectorize", "statement": "t", "loop": "j", "width": 8})"}) {
    const Result<LegalReport> report = judge(with_steps(steps));
    ASSERT_TRUE(report) << to_text(report.errors());
    EXPECT_TRUE(report->legal) << report->message;
  }
}

}  // namespace
}  // namespace facet
