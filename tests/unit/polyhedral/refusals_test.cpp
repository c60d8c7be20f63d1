// What a refusal names: the culprit's place, what is in the way, and a way out that can be taken.
#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

Program product() {
  return program_of(R"~({"facet": 1, "name": "p", "symbols": {"N": {"min": 1, "max": 4096, "default": 64}}, "tensors": {
    "a": {"dtype": "f32", "shape": ["N", "N"]}, "b": {"dtype": "f32", "shape": ["N", "N"]}}, "inputs": ["a", "b"],
    "ops": [{"op": "compute", "in": ["a", "b"], "out": ["c"], "def": ["c[i, j] = sum[k](a[i, k] * b[k, j])"]}], "outputs": ["c"]})~");
}

// Two nests in a loop over time; the second gives the first its values back, or does not.
Program two_nests(bool back) {
  return in_place("[2, \"N\"]", std::string("for (int t = 0; t < N; t++) { "
                                            "for (int i = 1; i < N - 1; i++) A[1][i] = A[0][i-1] + A[0][i+1]; "
                                            "for (int i = 1; i < N - 1; i++) ") +
                                    (back ? "A[0][i] = A[1][i]; }" : "A[1][i] = A[1][i] * 2.0; }"));
}

struct Told {
  std::string message, under;  // `under`: the text at the caret
  std::vector<std::string> notes;
};
Told told(const Program& p, const std::string& steps) {
  const Result<LegalReport> r = check_recipe(p, recipe_of(p, "\n" + steps), ScheduleOptions{});  // excerpts are short
  if (r && r->legal) return {"legal", "", {}};
  const Diagnostic d = r ? *r->refusal : r.errors()[0];
  const std::size_t column = static_cast<std::size_t>(d.place.column);
  return {d.message, column >= 1 && column <= d.place.excerpt.size() ? d.place.excerpt.substr(column - 1) : "", d.notes};
}
bool any(const std::vector<std::string>& notes, const std::string& words) {
  return std::any_of(notes.begin(), notes.end(), [&](const std::string& n) { return n.find(words) != std::string::npos; });
}

TEST(Refusals, TheCaretStandsAtTheWrongArgument) {
  struct Wrong {
    std::string step, under;
  };
  for (const Wrong& w :
       std::vector<Wrong>{{R"({"do": "tyle", "loops": ["i"]})", R"("tyle")"},
                          {R"({"do": "tile", "statement": "q", "loops": ["i"], "sizes": [4]})", R"("q")"},
                          {R"({"do": "tile", "statement": "c", "loops": ["i", "z"], "sizes": [4, 4]})", R"("z")"},
                          {R"({"do": "tile", "statement": "c", "loops": ["i", "j"], "sizes": [4, 0]})", "0]"},
                          {R"({"do": "tile", "statement": "c", "loops": ["i", "j"], "sizes": "x"})", R"("x")"},
                          {R"({"do": "tile", "statement": "c", "loops": ["i"], "sizes": [4], "size": 3})", "3}"},
                          {R"({"do": "tile", "statement": "c", "loops": ["i", "i"], "sizes": [4, 4]})", R"("i")"},
                          {R"({"do": "contract", "array": "zz"})", R"("zz")"},
                          {R"({"do": "fuse", "statements": ["c", "q"], "loops": ["i"]})", R"("q")"},
                          {R"({"do": "skew", "statement": "c", "loop": "i", "by": "i"})", R"({"do": "skew")"}}) {
    const Told t = told(product(), w.step);
    EXPECT_EQ(t.under.rfind(w.under, 0), 0U) << w.step << "\n" << t.message << "\n" << t.under;
  }
}

TEST(Refusals, AMarkNamesItsStepAndAWayOut) {
  const std::string apart = R"({"do": "distribute", "statement": "c", "loop": "i"}, )";
  for (const std::string first : {R"({"do": "parallelize", "statement": "c", "loop": "i"})",
                                  R"({"do": "unroll", "statement": "c", "loop": "i", "factor": 4})",
                                  R"({"do": "vectorize", "statement": "c", "loop": "i", "width": 4})"}) {
    const std::string verb = first.substr(8, first.find('"', 8) - 8);
    const Told t = told(product(), apart + first +
                                       ",\n"
                                       R"({"do": "unroll", "statement": "c", "loop": "i", "factor": 2})");
    EXPECT_NE(t.message.find("loop 'i' is marked by `" + verb + "` already"), std::string::npos) << t.message;
    EXPECT_TRUE(any(t.notes, "leave one of the two steps out")) << verb;
    EXPECT_EQ(t.under.rfind("\"i\"", 0), 0U) << t.under;
  }
}

// "distribute first" was the answer whatever the statements need of each other.
TEST(Refusals, LoopsThatStatementsShareAreTiledTogether) {
  const std::string tile = R"({"do": "tile", "statement": "A", "loops": ["t", "i"], "sizes": [4, 4]})";
  const Told both = told(two_nests(true), tile);
  EXPECT_NE(both.message.find("other statements share loop 't'"), std::string::npos) << both.message;
  EXPECT_TRUE(any(both.notes, "`hexagons` tiles 't' together with the loops inside"));
  EXPECT_FALSE(any(both.notes, "distribute"));
  EXPECT_NE(told(two_nests(true), R"({"do": "distribute", "statement": "A", "loop": "t"})").message, "legal");
  // The way that is shown can be gone.
  EXPECT_EQ(
      told(two_nests(true), R"({"do": "hexagons", "statements": ["A", "A.1"], "time": "t", "loops": ["i"], "sizes": [2, 8]})")
          .message,
      "legal");
  const Program once =
      program_of(R"~({"facet": 1, "name": "p", "symbols": {"N": {"min": 1, "max": 99, "default": 9}}, "tensors":
    {"x": {"dtype": "f32", "shape": ["N", "N"]}, "y": {"dtype": "f32", "shape": ["N", "N"]}, "z": {"dtype": "f32", "shape": ["N", "N"]}},
    "inputs": ["x"], "ops": [{"op": "loops", "in": ["x", "N"], "out": ["y", "z"], "code":
    "for (int t = 0; t < N; t++) { for (int i = 0; i < N; i++) y[t][i] = x[t][i] * 2.0f; for (int i = 0; i < N; i++) z[t][i] = y[t][i] + 1.0f; }"}],
    "outputs": ["y", "z"]})~");
  EXPECT_TRUE(any(told(once, R"({"do": "tile", "statement": "y", "loops": ["t", "i"], "sizes": [4, 4]})").notes,
                  "distribute 'y' first"));
}

Diagnostic hole_of(const Program& p, const std::string& step) {
  Ledger ledger;
  ScheduleOptions options;
  options.time_budget_s = 100;
  const Result<Recipe> made = plan(p, recipe_of(p, step), options, ledger);
  return made ? Diagnostic{} : made.errors()[0];
}

TEST(Refusals, HolesThatCannotBeFilledTellWhichCan) {
  const Diagnostic d = hole_of(product(), R"({"do": "distribute", "statement": "c", "loop": "i"},
    {"do": "promote", "array": "a", "statement": "c", "at": "i", "layout": {"order": "?"}})");
  EXPECT_EQ(d.code, Code::kBadStepArgument);
  EXPECT_TRUE(any(d.notes, "holes of promote that are completed")) << to_text(d);
  EXPECT_TRUE(any(d.notes, "`array`, `statement`, `at`, `memory`")) << to_text(d);
  EXPECT_EQ(d.place.pointer, "/variants/0/groups/0/steps/1/layout");
}

// Nests inside a loop were no candidates: only those at the top were.
TEST(Refusals, NestsToFuseAreFoundInsideLoops) {
  const Program p = in_place("[\"N\", \"N\"]",
                             "for (int t = 0; t < N; t++) { for (int i = 0; i < N; i++) A[t][i] = A[t][i] + 1.0; "
                             "for (int i = 0; i < N; i++) A[t][i] = A[t][i] * 2.0; }");
  Ledger ledger;
  ScheduleOptions options;
  options.time_budget_s = 100;
  const Result<Recipe> made = plan(p, recipe_of(p, R"({"do": "fuse", "statements": "?", "loops": "?"})"), options, ledger);
  ASSERT_TRUE(made) << to_text(made.errors());
  const std::string text = to_json(*made);
  EXPECT_NE(text.find(R"("loops": ["i"], "statements": ["A", "A.1"])"), std::string::npos) << text;
}

}  // namespace
}  // namespace facet
