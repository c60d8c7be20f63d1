// Scalars of outer blocks: which count as declared in a loop, so that its iterations are independent, and which must not.
#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

const char* const kParallelI = R"({"do": "parallelize", "statement": "A", "loop": "i"})";

struct Case {
  const char* code;
  bool own;
};

TEST(ScalarFlow, AValueOfItsOwnInEachIteration) {
  const Case cases[] = {
      {"double s; for (int i = 0; i < N; i++) { s = A[i]; A[i] = s * s; }", true},
      // a loop between write and read may run zero times, and keeps the value
      {"double s; for (int i = 0; i < N; i++) { s = A[i]; for (int j = 0; j < i; j++) s += 1.0; A[i] = s; }", true},
      // both branches write
      {"double s; for (int i = 0; i < N; i++) { if (i < 3) s = A[i]; else s = 2.0; A[i] = s; }", true},
      // two loops, each writes first
      {"double s; for (int i = 0; i < N; i++) { s = A[i]; A[i] = s + 1.0; } s = 0.0; A[0] += s;", true},
      // in a block
      {"double s; { for (int i = 0; i < N; i++) { s = A[i]; A[i] = s + 1.0; } } s = 0.0; A[0] += s;", true},
      // carried from iteration to iteration
      {"double s = 0.0; for (int i = 0; i < N; i++) { A[i] = s; s = A[i] + 1.0; }", false},
      {"double s = 0.0; for (int i = 0; i < N; i++) { s = s + A[i]; A[i] = s; }", false},
      // read after the loop: the last iteration's value
      {"double s = 0.0; for (int i = 0; i < N; i++) { s = A[i]; A[i] = s + 1.0; } A[0] += s;", false},
      {"double s = 0.0; { for (int i = 0; i < N; i++) { s = A[i]; A[i] = s + 1.0; } } A[0] += s;", false},
      // written on one way only, or only in a loop that may not run
      {"double s = 0.0; for (int i = 0; i < N; i++) { if (i < 3) s = A[i]; A[i] = s; }", false},
      {"double s = 0.0; for (int i = 0; i < N; i++) { for (int j = 0; j < i; j++) s = A[i]; A[i] = s; }", false},
  };
  for (const Case& c : cases) {
    const LegalReport r = judge(in_place("[\"N\"]", c.code), kParallelI);
    EXPECT_EQ(r.legal, c.own) << c.code << "\n" << r.violation_text;
  }
}

// The loop around reads in its next iteration what the inner loop left.
TEST(ScalarFlow, TheNextIterationAroundIsAReaderToo) {
  const std::string code =
      "double s = 1.0; for (int t = 0; t < 3; t++) { A[0] += s; for (int i = 1; i < N; i++) { s = A[i]; A[i] = s + 1.0; } }";
  const std::string text = loops_text(in_place("[\"N\"]", code), "");
  EXPECT_EQ(text.find("each2"), std::string::npos) << text;  // one scalar for all of it
}

// Two loops that each write first have scalars of their own.
TEST(ScalarFlow, LoopsDoNotShareAName) {
  const std::string code =
      "double s; for (int i = 0; i < N; i++) { s = A[i]; A[i] = s + 1.0; } for (int i = 0; i < N; i++) { s = A[i]; A[i] = s * s; }";
  EXPECT_NE(loops_text(in_place("[\"N\"]", code), "").find("each2"), std::string::npos);
}

// A scalar goes with the loops around it: interchanged, it has one value a pair of iterations as before.
TEST(ScalarFlow, AnInterchangeTakesScalarsAlong) {
  const Program p = in_place(
      "[\"N\", \"N\"]", "for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) { double s = A[i][j]; A[i][j] = s * s; }");
  const LegalReport r = judge(p, R"({"do": "interchange", "statement": "A", "order": ["j", "i"]})");
  EXPECT_TRUE(r.legal) << r.violation_text;
}

}  // namespace
}  // namespace facet
