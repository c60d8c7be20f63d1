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

struct Told {
  std::string text;     // the recipe
  std::string pointer;  // how the place ends
  std::string words;    // of the message
};

TEST(RecipeErrors, AMessageNamesTheNarrowestCulpritAndWhatIsAllowed) {
  const auto promoted = [](const std::string& layout) {
    return with_steps(R"({"do": "promote", "array": "x", "statement": "t", "at": "i", "memory": "stack", "layout": )" + layout +
                      "}");
  };
  const auto spread = [](const std::string& rest) {
    return with_steps(R"({"do": "map_gpu", "statement": "t", "grid": ["i", "j"], "block": ["i", "j"], "threads": [8, 8], )" +
                      rest + "}");
  };
  const std::vector<Told> table = {
      {with_steps(R"({"do": "unroll", "statement": "t", "loop": "i", "factor": "four"})"), "/0/factor",
       "expected an integer, found \"four\""},
      {with_steps(R"({"do": "vectorize", "statement": "t", "loop": "i", "width": [8]})"), "/0/width",
       "expected an integer, found a list"},
      {with_steps(R"({"do": "skew", "statement": "t", "loop": "j", "by": "i", "factor": "x"})"), "/0/factor",
       "an integer from -1000 to 1000, found \"x\""},
      {with_steps(R"({"do": "parallelize", "statement": "t", "loop": "i", "reduction": "clause", "parts": 1000000000})"),
       "/0/parts", "an integer up to 65535"},
      {promoted(R"({"pad": {"j": 0}})"), "/0/layout/pad/j", "expected pad of j from 1 to 1000000000 elements, found 0"},
      {promoted(R"({"pad": {"j": "x"}})"), "/0/layout/pad/j", "found \"x\""},
      {promoted(R"({"pad": {"k": 1}})"), "/0/layout/pad/k", "dimensions, which are i, j"},
      {promoted(R"({"pad": 4})"), "/0/layout/pad", "found 4"},
      {spread(R"("points": [1000000000, 1])"), "/0/points/0", "integers up to 1024"},
      {with_steps(R"({"do": "?", "foo": 3})"), "/0/foo", "step '?' has no argument 'foo'"},
      {R"({"facet_recipe": 1, "variants": [{"when": "", "groups": "?"}]})", "/variants/0/when", "a condition on symbols"}};
  for (const Told& t : table) {
    const Result<LegalReport> report = judge(t.text);
    ASSERT_FALSE(report) << t.text;
    const Diagnostic& d = report.errors()[0];
    EXPECT_NE(d.message.find(t.words), std::string::npos) << d.message;
    EXPECT_TRUE(d.place.pointer.size() >= t.pointer.size() &&
                d.place.pointer.compare(d.place.pointer.size() - t.pointer.size(), t.pointer.size(), t.pointer) == 0)
        << t.pointer << " " << d.place.pointer;
  }
  for (const std::string& fine : {spread(R"("points": [4, 1])"), promoted(R"({"pad": {"j": 1}})")})
    EXPECT_TRUE(judge(fine)) << fine;
  EXPECT_TRUE(read_recipe(with_steps(R"({"do": "?"})"), "r.json")) << "as \"?\" alone";
}

TEST(RecipeErrors, APadThatMovesNothingIsRefused) {
  const auto padded = [](const std::string& layout) {
    return judge(with_steps(R"({"do": "promote", "array": "x", "statement": "t", "at": "i", "memory": "stack", "layout": )" +
                            layout + "}"));
  };
  const Result<LegalReport> slowest = padded(R"({"pad": {"i": 1}})");
  ASSERT_TRUE(slowest) << to_text(slowest.errors());
  EXPECT_FALSE(slowest->legal);
  EXPECT_NE(slowest->message.find("'i' is the slowest of the part"), std::string::npos) << slowest->message;
  EXPECT_TRUE(padded(R"({"pad": {"j": 1}})")->legal);
  EXPECT_TRUE(padded(R"({"order": ["j", "i"], "pad": {"i": 1}})")->legal);
}

TEST(RecipeErrors, TimeThatEndsInTheAnalysisIsToldOfItsGroup) {
  const Result<Program> program = check_text(kProgram, "p.json");
  ScheduleOptions options;
  options.time_budget_s = 0;
  const Result<LegalReport> report = check_recipe(*program, *read_recipe(with_steps(""), "r.json"), options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.errors()[0].code, Code::kBudgetExhausted);
  EXPECT_EQ(report.errors()[0].place.pointer, "/variants/0/groups/0");
}

}  // namespace
}  // namespace facet
