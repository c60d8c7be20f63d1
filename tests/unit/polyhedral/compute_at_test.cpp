// compute_at: the loops it makes, what it refuses, and which operands must still hold. Its numbers are held against the
// reference by tests/legal.
#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

const char* const kTile = R"({"do": "tile", "statement": "q", "loops": ["i"], "sizes": [4]}, )";
const char* const kAtTile = R"({"do": "compute_at", "array": "p", "statement": "q", "at": "it"})";

std::string refusal(const Program& p, const std::string& steps) {
  const LegalReport report = judge(p, steps);
  EXPECT_FALSE(report.legal) << steps;
  EXPECT_EQ(report.reason, "precondition") << report.message;
  return report.message;
}

TEST(ComputeAt, ATileComputesWhatItReads) {
  EXPECT_EQ(last_kernel(loops_text(blur(), std::string(kTile) + kAtTile)),
            "  for it in 0..tdiv(N + 1, 4)\n"
            "    allocate p.at: f32[1, 6] stack\n"
            "    for i in 4 * it..min(N, 4 * it + 6)\n"
            "      p.at[0, i - 4 * it] = x[i] * 2.0\n"
            "    for i in 4 * it..min(N - 2, 4 * it + 4)\n"
            "      q[i] = p.at[0, i - 4 * it] + p.at[0, i + 2 - 4 * it]\n");
}

// The array in memory is gone, unless somebody else reads it.
TEST(ComputeAt, TheArrayStaysForItsOtherReaders) {
  EXPECT_EQ(loops_text(blur(), std::string(kTile) + kAtTile).find("buffer p"), std::string::npos);
  const Program two = equations({"p[i, j] = x[i, j] * 2.0", "a[i, j] = p[i, j] + 1.0", "y[i, j] = p[i, j] * a[i, j]"}, "y");
  const std::string text = loops_text(two, R"({"do": "compute_at", "array": "y.p", "statement": "y", "at": "i"})");
  EXPECT_NE(text.find("buffer y.p"), std::string::npos) << text;
  EXPECT_NE(text.find("y.a[i, j] = y.p[i, j] + 1.0"), std::string::npos) << text;
  EXPECT_NE(text.find("y[i, j] = y.p.at[0, 0, j] * y.a[i, j]"), std::string::npos) << text;
}

// Initialisation and updates of a reduction go together; loops that clash get names of their own.
TEST(ComputeAt, AReductionIsRepeatedAsAWhole) {
  const Program p = equations({"s[i] = sum[j](x[i, j])", "y[i, j] = x[i, j] / s[i]"}, "y");
  EXPECT_EQ(last_kernel(loops_text(p, R"({"do": "compute_at", "array": "y.s", "statement": "y", "at": "i"},
                                         {"do": "unroll", "statement": "y.s.at", "loop": "j"})")),
            "  for i in 0..8\n"
            "    allocate y.s.at: f32[1, 1] stack\n"
            "    y.s.at[0, 0] = 0.0\n"
            "    for j in 0..8 unroll\n"
            "      y.s.at[0, 0] sum= x[i, j]\n"
            "    for j in 0..8\n"
            "      y[i, j] = x[i, j] / y.s.at[0, 0]\n");
}

TEST(ComputeAt, ChainsGoOneAfterAnother) {
  const Program p = equations({"a[i, j] = x[i, j] + 1.0", "b[i, j] = a[i, j] * 2.0", "y[i, j] = b[i, j] - b[i, 0]"}, "y");
  EXPECT_TRUE(judge(p, R"({"do": "compute_at", "array": "y.b", "statement": "y", "at": "i"},
                          {"do": "compute_at", "array": "y.a", "statement": "y.b.at", "at": "i"},
                          {"do": "parallelize", "statement": "y", "loop": "i"})")
                  .legal);
}

TEST(ComputeAt, RefusesWhatIsNotComputedOutside) {
  const Program p = equations({"p[i, j] = x[i, j] * 2.0", "y[i, j] = p[i, j] + x[i, j]"}, "y");
  const auto step = [](const std::string& array) {
    return R"({"do": "compute_at", "array": ")" + array + R"(", "statement": "y", "at": "j"})";
  };
  EXPECT_NE(refusal(p, step("x")).find("not computed in this group"), std::string::npos);
  EXPECT_NE(refusal(p, step("y")).find("is not read inside"), std::string::npos);
  EXPECT_NE(refusal(p, R"({"do": "contract", "array": "y.p"}, )" + step("y.p")).find("contracted"), std::string::npos);
  const std::string fused = R"({"do": "fuse", "statements": ["y.p", "y"], "loops": ["i", "j"]}, )";
  EXPECT_NE(refusal(p, fused + step("y.p")).find("already"), std::string::npos);
  const std::string threads = R"({"do": "parallelize", "statement": "y.p", "loop": "i"}, )";
  EXPECT_NE(refusal(p, threads + step("y.p")).find("threads"), std::string::npos);
  const std::string buffer = R"({"do": "promote", "array": "x", "statement": "y.p", "at": "i"}, )";
  EXPECT_NE(refusal(p, buffer + step("y.p")).find("from a buffer"), std::string::npos);
}

// A scan's part is all that came before it; a value that changes once more is not the last one.
TEST(ComputeAt, RefusesPartsThatAreNotFinal) {
  const auto loops = [](const std::string& code) {
    return program_of(R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 3, "max": 100, "default": 10}},
      "tensors": {"x": {"dtype": "f64", "shape": ["N"]}, "t": {"dtype": "f64", "shape": ["N"]},
                  "y": {"dtype": "f64", "shape": ["N"]}}, "inputs": ["x"],
      "ops": [{"op": "loops", "in": ["N", "x"], "out": ["t", "y"], "code": ")" +
                      code + R"("}], "outputs": ["y"]})");
  };
  const std::string at = R"({"do": "compute_at", "array": "t", "statement": "y", "at": "i"})";
  EXPECT_NE(refusal(loops("t[0] = x[0]; for (int i = 1; i < N; i++) t[i] = t[i-1] + x[i]; "
                          "for (int i = 0; i < N; i++) y[i] = t[i];"),
                    at)
                .find("reads other elements"),
            std::string::npos);
  EXPECT_NE(refusal(loops("for (int i = 0; i < N; i++) t[i] = x[i]; for (int i = 0; i < N; i++) y[i] = t[i]; "
                          "for (int i = 0; i < N; i++) t[i] = 2.0;"),
                    at)
                .find("for the last time"),
            std::string::npos);
}

// The producer would read what has been overwritten in between: the pair of the read and the write.
TEST(ComputeAt, OperandsMustNotHaveChanged) {
  const Program p = program_of(R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 3, "max": 100, "default": 10}},
    "tensors": {"A": {"dtype": "f64", "shape": ["N"]}, "t": {"dtype": "f64", "shape": ["N"]}}, "inputs": ["A"],
    "ops": [{"op": "loops", "in": ["N"], "out": ["t"], "inout": ["A"], "code":
      "for (int i = 0; i < N; i++) t[i] = A[i]; for (int i = 0; i < N; i++) A[i] = t[0];"}], "outputs": ["A"]})");
  const LegalReport r = judge(p, R"({"do": "compute_at", "array": "t", "statement": "A", "at": "i"})");
  EXPECT_FALSE(r.legal);
  ASSERT_TRUE(r.has_violation) << r.message;
  EXPECT_EQ(r.kind, "anti");
  EXPECT_EQ(r.source.statement, "t.at");
  EXPECT_EQ(r.sink.statement, "A");
}

// Iterations that share the loop of the part have parts of their own in it: one element is another value in each.
TEST(ComputeAt, JammedIterationsKeepTheirParts) {
  const Program p = equations({"s[i] = sum[j](x[i, j])", "y[i, j] = x[i, j] / s[j]"}, "y");
  const std::string steps = R"({"do": "compute_at", "array": "y.s", "statement": "y", "at": "j"},
                               {"do": "unroll_and_jam", "statement": "y.s.at", "loop": "i", "factor": 2})";
  EXPECT_TRUE(judge(p, steps).legal);
  EXPECT_NE(loops_text(p, steps).find("allocate y.s.at: f32[2, 1, 1]"), std::string::npos) << loops_text(p, steps);
}

}  // namespace
}  // namespace facet
