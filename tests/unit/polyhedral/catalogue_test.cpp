// index_set_split, peel, strip_mine, unroll_and_jam and the rewrite rfactor: the loops they make, what they refuse, and that
// what they leave can be scheduled on. Their numbers are held against the reference by tests/legal.
#include "polyhedral/lower.hpp"
#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

// The lines of the last kernel, without comments.
std::string body(const Program& p, const std::string& steps, const std::string& rewrites = "") {
  Recipe recipe = recipe_of(p, steps);
  if (!rewrites.empty()) recipe.variants[0].groups[0].rewrites = recipe_of(p, rewrites).variants[0].groups[0].steps;
  const Result<Scheduled> s = schedule_program(p, recipe, ScheduleOptions{});
  EXPECT_TRUE(s.ok()) << (s.ok() ? "" : to_text(s.errors()));
  if (!s) return "";
  const std::string text = to_text(s->loops);
  std::string out;
  std::size_t at = text.rfind("kernel ");
  at = text.find('\n', at) + 1;
  while (at < text.size()) {
    const std::size_t end = text.find('\n', at);
    std::string line = text.substr(at, end - at);
    if (const std::size_t hash = line.find("  #"); hash != std::string::npos) line.resize(hash);
    out += line + "\n";
    at = end + 1;
  }
  return out;
}

std::string refusal(const Program& p, const std::string& steps) {
  const LegalReport report = judge(p, steps);
  EXPECT_FALSE(report.legal) << steps;
  EXPECT_EQ(report.reason, "precondition") << report.message;
  return report.message;
}

Code complaint(const Program& p, const std::string& steps) {
  const Result<LegalReport> report = check_recipe(p, recipe_of(p, steps), ScheduleOptions{});
  EXPECT_FALSE(report.ok()) << steps;
  return report ? Code::kInternalError : report.errors()[0].code;
}

Program scale() { return equations({"y[i, j] = x[i, j] * 2.0"}, "y"); }
Program triangle() {
  return in_place("[\"N\", \"N\"]", "for (int i = 0; i < N; i++) for (int j = i; j < N; j++) A[i][j] = A[i][j] + 1;");
}

TEST(IndexSetSplit, CutsAtANumber) {
  EXPECT_EQ(body(scale(), R"({"do": "index_set_split", "statement": "y", "loop": "i", "at": 3})"),
            "  for i in 0..3\n    for j in 0..8\n      y[i, j] = x[i, j] * 2.0\n"
            "  for i in 3..8\n    for j in 0..8\n      y[i, j] = x[i, j] * 2.0\n");
}

TEST(IndexSetSplit, CutsAtASymbol) {
  const std::string text =
      body(triangle(), R"({"do": "index_set_split", "statement": "A", "loop": "i", "expression": "N - 4"})");
  EXPECT_NE(text.find("for i in 0..N - 4\n"), std::string::npos) << text;
  EXPECT_NE(text.find("N - 4)..N\n"), std::string::npos) << text;
}

// The value of a loop around: what comes from finished tiles apart from the tile's own.
TEST(IndexSetSplit, CutsWhereALoopAroundSays) {
  const Program p =
      in_place("[\"N\", \"N\"]", "for (int i = 0; i < N; i++) for (int j = 0; j < i; j++) A[i][j] = A[i][j] + 1;");
  const std::string tiled = R"({"do": "tile", "statement": "A", "loops": ["i"], "sizes": [4], "names": ["it"]}, )";
  const std::string text = body(p, tiled + R"({"do": "index_set_split", "statement": "A", "loop": "j", "expression": "4*it"})");
  EXPECT_NE(text.find("for j in 0..4 * it\n"), std::string::npos) << text;
  EXPECT_NE(text.find("for j in 4 * it..i\n"), std::string::npos) << text;
  const std::string least =
      body(p, tiled + R"x({"do": "index_set_split", "statement": "A", "loop": "j", "expression": "min(4*it, 2*it + 1)"})x");
  EXPECT_NE(least.find("for j in 0..2 * it + 1\n"), std::string::npos) << least;  // where 4*it is not less
  for (const char* bad : {"it*i", "j", "min(4*it", "min(4*it,)", "4*it)", "-", "max()"})
    EXPECT_EQ(complaint(p, tiled + R"({"do": "index_set_split", "statement": "A", "loop": "j", "expression": ")" + bad + "\"}"),
              Code::kBadStepArgument)
        << bad;
}

TEST(IndexSetSplit, BothPartsCanBeScheduledOn) {
  const Program p = scale();
  const std::string text = body(p, R"({"do": "index_set_split", "statement": "y", "loop": "i", "at": 3},
    {"do": "vectorize", "statement": "y", "loop": "j", "width": 4},
    {"do": "interchange", "statement": "y.from", "order": ["j", "i"]}, {"do": "parallelize", "statement": "y.from", "loop": "j"})");
  const std::size_t first = text.find("for i in 0..3"), lanes = text.find("for j in 0..8"),
                    second = text.rfind("for j in 0..8");
  EXPECT_LT(first, lanes) << text;
  EXPECT_LT(lanes, second) << text;
  EXPECT_LT(second, text.find("for i in 3..8")) << text;
  EXPECT_NE(text.find("parallel"), std::string::npos) << text;
  EXPECT_NE(text.find("vector"), std::string::npos) << text;
}

TEST(IndexSetSplit, Refuses) {
  EXPECT_NE(refusal(scale(), R"({"do": "index_set_split", "statement": "y", "loop": "i", "at": 8})").find("one side"),
            std::string::npos);
  EXPECT_EQ(complaint(scale(), R"({"do": "index_set_split", "statement": "y", "loop": "i"})"), Code::kBadStepArgument);
  EXPECT_EQ(complaint(scale(), R"({"do": "index_set_split", "statement": "y", "loop": "i", "expression": "M + 1"})"),
            Code::kBadStepArgument);
  EXPECT_EQ(complaint(triangle(), R"({"do": "index_set_split", "statement": "A", "loop": "i", "expression": "N * N"})"),
            Code::kBadStepArgument);
  const Program two = equations({"t[i, j] = x[i, j] + 1.0", "y[i, j] = t[i, j] * 2.0"}, "y");
  EXPECT_NE(refusal(two, R"({"do": "fuse", "statements": ["y.t", "y"], "loops": ["i"]}, {"do": "contract", "array": "y.t"},
    {"do": "index_set_split", "statement": "y", "loop": "i", "at": 3})")
                .find("buffer inside the loop"),
            std::string::npos);
}

// A sum goes on in the second loop: the dependences of both parts are there.
TEST(IndexSetSplit, DependencesOfThePartsAreJudged) {
  const Program p = in_place("[\"N\"]", "for (int i = 1; i < N; i++) A[i] = A[i-1] + 1;");
  const std::string split = R"({"do": "index_set_split", "statement": "A", "loop": "i", "at": 3})";
  EXPECT_TRUE(judge(p, split).legal);
  const LegalReport fused = judge(p, split + R"(, {"do": "fuse", "statements": ["A.from", "A"], "loops": ["i"]},
    {"do": "shift", "statement": "A", "loop": "i", "offset": 50})");
  ASSERT_FALSE(fused.legal);
  EXPECT_EQ(fused.source.statement, "A");
  EXPECT_EQ(fused.sink.statement, "A.from");
}

TEST(Peel, TakesTheFirstOfEveryRow) {
  const std::string text = body(triangle(), R"({"do": "peel", "statement": "A", "loop": "j", "first": 1})");
  EXPECT_NE(text.find("for i in 0..N\n"), std::string::npos) << text;
  EXPECT_LT(text.find("A[i, i] "), text.find("for j in i + 1..N\n")) << text;
  EXPECT_LT(text.find("for j in i + 1..N\n"), text.find("A[i, j] ")) << text;
}

TEST(Peel, TakesTheLast) {
  const std::string text = body(scale(), R"({"do": "peel", "statement": "y", "loop": "i", "last": 2})");
  EXPECT_NE(text.find("for i in 0..6\n"), std::string::npos) << text;
  EXPECT_NE(text.find("for i in 6..8\n"), std::string::npos) << text;
}

TEST(Peel, Refuses) {
  EXPECT_NE(refusal(scale(), R"({"do": "peel", "statement": "y", "loop": "i", "first": 8})").find("one side"),
            std::string::npos);
  EXPECT_EQ(complaint(scale(), R"({"do": "peel", "statement": "y", "loop": "i"})"), Code::kBadStepArgument);
  EXPECT_EQ(complaint(scale(), R"({"do": "peel", "statement": "y", "loop": "i", "first": 1, "last": 1})"),
            Code::kBadStepArgument);
}

TEST(StripMine, IsTileOfOneLoop) {
  EXPECT_EQ(body(scale(), R"({"do": "strip_mine", "statement": "y", "loop": "j", "size": 4, "name": "jo"})"),
            body(scale(), R"({"do": "tile", "statement": "y", "loops": ["j"], "sizes": [4], "names": ["jo"]})"));
  EXPECT_NE(refusal(scale(), R"({"do": "strip_mine", "statement": "y", "loop": "j", "size": 4, "name": "i"})").find("exists"),
            std::string::npos);
}

TEST(UnrollAndJam, MovesThePieceBelowTheLoopsInside) {
  const std::string text = body(equations({"y[i] = sum[j](x[i, j])"}, "y"),
                                R"({"do": "unroll_and_jam", "statement": "y", "loop": "i", "factor": 4})");
  EXPECT_NE(text.find("for it in 0..2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("for j in 0..8\n      for i in 4 * it..4 * it + 4"), std::string::npos) << text;
  EXPECT_NE(text.find("unroll"), std::string::npos) << text;
}

TEST(UnrollAndJam, IsJudged) {
  const Program p =
      in_place("[\"N\", \"N\"]", "for (int i = 1; i < N; i++) for (int j = 0; j < N - 1; j++) A[i][j] = A[i-1][j+1];");
  const LegalReport report = judge(p, R"({"do": "unroll_and_jam", "statement": "A", "loop": "i", "factor": 2})");
  ASSERT_FALSE(report.legal);
  EXPECT_EQ(report.reason, "dependence");
  EXPECT_EQ(report.source.instance.size(), 2U);
}

TEST(UnrollAndJam, Refuses) {
  EXPECT_NE(refusal(scale(), R"({"do": "unroll_and_jam", "statement": "y", "loop": "j", "factor": 4})").find("no loops inside"),
            std::string::npos);
  EXPECT_EQ(complaint(scale(), R"({"do": "unroll_and_jam", "statement": "y", "loop": "i", "factor": 1})"),
            Code::kBadStepArgument);
  EXPECT_NE(refusal(scale(), R"({"do": "parallelize", "statement": "y", "loop": "i"},
    {"do": "unroll_and_jam", "statement": "y", "loop": "i", "factor": 4})")
                .find("marked already"),
            std::string::npos);
}

Program row_sums() { return equations({"y[i] = sum[j](x[i, j])"}, "y"); }

TEST(Rfactor, SumsInInterleavedParts) {
  const std::string text = body(row_sums(), "", R"({"do": "rfactor", "statement": "y", "by": "j % 4"})");
  const std::size_t start = text.find("for r in 0..4\n      y.part[r, i] = 0.0"), sum = text.find("sum= x[i, j]"),
                    combine = text.find("for r in 0..4\n      y[i] sum= y.part[r, i]");
  ASSERT_NE(start, std::string::npos) << text;
  ASSERT_NE(combine, std::string::npos) << text;
  EXPECT_LT(start, sum) << text;
  EXPECT_LT(sum, combine) << text;
  EXPECT_NE(text.find("y.part[j "), std::string::npos) << text;
}

TEST(Rfactor, SumsInContiguousParts) {
  const std::string text = body(row_sums(), "", R"({"do": "rfactor", "statement": "y", "by": "j / 3"})");
  EXPECT_NE(text.find("for r in 0..3\n      y.part[r, i] = 0.0"), std::string::npos) << text;
  EXPECT_NE(text.find(" 3, i] sum= x[i, j]"), std::string::npos) << text;
}

// The parts are a dimension: after tiling by their length the reduction's outer loop may be parallel.
TEST(Rfactor, PartsRunOnThreads) {
  const Program p = row_sums();
  const std::string cut = R"({"do": "strip_mine", "statement": "y", "loop": "j", "size": 4})";
  const std::string threads = R"({"do": "parallelize", "statement": "y", "loop": "jt"})";
  EXPECT_FALSE(judge(p, cut + ", " + threads).legal);
  Recipe recipe = recipe_of(p, cut + ", " + threads);
  recipe.variants[0].groups[0].rewrites =
      recipe_of(p, R"({"do": "rfactor", "statement": "y", "by": "j / 4"})").variants[0].groups[0].steps;
  const Result<LegalReport> report = check_recipe(p, recipe, ScheduleOptions{});
  ASSERT_TRUE(report.ok()) << to_text(report.errors());
  EXPECT_TRUE(report->legal) << report->message;
}

TEST(Rfactor, Refuses) {
  const auto judged = [](Program p, const std::string& rewrite) {
    Recipe recipe = recipe_of(p, "");
    recipe.variants[0].groups[0].rewrites = recipe_of(p, rewrite).variants[0].groups[0].steps;
    return check_recipe(p, recipe, ScheduleOptions{});
  };
  const Result<LegalReport> no_reduction = judged(scale(), R"({"do": "rfactor", "statement": "y", "by": "j % 4"})");
  ASSERT_TRUE(no_reduction.ok());
  EXPECT_FALSE(no_reduction->legal);
  EXPECT_NE(no_reduction->message.find("no reduction"), std::string::npos) << no_reduction->message;
  Program strict = row_sums();
  strict.numerics.reassociate = Numerics::Reassociate::kStrict;
  const Result<LegalReport> rounding = judged(strict, R"({"do": "rfactor", "statement": "y", "by": "j % 4"})");
  ASSERT_TRUE(rounding.ok());
  EXPECT_NE(rounding->message.find("strict"), std::string::npos) << rounding->message;
  for (const char* wrong :
       {R"({"do": "rfactor", "statement": "y", "by": "i % 4"})", R"({"do": "rfactor", "statement": "y", "by": "j"})",
        R"({"do": "rfactor", "statement": "y", "by": "j % 1"})"}) {
    const Result<LegalReport> r = judged(row_sums(), wrong);
    ASSERT_FALSE(r.ok()) << wrong;
    EXPECT_EQ(r.errors()[0].code, Code::kBadStepArgument);
  }
  const Result<LegalReport> step = judged(row_sums(), R"({"do": "tile", "statement": "y", "loops": ["j"], "sizes": [4]})");
  ASSERT_FALSE(step.ok());
  EXPECT_EQ(step.errors()[0].code, Code::kUnknownStep);
  EXPECT_NE(to_text(step.errors()).find("belongs into \"steps\""), std::string::npos);
}

// All loops that share the threads are judged, not only the outermost.
TEST(Collapse, InnerLoopsAreJudged) {
  const Program p =
      in_place("[\"N\", \"N\"]", "for (int i = 0; i < N; i++) for (int j = 1; j < N; j++) A[i][j] = A[i][j-1] + 1;");
  EXPECT_TRUE(judge(p, R"({"do": "parallelize", "statement": "A", "loop": "i"})").legal);
  const LegalReport both = judge(p, R"({"do": "parallelize", "statement": "A", "loop": "i", "collapse": 2})");
  ASSERT_FALSE(both.legal);
  EXPECT_EQ(both.source.instance, (std::vector<std::int64_t>{0, 1}));
}

// for i { t = A[i]; for j < i  t -= A[j]; B[i] = t }: the scalar keeps the three together.
Program with_scalar() {
  return program_of(R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 3, "max": 100, "default": 9}},
    "tensors": {"A": {"dtype": "f64", "shape": ["N"]}, "B": {"dtype": "f64", "shape": ["N"]}}, "inputs": ["A"],
    "ops": [{"op": "loops", "in": ["N", "A"], "out": ["B"],
             "code": "for (int i = 0; i < N; i++) { double t = A[i]; for (int j = 0; j < i; j++) t -= A[j]; B[i] = t; }"}],
    "outputs": ["B"]})");
}

TEST(Expand, LetsStatementsApartThatAScalarHeld) {
  const Program p = with_scalar();
  const std::string apart = R"({"do": "distribute", "statement": "B", "loop": "i"})";
  EXPECT_FALSE(judge(p, apart).legal);
  const std::string expand = R"({"do": "expand", "array": "B.t.each"}, )";
  const std::string text = body(p, expand + apart);
  EXPECT_NE(text.find("B.t.each[i] = A[i]"), std::string::npos) << text;
  // `contract` shrinks it again: to the elements of one tile.
  const std::string tile = R"({"do": "tile", "statement": "B", "loops": ["i"], "sizes": [4], "names": ["it"]}, )";
  const std::string tiled =
      body(p, expand + tile + apart + R"(, {"do": "contract", "array": "B.t.each", "statement": "B", "at": "it"})");
  EXPECT_NE(tiled.find("allocate B.t.each: f64[4]"), std::string::npos) << tiled;
}

TEST(Expand, Refuses) {
  EXPECT_NE(refusal(with_scalar(), R"({"do": "expand", "array": "B"})").find("has room for all its elements already"),
            std::string::npos);
  EXPECT_NE(refusal(with_scalar(), R"({"do": "expand", "array": "B.t.each"}, {"do": "expand", "array": "B.t.each"})")
                .find("has room for all its elements already"),
            std::string::npos);
}

// Before or after all others, which stay together.
TEST(Distribute, FirstAndLast) {
  const Program p =
      in_place("[\"N\"]", "for (int i = 0; i < N; i++) { A[i] = A[i] + 1; A[i] = A[i] * 3; A[i] = max(A[i], 2); }");
  const LegalReport first = judge(p, R"({"do": "distribute", "statement": "A.1", "loop": "i", "first": true})");
  EXPECT_FALSE(first.legal);
  const std::string last = body(p, R"({"do": "distribute", "statement": "A.2", "loop": "i", "last": true})");
  EXPECT_EQ(std::count(last.begin(), last.end(), '\n'), 5) << last;  // two loops, three statements
  EXPECT_EQ(complaint(p, R"({"do": "distribute", "statement": "A.2", "loop": "i", "first": true, "last": true})"),
            Code::kBadStepArgument);
}

// x[i] -= L[i, j] * x[j] with j < i sums up; where the element may be its own operand, or is one, it does not.
TEST(Updates, OfOtherElements) {
  const auto kinds = [](const std::string& code) {
    const Program p = in_place("[\"N\"]", code);
    const ReaderIndex readers = readers_of(p);
    const Scop scop = lower(p, readers, {static_cast<int>(p.nodes.size()) - 1}, "k0");
    std::string text;
    for (const Statement& s : scop.statements) text += to_text(s.kind) + " ";
    return text;
  };
  EXPECT_EQ(kinds("for (int i = 0; i < N; i++) for (int j = 0; j < i; j++) A[i] -= 2 * A[j];"), "reduce ");
  EXPECT_EQ(kinds("for (int i = 0; i < N; i++) for (int j = 0; j <= i; j++) A[i] -= 2 * A[j];"), "recurrence ");
}

// Two updates whose operands read the array: what an operand reads is an order, what updates share is none.
TEST(Updates, OperandsAreOrderedSumsAreNot) {
  const Program p = in_place("[\"N\"]", "for (int i = 0; i < N; i++) for (int j = 0; j < i; j++) A[i] -= 2 * A[j];");
  EXPECT_TRUE(judge(p, R"({"do": "reverse", "statement": "A", "loop": "j"})").legal);
  EXPECT_FALSE(judge(p, R"({"do": "reverse", "statement": "A", "loop": "i"})").legal);
  EXPECT_TRUE(judge(p, R"({"do": "vectorize", "statement": "A", "loop": "j", "width": 4})").legal);
  EXPECT_FALSE(judge(p, R"({"do": "parallelize", "statement": "A", "loop": "i"})").legal);
}

}  // namespace
}  // namespace facet
