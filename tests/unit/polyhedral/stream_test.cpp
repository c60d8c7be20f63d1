// stream: the step says what it does or why not; the planner asks for it where results outgrow the last cache.
#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

const char* const kVector = R"({"do": "vectorize", "statement": "y", "loop": "j", "width": 8})";
const char* const kStream = R"({"do": "stream", "array": "y"})";

std::string both(const std::string& a, const std::string& b) { return a + ", " + b; }

TEST(Stream, VectorsOfAnArrayThatIsNotReadGoPastTheCaches) {
  const Program p = equations({"y[i, j] = x[i, j] * 2.0"}, "y");
  EXPECT_TRUE(judge(p, both(kVector, kStream)).legal);
  const std::string text = loops_text(p, both(kVector, kStream));
  EXPECT_NE(text.find("stream y["), std::string::npos) << text;
  EXPECT_EQ(loops_text(p, kVector).find("stream"), std::string::npos);
  const Result<Scheduled> made = schedule_program(p, recipe_of(p, both(kVector, kStream)), ScheduleOptions{});
  ASSERT_TRUE(made.ok());
  EXPECT_NE(made->schedule_text.find("stream y\n"), std::string::npos) << made->schedule_text;
}

TEST(Stream, RefusesWhatWouldDoNothingOrHarm) {
  struct Refused {
    std::vector<std::string> lines;
    std::string steps, reason;
  };
  const std::string plain = "y[i, j] = x[i, j] * 2.0";
  const Refused cases[] = {
      {{plain}, kStream, "no vector loop stores 'y'"},
      {{plain}, both(kVector, both(kStream, kStream)), "'y' is streamed already"},
      {{plain}, both(kVector, R"({"do": "stream", "array": "x"})"), "'y' reads 'x' in the group"},
      {{"y[j, i] = x[i, j] * 2.0"}, both(kVector, kStream), "no vector loop stores 'y'"},
      {{"p[i, j] = x[i, j] * 2.0", "y[i, j] = p[i, j] + 1.0"},
       both(R"({"do": "vectorize", "statement": "y.p", "loop": "j", "width": 8})", R"({"do": "stream", "array": "y.p"})"),
       "'y' reads 'y.p' in the group"},
      {{"p[i, j] = x[i, j] * 2.0", "y[i, j] = p[i, j] + 1.0"},
       both(R"({"do": "contract", "array": "y.p"})", R"({"do": "stream", "array": "y.p"})"),
       "no statement of the group stores 'y.p' in its own memory"},
      {{"y[j] = sum[i](x[i, j])"}, kStream, "'y' reads 'y' in the group"},
  };
  for (const Refused& c : cases) {
    const LegalReport r = judge(equations(c.lines, "y"), c.steps);
    EXPECT_FALSE(r.legal) << c.steps;
    EXPECT_EQ(r.reason, "precondition") << c.steps;
    EXPECT_NE(r.message.find(c.reason), std::string::npos) << c.reason << "\n" << r.message;
  }
}

// The planner's steps for y = 2 x over N rows of 1024, on a machine with 8 MiB of last cache.
std::string planned(std::int64_t rows, const std::string& last = "y[i, j] = x[i, j] * 2.0") {
  const Program p =
      program_of(R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 1, "max": 100000, "default": )" + std::to_string(rows) +
                 R"(}}, "tensors": {"x": {"dtype": "f32", "shape": ["N", 1024]}}, "inputs": ["x"],
    "ops": [{"op": "compute", "in": ["x"], "out": ["y"], "def": [")" +
                 last + R"("]}], "outputs": ["y"]})");
  ScheduleOptions options;
  options.threads = 2;
  options.sizes = {{"N", rows}};
  options.machine.cpu.caches = {{32 << 10}, {1 << 20}, {8 << 20}};
  Ledger ledger;
  const Result<Recipe> r = plan(p, Recipe{}, options, ledger);
  EXPECT_TRUE(r.ok()) << (r.ok() ? "" : to_text(r.errors()));
  std::string verbs;
  for (const Step& s : r->variants[0].groups[0].steps) verbs += s.verb + " ";
  return verbs;
}

TEST(Stream, ThePlannerStreamsWhatOutgrowsTheLastCache) {
  EXPECT_NE(planned(4096).find("stream"), std::string::npos) << planned(4096);           // 16 MiB
  EXPECT_EQ(planned(1024).find("stream"), std::string::npos) << planned(1024);           // 4 MiB
  EXPECT_EQ(planned(4096, "y[i] = sum[j](x[i, j])").find("stream"), std::string::npos);  // sums stay where they are read
  EXPECT_EQ(planned(4096, "y[i, j] = x[i, j] * erf(exp(x[i, j]))").find("stream"), std::string::npos);  // arithmetic binds
}

}  // namespace
}  // namespace facet
