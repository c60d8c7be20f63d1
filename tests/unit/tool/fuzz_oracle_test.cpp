// The fuzzer's second opinion: by counting it finds what is wrong with refused schedules, and nothing with legal ones.
#include <gtest/gtest.h>

#include "polyhedral/trial.hpp"
#include "src/driver/fuzz_oracle.hpp"
#include "src/driver/pipeline.hpp"
#include "src/frontend/json.hpp"

namespace facet {
namespace {

constexpr std::size_t kMost = 10000;

class Counted {
 public:
  explicit Counted(const std::string& code) {
    const std::string text = R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 1, "max": 40, "default": 6}},
      "tensors": {"A": {"dtype": "i32", "shape": ["N", "N"]}, "s": {"dtype": "i32", "shape": []},
      "w": {"dtype": "i32", "shape": [8]}}, "inputs": ["A", "s"], "ops": [{"op": "loops", "in": ["N"], "inout": ["A", "s"],
      "out": ["w"], "code": ")" +
                             code + R"("}], "outputs": ["A", "s"]})";
    const Result<Program> program = check_text(text, "p");
    EXPECT_TRUE(program.ok()) << (program ? "" : to_text(program.errors()));
    const Result<Recipe> recipe =
        read_recipe(R"({"facet_recipe": 1, "variants": [{"groups": [{"ops": ["w"], "steps": []}]}]})", "r");
    ScheduleOptions options;
    options.sizes = sizes_;
    Result<std::vector<Trial>> trials = trials_of(*program, *recipe, options);
    EXPECT_TRUE(trials.ok()) << (trials ? "" : to_text(trials.errors()));
    trials_ = std::move(*trials);
  }

  // What counting says of the step: of the schedule that it made, or would have made.
  std::string says(const std::string& step, bool accepted) {
    const Result<Recipe> read =
        read_recipe(R"({"facet_recipe": 1, "variants": [{"groups": [{"ops": ["w"], "steps": [)" + step + "]}]}]}", "r");
    EXPECT_TRUE(read.ok()) << step;
    const TrialVerdict verdict = trials_[0].attempt(read->variants[0].groups[0].steps[0]);
    EXPECT_EQ(verdict.accepted, accepted) << step << verdict.message;
    const Enumeration now = accepted ? trials_[0].scheduled(sizes_, kMost) : trials_[0].refused(sizes_, kMost);
    EXPECT_EQ(now.why_not, "");
    return counted_violation(trials_[0].original(sizes_, kMost), now);
  }

 private:
  SymbolValues sizes_{{"N", 6}};
  std::vector<Trial> trials_;
};

const std::string kScratch = "for (int k = 0; k < 8; k++) w[k] = k; ";
const std::string kRow = "for (int i = 0; i < N; i++) for (int j = 1; j < N; j++) A[i][j] = A[i][j-1] + 1;";
const std::string kSum = "for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) s += A[i][j];";

TEST(FuzzOracle, OrderIsCounted) {
  EXPECT_EQ(Counted(kScratch + kRow).says(R"({"do": "interchange", "statement": "A", "order": ["j", "i"]})", true), "");
  EXPECT_NE(
      Counted(kScratch + kRow).says(R"({"do": "reverse", "statement": "A", "loop": "j"})", false).find("reads other values"),
      std::string::npos);
}

TEST(FuzzOracle, ReductionsAreFreeOfOrder) {
  EXPECT_EQ(Counted(kScratch + kSum).says(R"({"do": "reverse", "statement": "s", "loop": "j"})", true), "");
  EXPECT_EQ(Counted(kScratch + kSum).says(R"({"do": "vectorize", "statement": "s", "loop": "j", "width": 4})", true), "");
}

TEST(FuzzOracle, IterationsThatMeetAreCounted) {
  EXPECT_EQ(Counted(kScratch + kRow).says(R"({"do": "parallelize", "statement": "A", "loop": "i"})", true), "");
  EXPECT_NE(Counted(kScratch + kRow)
                .says(R"({"do": "parallelize", "statement": "A", "loop": "j"})", false)
                .find("meets another iteration"),
            std::string::npos);
  EXPECT_NE(Counted(kScratch + kRow)
                .says(R"({"do": "parallelize", "statement": "A", "loop": "i", "collapse": 2})", false)
                .find("meets another iteration"),
            std::string::npos);
  EXPECT_NE(
      Counted(kScratch + kSum).says(R"({"do": "parallelize", "statement": "s", "loop": "j"})", false).find("meets another"),
      std::string::npos);
}

TEST(FuzzOracle, PlacesAreCounted) {
  const std::string near = "for (int k = 0; k < 8; k++) { w[k] = k; s += w[k]; }";
  EXPECT_EQ(Counted(near).says(R"({"do": "contract", "array": "w", "statement": "w", "at": "k"})", true), "");
  const std::string far = "for (int k = 0; k < 8; k++) { w[k] = k; A[0][0] = A[0][0] + w[k]; if (k > 0) s += w[k - 1]; }";
  EXPECT_NE(
      Counted(far).says(R"({"do": "contract", "array": "w", "statement": "w", "at": "k"})", false).find("reads other values"),
      std::string::npos);
}

// Copies are not of the original: values are followed through them. Parts that were cut off are.
TEST(FuzzOracle, CopiesAndPartsAreSeenThrough) {
  Counted copies("for (int k = 0; k < 8; k++) w[k] = k; for (int i = 0; i < N; i++) for (int k = 0; k < 8; k++) s += w[k];");
  EXPECT_EQ(copies.says(R"({"do": "promote", "statement": "s", "array": "w", "at": "i", "memory": "stack"})", true), "");
  Counted parts(kScratch + kRow);
  EXPECT_EQ(parts.says(R"({"do": "peel", "statement": "A", "loop": "i", "first": 1})", true), "");
  EXPECT_EQ(parts.says(R"({"do": "unroll_and_jam", "statement": "A", "loop": "i", "factor": 2})", true), "");
}

TEST(FuzzOracle, TooManyInstancesAreSaid) {
  const Result<Program> program = check_text(
      R"({"facet": 1, "name": "p", "tensors": {"x": {"dtype": "i32", "shape": [100]}}, "inputs": ["x"],
      "ops": [{"op": "compute", "in": ["x"], "out": "y", "def": "y[i] = x[i] + 1"}], "outputs": ["y"]})",
      "p");
  ASSERT_TRUE(program.ok()) << to_text(program.errors());
  const Result<Recipe> recipe =
      read_recipe(R"({"facet_recipe": 1, "variants": [{"groups": [{"ops": ["y"], "steps": []}]}]})", "r");
  const Result<std::vector<Trial>> trials = trials_of(*program, *recipe, ScheduleOptions{});
  ASSERT_TRUE(trials.ok());
  EXPECT_EQ((*trials)[0].original({}, 100).instances.size(), 100U);
  EXPECT_NE((*trials)[0].original({}, 99).why_not.find("more than 99"), std::string::npos);
}

}  // namespace
}  // namespace facet
