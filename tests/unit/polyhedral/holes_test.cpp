// "?" inside steps: completed by the model, legal, what was fixed kept; what cannot be completed is said; what fixing costs
// too.
#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

ScheduleOptions options_for(const Machine& machine) {
  ScheduleOptions o;
  o.machine = machine;
  o.threads = 2;
  o.time_budget_s = 300;
  return o;
}

Machine machine() {
  Machine m;
  m.cpu.cores = 2;
  m.cpu.caches = {{32 << 10}, {1 << 20}, {8 << 20}};
  return m;
}

Program product() {
  return program_of(R"~({"facet": 1, "name": "p", "tensors": {"a": {"dtype": "f32", "shape": [512, 512]},
    "b": {"dtype": "f32", "shape": [512, 512]}}, "inputs": ["a", "b"],
    "ops": [{"op": "compute", "in": ["a", "b"], "out": ["c"], "def": ["c[i, j] = sum[k](a[i, k] * b[k, j])"]}], "outputs": ["c"]})~");
}

struct Completed {
  std::vector<Step> steps;
  Ledger ledger;
  Diagnostics errors;
};

Completed complete(const Program& p, const std::string& steps, const Machine& m = machine()) {
  Completed c;
  const ScheduleOptions options = options_for(m);
  const Result<Recipe> recipe = plan(p, recipe_of(p, steps), options, c.ledger);
  if (!recipe) {
    c.errors = recipe.errors();
    return c;
  }
  c.steps = recipe->variants[0].groups.back().steps;  // copies of updated inputs stand before it
  const Result<LegalReport> legal = check_recipe(p, *recipe, options);
  EXPECT_TRUE(legal.ok() && legal->legal) << (legal ? legal->message : to_text(legal.errors()));
  EXPECT_FALSE(has_argument_holes(*recipe));
  EXPECT_EQ(to_json(*recipe).find('?'), std::string::npos);
  return c;
}

std::string text_at(const Step& s, const std::string& name, std::size_t at) {
  const auto& list = std::get<ArgumentList>(s.arguments.at(name).value);
  return at < list.size() ? std::get<std::string>(list[at].value) : "";
}
std::int64_t int_at(const Step& s, const std::string& name, std::size_t at) {
  const auto& list = std::get<ArgumentList>(s.arguments.at(name).value);
  return at < list.size() ? std::get<std::int64_t>(list[at].value) : -1;
}

const char* const kApart = R"({"do": "distribute", "statement": "c", "loop": "i"}, )";

TEST(Holes, SizesAreCompletedAndFixedOnesKept) {
  const Completed c =
      complete(product(),
               std::string(kApart) + R"({"do": "tile", "statement": "c", "loops": ["i", "j", "k"], "sizes": [16, "?", "?"]})");
  ASSERT_EQ(c.steps.size(), 2U) << to_text(c.errors);
  EXPECT_EQ(int_at(c.steps[1], "sizes", 0), 16);
  EXPECT_GE(int_at(c.steps[1], "sizes", 1), 4);
  EXPECT_GE(int_at(c.steps[1], "sizes", 2), 4);
  const Completed all =
      complete(product(), std::string(kApart) + R"({"do": "tile", "statement": "c", "loops": ["i", "j", "k"], "sizes": "?"})");
  EXPECT_EQ(std::get<ArgumentList>(all.steps.at(1).arguments.at("sizes").value).size(), 3U);
}

TEST(Holes, TheOrderOfAProductEndsInItsContiguousLoop) {
  const Completed c = complete(product(), std::string(kApart) + R"({"do": "interchange", "statement": "c", "order": "?"},
    {"do": "vectorize", "statement": "c", "loop": "j", "width": "?"})");
  ASSERT_EQ(c.steps.size(), 3U) << to_text(c.errors);
  EXPECT_EQ(text_at(c.steps[1], "order", 2), "j");
  EXPECT_EQ(std::get<std::int64_t>(c.steps[2].arguments.at("width").value), 8) << "32 bytes of f32";
}

TEST(Holes, ALoopThatIsLegalIsFound) {
  const Program p =
      in_place("[\"N\", \"N\"]", "for (int i = 1; i < N; i++) for (int j = 0; j < N; j++) A[i][j] = A[i-1][j] + 1;");
  const Completed c = complete(p, R"({"do": "parallelize", "statement": "A", "loop": "?"})");
  ASSERT_EQ(c.steps.size(), 1U) << to_text(c.errors);
  EXPECT_EQ(std::get<std::string>(c.steps[0].arguments.at("loop").value), "j");
}

// What follows the hole must stay legal with what is put in.
TEST(Holes, StepsAfterTheHoleCount) {
  const Program p =
      in_place("[\"N\", \"N\"]", "for (int i = 1; i < N; i++) for (int j = 1; j < N; j++) A[i][j] = A[i-1][j] + A[i][j-1];");
  const Completed c = complete(p, R"({"do": "skew", "statement": "A", "loop": "j", "by": "i", "factor": "?"},
    {"do": "interchange", "statement": "A", "order": ["j", "i"]}, {"do": "parallelize", "statement": "A", "loop": "i"})");
  ASSERT_EQ(c.steps.size(), 3U) << to_text(c.errors);
  EXPECT_GE(std::get<std::int64_t>(c.steps[0].arguments.at("factor").value), 1);
}

TEST(Holes, TheWholeRest) {
  const Completed c =
      complete(product(), std::string(kApart) + R"({"do": "interchange", "statement": "c", "order": ["i", "k", "j"]}, "?")");
  ASSERT_GT(c.steps.size(), 2U) << to_text(c.errors);
  EXPECT_EQ(c.steps[0].verb, "distribute");
  EXPECT_EQ(text_at(c.steps[1], "order", 1), "k");
}

TEST(Holes, TheChoiceFollowsTheMachine) {
  const std::string sunk = std::string(kApart) + R"({"do": "interchange", "statement": "c", "order": ["i", "k", "j"]},
    {"do": "vectorize", "statement": "c", "loop": "j", "width": "?"})";
  const auto width_on = [&](int vector_bytes, double gb_s) {
    Machine m = machine();
    m.cpu.vector_bytes = vector_bytes;
    m.cpu.copy_gb_s = gb_s;
    for (CacheLevel& level : m.cpu.caches) level.read_gb_s = gb_s;
    const Completed c = complete(product(), sunk, m);
    EXPECT_EQ(c.steps.size(), 3U) << to_text(c.errors);
    return c.steps.size() == 3 ? std::get<std::int64_t>(c.steps[2].arguments.at("width").value) : 0;
  };
  constexpr double kKeepsUp = 1e5;
  EXPECT_EQ(width_on(16, kKeepsUp), 4);
  EXPECT_EQ(width_on(32, kKeepsUp), 8);
  EXPECT_EQ(width_on(64, kKeepsUp), 16);
  EXPECT_LT(width_on(64, 1), 16) << "where the caches take the time, wider vectors bring nothing";
}

TEST(Holes, WhatFixingCostsIsSaid) {
  const Completed c =
      complete(product(), std::string(kApart) + R"({"do": "interchange", "statement": "c", "order": ["j", "k", "i"]},
    {"do": "unroll", "statement": "c", "loop": "i", "factor": "?"})");
  bool said = false;
  for (const LedgerEntry& e : c.ledger)
    if (e.kind == "fixed") {
      said = true;
      EXPECT_NE(e.subject.find("step 1 (interchange"), std::string::npos) << e.subject;
      EXPECT_NE(e.reason.find("predicted"), std::string::npos) << e.reason;
      EXPECT_NE(e.reason.find("the scheduler alone"), std::string::npos) << e.reason;
    }
  EXPECT_TRUE(said);
}

TEST(Holes, WhatCannotBeCompletedIsSaid) {
  const Program p = in_place("[\"N\"]", "for (int i = 1; i < N; i++) A[i] = A[i-1] + 1;");
  const Completed none = complete(p, R"({"do": "parallelize", "statement": "A", "loop": "?"})");
  ASSERT_EQ(none.errors.size(), 1U);
  EXPECT_EQ(none.errors[0].code, Code::kStepPrecondition);
  EXPECT_NE(none.errors[0].message.find("no value for its holes is legal"), std::string::npos) << none.errors[0].message;
  const Completed single = complete(p, R"({"do": "interchange", "statement": "A", "order": "?"})");
  ASSERT_EQ(single.errors.size(), 1U);
  EXPECT_EQ(single.errors[0].code, Code::kBadStepArgument);
  EXPECT_EQ(single.errors[0].place.pointer, "/variants/0/groups/0/steps/0/order");
  const Completed unknown = complete(p, R"({"do": "fly", "statement": "?"})");
  ASSERT_EQ(unknown.errors.size(), 1U);
  EXPECT_EQ(unknown.errors[0].code, Code::kUnknownStep);
}

// Steps that name `statements` have loops and sizes too: those of the first of them, one size more with a loop over time.
TEST(Holes, StepsOfSeveralStatementsHaveHolesForLoopsAndSizes) {
  const Program p = program_of(
      R"J({"facet": 1, "name": "p", "symbols": {"N": {"min": 4, "max": 1000, "default": 400}, "T": {"min": 1, "max": 99, "default": 20}},
    "tensors": {"A": {"dtype": "f64", "shape": ["N"]}, "B": {"dtype": "f64", "shape": ["N"]}}, "inputs": ["A", "B"],
    "ops": [{"op": "loops", "in": ["N", "T"], "inout": ["A", "B"], "code":
      "for (int t = 0; t < T; t++) { for (int i = 1; i < N - 1; i++) B[i] = A[i-1] + A[i+1]; for (int i = 1; i < N - 1; i++) A[i] = B[i-1] + B[i+1]; }"}],
    "outputs": ["A", "B"]})J");
  const auto completed = [&](const std::string& steps) {
    Ledger ledger;
    const Result<Recipe> made = plan(p, recipe_of(p, steps), options_for(machine()), ledger);
    return made ? to_json(*made) : to_text(made.errors());
  };
  const std::string tiles =
      completed(R"({"do": "hexagons", "statements": ["B", "A"], "time": "?", "loops": ["i"], "sizes": "?"})");
  EXPECT_NE(tiles.find(R"("time": "t")"), std::string::npos) << tiles;
  EXPECT_NE(completed(R"({"do": "reschedule", "statements": ["B"], "below": "?"})").find(R"("below": "t")"), std::string::npos);
}

}  // namespace
}  // namespace facet
