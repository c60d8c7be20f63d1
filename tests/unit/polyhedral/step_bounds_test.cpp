// What no step may ask for: names that hide others, numbers that overflow, parts that no stack holds.
#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

// A product over symbols that are called like the loops of tiles.
Program product() {
  const auto matrix = [](const std::string& shape) { return R"({"dtype": "f32", "shape": )" + shape + "}"; };
  return program_of(R"({"facet": 1, "name": "p", "symbols": {"it": {"min": 1, "max": 4096, "default": 64},
    "jt": {"min": 1, "max": 4096, "default": 64}}, "tensors": {"A": )" +
                    matrix(R"(["it", "jt"])") + R"(, "B": )" + matrix(R"(["jt", "it"])") + R"(, "C": )" +
                    matrix(R"(["it", "it"])") + R"J(}, "inputs": ["A", "B"],
    "ops": [{"op": "compute", "in": ["A", "B"], "out": "C", "def": ["C[i, j] = sum[k](A[i, k] * B[k, j])"]}],
    "outputs": ["C"]})J");
}

std::string told(const std::string& step) {
  const Program p = product();
  const Result<LegalReport> r = check_recipe(p, recipe_of(p, step), ScheduleOptions{});
  return !r ? to_text(r.errors()) : r->legal ? "legal" : r->message;
}

TEST(StepBounds, LoopsDoNotHideSymbols) {
  const std::string text =
      last_kernel(loops_text(product(), R"({"do": "tile", "statement": "C", "loops": ["i", "j"], "sizes": [8, 8]})"));
  EXPECT_NE(text.find("for it_2 in "), std::string::npos) << text;
  EXPECT_NE(text.find("for jt_2 in "), std::string::npos) << text;
  EXPECT_EQ(text.find("for it in "), std::string::npos) << text;
}

TEST(StepBounds, NamesAreWordsOfTheirOwn) {
  const auto tile = [](const std::string& names) {
    return told(R"({"do": "tile", "statement": "C", "loops": ["i", "j"], "sizes": [8, 8], "names": [)" + names + "]}");
  };
  EXPECT_EQ(tile(R"("a", "b")"), "legal");
  EXPECT_NE(tile(R"("it", "b")").find("'it' is a symbol of the program"), std::string::npos) << tile(R"("it", "b")");
  EXPECT_NE(tile(R"("a", "a")").find("two loops would be called 'a'"), std::string::npos);
  for (const char* name : {"", "a b", "a\\nint x = boom;", "1a", "\xc3\xa9"})
    EXPECT_NE(tile("\"" + std::string(name) + R"(", "b")").find("letters, digits and _"), std::string::npos) << name;
}

TEST(StepBounds, HolesAmongNamesAreCompleted) {
  ScheduleOptions options;
  Ledger ledger;
  const Program p = product();
  const Result<Recipe> made =
      plan(p, recipe_of(p, R"({"do": "tile", "statement": "C", "loops": ["i", "j"], "sizes": [8, 8], "names": ["?", "?"]})"),
           options, ledger);
  ASSERT_TRUE(made.ok()) << to_text(made.errors());
  EXPECT_NE(to_json(*made).find(R"("names": ["it2", "jt2"])"), std::string::npos) << to_json(*made);
}

TEST(StepBounds, NumbersBeyond64BitsAreRefused) {
  EXPECT_NE(told(R"({"do": "shift", "statement": "C", "loop": "i", "offset": 9223372036854775807})")
                .find("an integer up to 1000000000"),
            std::string::npos);
  EXPECT_NE(told(R"({"do": "skew", "statement": "C", "loop": "j", "by": "i", "factor": 1001})").find("an integer up to 1000"),
            std::string::npos);
  std::string steps;
  for (int n = 0; n < 3; ++n)
    steps += R"({"do": "skew", "statement": "C", "loop": "j", "by": "i", "factor": 1000}, )"
             R"({"do": "skew", "statement": "C", "loop": "i", "by": "j", "factor": 1000}, )";
  EXPECT_NE(told(steps.substr(0, steps.size() - 2)).find("too far for 64 bits"), std::string::npos);
}

TEST(StepBounds, StacksHoldSoMuch) {
  const auto kept = [](int side, const std::string& memory) {
    const std::string n = std::to_string(side);
    return told(R"({"do": "distribute", "statement": "C", "loop": "i"}, )"
                R"({"do": "interchange", "statement": "C", "order": ["i", "k", "j"]}, )"
                R"({"do": "tile", "statement": "C", "loops": ["i", "k"], "sizes": [)" +
                n + ", " + n + R"(]}, {"do": "promote", "statement": "C", "array": "A", "at": "kt", "memory": ")" + memory +
                "\"}");
  };
  EXPECT_EQ(kept(512, "stack"), "legal") << kept(512, "stack");
  EXPECT_NE(kept(3000, "stack").find("may need 36 MB of each thread's stack"), std::string::npos) << kept(3000, "stack");
  EXPECT_EQ(kept(3000, "l2"), "legal") << kept(3000, "l2");
}

// Two parts that fit one by one (they overran the stack), and free elements behind rows.
TEST(StepBounds, StacksHoldAllPartsTogetherWithTheirPadding) {
  const std::string tiles = R"({"do": "distribute", "statement": "C", "loop": "i"},
    {"do": "interchange", "statement": "C", "order": ["i", "k", "j"]},
    {"do": "tile", "statement": "C", "loops": ["i", "k", "j"], "sizes": [900, 900, 900]}, )";
  const auto part = [](const std::string& array, const std::string& layout) {
    return R"({"do": "promote", "statement": "C", "at": "jt", "memory": "stack", "array": ")" + array + "\"" + layout + "}";
  };
  EXPECT_EQ(told(tiles + part("A", "")), "legal");
  const std::string two = told(tiles + part("A", "") + ", " + part("B", ""));
  EXPECT_NE(two.find("with the part of 'B' all parts may need 6.48 MB of each thread's stack"), std::string::npos) << two;
  const std::string padded = told(tiles + part("A", R"(, "layout": {"pad": {"k": 100000}})"));
  EXPECT_NE(padded.find("MB of each thread's stack"), std::string::npos) << padded;
}

TEST(StepBounds, LayoutsHaveKnownFieldsOfBoundedSize) {
  const auto whole = [](const std::string& layout) {
    return told(
        R"({"do": "distribute", "statement": "C", "loop": "i"}, {"do": "promote", "statement": "C", "array": "A", "layout": )" +
        layout + "}");
  };
  EXPECT_EQ(whole(R"({"order": ["k", "i"]})"), "legal") << whole(R"({"order": ["k", "i"]})");
  for (const std::string& layout : std::vector<std::string>{
           R"({"ordr": ["k", "i"]})", R"({"inner": {"i": 9223372036854775807}})", R"({"room": {"k": 9223372036854775807}})",
           R"({"pad": {"i": 4611686018427387904}})", R"({"inner": {"q": 4}})"})
    EXPECT_NE(whole(layout).find("layout"), std::string::npos) << layout << ": " << whole(layout);
  const std::string part = told(R"({"do": "tile", "statement": "C", "loops": ["i"], "sizes": [4]},
    {"do": "promote", "statement": "C", "array": "A", "at": "it", "layout": {"room": {"k": 4}}})");
  EXPECT_NE(part.find("`room` is for a whole array"), std::string::npos) << part;
}

TEST(StepBounds, LoopsThatAreSharedAlreadyAreToldSo) {
  const Program p = in_place("[\"N\", \"N\"]",
                             "for (int t = 0; t < N; t++) { for (int i = 0; i < N; i++) A[t][i] = A[t][i] + 1.0;"
                             " for (int i = 0; i < N; i++) A[t][i] = A[t][i] * 2.0; }");
  const LegalReport r = judge(p, R"({"do": "fuse", "statements": ["A", "A.1"], "loops": ["t", "i"]})");
  ASSERT_FALSE(r.legal);
  EXPECT_NE(r.message.find("loop 't' is shared by the nests already"), std::string::npos) << r.message;
}

// A piece of a loop that has no instances for large N: what it reads is no array of less than nothing.
TEST(StepBounds, ArraysOfNothingHaveNoNegativeExtent) {
  const Program p = program_of(R"J({"facet": 1, "name": "p", "symbols": {"N": {"min": 1, "max": 40, "default": 11}},
    "tensors": {"x": {"dtype": "i32", "shape": [3, 4]}, "y": {"dtype": "i32", "shape": [3, 4]}}, "inputs": ["x"],
    "ops": [{"op": "loops", "in": ["N", "x"], "out": "y", "code":
      "for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) y[i][j] = x[i][j] - 3;"}],
    "outputs": ["y"]})J");
  const Result<Scheduled> made =
      schedule_program(p, recipe_of(p, R"J({"do": "index_set_split", "expression": "N - 1", "loop": "j", "statement": "y"},
                          {"do": "promote", "array": "x", "statement": "y.from"})J"),
                       ScheduleOptions{});
  ASSERT_TRUE(made.ok()) << to_text(made.errors());
  int packed = 0;
  for (const Buffer& b : made->loops.buffers) {
    packed += b.name == "x.packed" ? 1 : 0;
    for (const std::int64_t n : {1, 2, 4, 5, 6, 11, 40})
      for (const ExprPtr& e : b.extents) EXPECT_GE(evaluate_index(e, {{"N", n}}), 0) << b.name << " at N = " << n;
  }
  EXPECT_EQ(packed, 1);
}

}  // namespace
}  // namespace facet
