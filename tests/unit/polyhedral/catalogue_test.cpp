// index_set_split, peel, strip_mine, unroll_and_jam: the loops they make, what they refuse, and that
// what they leave can be scheduled on. Their numbers are held against the reference by tests/legal.
#include "polyhedral/lower.hpp"
#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

std::string refusal(const Program& p, const std::string& steps) {
  const LegalReport report = judge(p, steps);
  EXPECT_FALSE(report.legal) << steps;
  EXPECT_EQ(report.reason, "precondition") << report.message;
  return report.message;
}

void is_wrong(const Program& p, const std::string& steps) {
  const Result<LegalReport> report = check_recipe(p, recipe_of(p, steps), ScheduleOptions{});
  ASSERT_FALSE(report.ok()) << steps;
  EXPECT_EQ(report.errors()[0].code, Code::kBadStepArgument) << to_text(report.errors());
}

Program scale() { return equations({"y[i, j] = x[i, j] * 2.0"}, "y"); }
Program triangle() {
  return in_place("[\"N\", \"N\"]", "for (int i = 0; i < N; i++) for (int j = i; j < N; j++) A[i][j] = A[i][j] + 1;");
}

// All iterations on one side of the cut are a refusal; arguments that say nothing, or two things, are wrong recipes.
void refuses_cuts(const std::string& one_sided, const std::vector<std::string>& wrong) {
  const auto step = [](const std::string& rest) { return R"({"statement": "y", "loop": "i", )" + rest + "}"; };
  EXPECT_NE(refusal(scale(), step(one_sided)).find("one side"), std::string::npos);
  for (const std::string& rest : wrong) is_wrong(scale(), step(rest));
}

TEST(IndexSetSplit, CutsAtANumber) {
  EXPECT_EQ(kernel_loops(scale(), R"({"do": "index_set_split", "statement": "y", "loop": "i", "at": 3})"),
            "  for i in 0..3\n    for j in 0..8\n      y[i, j] = x[i, j] * 2.0\n"
            "  for i in 3..8\n    for j in 0..8\n      y[i, j] = x[i, j] * 2.0\n");
}

TEST(IndexSetSplit, CutsAtASymbol) {
  const std::string text =
      kernel_loops(triangle(), R"({"do": "index_set_split", "statement": "A", "loop": "i", "expression": "N - 4"})");
  EXPECT_NE(text.find("for i in 0..N - 4\n"), std::string::npos) << text;
  EXPECT_NE(text.find("N - 4)..N\n"), std::string::npos) << text;
}

// The value of a loop around: what comes from finished tiles apart from the tile's own.
TEST(IndexSetSplit, CutsWhereALoopAroundSays) {
  const Program p =
      in_place("[\"N\", \"N\"]", "for (int i = 0; i < N; i++) for (int j = 0; j < i; j++) A[i][j] = A[i][j] + 1;");
  const std::string tiled = R"({"do": "tile", "statement": "A", "loops": ["i"], "sizes": [4], "names": ["it"]}, )";
  const std::string text =
      kernel_loops(p, tiled + R"({"do": "index_set_split", "statement": "A", "loop": "j", "expression": "4*it"})");
  EXPECT_NE(text.find("for j in 0..4 * it\n"), std::string::npos) << text;
  EXPECT_NE(text.find("for j in 4 * it..i\n"), std::string::npos) << text;
  const std::string least = kernel_loops(
      p, tiled + R"x({"do": "index_set_split", "statement": "A", "loop": "j", "expression": "min(4*it, 2*it + 1)"})x");
  EXPECT_NE(least.find("for j in 0..2 * it + 1\n"), std::string::npos) << least;  // where 4*it is not less
  for (const char* bad : {"it*i", "j", "min(4*it", "min(4*it,)", "4*it)", "-", "max()"})
    is_wrong(p, tiled + R"({"do": "index_set_split", "statement": "A", "loop": "j", "expression": ")" + bad + "\"}");
}

TEST(IndexSetSplit, BothPartsCanBeScheduledOn) {
  const Program p = scale();
  const std::string text = kernel_loops(p, R"({"do": "index_set_split", "statement": "y", "loop": "i", "at": 3},
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
  refuses_cuts(R"("do": "index_set_split", "at": 8)",
               {R"("do": "index_set_split")", R"("do": "index_set_split", "expression": "M + 1")"});
  is_wrong(triangle(), R"({"do": "index_set_split", "statement": "A", "loop": "i", "expression": "N * N"})");
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
  const std::string text = kernel_loops(triangle(), R"({"do": "peel", "statement": "A", "loop": "j", "first": 1})");
  EXPECT_NE(text.find("for i in 0..N\n"), std::string::npos) << text;
  EXPECT_LT(text.find("A[i, i] "), text.find("for j in i + 1..N\n")) << text;
  EXPECT_LT(text.find("for j in i + 1..N\n"), text.find("A[i, j] ")) << text;
}

TEST(Peel, TakesTheLast) {
  const std::string text = kernel_loops(scale(), R"({"do": "peel", "statement": "y", "loop": "i", "last": 2})");
  EXPECT_NE(text.find("for i in 0..6\n"), std::string::npos) << text;
  EXPECT_NE(text.find("for i in 6..8\n"), std::string::npos) << text;
}

TEST(Peel, Refuses) {
  refuses_cuts(R"("do": "peel", "first": 8)", {R"("do": "peel")", R"("do": "peel", "first": 1, "last": 1)"});
}

TEST(StripMine, IsTileOfOneLoop) {
  EXPECT_EQ(kernel_loops(scale(), R"({"do": "strip_mine", "statement": "y", "loop": "j", "size": 4, "name": "jo"})"),
            kernel_loops(scale(), R"({"do": "tile", "statement": "y", "loops": ["j"], "sizes": [4], "names": ["jo"]})"));
  EXPECT_NE(refusal(scale(), R"({"do": "strip_mine", "statement": "y", "loop": "j", "size": 4, "name": "i"})").find("exists"),
            std::string::npos);
}

TEST(UnrollAndJam, MovesThePieceBelowTheLoopsInside) {
  const std::string text = kernel_loops(equations({"y[i] = sum[j](x[i, j])"}, "y"),
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
  is_wrong(scale(), R"({"do": "unroll_and_jam", "statement": "y", "loop": "i", "factor": 1})");
  EXPECT_NE(refusal(scale(), R"({"do": "parallelize", "statement": "y", "loop": "i"},
    {"do": "unroll_and_jam", "statement": "y", "loop": "i", "factor": 4})")
                .find("is marked by"),
            std::string::npos);
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

// isl removes the loop in between, which runs once: the next one was not asked for, and carries a dependence.
TEST(Collapse, CountsLoopsThatAreThere) {
  const Program p = in_place("[\"N\", \"N\"]",
                             "for (int i = 0; i < N; i++) for (int j = 0; j < 1; j++) for (int k = 1; k < N; k++) "
                             "A[i][k] = A[i][k-1] + 1;");
  const std::string two = kernel_loops(p, R"({"do": "parallelize", "statement": "A", "loop": "i", "collapse": 2})");
  EXPECT_NE(two.find("for i in 0..N parallel\n"), std::string::npos) << two;
  EXPECT_EQ(two.find("collapse"), std::string::npos) << two;
  EXPECT_FALSE(judge(p, R"({"do": "parallelize", "statement": "A", "loop": "i", "collapse": 3})").legal);
  const Program map = in_place("[\"N\", \"N\"]",
                               "for (int i = 0; i < N; i++) for (int j = 0; j < 1; j++) for (int k = 1; k < N; k++) "
                               "A[i][k] = A[i][k] + 1;");
  const std::string three = kernel_loops(map, R"({"do": "parallelize", "statement": "A", "loop": "i", "collapse": 3})");
  EXPECT_NE(three.find("for i in 0..N parallel collapse(2)\n    for k in 1..N\n"), std::string::npos) << three;
}

// A marked loop runs in another way than the threads' share: the two do not go together, whichever comes first.
TEST(Collapse, MarkedLoopsDoNotShareThreads) {
  const std::string threads = R"({"do": "parallelize", "statement": "y", "loop": "i", "collapse": 2})";
  const std::string lanes = R"({"do": "vectorize", "statement": "y", "loop": "j", "width": 4})";
  EXPECT_NE(refusal(scale(), threads + ", " + lanes).find("shares the threads of loop 'i'"), std::string::npos);
  EXPECT_NE(refusal(scale(), lanes + ", " + threads).find("cannot share the threads"), std::string::npos);
}

Program block_scalar() {
  return in_place("[\"N\", \"N\"]",
                  "for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) { double t = A[i][j]; A[i][j] = t + 1; }");
}

// The name of the block's scalar in the group.
std::string scalar_of(const Program& p) {
  const std::string text = kernel_loops(p, "");
  const std::size_t at = text.find("allocate ");
  return at == std::string::npos ? "" : text.substr(at + 9, text.find(':', at) - at - 9);
}

// A scalar of a block keeps one iteration's value: its loop can be distributed only when each iteration has a place of its own.
TEST(Expand, AScalarBecomesAnArray) {
  const Program p = block_scalar();
  const std::string t = scalar_of(p);
  ASSERT_NE(t, "") << kernel_loops(p, "");
  const std::string apart = R"({"do": "distribute", "statement": "A", "loop": "j"})";
  const LegalReport torn = judge(p, apart);
  ASSERT_FALSE(torn.legal);
  ASSERT_EQ(torn.symbols.size(), 1U);
  EXPECT_GT(torn.symbols[0].second, 1) << "one iteration alone loses nothing";
  const std::string text =
      kernel_loops(p, R"({"do": "expand", "array": ")" + t + R"(", "statement": "A", "at": "j"}, )" + apart);
  const std::size_t room = text.find("allocate " + t + ": f64[1, 100]"), first = text.find("for j in"),
                    last = text.rfind("for j in");
  ASSERT_NE(room, std::string::npos) << text;
  EXPECT_LT(room, first) << text;
  EXPECT_LT(first, text.find(t + "[", room + 20)) << text;
  EXPECT_LT(first, last) << text;
}

TEST(Expand, RefusesAndIsJudged) {
  const Program two = equations({"t[i, j] = x[i, j] + 1.0", "y[i, j] = t[i, j] * 2.0"}, "y");
  const std::string at = R"("statement": "y", "at": "i"})";
  EXPECT_NE(refusal(two, R"({"do": "expand", "array": "x", )" + at).find("exists outside the group"), std::string::npos);
  EXPECT_NE(refusal(two, R"({"do": "expand", "array": "y.t", )" + at).find("outside the loop"), std::string::npos);
  const std::string fused = R"({"do": "fuse", "statements": ["y.t", "y"], "loops": ["i", "j"]}, )";
  EXPECT_NE(refusal(two, fused + R"({"do": "contract", "array": "y.t"}, {"do": "expand", "array": "y.t", )" + at)
                .find("contracted or promoted already"),
            std::string::npos);
  EXPECT_TRUE(judge(two, fused + R"({"do": "expand", "array": "y.t", )" + at).legal);
  const Program sums = equations({"t[i] = sum[j](x[i, j])", "y[i] = t[i] * 2.0"}, "y");
  const LegalReport lost = judge(sums, R"({"do": "fuse", "statements": ["y.t", "y"], "loops": ["i"]},
      {"do": "expand", "array": "y.t", "statement": "y", "at": "i"}, {"do": "distribute", "statement": "y", "loop": "i"})");
  EXPECT_TRUE(lost.legal) << lost.message;
}

TEST(Expand, AValueThatReachesAnotherIterationIsAWitness) {
  const Program p = program_of(R"({"facet": 1, "name": "p", "tensors": {"A": {"dtype": "f64", "shape": [8, 8]},
    "w": {"dtype": "f64", "shape": [8]}}, "inputs": ["A"], "ops": [{"op": "loops", "inout": ["A"], "out": ["w"],
    "code": "for (int i = 0; i < 8; i++) { w[i] = A[i][0]; if (i > 0) A[i][1] = w[i - 1]; }"}], "outputs": ["A"]})");
  const LegalReport r = judge(p, R"({"do": "expand", "array": "w", "statement": "w", "at": "i"})");
  ASSERT_FALSE(r.legal) << r.message;
  EXPECT_EQ(r.source.statement, "w");
  EXPECT_EQ(r.source.instance, (std::vector<std::int64_t>{0}));
  EXPECT_EQ(r.sink.instance, (std::vector<std::int64_t>{1}));
  EXPECT_EQ(r.element, (std::vector<std::int64_t>{0}));
}

// The two loops of a cut one have a scalar each.
TEST(Peel, ScalarsOfTheBlockAreTwo) {
  const Program p = block_scalar();
  for (const char* step : {R"({"do": "peel", "statement": "A", "loop": "j", "first": 1})",
                           R"({"do": "index_set_split", "statement": "A", "loop": "i", "at": 3})"}) {
    const LegalReport r = judge(p, step);
    EXPECT_TRUE(r.legal) << r.message;
  }
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
  const std::string text = kernel_loops(p, expand + apart);
  EXPECT_NE(text.find("B.t.each[i] = A[i]"), std::string::npos) << text;
  // `contract` shrinks it again: to the elements of one tile.
  const std::string tile = R"({"do": "tile", "statement": "B", "loops": ["i"], "sizes": [4], "names": ["it"]}, )";
  const std::string tiled =
      kernel_loops(p, expand + tile + apart + R"(, {"do": "contract", "array": "B.t.each", "statement": "B", "at": "it"})");
  EXPECT_NE(tiled.find("allocate B.t.each: f64[4]"), std::string::npos) << tiled;
}

TEST(Expand, WithoutALoopRefuses) {
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
  const std::string last = kernel_loops(p, R"({"do": "distribute", "statement": "A.2", "loop": "i", "last": true})");
  EXPECT_EQ(std::count(last.begin(), last.end(), '\n'), 5) << last;  // two loops, three statements
  is_wrong(p, R"({"do": "distribute", "statement": "A.2", "loop": "i", "first": true, "last": true})");
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
