// recompute and reuse: steps of the recipe, judged by the dependences they add.
#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

// p is an intermediate row of every i, s its sum, y made from both.
Program row(const std::string& y = "y[i, j] = p[i, j] / s[i]", const std::string& p = "p[i, j] = x[i, j] * 2.0") {
  return equations({p, "s[i] = sum[j](p[i, j])", y}, "y");
}

// Every nest over i in one kernel, the loops over j for its threads.
const char* const kMapped = R"({"do": "fuse", "statements": ["y.p", "y.s.init"], "loops": ["i"]},
    {"do": "fuse", "statements": ["y.p", "y"], "loops": ["i"]},
    {"do": "map_gpu", "statement": "y.p", "grid": ["i"]},
    {"do": "map_gpu", "statement": "y.p", "block": ["j"], "threads": [32]},
    {"do": "map_gpu", "statement": "y.s", "block": ["j"], "threads": [32]},
    {"do": "map_gpu", "statement": "y", "block": ["j"], "threads": [32]})";

const char* const kRecompute = R"({"do": "recompute", "array": "y.p"})";
const char* const kReuse = R"({"do": "reuse", "array": "y.p", "of": "y"})";

std::string with(const std::string& steps, const std::string& more) { return steps + (steps.empty() ? "" : ", ") + more; }

TEST(MemorySteps, ARowNeedsNoMemory) {
  for (const char* step : {kRecompute, kReuse}) {
    const LegalReport r = judge(row(), with(kMapped, step));
    EXPECT_TRUE(r.legal) << step << r.violation_text << r.message;
  }
  const Program p = row();
  const Result<Scheduled> made = schedule_program(p, recipe_of(p, with(kMapped, kRecompute)), ScheduleOptions{});
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->loops.kernels[0].recomputed, std::vector<std::string>{"y.p"});
  EXPECT_NE(made->schedule_text.find("recompute y.p"), std::string::npos);
  const Result<Scheduled> other = schedule_program(p, recipe_of(p, with(kMapped, kReuse)), ScheduleOptions{});
  ASSERT_TRUE(other.ok());
  ASSERT_EQ(other->loops.kernels[0].reused.size(), 1u);
  EXPECT_EQ(other->loops.kernels[0].reused[0].second, "y");
  const Result<Scheduled> plain = schedule_program(p, recipe_of(p, ""), ScheduleOptions{});
  ASSERT_TRUE(plain.ok());
  EXPECT_TRUE(plain->loops.kernels[0].recomputed.empty() && plain->loops.kernels[0].reused.empty());
}

// An element of y must not be written while another reader still wants that element of p.
TEST(MemorySteps, ReuseWaitsForEveryReader) {
  const Program p = program_of(R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 2, "max": 100, "default": 10}},
    "tensors": {"x": {"dtype": "f32", "shape": ["N", "N"]}, "y": {"dtype": "f32", "shape": ["N", "N"]},
                "z": {"dtype": "f32", "shape": ["N", "N"]}, "p": {"dtype": "f32", "shape": ["N", "N"]}}, "inputs": ["x"],
    "ops": [{"op": "loops", "in": ["N", "x"], "out": ["p", "y", "z"], "code":
      "for (int i = 0; i < N; i++) { for (int j = 0; j < N; j++) p[i][j] = x[i][j]; for (int j = 0; j < N; j++) z[i][j] = p[i][j]; for (int j = 0; j < N; j++) y[i][j] = p[i][j] + 1.0f; }"}],
    "outputs": ["y", "z"]})");
  const std::string mapped = R"({"do": "map_gpu", "statement": "p", "grid": ["i"]},
      {"do": "map_gpu", "statement": "p", "block": ["j"], "threads": [32]})";
  EXPECT_TRUE(judge(p, with(mapped, R"({"do": "reuse", "array": "p", "of": "y"})")).legal);
  const LegalReport r = judge(p, with(mapped, R"({"do": "reuse", "array": "p", "of": "z"})"));
  EXPECT_FALSE(r.legal);
  ASSERT_TRUE(r.has_violation) << r.message;
  EXPECT_EQ(r.kind, "anti");
  EXPECT_EQ(r.source.statement, "y");
  EXPECT_EQ(r.sink.statement, "z");
}

// What a value is made of must still be there where it is computed again.
TEST(MemorySteps, RecomputeNeedsItsSources) {
  const auto program = [](const std::string& last) {
    return program_of(R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 2, "max": 100, "default": 10}},
    "tensors": {"A": {"dtype": "f32", "shape": ["N", "N"]}, "y": {"dtype": "f32", "shape": ["N", "N"]},
                "p": {"dtype": "f32", "shape": ["N", "N"]}}, "inputs": ["A"],
    "ops": [{"op": "loops", "in": ["N"], "inout": ["A"], "out": ["p", "y"], "code":
      "for (int i = 0; i < N; i++) { for (int j = 0; j < N; j++) p[i][j] = A[i][j] * 2.0f; )" +
                      last + R"( }"}], "outputs": ["y", "A"]})");
  };
  const std::string mapped = R"({"do": "map_gpu", "statement": "p", "grid": ["i"]},
      {"do": "map_gpu", "statement": "p", "block": ["j"], "threads": [32]}, {"do": "recompute", "array": "p"})";
  const std::string use = "for (int j = 0; j < N; j++) y[i][j] = p[i][j];";
  const std::string overwrite = "for (int j = 0; j < N; j++) A[i][j] = 0.0f;";
  EXPECT_TRUE(judge(program(use + overwrite), mapped).legal);
  const LegalReport r = judge(program(overwrite + use), mapped);
  EXPECT_FALSE(r.legal);
  ASSERT_TRUE(r.has_violation) << r.message;
  EXPECT_EQ(r.array, "A");
  EXPECT_EQ(r.source.statement, "y");
  EXPECT_EQ(r.sink.statement, "A");
}

TEST(MemorySteps, RefusesWhatItsExecutorCannotDo) {
  struct Refused {
    Program program;
    std::string steps, reason;
  };
  const std::string output = R"({"do": "recompute", "array": "y"})";
  const Refused cases[] = {
      {row(), kRecompute, "map_gpu comes first|directly inside loops of the grid"},
      {row(), kReuse, "not in a nest on the grid"},
      {row(), with(kMapped, output), "exists outside the group"},
      {row(), with(kMapped, with(kRecompute, kReuse)), "out of memory already"},
      {row("y[i, j] = p[i, 7 - j] / s[i] for j in 0..8"), with(kMapped, kReuse), "does not make each element"},
      {row(), with(kMapped, R"({"do": "recompute", "array": "y.s"})"), "is not made by one assignment"},
      {row(), with(kMapped, R"({"do": "reuse", "array": "y.s", "of": "y"})"), "one type and shape"},
      {row("y[i, j] = p[i, j] + s[i]", "p[i, j] = x[i, j] + 1.0"),
       with(kMapped, R"({"do": "reuse", "array": "y.p", "of": "x"})"), "is not made in this group"},
  };
  for (const Refused& c : cases) {
    const LegalReport r = judge(c.program, c.steps);
    EXPECT_FALSE(r.legal) << c.steps;
    bool found = false;
    for (std::size_t at = 0; at <= c.reason.size();) {
      const std::size_t bar = std::min(c.reason.find('|', at), c.reason.size());
      found = found || r.message.find(c.reason.substr(at, bar - at)) != std::string::npos;
      at = bar + 1;
    }
    EXPECT_TRUE(found) << c.reason << "\n" << r.message;
  }
}

}  // namespace
}  // namespace facet
