// Legality: what must be accepted, what must be refused, and that the witness is a real pair.
#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

struct Case {
  const char* name;
  Program program;
  const char* steps;
};

TEST(Legality, AcceptsWhatKeepsEveryDependence) {
  const std::vector<Case> cases = {
      {"parallel over rows of a row recurrence",
       in_place("[\"N\", \"N\"]", "for (int i = 0; i < N; i++) for (int j = 1; j < N; j++) A[i][j] = A[i][j-1] + 1;"),
       R"({"do": "parallelize", "statement": "A", "loop": "i"})"},
      {"interchange of a row recurrence",
       in_place("[\"N\", \"N\"]", "for (int i = 0; i < N; i++) for (int j = 1; j < N; j++) A[i][j] = A[i][j-1] + 1;"),
       R"({"do": "interchange", "statement": "A", "order": ["j", "i"]})"},
      {"skew makes the (1,-1) recurrence tilable",
       in_place("[\"N\", \"N\"]", "for (int i = 1; i < N; i++) for (int j = 0; j < N - 1; j++) A[i][j] = A[i-1][j+1];"),
       R"({"do": "skew", "statement": "A", "loop": "j", "by": "i"}, {"do": "tile", "statement": "A", "loops": ["i", "j"], "sizes": [4, 4]})"},
      {"seidel wavefront",
       in_place("[\"N\", \"N\"]", "for (int i = 1; i < N; i++) for (int j = 1; j < N; j++) A[i][j] = A[i-1][j] + A[i][j-1];"),
       R"({"do": "skew", "statement": "A", "loop": "i", "by": "j"}, {"do": "parallelize", "statement": "A", "loop": "j"})"},
      {"reverse of independent iterations", in_place("[\"N\"]", "for (int i = 0; i < N; i++) A[i] = A[i] * 2;"),
       R"({"do": "reverse", "statement": "A", "loop": "i"})"},
      {"vector lanes keep partial sums", equations({"y[i] = sum[j](x[i, j])"}, "y"),
       R"({"do": "vectorize", "statement": "y", "loop": "j", "width": 4})"},
      {"fuse at the row", equations({"m[i] = max[j](x[i, j])", "y[i, j] = x[i, j] - m[i]"}, "y"),
       R"({"do": "fuse", "statements": ["y.m", "y"], "loops": ["i"]}, {"do": "contract", "array": "y.m"})"},
  };
  for (const Case& c : cases) {
    const LegalReport r = judge(c.program, c.steps);
    EXPECT_TRUE(r.legal) << c.name << ": " << r.message;
  }
}

TEST(Legality, RefusesWithARealPair) {
  const std::vector<Case> cases = {
      {"parallel recurrence", in_place("[\"N\"]", "for (int i = 1; i < N; i++) A[i] = A[i-1] + 1;"),
       R"({"do": "parallelize", "statement": "A", "loop": "i"})"},
      {"vector recurrence", in_place("[\"N\"]", "for (int i = 1; i < N; i++) A[i] = A[i-1] + 1;"),
       R"({"do": "vectorize", "statement": "A", "loop": "i", "width": 4})"},
      {"reversed recurrence", in_place("[\"N\"]", "for (int i = 1; i < N; i++) A[i] = A[i-1] + 1;"),
       R"({"do": "reverse", "statement": "A", "loop": "i"})"},
      {"anti dependence", in_place("[\"N\"]", "for (int i = 0; i < N - 1; i++) A[i] = A[i+1];"),
       R"({"do": "reverse", "statement": "A", "loop": "i"})"},
      {"unroll-and-jam needs this interchange (trap B2)",
       in_place("[\"N\", \"N\"]", "for (int i = 1; i < N; i++) for (int j = 0; j < N - 1; j++) A[i][j] = A[i-1][j+1];"),
       R"({"do": "interchange", "statement": "A", "order": ["j", "i"]})"},
      {"tiles of the (1,-1) recurrence",
       in_place("[\"N\", \"N\"]", "for (int i = 1; i < N; i++) for (int j = 0; j < N - 1; j++) A[i][j] = A[i-1][j+1];"),
       R"({"do": "tile", "statement": "A", "loops": ["i", "j"], "sizes": [4, 4]})"},
      {"consumer needs the whole row (trap A2)", equations({"m[i] = max[j](x[i, j])", "y[i, j] = x[i, j] - m[i]"}, "y"),
       R"({"do": "fuse", "statements": ["y.m", "y"], "loops": {"y.m": ["i", "j"], "y": ["i", "j"]}})"},
      {"threads would fill one tile each for itself", equations({"m[i] = max[j](x[i, j])", "y[i, j] = m[j] - x[i, j]"}, "y"),
       R"({"do": "parallelize", "statement": "y", "loop": "i"},
          {"do": "tile", "statement": "y", "loops": ["j"], "sizes": [2], "names": ["j0"]},
          {"do": "promote", "array": "y.m", "statement": "y", "at": "j0", "memory": "l2"},
          {"do": "interchange", "statement": "y", "order": ["j0", "i"]})"},
      {"two threads would update one sum", equations({"y[i] = sum[j](x[i, j])"}, "y"),
       R"({"do": "parallelize", "statement": "y", "loop": "j"})"},
      {"the contracted array leaves the iteration", equations({"m[i] = max[j](x[i, j])", "y[i, j] = x[i, j] - m[7 - i]"}, "y"),
       R"({"do": "fuse", "statements": ["y.m", "y"], "loops": ["i"]})"},
  };
  for (const Case& c : cases) {
    const LegalReport r = judge(c.program, c.steps);
    ASSERT_FALSE(r.legal) << c.name;
    if (r.reason == "precondition") continue;  // the nest has no such loop: also a refusal, without a pair
    EXPECT_TRUE(r.has_violation) << c.name;
    EXPECT_FALSE(r.source.statement.empty()) << c.name;
    EXPECT_EQ(r.source.instance.size(), r.source.loops.size()) << c.name;
    EXPECT_FALSE(r.element.empty()) << c.name;
  }
}

TEST(Legality, WitnessIsTheSmallestPair) {
  const LegalReport r = judge(in_place("[\"N\"]", "for (int i = 1; i < N; i++) A[i] = A[i-1] + 1;"),
                              R"({"do": "parallelize", "statement": "A", "loop": "i"})");
  ASSERT_FALSE(r.legal);
  EXPECT_EQ(r.source.instance, std::vector<std::int64_t>({1}));
  EXPECT_EQ(r.sink.instance, std::vector<std::int64_t>({2}));
  EXPECT_EQ(r.element, std::vector<std::int64_t>({1}));
  EXPECT_EQ(r.kind, "flow");
  ASSERT_EQ(r.symbols.size(), 1u);
  EXPECT_EQ(r.symbols[0].second, 3);  // the smallest N with two such iterations
}

TEST(Legality, AReductionsOrderIsFixedWhenNumericsAreStrict) {
  Program p = equations({"y[i] = sum[j](x[i, j])"}, "y");
  EXPECT_TRUE(judge(p, R"({"do": "reverse", "statement": "y", "loop": "j"})").legal);
  p.numerics.reassociate = Numerics::Reassociate::kStrict;
  EXPECT_FALSE(judge(p, R"({"do": "reverse", "statement": "y", "loop": "j"})").legal);
}

TEST(Legality, ARecurrenceIsNotAReduction) {  // trap C1
  const Program p = in_place("[]", "for (int i = 0; i < N; i++) A = A + (0.5 * A + 1);");
  EXPECT_FALSE(judge(p, R"({"do": "vectorize", "statement": "A", "loop": "i", "width": 4})").legal);
  EXPECT_FALSE(judge(p, R"({"do": "reverse", "statement": "A", "loop": "i"})").legal);
}

TEST(Legality, ARefusedStepNamesItsPlaceAndChangesNothing) {
  const LegalReport r = judge(
      in_place("[\"N\"]", "for (int i = 1; i < N; i++) A[i] = A[i-1] + 1;"),
      R"({"do": "unroll", "statement": "A", "loop": "i", "factor": 2}, {"do": "reverse", "statement": "A", "loop": "i"})");
  EXPECT_FALSE(r.legal);
  EXPECT_EQ(r.step, "/variants/0/groups/0/steps/1");
}

TEST(Legality, WrongStepsAreErrorsNotRefusals) {
  const Program p = equations({"y[i] = sum[j](x[i, j])"}, "y");
  for (const char* steps :
       {R"({"do": "tiel", "statement": "y"})", R"({"do": "tile", "statement": "z", "loops": ["i"], "sizes": [4]})",
        R"({"do": "tile", "statement": "y", "loops": ["q"], "sizes": [4]})",
        R"({"do": "tile", "statement": "y", "loops": ["i"], "sizes": [0]})",
        R"({"do": "tile", "statement": "y", "loops": ["i"], "sizes": [4], "size": 4})",
        R"({"do": "vectorize", "statement": "y", "loop": "j"})"}) {
    const Result<LegalReport> r = check_recipe(p, recipe_of(p, steps), ScheduleOptions{});
    EXPECT_FALSE(r.ok()) << steps;
  }
}

}  // namespace
}  // namespace facet
