// The C subset: accepted nests as typed text, refused ones with code, line and column.
#include "src/frontend/loops.hpp"

#include <gtest/gtest.h>

#include "src/frontend/affine.hpp"

namespace facet {
namespace {

Program program() {
  Program p;
  p.symbols = {{"N", 1, 4096, 64, {}}, {"T", 0, 100, 4, {}}, {"BIG", 1, 1LL << 40, 4, {}}, {"Z", 1, 9, 4, {}}};
  const auto add = [&](const std::string& name, DType dtype, const std::vector<std::string>& shape) {
    Tensor& t = p.tensors[name];
    t.name = name;
    t.dtype = dtype;
    for (const std::string& e : shape) t.shape.push_back(*parse_affine(e, {"N", "T"}, Place{}));
  };
  add("A", DType::kF32, {"N"});
  add("B", DType::kF32, {"N"});
  add("C", DType::kF32, {"N", "N"});
  add("D", DType::kF64, {"N"});
  add("H", DType::kF16, {"N"});
  add("n", DType::kI32, {"N"});
  add("q", DType::kI8, {"N"});
  add("u", DType::kU8, {"N"});
  add("L", DType::kI64, {"N"});
  add("s", DType::kF32, {});
  add("ro", DType::kF32, {"N"});
  add("other", DType::kF32, {"N"});
  return p;
}

Result<ParsedLoops> parse_code(const std::vector<std::string>& lines) {
  static const Program p = program();
  LoopContext c;
  c.program = &p;
  c.in = {"N", "T", "BIG", "ro"};
  c.inout = {"A", "B", "C", "D", "H", "n", "q", "u", "L", "s"};
  c.local_prefix = "A";
  c.place = Place{"p.json", 3, 5, "/ops/0", ""};
  return parse_loops(lines, c);
}

// The loop text (lines joined by ';' without indentation), or "code:line:column" of every complaint.
std::string parse(const std::vector<std::string>& lines) {
  const Result<ParsedLoops> r = parse_code(lines);
  std::string text;
  if (!r) {
    for (const Diagnostic& d : r.errors())
      text += (text.empty() ? "" : " ") + code_name(d.code) + ":" + std::to_string(d.place.line) + ":" +
              std::to_string(d.place.column);
    return text;
  }
  bool start = true;
  for (const char c : to_text(r->body)) {
    if (start && c == ' ') continue;
    start = c == '\n';
    text += c == '\n' ? ';' : c;
  }
  return text;
}

std::string parse(const std::string& code) { return parse(std::vector<std::string>{code}); }

TEST(Loops, TheExampleOfTheContract) {
  EXPECT_EQ(parse("for (int t = 0; t < T; t++) { for (int i = 1; i < N - 1; i++) B[i] = (A[i-1] + A[i] + A[i+1]) / 3; "
                  "for (int i = 1; i < N - 1; i++) A[i] = B[i]; }"),
            "for t from 0 below T;for i from 1 below N - 1;B[i] = (A[i - 1] + A[i] + A[i + 1]) / 3.0;"
            "for i from 1 below N - 1;A[i] = B[i];");
}

TEST(Loops, HeadersL4) {
  const auto header = [](const std::string& h) { return parse("for (" + h + ") A[0] = 1;"); };
  const std::string body = ";A[0] = 1.0;";
  EXPECT_EQ(header("int i = 0; i <= N - 1; ++i"), "for i from 0 below N" + body);
  EXPECT_EQ(header("long i = N - 1; i >= 0; i--"), "for i from N - 1 above -1 step -1" + body);
  EXPECT_EQ(header("int64_t i = N; i > 0; i -= 2"), "for i from N above 0 step -2" + body);
  EXPECT_EQ(header("i = 0; N > i; i = i + 3"), "for i from 0 below N step 3" + body);
  EXPECT_EQ(header("int i = 0; i < min(N, T + 1) && i < 10; i = 2 + i"),
            "for i from 0 below min(min(N, T + 1), 10) step 2" + body);
  EXPECT_EQ(header("int i = max(0, T - 3); i < N; i++"), "for i from max(0, T - 3) below N" + body);
  EXPECT_EQ(header("int i = 0; 2 * i + 1 < N; i++"), "for i from 0 below N / 2" + body);
  EXPECT_EQ(header("int i = 0; i < N && T > 2; i++"), "if T > 2;for i from 0 below N" + body);
  EXPECT_EQ(header("int i = 0; i < N / 2; i += (4 - 2)"), "for i from 0 below N / 2 step 2" + body);
  EXPECT_EQ(header("int i = 0; i < N; i--"), "loop-direction:1:17");
  EXPECT_EQ(header("int i = N; i > 0; i++"), "loop-direction:1:17");
  EXPECT_EQ(header("int i = 0; i < N; i += 0"), "loop-form:1:24");
  EXPECT_EQ(header("int i = 0; i != N; i++"), "loop-form:1:17");
  EXPECT_EQ(header("int i = 0; i < N; i += T"), "loop-form:1:29");
  EXPECT_EQ(header("int i = 0; i < N; i *= 2"), "syntax:1:26");
  EXPECT_EQ(header("int i = 0; i < N; j++"), "loop-form:1:24");
  EXPECT_EQ(header("int i = 0; T < N; i++"), "loop-form:1:17");
  EXPECT_EQ(header("int i = 0; i * i < N; i++"), "not-affine:1:17");
  EXPECT_EQ(header("int i = 0; i < N * T; i++"), "not-affine:1:21");
  EXPECT_EQ(header("int i = 0; i < n[0]; i++"), "not-affine:1:21");
  EXPECT_EQ(header("int i = 0; i < N || i < T; i++"), "loop-form:1:17");
  EXPECT_EQ(header("int i = 0, j = 0; i < N; i++"), "loop-form:1:15");
  EXPECT_EQ(header("float i = 0; i < N; i++"), "loop-form:1:6");
  EXPECT_EQ(header("int N = 0; N < 3; N++"), "index-name-taken:1:10");
  EXPECT_EQ(header("int A = 0; A < 3; A++"), "index-name-taken:1:10 loop-variable-assigned:1:29");
  EXPECT_EQ(header("int i = 0; i < Z; i++"), "unknown-name-in-text:1:21");
  EXPECT_EQ(parse("for (int i = 0; i < N; i++) { i = 3; }"), "loop-variable-assigned:1:31");
  EXPECT_EQ(parse("for (int i = 0; i < N; i++) for (i = 0; i < 3; i++) A[i] = 0;"), "loop-variable-assigned:1:34");
}

TEST(Loops, ShadowedLoopVariablesAreRenamed) {
  EXPECT_EQ(parse("for (int i = 0; i < N; i++) for (int i = 0; i < 3; i++) A[i] = 0;"),
            "for i from 0 below N;for i_2 from 0 below 3;A[i_2] = 0.0;");
}

TEST(Loops, ConditionsL4) {
  EXPECT_EQ(parse("for (int i = 0; i < N; i++) if (i % 2 == 0 && i < T) A[i] = 1; else A[i] = 2;"),
            "for i from 0 below N;if i % 2 == 0 and i < T;A[i] = 1.0;else;A[i] = 2.0;");
  EXPECT_EQ(parse("for (int i = 0; i < N; i++) if (!(i == 3) || i) A[i] = 1;"),
            "for i from 0 below N;if not(i == 3) or i != 0;A[i] = 1.0;");
  EXPECT_EQ(parse("for (int i = 0; i < N; i++) if (A[i] > 0) A[i] = 1;"), "not-affine:1:33");
}

TEST(Loops, DivisionTruncatesWhereNumbersCanBeNegative) {
  EXPECT_EQ(parse("for (int i = 0; i < N; i++) A[i / 2] = 0;"), "for i from 0 below N;A[i / 2] = 0.0;");
  EXPECT_EQ(parse("for (int i = 0; i < N; i++) A[(i - 1) / 2] = 0;"), "for i from 0 below N;A[tdiv(i - 1, 2)] = 0.0;");
  EXPECT_EQ(parse("for (int i = 1; i < N; i++) A[(i - 1) / 2] = 0;"), "for i from 1 below N;A[(i - 1) / 2] = 0.0;");
  EXPECT_EQ(parse("for (int i = 0; i < N; i++) n[i] = n[i] / 2 + n[i] % 3;"),
            "for i from 0 below N;n[i] = tdiv(n[i], 2) + tmod(n[i], 3);");
}

TEST(Loops, ConversionsL3) {
  EXPECT_EQ(parse("A[0] = 0.5 * A[1] + 1;"), "A[0] = 0.5 * A[1] + 1.0;");
  EXPECT_EQ(parse("A[0] = 0.1 * D[1];"), "A[0] = cast(f32, 0.1 * D[1]);");
  EXPECT_EQ(parse("A[0] = 0.1L * B[1];"), "A[0] = cast(f32, 0.1 * cast(f64, B[1]));");
  EXPECT_EQ(parse("D[0] = A[1] * B[1];"), "D[0] = cast(f64, A[1] * B[1]);");
  EXPECT_EQ(parse("D[0] = 0.1f + D[1];"), "D[0] = cast(f64, 0.1) + D[1];");
  EXPECT_EQ(parse("u[0] = u[1] + u[2];"), "u[0] = cast(u8, cast(i32, u[1]) + cast(i32, u[2]));");
  EXPECT_EQ(parse("L[0] = n[0] + L[1];"), "L[0] = cast(i64, n[0]) + L[1];");
  EXPECT_EQ(parse("A[0] = n[0] / 2 * 0.5;"), "A[0] = cast(f32, tdiv(n[0], 2)) * 0.5;");
  EXPECT_EQ(parse("n[0] = 2.5 * n[1];"), "n[0] = cast(i32, 2.5 * cast(f64, n[1]));");
  EXPECT_EQ(parse("for (int i = 0; i < N; i++) A[i] = i * 2;"), "for i from 0 below N;A[i] = cast(f32, cast(i32, i) * 2);");
  EXPECT_EQ(parse("L[0] = N + BIG;"), "L[0] = cast(i64, cast(i32, N)) + BIG;");
  EXPECT_EQ(parse("n[0] = n[1] < 3 ? -1 : !n[2];"), "n[0] = select(n[1] < 3, -1, cast(i32, not(n[2] != 0)));");
  EXPECT_EQ(parse("n[0] = (n[1] << 2) | (n[2] & ~n[3]) ^ 1;"), "n[0] = n[1] << 2 | n[2] & ~n[3] ^ 1;");
  EXPECT_EQ(parse("n[0] = (int)A[0] + (n[1] > 2) + (A[1] && n[2]);"),
            "n[0] = cast(i32, A[0]) + cast(i32, n[1] > 2) + cast(i32, A[1] != 0.0 and n[2] != 0);");
  EXPECT_EQ(parse("A[0] = sqrt(A[1]) + expf(A[2]) + fmax(A[3], 0) + max(A[4], 0) + fabs(A[5]) + pow(A[6], 2);"),
            "A[0] = sqrt(A[1]) + exp(A[2]) + fmax(A[3], 0.0) + max(A[4], 0.0) + abs(A[5]) + pow(A[6], 2.0);");
  EXPECT_EQ(parse("D[0] = sqrt(n[0]);"), "D[0] = sqrt(cast(f64, n[0]));");
  EXPECT_EQ(parse("A[0] = round(A[1]);"),
            "A[0] = select(abs(A[1] - trunc(A[1])) >= 0.5, trunc(A[1]) + sign(A[1]), trunc(A[1]));");
  EXPECT_EQ(parse("H[0] = H[1] * 2;"), "H[0] = cast(f16, cast(f32, H[1]) * 2.0);");
  EXPECT_EQ(parse("A[0] = 1e39;"), "literal-range:1:8");
  EXPECT_EQ(parse("A[0] = A[1] % 2;"), "wrong-operand-dtype:1:8");
  EXPECT_EQ(parse("A[0] = A[1] << 2;"), "wrong-operand-dtype:1:8");
  EXPECT_EQ(parse("A[0] = foo(A[1]);"), "unknown-function:1:8");
  EXPECT_EQ(parse("A[0] = sqrt(A[1], 2);"), "argument-count:1:8");
  EXPECT_EQ(parse("n[0] = 2147483648;"), "n[0] = cast(i32, 2147483648);");
  EXPECT_EQ(parse("n[0] = -2147483648;"), "n[0] = cast(i32, -2147483648);");
  EXPECT_EQ(parse("L[0] = -1u;"), "L[0] = cast(i64, -1);");
  EXPECT_EQ(parse("n[0] = 0x10 + 3u;"), "n[0] = cast(i32, cast(u32, 16) + 3);");
}

TEST(Loops, ScalarsL2) {
  EXPECT_EQ(parse("for (int i = 0; i < N; i++) { float x = A[i]; x += 1; B[i] = x * x; }"),
            "for i from 0 below N;block;scalar A.x = A[i];A.x[] = A.x[] + 1.0;B[i] = A.x[] * A.x[];");
  EXPECT_EQ(parse("{ float x = 1; { float x = x; A[0] = x; } A[1] = x; }"),
            "block;scalar A.x = 1.0;block;scalar A.x_2 = A.x[];A[0] = A.x_2[];A[1] = A.x[];");
  EXPECT_EQ(parse("s = s + 1; s++; --s;"), "s[] = s[] + 1.0;s[] = s[] + 1.0;s[] = s[] - 1.0;");
  EXPECT_EQ(parse("{ const int m = N / 2; for (int i = m; i < 2 * m; i++) A[i] = m; }"),
            "for i from N / 2 below 2 * (N / 2);A[i] = cast(f32, cast(i32, N / 2));");
  EXPECT_EQ(parse("{ int m = N; for (int i = 0; i < m; i++) A[i] = 0; }"), "not-affine:1:34");
  EXPECT_EQ(parse("{ const int m = n[0]; n[1] = m; }"), "block;scalar A.m = n[0];n[1] = A.m[];");
  EXPECT_EQ(parse("{ double t[4]; }"), "local-array:1:10");
  EXPECT_EQ(parse("{ float x; float x; }"), "redeclared:1:18");
  EXPECT_EQ(parse("{ float *x; }"), "unsupported-c:1:9");
  EXPECT_EQ(parse("{ long long x = 1; int y = 2; A[0] = x + y; }"),
            "block;scalar A.x = 1;scalar A.y = 2;A[0] = cast(f32, A.x[] + cast(i64, A.y[]));");
  EXPECT_EQ(parse("{ unsigned int y = 2; A[0] = y; }"), "unsupported-c:1:3");
  EXPECT_EQ(parse("int i; for (i = 0; i < N; i++) A[i] = 0; A[0] = i;"), "unknown-name-in-text:1:49");
  const Result<ParsedLoops> r = parse_code({"{ double x = 1; A[0] = x; }"});
  ASSERT_TRUE(r);
  ASSERT_EQ(r->locals.size(), 1u);
  EXPECT_EQ(r->locals[0].name, "A.x");
  EXPECT_EQ(r->locals[0].dtype, DType::kF64);
  EXPECT_TRUE(r->locals[0].local);
}

TEST(Loops, RolesL1) {
  EXPECT_EQ(parse("ro[0] = 1;"), "not-assignable:1:1");
  EXPECT_EQ(parse("N = 1;"), "not-assignable:1:1");
  EXPECT_EQ(parse("A[0] = other[0];"), "unknown-name-in-text:1:8");
  EXPECT_EQ(parse("otter += 1;"), "unknown-name-in-text:1:1");
  EXPECT_EQ(parse("A[0] = otter;"), "unknown-name-in-text:1:8");
  EXPECT_EQ(parse("A[0][1] = 1;"), "subscript-count:1:1");
  EXPECT_EQ(parse("A = 1;"), "subscript-count:1:1");
  EXPECT_EQ(parse("C[0, 1] = 1;"), "syntax:1:4");
  EXPECT_EQ(parse("A[n[0]] = 1;"), "not-affine:1:3");
  EXPECT_EQ(parse("A[0] + 1 = 2;"), "not-assignable:1:1");
}

struct Update {
  std::string kind, operand;
};

std::string update(const std::string& code) {
  const Result<ParsedLoops> r = parse_code({code});
  if (!r) return to_text(r.errors());
  const LoopStatement& s = r->body[0];
  return s.update ? to_text(*s.update) + " " + to_text(s.operand) : "none";
}

TEST(Loops, UpdatesAreRecognisedAndOnlyThose) {
  EXPECT_EQ(update("A[0] += B[0] * 2;"), "sum B[0] * 2.0");
  EXPECT_EQ(update("A[0] -= B[0];"), "sum -B[0]");
  EXPECT_EQ(update("A[0] = A[0] + B[0];"), "sum B[0]");
  EXPECT_EQ(update("A[0] = B[0] + A[0];"), "sum B[0]");
  EXPECT_EQ(update("A[0] *= B[0];"), "prod B[0]");
  EXPECT_EQ(update("A[0] = max(A[0], B[0]);"), "max B[0]");
  EXPECT_EQ(update("A[0] = min(B[0], A[0]);"), "min B[0]");
  EXPECT_EQ(update("n[0]++;"), "sum 1");
  EXPECT_EQ(update("q[0] += q[1] * 2;"), "sum cast(i8, cast(i32, q[1]) * 2)");  // of another element
  EXPECT_EQ(update("q[0] += u[1] * 2;"), "sum cast(i8, cast(i32, u[1]) * 2)");
  EXPECT_EQ(update("s += 0.5*s + 1;"), "none");  // a recurrence
  EXPECT_EQ(update("s = s + (0.5*s + 1);"), "none");
  EXPECT_EQ(update("A[0] += A[1];"), "sum A[1]");  // whether it is another one in every instance, the lowering asks
  EXPECT_EQ(update("A[0] += A[0];"), "none");
  EXPECT_EQ(update("A[0] = B[0] - A[0];"), "none");
  EXPECT_EQ(update("A[0] = A[1] + B[0];"), "none");
  EXPECT_EQ(update("A[0] /= B[0];"), "none");
  EXPECT_EQ(update("A[0] = B[0];"), "none");
  EXPECT_EQ(update("A[0] = fmax(A[0], B[0]);"), "none");  // another rule for NaN
  EXPECT_EQ(update("A[0] += D[0];"), "none");             // summed in f64 and rounded each time
  EXPECT_EQ(update("n[0] += 0.5;"), "none");
  EXPECT_EQ(update("H[0] += A[0];"), "none");
}

TEST(Loops, SyntaxErrors) {
  EXPECT_EQ(parse("for (int i = 0; i < N; i++ A[i] = 0;"), "syntax:1:28");
  EXPECT_EQ(parse("A[0] = 1"), "syntax:1:9");
  EXPECT_EQ(parse("{ A[0] = 1;"), "syntax:1:12");
  EXPECT_EQ(parse("A[0] = ;"), "syntax:1:8");
  EXPECT_EQ(parse("while (1) A[0] = 1;"), "unsupported-c:1:1");
  EXPECT_EQ(parse("for (int i = 0; i < N; i++) break;"), "unsupported-c:1:29");
  EXPECT_EQ(parse("A[0] = B[0] = 1;"), "unsupported-c:1:13");
  EXPECT_EQ(parse("A[0] = &B[0];"), "syntax:1:8");
  EXPECT_EQ(parse("A[0] = 010;"), "bad-number:1:8");
  EXPECT_EQ(parse("A[0] = 1; /* open"), "syntax:1:11");
  EXPECT_EQ(parse({"// a comment", "#pragma omp parallel for", "for (int i = 0; /* x */ i < N; i++)", "  A[i] = y;"}),
            "unknown-name-in-text:4:10");
  EXPECT_EQ(parse("A[0] = x; B[0] = y;"), "unknown-name-in-text:1:8 unknown-name-in-text:1:18");
  EXPECT_EQ(parse("A[0] = " + std::string(100000, '(')), "text-too-deep:1:265");
  std::string deep;
  for (int k = 0; k < 100000; ++k) deep += "{";
  EXPECT_EQ(parse(deep), "text-too-deep:1:257");
}

TEST(Loops, TheMessageShowsTheLine) {
  const Result<ParsedLoops> r = parse_code({"for (int i = 0; i < N; i++) {", "  A[i*i] = 0;", "}"});
  ASSERT_FALSE(r);
  EXPECT_EQ(
      to_text(r.errors()),
      "p.json:2:5: error[not-affine]: 'i*i' is not affine: neither factor is a constant (at /ops/0)\n    A[i*i] = 0;\n      ^\n"
      "  note: an index is a sum of indices and symbols times constants; / and % by positive constants, min and max are allowed\n");
}

}  // namespace
}  // namespace facet
