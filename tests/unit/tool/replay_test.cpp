// legal --replay: the two instances of a witness really run, in both orders; each kind of witness, and where there is nothing
// to run.
#include <gtest/gtest.h>

#include "src/driver/pipeline.hpp"
#include "src/driver/replay.hpp"
#include "src/frontend/json.hpp"
#include "unit/tool/tool.hpp"

namespace facet {
namespace {

constexpr std::int64_t kSteps = 1000000;

std::string in_place(const std::string& code, const std::string& dtype = "i32") {
  return R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 1, "max": 100, "default": 10}},
    "tensors": {"A": {"dtype": ")" +
         dtype + R"(", "shape": ["N", "N"]}, "s": {"dtype": ")" + dtype +
         R"(", "shape": []}, "w": {"dtype": "i32", "shape": [4]}}, "inputs": ["A", "s"],
    "ops": [{"op": "loops", "in": ["N"], "inout": ["A", "s"], "out": ["w"], "code": ")" +
         code + R"("}], "outputs": ["A", "s"]})";
}

LegalReport judged(const Program& p, const std::string& steps) {
  const std::string text = R"({"facet_recipe": 1, "variants": [{"groups": [{"ops": ["w"], "steps": [)" + steps + "]}]}]}";
  const Result<Recipe> recipe = read_recipe(text, "r");
  EXPECT_TRUE(recipe.ok()) << (recipe ? "" : to_text(recipe.errors()));
  ScheduleOptions options;
  options.replay = true;
  options.repair = false;
  const Result<LegalReport> report = check_recipe(p, *recipe, options);
  EXPECT_TRUE(report.ok()) << (report ? "" : to_text(report.errors()));
  return report ? *report : LegalReport{};
}

ReplayReport replayed(const std::string& program, const std::string& steps, std::int64_t max_steps = kSteps) {
  const Result<Program> p = check_text(program, "p");
  EXPECT_TRUE(p.ok()) << (p ? "" : to_text(p.errors()));
  return run_replay(*p, judged(*p, steps), 1, max_steps);
}

const std::string kScratch = "for (int k = 0; k < 4; k++) w[k] = k; ";

// A witness that runs, in the whole group, and whose values differ.
ReplayReport shown(const std::string& code, const std::string& step) {
  const ReplayReport r = replayed(in_place(kScratch + code), step);
  EXPECT_TRUE(r.ran) << r.why_not;
  EXPECT_TRUE(r.real);
  EXPECT_TRUE(r.differs);
  EXPECT_EQ(r.scope, "the whole group");
  return r;
}

TEST(Replay, AFlowReadsTheOldValue) {
  const ReplayReport r =
      shown("for (int i = 1; i < N; i++) A[i][0] = A[i-1][0] + 1;", R"({"do": "reverse", "statement": "A", "loop": "i"})");
  EXPECT_TRUE(r.original.source_first);
  EXPECT_FALSE(r.refused.source_first);
  EXPECT_EQ(r.original.value, r.original.source_left);
}

TEST(Replay, AnAntiDependenceReadsTheNewValue) {
  const ReplayReport r = shown("for (int i = 0; i < N - 1; i++) A[i][0] = A[i+1][0] + 1;",
                               R"({"do": "parallelize", "statement": "A", "loop": "i"})");
  EXPECT_FALSE(r.refused.source_first) << "a parallel loop replays in one of its orders, backwards";
}

TEST(Replay, TwoUpdatesAtOnceLoseOne) {
  shown("for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) s += A[i][j];",
        R"({"do": "parallelize", "statement": "s", "loop": "i"})");
}

TEST(Replay, LanesAreReplayedToo) {
  shown("for (int i = 0; i < N; i++) for (int j = 1; j < N; j++) A[i][j] = A[i][j-1] * 3;",
        R"({"do": "vectorize", "statement": "A", "loop": "j", "width": 4})");
}

// The order stays and the place of the value changes: w[k - 1] was written by the iteration before, to a box of its own.
TEST(Replay, AContractedArrayIsLookedAtInItsPlace) {
  const ReplayReport r =
      replayed(in_place("for (int k = 0; k < 4; k++) { w[k] = k + 5; A[0][0] = A[0][0] + w[k]; if (k > 0) s += w[k - 1]; }"),
               R"({"do": "contract", "array": "w", "statement": "w", "at": "k"})");
  ASSERT_TRUE(r.ran) << r.why_not;
  EXPECT_TRUE(r.original.source_first);
  EXPECT_TRUE(r.refused.source_first);
  EXPECT_EQ(r.original.value, "5");
  EXPECT_EQ(r.refused.value, "nothing (never written)");
  EXPECT_TRUE(r.differs);
  EXPECT_TRUE(r.real);
}

// Where the box is large enough for every iteration and declared around all of them, the value is found all the same: the pair
// is no proof, and the report says so.
TEST(Replay, AValueInItsPlaceIsNotReal) {
  const ReplayReport r =
      replayed(in_place("for (int k = 0; k < 4; k++) w[k] = k + 5; for (int i = 0; i < N; i++) { for (int k = 0; k "
                        "< 4; k++) { A[i][0] = w[k]; w[k] = A[i][0] + 1; } }"),
               R"({"do": "contract", "array": "w", "statement": "A", "at": "i"})");
  ASSERT_TRUE(r.ran) << r.why_not;
  EXPECT_EQ(r.original.value, "5");
  EXPECT_EQ(r.refused.value, "5");
  EXPECT_FALSE(r.differs);
  EXPECT_FALSE(r.real);
}

// What an iteration has added lies in its piece's copy, where its reader does not look.
TEST(Replay, AValueInACopyIsNotFound) {
  const ReplayReport r = replayed(in_place(kScratch + "for (int i = 0; i < N; i++) { A[0][0] += 1; A[0][i] += 2; "
                                                      "if (i >= 1) A[1][i] = A[0][i]; }"),
                                  R"({"do": "parallelize", "statement": "A", "loop": "i", "reduction": "clause", "parts": 2})");
  ASSERT_TRUE(r.ran) << r.why_not;
  EXPECT_TRUE(r.differs);
  EXPECT_TRUE(r.real);
}

// A box torn from a user is declared around both: each finds the other's last value.
TEST(Replay, ATornBoxKeepsOneValue) {
  const ReplayReport r = replayed(in_place("for (int k = 0; k < 4; k++) { w[k] = k; s += w[k]; }"),
                                  R"({"do": "contract", "array": "w"}, {"do": "distribute", "statement": "w", "loop": "k"})");
  ASSERT_TRUE(r.ran) << r.why_not;
  EXPECT_EQ(r.original.value, "0");
  EXPECT_EQ(r.refused.value, "3");
  EXPECT_TRUE(r.real);
}

// Where the refused order uses a buffer that nothing declares there, that is said, not what the interpreter makes of it.
TEST(Replay, ABufferOutsideItsLoopIsSaid) {
  Replay replay;
  for (LoopProgram* p : {&replay.original, &replay.refused}) {
    for (const auto& [name, size] : {std::pair("replay.value", 4), std::pair("replay.ran", 2), std::pair("replay.first", 1)}) {
      Buffer b;
      b.name = name;
      b.dtype = DType::kI64;
      b.extents = {idx(size)};
      b.role = BufferRole::kInOut;
      p->buffers.push_back(std::move(b));
    }
    p->kernels.emplace_back();
  }
  Store store;
  store.statement = "w";
  store.buffer = "w.tile";
  store.value = int_literal(DType::kI64, 1);
  replay.refused.kernels[0].body = {make_loop(store)};
  LegalReport legal;
  legal.legal = false;
  legal.replay = replay;
  const ReplayReport r = run_replay(Program{}, legal, 1, kSteps);
  EXPECT_FALSE(r.ran);
  EXPECT_NE(r.why_not.find("in the refused order a buffer is used outside the loop that it belongs to"), std::string::npos)
      << r.why_not;
  EXPECT_NE(r.why_not.find("'w.tile'"), std::string::npos) << r.why_not;
}

// Where the interpreter would take too long it runs the two alone.
TEST(Replay, LargeGroupsAreReplayedAsTwoInstances) {
  std::string text = in_place(kScratch + "for (int i = 1; i < N; i++) for (int j = 0; j < N; j++) A[i][j] = A[i-1][j] + 1;");
  text.replace(text.find("\"min\": 1,"), 9, "\"min\": 60,");
  text.replace(text.find("\"default\": 10"), 13, "\"default\": 60");
  const char* const steps = R"({"do": "parallelize", "statement": "A", "loop": "i"})";
  EXPECT_EQ(replayed(text, steps).scope, "the whole group");
  const ReplayReport two = replayed(text, steps, 2000);
  ASSERT_TRUE(two.ran) << two.why_not;
  EXPECT_EQ(two.scope, "the two instances alone");
  EXPECT_TRUE(two.real);
  EXPECT_TRUE(two.differs);
  const ReplayReport none = replayed(text, steps, 3);
  EXPECT_FALSE(none.ran);
  EXPECT_NE(none.why_not, "");
}

TEST(Replay, NothingToRunIsSaid) {
  const std::string text = in_place(kScratch + "for (int i = 0; i < N; i++) A[i][0] = i;");
  EXPECT_NE(replayed(text, R"({"do": "parallelize", "statement": "A", "loop": "i"})").why_not.find("legal"), std::string::npos);
  EXPECT_NE(replayed(text, R"({"do": "interchange", "statement": "A", "order": ["i", "i"]})").why_not.find("precondition"),
            std::string::npos);
}

TEST_F(Tool, LegalReplaysForPeopleAndPrograms) {
  write("q.json", in_place(kScratch + "for (int i = 1; i < N; i++) A[i][0] = A[i-1][0] + 1;"));
  const std::string head = R"({"facet_recipe": 1, "variants": [{"groups": [{"ops": ["w"], "steps": [)";
  write("bad.json", head + R"({"do": "reverse", "statement": "A", "loop": "i"}]}]}]})");
  write("good.json", head + "]}]}]}");
  const Answer human = facet("legal q.json --schedule bad.json --replay");
  EXPECT_EQ(human.status, 1);
  EXPECT_NE(human.out.find("original order: A[1], then A[2]: A[2] finds A[1, 0] = "), std::string::npos) << human.out;
  EXPECT_NE(human.out.find("refused:        A[2], then A[1]: A[2] finds A[1, 0] = "), std::string::npos) << human.out;
  const Json j = Json::parse(facet("legal q.json --schedule bad.json --replay --json").out);
  EXPECT_EQ(j["replay"]["ran"], true);
  EXPECT_EQ(j["replay"]["real"], true);
  EXPECT_NE(j["replay"]["original"]["value"], j["replay"]["refused"]["value"]);
  const Json legal = Json::parse(facet("legal q.json --schedule good.json --replay --json").out);
  EXPECT_EQ(legal["replay"]["ran"], false);
  EXPECT_NE(legal["replay"]["why_not"], nullptr);
}

}  // namespace
}  // namespace facet
