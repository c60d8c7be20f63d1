// parallelize and map_gpu with `reduction`: copies of pieces, atomic updates, what is refused, the repair that proposes them.
#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

// h[b[i]]-like updates need data; these are affine: s[0], rows, windows. `dtype` of A and s.
Program updates(const std::string& code, const std::string& dtype = "i64", const std::string& reassociate = "tree") {
  return program_of(R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 1, "max": 100, "default": 10}},
    "numerics": {"reassociate": ")" +
                    reassociate + R"("}, "tensors": {"A": {"dtype": ")" + dtype +
                    R"(", "shape": ["N", "N"]}, "s": {"dtype": ")" + dtype + R"(", "shape": ["N"]}, "w": {"dtype": ")" + dtype +
                    R"(", "shape": ["N"]}, "v": {"dtype": ")" + dtype +
                    R"(", "shape": [4]}}, "inputs": ["A", "s"], "ops": [{"op": "loops", "in": ["A", "N"], "inout": ["s"],
    "out": ["w", "v"], "code": ")" +
                    code + R"("}], "outputs": ["s"]})");
}

const std::string kRest = " for (int i = 0; i < N; i++) w[i] = 1; for (int i = 0; i < 4; i++) v[i] = 1;";
const std::string kTotal = "for (int i = 0; i < N; i++) s[0] += A[i][0];" + kRest;
const std::string kColumns = "for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) s[j] += A[i][j];" + kRest;

std::string loop(const std::string& more, const std::string& name = "i") {
  return R"({"do": "parallelize", "statement": "s", "loop": ")" + name + "\"" + more + "}";
}
const std::string kClause = R"(, "reduction": "clause", "parts": 4)", kAtomic = R"(, "reduction": "atomic")";

std::string reason(const Program& p, const std::string& steps) {
  const LegalReport report = judge(p, steps);
  EXPECT_FALSE(report.legal) << steps;
  EXPECT_EQ(report.reason, "precondition") << report.message;
  return report.message;
}

void is_said(const Program& p, const std::string& steps, const std::string& what) {
  EXPECT_NE(reason(p, steps).find(what), std::string::npos) << reason(p, steps);
}

TEST(SharedUpdates, PiecesUpdateCopies) {
  EXPECT_EQ(kernel_loops(updates(kTotal), loop(kClause))
                .rfind(R"(  allocate s.copies: i64[4, 1] strides [8, 1] stack
  for part in 0..4 parallel
    s.copies[part, 0] = 0
    for i in (N + 3) / 4 * part..min(N, (N + 3) / 4 * part + (N + 3) / 4)
      s.copies[part, 0] sum= A[i, 0]
  for part in 0..4
    s[0] sum= s.copies[part, 0]
)",
                       0),
            0U)
      << kernel_loops(updates(kTotal), loop(kClause));
}

// A row has no constant size: the copies are workspace, and what is filled is the row.
TEST(SharedUpdates, RowsOfSymbolicLengthAreWorkspace) {
  const Result<Scheduled> made = schedule_program(updates(kColumns), recipe_of(updates(kColumns), loop(kClause)), {});
  ASSERT_TRUE(made.ok()) << to_text(made.errors());
  const std::string text = last_kernel(to_text(made->loops));
  EXPECT_NE(text.find("for part_c0 in 0..N\n      s.copies[part, part_c0] = 0"), std::string::npos) << text;
  EXPECT_NE(text.find("for part_c0 in 0..N\n      s[part_c0] sum= s.copies[part, part_c0]"), std::string::npos) << text;
  const Buffer* copies = made->loops.find_buffer("s.copies");
  ASSERT_NE(copies, nullptr);
  EXPECT_EQ(copies->role, BufferRole::kWorkspace);
  EXPECT_EQ(to_text(copies->extents[1]), "N");
}

// Every second element, below a moving bound: nothing else is touched.
TEST(SharedUpdates, OnlyWhatIsUpdatedIsFilledAndCombined) {
  const std::string text = kernel_loops(
      updates("for (int t = 0; t < N; t++) for (int i = 0; i < N; i++) for (int j = 0; 2 * j < t; j++) s[2 * j] += A[i][j];" +
              kRest),
      loop(kClause));
  EXPECT_NE(text.find("for part_c0 in 0..t step 2\n"), std::string::npos) << text;
}

TEST(SharedUpdates, AtomicUpdates) {
  const std::string text = kernel_loops(updates(kColumns), loop(kAtomic));
  EXPECT_NE(text.find("for i in 0..N parallel\n    for j in 0..N\n      atomic s[j] sum= A[i, j]"), std::string::npos) << text;
  const std::string own =
      kernel_loops(updates(kColumns), R"({"do": "interchange", "statement": "s", "order": ["j", "i"]}, )" + loop("", "j"));
  EXPECT_EQ(own.find("atomic"), std::string::npos) << own;
}

// Both loops share the threads: the updates of the one that carries nothing are shared as well.
TEST(SharedUpdates, CollapsedLoopsCarryReductions) {
  const std::string text = kernel_loops(updates(kColumns), loop(kAtomic + R"(, "collapse": 2)"));
  EXPECT_NE(text.find("parallel collapse(2)\n    for j in 0..N\n      atomic s[j]"), std::string::npos) << text;
}

TEST(SharedUpdates, InsideAParallelLoopOneThreadHasAllPieces) {
  const std::string code = "for (int j = 0; j < N; j++) for (int i = 0; i < N; i++) s[j] += A[i][j];" + kRest;
  const std::string text = kernel_loops(updates(code), loop("", "j") + ", " + loop(kClause));
  EXPECT_EQ(text.find("part"), std::string::npos) << text;
}

TEST(SharedUpdates, TheGridUpdatesAtomically) {
  const std::string step =
      R"({"do": "map_gpu", "statement": "s", "grid": ["i", "j"], "block": ["j"], "threads": [32], "reduction": "atomic"})";
  EXPECT_TRUE(judge(updates(kColumns), step).legal);
  const std::string text = kernel_loops(updates(kColumns), step);
  EXPECT_NE(text.find("atomic s[j] sum= A[i, j]"), std::string::npos) << text;
}

TEST(SharedUpdates, Refuses) {
  const Program p = updates(kTotal);
  is_said(p, R"({"do": "parallelize", "statement": "w", "loop": "i", "reduction": "clause"})", "carries no reduction");
  is_said(p, loop(kAtomic + R"(, "parts": 4)"), "`parts` are for");
  is_said(updates(kColumns), loop(kClause + R"(, "collapse": 2)"), "does not go with `collapse`");
  const Result<LegalReport> wrong = check_recipe(p, recipe_of(p, loop(R"(, "reduction": "sum")")), ScheduleOptions{});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.errors()[0].code, Code::kBadStepArgument);
}

TEST(SharedUpdates, TheGridRefuses) {
  const std::string grid = R"({"do": "map_gpu", "statement": "s", "grid": ["i"], "reduction": "atomic")";
  const std::string product = "for (int i = 0; i < N; i++) s[0] *= A[i][0];" + kRest;
  is_said(updates(product), grid + "}", "a GPU has no atomic prod of i64");
  is_said(updates(kColumns), grid + R"(, "block": ["j"], "threads": [32]})", "loops of the grid");
  is_said(updates("for (int i = 0; i < N; i++) w[i] = s[i];" + kRest),
          R"({"do": "map_gpu", "statement": "w", "grid": ["i"], "reduction": "atomic"})", "no reduction");
}

// What is rounded keeps the order that the numerics promise; integers, minima and maxima have none to keep.
TEST(SharedUpdates, NumericsDecide) {
  is_said(updates(kTotal, "f64", "strict"), loop(kClause), "numerics are strict");
  is_said(updates(kTotal, "f64", "strict"), loop(kAtomic), "numerics are strict");
  is_said(updates(kTotal, "f64", "tree"), loop(kAtomic), "another order on each run");
  EXPECT_TRUE(judge(updates(kTotal, "f64", "tree"), loop(kClause)).legal);
  EXPECT_TRUE(judge(updates(kTotal, "f64", "free"), loop(kAtomic)).legal);
  EXPECT_TRUE(judge(updates(kTotal, "i64", "strict"), loop(kClause)).legal);
  EXPECT_TRUE(judge(updates(kTotal, "i64", "strict"), loop(kAtomic)).legal);
  const std::string most = "for (int i = 0; i < N; i++) s[0] = max(s[0], A[i][0]);" + kRest;
  EXPECT_TRUE(judge(updates(most, "f64", "strict"), loop(kClause)).legal);
  EXPECT_TRUE(judge(updates(most, "f64", "tree"), loop(kAtomic)).legal);
}

// The mark covers the reduction, nothing else.
TEST(SharedUpdates, OtherDependencesAreJudged) {
  for (const std::string& how : {kClause, kAtomic}) {
    const LegalReport flow = judge(updates("for (int i = 0; i < N; i++) { s[0] += A[i][0]; w[i] = s[0]; }" + kRest), loop(how));
    EXPECT_FALSE(flow.legal);
    EXPECT_EQ(flow.kind, "flow") << flow.message;
    const LegalReport mixed =
        judge(updates("for (int i = 0; i < N; i++) { s[0] += A[i][0]; s[0] *= A[0][i]; }" + kRest), loop(how));
    EXPECT_FALSE(mixed.legal) << mixed.message;
  }
}

// s[i] is one iteration's alone, but s.1 also updates s[0] and so goes to the copies: the reader would miss it there.
TEST(SharedUpdates, CopiesHideValuesFromTheirIteration) {
  const Program p =
      updates("for (int i = 0; i < N; i++) { s[0] += A[i][0]; s[i] += A[i][1]; if (i >= 1) w[i] = s[i]; }" + kRest);
  EXPECT_TRUE(judge(p, loop(kAtomic)).legal) << judge(p, loop(kAtomic)).message;
  const LegalReport copies = judge(p, loop(kClause));
  EXPECT_FALSE(copies.legal);
  EXPECT_NE(copies.violation_text.find("would not find the value"), std::string::npos) << copies.message;
}

// A later step may not bring such a reader in either.
TEST(SharedUpdates, FusionIsJudgedAnew) {
  const std::string code =
      "for (int i = 0; i < N; i++) s[0] += A[i][0]; for (int i = 0; i < N; i++) w[i] = A[i][1] + s[0]; "
      "for (int i = 0; i < 4; i++) v[i] = 1;";
  EXPECT_FALSE(judge(updates(code), loop(kClause) + R"(, {"do": "fuse", "statements": ["s", "w"], "loops": ["i"]})").legal);
}

std::string text_of(const std::optional<Step>& s) {
  if (!s) return "";
  const auto it = s->arguments.find("reduction");
  const std::string* how = it == s->arguments.end() ? nullptr : std::get_if<std::string>(&it->second.value);
  return s->verb + (how ? " " + *how : "");
}

TEST(SharedUpdates, TheRepairSaysHow) {
  const LegalReport report = judge(updates(kTotal), loop(""));
  EXPECT_FALSE(report.legal);
  EXPECT_EQ(report.kind, "reduction");
  EXPECT_TRUE(report.repair.empty());
  EXPECT_EQ(text_of(report.instead), "parallelize clause");
  // One loop is cut into parts: two that share the threads update atomically.
  EXPECT_EQ(text_of(judge(updates(kColumns), loop(R"(, "collapse": 2)")).instead), "parallelize atomic");
  EXPECT_EQ(text_of(judge(updates(kTotal, "f64", "strict"), loop("")).instead), "");
}

// Scratch arrays are contracted together, with the reduction that is left.
TEST(SharedUpdates, TheRepairPrivatisesAllThatIsPrivate) {
  const std::string scratch =
      "for (int i = 0; i < N; i++) { for (int k = 0; k < 4; k++) v[k] = A[i][0] + k; "
      "for (int k = 0; k < N; k++) w[k] = A[i][k]; ";
  const LegalReport two = judge(updates(scratch + "s[i] = v[1] + w[0]; }"), loop(""));
  EXPECT_EQ(two.repair.size(), 2U) << two.message;
  EXPECT_FALSE(two.instead.has_value());
  const LegalReport sum = judge(updates(scratch + "s[0] += v[1] + w[0]; }"), loop(""));
  EXPECT_EQ(sum.repair.size(), 2U) << sum.message;
  EXPECT_EQ(text_of(sum.instead), "parallelize clause");
}

}  // namespace
}  // namespace facet
