// repair: steps that, inserted before the refused one, make the whole recipe legal, or at least that step; nothing where there
// is none.
#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

std::string text_of(const Step& s) {
  std::string text = s.verb;
  for (const auto& [name, a] : s.arguments) {
    if (const auto* t = std::get_if<std::string>(&a.value)) text += " " + *t;
    if (const auto* i = std::get_if<std::int64_t>(&a.value)) text += " " + std::to_string(*i);
  }
  return text;
}

// The repair of the last step's refusal, proven by pasting it.
std::string repair(const Program& p, const std::string& steps) {
  const LegalReport report = judge(p, steps);
  EXPECT_FALSE(report.legal) << steps;
  Recipe mended = recipe_of(p, steps);
  std::vector<Step>& list = mended.variants[0].groups[0].steps;
  const std::size_t at = static_cast<std::size_t>(std::stoi(report.step.substr(report.step.rfind('/') + 1)));
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), report.repair.begin(), report.repair.end());
  std::string text;
  for (const Step& s : report.repair) text += (text.empty() ? "" : "; ") + text_of(s);
  if (!text.empty()) {
    const Result<LegalReport> again = check_recipe(p, mended, ScheduleOptions{});
    EXPECT_TRUE(again.ok() && again->legal) << text << (again.ok() ? again->message : "");
  }
  return text;
}

TEST(Repair, FusingAStencilNeedsAShift) {
  const Program p = equations({"t[i, j] = x[i, j] + 1.0", "y[i, j] = t[i + 1, j] + t[i, j] for i in 0..6, j in 0..8"}, "y");
  EXPECT_EQ(repair(p, R"({"do": "fuse", "statements": ["y.t", "y"], "loops": ["i", "j"]})"), "shift i 1 y");
}

TEST(Repair, TilingAStencilNeedsASkew) {
  const Program p =
      in_place("[\"N\"]", "for (int t = 0; t < N; t++) for (int i = 1; i < N - 1; i++) A[i] = A[i-1] + A[i] + A[i+1];");
  EXPECT_EQ(repair(p, R"({"do": "tile", "statement": "A", "loops": ["t", "i"], "sizes": [4, 4]})"), "skew t i A");
}

TEST(Repair, TilingInThreeDimensionsSkewsBothInnerLoops) {
  const Program p = in_place("[\"N\", \"N\"]",
                             "for (int t = 0; t < N; t++) for (int i = 1; i < N - 1; i++) for (int j = 1; j < N - 1; j++) "
                             "A[i][j] = A[i-1][j] + A[i+1][j] + A[i][j-1] + A[i][j+1];");
  EXPECT_EQ(repair(p, R"({"do": "tile", "statement": "A", "loops": ["t", "i", "j"], "sizes": [4, 4, 4]})"),
            "skew t i A; skew t j A");
}

// Two arrays in turns, each from the other, as most stencils over time are written.
Program in_turns() {
  return program_of(
      R"J({"facet": 1, "name": "p", "symbols": {"N": {"min": 1, "max": 100, "default": 10}, "T": {"min": 1, "max": 9, "default": 4}},
    "tensors": {"A": {"dtype": "f64", "shape": ["N", "N"]}, "B": {"dtype": "f64", "shape": ["N", "N"]}}, "inputs": ["A", "B"],
    "ops": [{"op": "loops", "in": ["N", "T"], "inout": ["A", "B"], "code":
      "for (int t = 0; t < T; t++) { for (int i = 1; i < N - 1; i++) for (int j = 1; j < N - 1; j++) B[i][j] = A[i-1][j] + A[i+1][j] + A[i][j-1] + A[i][j+1]; for (int i = 1; i < N - 1; i++) for (int j = 1; j < N - 1; j++) A[i][j] = B[i][j]; }"}],
    "outputs": ["A", "B"]})J");
}

TEST(Repair, FusingBothLoopsOfAStencilAndTilingThemNeedsAShiftOfEach) {
  const std::string steps = R"({"do": "fuse", "statements": ["B", "A"], "loops": ["i", "j"]},
    {"do": "tile", "statement": "B", "loops": ["i", "j"], "sizes": [8, 8]})";
  EXPECT_EQ(repair(in_turns(), steps), "shift i 1 A; shift j 1 A");
}

TEST(Repair, TilingAFusedStencilWithTimeSkewsBothNestsAndDelaysTheLaterOne) {
  const std::string fused = R"({"do": "fuse", "statements": ["B", "A"], "loops": ["i"]},
    {"do": "tile", "statement": "B", "loops": ["t", "i"], "sizes": [4, 8]})";
  EXPECT_EQ(repair(in_turns(), fused), "skew t 2 i B; skew t 2 i A; shift i 1 A");
  const std::string both = R"({"do": "fuse", "statements": ["B", "A"], "loops": ["i", "j"]},
    {"do": "tile", "statement": "B", "loops": ["t", "i", "j"], "sizes": [4, 8, 8]})";
  EXPECT_EQ(repair(in_turns(), both), "skew t 2 i B; skew t 2 i A; shift i 1 A; skew t 2 j B; skew t 2 j A; shift j 1 A");
}

TEST(Repair, AParallelLoopNeedsAWavefrontOrASplit) {
  const Program p =
      in_place("[\"N\", \"N\"]", "for (int i = 1; i < N; i++) for (int j = 1; j < N; j++) A[i][j] = A[i-1][j] + A[i][j-1];");
  EXPECT_EQ(repair(p, R"({"do": "parallelize", "statement": "A", "loop": "j"})"), "skew j i A");
  const Program q = equations({"t[i] = x[i, 0] + 1.0", "y[i] = t[i] + t[i - 1 ? 0.0]"}, "y");
  const std::string fused =
      R"({"do": "fuse", "statements": ["y.t", "y"], "loops": ["i"]}, {"do": "parallelize", "statement": "y", "loop": "i"})";
  EXPECT_EQ(repair(q, fused).substr(0, 10), "distribute");
}

TEST(Repair, AScratchArrayIsPrivatised) {
  const Program p = program_of(R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 1, "max": 100, "default": 10}},
    "tensors": {"A": {"dtype": "f64", "shape": ["N"]}, "w": {"dtype": "f64", "shape": [4]}}, "inputs": ["A"],
    "ops": [{"op": "loops", "in": ["N"], "inout": ["A"], "out": ["w"], "code":
      "for (int i = 0; i < N; i++) { for (int k = 0; k < 4; k++) w[k] = A[i] * k; A[i] = w[0] + w[1] + w[2] + w[3]; }"}], "outputs": ["A"]})");
  EXPECT_EQ(repair(p, R"({"do": "parallelize", "statement": "A", "loop": "i"})").substr(0, 8), "contract");
}

TEST(Repair, AParallelLoopGoesInsideAndItsIterationsInFronts) {
  const Program p =
      in_place("[\"N\", \"N\"]", "for (int i = 1; i < N; i++) for (int j = 1; j < N; j++) A[i][j] = A[i-1][j] + A[i][j-1];");
  EXPECT_EQ(repair(p, R"({"do": "parallelize", "statement": "A", "loop": "i"})"), "skew i j A; interchange A");
  const std::string tiles = R"({"do": "tile", "statement": "A", "loops": ["i", "j"], "sizes": [4, 4]},)";
  EXPECT_EQ(repair(p, tiles + R"({"do": "parallelize", "statement": "A", "loop": "it"})"), "skew it jt A; interchange A");
}

TEST(Repair, ALoopWithNothingDirectlyInsideHasNoFronts) {
  const Program p =
      in_place("[\"N\"]", "for (int i = 1; i < N; i++) { A[i] = A[i-1] + 1; for (int j = 0; j < i; j++) A[i] += A[j]; }");
  EXPECT_EQ(repair(p, R"({"do": "parallelize", "statement": "A", "loop": "i"})"), "");
}

// An in-place stencil and the nest that takes its results.
Program stencil_and_consumer() {
  return program_of(
      R"J({"facet": 1, "name": "p", "symbols": {"N": {"min": 4, "max": 100, "default": 10}},
    "tensors": {"A": {"dtype": "f64", "shape": ["N", "N"]}, "B": {"dtype": "f64", "shape": ["N", "N"]}}, "inputs": ["A"],
    "ops": [{"op": "loops", "in": ["N"], "inout": ["A"], "out": ["B"], "code":
      "for (int i = 1; i < N - 1; i++) for (int j = 1; j < N - 1; j++) A[i][j] = A[i-1][j] + A[i][j-1] + A[i+1][j] + A[i][j+1]; for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) B[i][j] = A[i][j] + A[min(i + 1, N - 1)][j];"}],
    "outputs": ["A", "B"]})J");
}

const std::string kFuseTile = R"({"do": "fuse", "statements": ["A", "B"], "loops": ["i", "j"]},
    {"do": "tile", "statement": "A", "loops": ["i", "j"], "sizes": [4, 4]})";

TEST(Repair, WhatMakesTheStepLegalIsToldWithTheLaterStepThatIsStillRefused) {
  const Program p = stencil_and_consumer();
  const std::string later = R"(, {"do": "parallelize", "statement": "A", "loop": "it"})";
  const LegalReport report = judge(p, kFuseTile + later);
  ASSERT_FALSE(report.legal);
  EXPECT_EQ(report.step, "/variants/0/groups/0/steps/0");
  ASSERT_EQ(report.repair.size(), 1U);
  EXPECT_EQ(text_of(report.repair[0]), "shift i 1 B");
  EXPECT_EQ(report.leaves, "/variants/0/groups/0/steps/2");
  EXPECT_NE(report.leaves_why.find("step 'parallelize' is illegal: "), std::string::npos) << report.leaves_why;
  // Pasted, the recipe comes to that step, whose own repair ends the search.
  const std::string pasted = R"({"do": "shift", "statement": "B", "loop": "i", "offset": 1}, )" + kFuseTile + later;
  const LegalReport next = judge(p, pasted);
  EXPECT_EQ(next.step, "/variants/0/groups/0/steps/3");
  EXPECT_EQ(next.leaves, "");
  EXPECT_EQ(repair(p, pasted), "skew it jt A; interchange A");
}

TEST(Repair, WhatMakesTheWholeLegalLeavesNothing) {
  EXPECT_EQ(judge(stencil_and_consumer(), kFuseTile).leaves, "");
  EXPECT_EQ(repair(stencil_and_consumer(), kFuseTile), "shift i 1 B");
}

TEST(Repair, ALaterStepThatIsWrongInItselfDoesNotHideTheRepair) {
  const LegalReport report =
      judge(stencil_and_consumer(), kFuseTile + R"(, {"do": "parallelize", "statement": "A", "loop": "x"})");
  EXPECT_EQ(report.repair.size(), 1U);
  EXPECT_EQ(report.leaves, "/variants/0/groups/0/steps/2");
  EXPECT_NE(report.leaves_why.find("no loop 'x'"), std::string::npos) << report.leaves_why;
}

TEST(Repair, WhereThereIsNoneNothingIsSaid) {
  const Program p = in_place("[\"N\"]", "for (int i = 1; i < N; i++) A[i] = A[i-1] + 1;");
  EXPECT_EQ(repair(p, R"({"do": "parallelize", "statement": "A", "loop": "i"})"), "");
}

}  // namespace
}  // namespace facet
