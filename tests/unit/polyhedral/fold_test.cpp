// Folded arrays: contract with `fold`, promote with `buffers`; which places are taken too early, and that later steps are
// judged.
#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

std::string window(int places) {
  return R"({"do": "shift", "statement": "q", "loop": "i", "offset": 2},
            {"do": "fuse", "statements": ["p", "q"], "loops": ["i"]},
            {"do": "contract", "array": "p", "statement": "p", "fold": {"i": )" +
         std::to_string(places) + "}}";
}

TEST(Fold, AWindowSlides) {
  EXPECT_EQ(last_kernel(loops_text(blur(), window(3))),
            "  allocate p: f32[3] stack\n"
            "  for i in 0..N\n"
            "    p[i % 3] = x[i] * 2.0\n"
            "    if i >= 2\n"
            "      q[i - 2] = p[(i - 2) % 3] + p[(i - 2 + 2) % 3]\n");
}

TEST(Fold, APlaceIsTakenTooEarly) {
  const LegalReport r = judge(blur(), window(2));
  EXPECT_FALSE(r.legal);
  ASSERT_TRUE(r.has_violation) << r.message;
  EXPECT_EQ(r.kind, "anti");
  EXPECT_EQ(r.source.statement, "q");
  EXPECT_EQ(r.sink.statement, "p");
  EXPECT_NE(r.violation_text.find("p[0], whose place p[2] takes"), std::string::npos) << r.violation_text;
}

// Turns hold for all steps that follow.
TEST(Fold, LaterStepsKeepTheTurns) {
  EXPECT_FALSE(judge(blur(), window(3) + R"(, {"do": "shift", "statement": "q", "loop": "i", "offset": 1})").legal);
  EXPECT_TRUE(judge(blur(), window(4) + R"(, {"do": "shift", "statement": "q", "loop": "i", "offset": 1})").legal);
  EXPECT_FALSE(judge(blur(), window(3) + R"(, {"do": "parallelize", "statement": "q", "loop": "i"})").legal);
}

TEST(Fold, NamesTheDimensions) {
  const Result<LegalReport> r = check_recipe(
      blur(), recipe_of(blur(), R"({"do": "contract", "array": "p", "statement": "p", "fold": {"k": 2}})"), ScheduleOptions{});
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.errors()[0].code, Code::kBadStepArgument);
  EXPECT_NE(to_text(r.errors()).find("dimensions, which are i"), std::string::npos) << to_text(r.errors());
}

Program rows() { return equations({"y[i, j] = x[i, j] * 2.0 + x[i, 0]"}, "y"); }
const char* const kBuffers = R"({"do": "promote", "array": "x", "statement": "y", "at": "i", "buffers": 2, "memory": "stack"})";

TEST(Buffers, TheCopyRunsAhead) {
  EXPECT_EQ(last_kernel(loops_text(rows(), kBuffers)),
            "  allocate x.tile: f32[2, 1, 8] stack\n"
            "  for i in -1..8\n"
            "    if i <= 6\n"
            "      for j in 0..8\n"
            "        x.tile[(i + 1) % 2, 0, j] = x[i + 1, j]\n"
            "    if i >= 0\n"
            "      for j in 0..8\n"
            "        y[i, j] = x.tile[i % 2, 0, j] * 2.0 + x.tile[i % 2, 0, 0]\n");
}

TEST(Buffers, IterationsDependOnEachOther) {
  EXPECT_TRUE(
      judge(rows(), std::string(kBuffers) + R"(, {"do": "vectorize", "statement": "y", "loop": "j", "width": 8})").legal);
  EXPECT_FALSE(judge(rows(), std::string(kBuffers) + R"(, {"do": "parallelize", "statement": "y", "loop": "i"})").legal);
  const std::string apart = std::string(kBuffers) + R"(, {"do": "distribute", "statement": "x.tile.copy", "loop": "i"})";
  EXPECT_FALSE(judge(rows(), apart).legal);
}

TEST(Buffers, RefusesWhatIsNotAPart) {
  const auto refusal = [](const Program& p, const std::string& steps) {
    const LegalReport report = judge(p, steps);
    EXPECT_EQ(report.reason, "precondition") << report.message;
    return report.message;
  };
  const std::string whole = R"({"do": "promote", "array": "x", "statement": "y", "buffers": 2})";
  const std::string result = R"({"do": "promote", "array": "y", "statement": "y", "at": "i", "buffers": 2})";
  EXPECT_NE(refusal(rows(), whole).find("`buffers` are for"), std::string::npos);
  EXPECT_NE(refusal(rows(), result).find("`buffers` are for"), std::string::npos);
}

}  // namespace
}  // namespace facet
