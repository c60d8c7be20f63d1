// flatten: what becomes one loop, what is refused, and that the scheduler asks for it where a product hides in rows.
#include <algorithm>

#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

Recipe with_rewrite(const Program& p, const std::string& rewrite, const std::string& steps = "") {
  Recipe recipe = recipe_of(p, steps);
  recipe.variants[0].groups[0].rewrites = recipe_of(p, rewrite).variants[0].groups[0].steps;
  return recipe;
}

std::string flat(const Program& p, const std::string& statement, const std::string& loops, const std::string& steps = "") {
  const Recipe recipe =
      with_rewrite(p, R"({"do": "flatten", "statement": ")" + statement + R"(", "loops": [)" + loops + "]}", steps);
  const Result<Scheduled> s = schedule_program(p, recipe, ScheduleOptions{});
  return s ? last_kernel(to_text(s->loops)) : to_text(s.errors());
}

TEST(Flatten, RowsOfEveryArrayBecomeOne) {
  EXPECT_EQ(flat(equations({"y[i, j] = x[i, j] * 2.0"}, "y"), "y", R"("i", "j")"),
            "  for ij in 0..64\n    y[ij / 8, ij % 8] = x[ij / 8, ij % 8] * 2.0\n");
}

// The other statement walks the same rows, under names of its own.
TEST(Flatten, ReadersFollow) {
  const std::string text =
      flat(equations({"t[i, j] = x[i, j] * 2.0", "y[a, b] = t[a, b] + x[a, b]"}, "y"), "y.t", R"("i", "j")");
  EXPECT_NE(text.find("for ij in 0..64\n"), std::string::npos) << text;
  EXPECT_NE(text.find("for ab in 0..64\n"), std::string::npos) << text;
}

// What a step makes of such an array is laid out as it is subscripted: by one index more than the array has in memory's words.
TEST(Flatten, ArraysMadeOfThemHaveMemoryOfTheirOwn) {
  const std::string text =
      flat(equations({"t[i, j] = x[i, j] * 2.0", "y[i, j] = t[i, j] + x[i, j]"}, "y"), "y.t", R"("i", "j")",
           R"({"do": "fuse", "statements": ["y.t", "y"], "loops": ["ij"]},
              {"do": "tile", "statement": "y", "loops": ["ij"], "sizes": [8]},
              {"do": "expand", "array": "y.t", "statement": "y", "at": "ijt"})");
  EXPECT_NE(text.find("y.t.each[ij / 8, ij] = "), std::string::npos) << text;
}

TEST(Flatten, RefusesOtherUsesOfTheIndices) {
  const auto refused = [](const std::vector<std::string>& lines, const std::string& why) {
    const std::string text = flat(equations(lines, "y"), "y", R"("i", "j")");
    EXPECT_NE(text.find("refused"), std::string::npos) << lines.back() << "\n" << text;
    EXPECT_NE(text.find(why), std::string::npos) << lines.back() << "\n" << text;
  };
  refused({"y[i, j] = x[j, i]"}, "side by side");
  refused({"y[i, j] = x[i, j] + x[i, 0]"}, "side by side");
  refused({"y[i, j] = x[i, j - 1 ? 0.0] for i in 0..8, j in 0..8"}, "by these indices alone");
  refused({"y[i, j] = x[i, j] * cast(f32, j)"}, "uses 'j' itself");
  refused({"y[i, j] = x[i, j] + x[7, 7]"}, "does not walk these dimensions of 'x'");
  refused({"t[i, j] = x[i, j] where j <= i", "y[i, j] = t[i, j] where j <= i", "y[i, j] = x[i, j] where j > i"}, "depends");
}

TEST(Flatten, WrongIndicesAreWrongArguments) {
  const Program p = equations({"y[i, j] = x[i, j] * 2.0"}, "y");
  for (const char* loops : {R"("i")", R"("j", "i")", R"("i", "k")"}) {
    const Result<LegalReport> report = check_recipe(
        p, with_rewrite(p, std::string(R"({"do": "flatten", "statement": "y", "loops": [)") + loops + "]}"), ScheduleOptions{});
    ASSERT_FALSE(report.ok()) << loops;
    EXPECT_EQ(report.errors()[0].code, Code::kBadStepArgument) << loops;
  }
}

Recipe planned(const Program& p) {
  ScheduleOptions options;
  options.threads = 2;
  options.machine.cpu.isa = "avx512";
  options.machine.cpu.vector_bytes = 64;
  options.machine.cpu.vector_registers = 32;
  Ledger ledger;
  const Result<Recipe> recipe = plan(p, Recipe{}, options, ledger);
  EXPECT_TRUE(recipe.ok());
  return recipe ? *recipe : Recipe{};
}

Program convolution(const std::string& x, const std::string& w, const std::string& attributes) {
  return program_of(R"({"facet": 1, "name": "p", "tensors": {"x": {"dtype": "f32", "shape": )" + x +
                    R"(}, "w": {"dtype": "f32", "shape": )" + w + R"(}}, "inputs": ["x", "w"], "ops": [{"op": "conv", "in":
    ["x", "w"], "out": "y", "attrs": {)" +
                    attributes + R"(}}], "outputs": ["y"]})");
}

// The points of a 1 x 1 convolution are the columns of a product: 3 * 9 vectors of points, not 9 times 2 halves.
TEST(Flatten, TheSchedulerMakesAProductOfA1x1Convolution) {
  const Group group = planned(convolution("[1, 32, 21, 21]", "[64, 32, 1, 1]", "")).variants[0].groups[0];
  ASSERT_EQ(group.rewrites.size(), 1U);
  EXPECT_EQ(group.rewrites[0].verb, "flatten");
  const auto walks = [](const Step& s) {
    const auto loop = s.arguments.find("loop");
    return s.verb == "vectorize" && loop != s.arguments.end() && loop->second == Argument{std::string("pq")};
  };
  EXPECT_TRUE(std::any_of(group.steps.begin(), group.steps.end(), walks));
}

TEST(Flatten, TheSchedulerLeavesWindowsAlone) {
  EXPECT_TRUE(planned(convolution("[1, 32, 21, 21]", "[64, 32, 3, 3]", "")).variants[0].groups[0].rewrites.empty());
}

// Windows are copied for blocks of rows: what one block reads, in the order in which the tile's steps read it.
TEST(Patches, WindowsOfABlockOfRowsAreCopiedTogether) {
  const Group group =
      planned(convolution("[1, 64, 56, 56]", "[64, 64, 3, 3]", R"("pads": [1, 1, 1, 1])")).variants[0].groups[0];
  const auto patch = [](const Step& s) {
    const auto at = s.arguments.find("at"), array = s.arguments.find("array");
    return s.verb == "promote" && array->second == Argument{std::string("x")} && at != s.arguments.end() &&
           at->second == Argument{std::string("pt")};
  };
  EXPECT_TRUE(std::any_of(group.steps.begin(), group.steps.end(), patch));
}

}  // namespace
}  // namespace facet
