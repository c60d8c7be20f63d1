// import c and compile --c-function: what is taken, what is refused and where, and what is missing. Numbers are compared by
// scripts/check_c_import (tests/c_import).
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>

#include "tests/unit/tool/tool.hpp"

namespace facet {
namespace {

class ImportC : public Tool {
 protected:
  // The answer as JSON; the test is skipped where the tool has no C reader.
  Json import(const std::string& text, const std::string& options = "") {
    write("x.c", text);
    const Answer a = facet("import c x.c --json " + options);
    status = a.status;
    return Json::parse(a.out, nullptr, false);
  }
  bool missing() {
    const Answer a = facet("import c nothing.c --json");
    if (a.status == 2) write("x.c", "void f(int n, float x[n]) { for (int i = 0; i < n; i++) x[i] = i; }");
    return facet("import c x.c").status == 3;
  }
  int status = -1;
};

#define SKIP_WITHOUT_READER() \
  if (missing()) GTEST_SKIP() << "no plugin with Clang"

std::string function(const std::string& region,
                     const std::string& parameters = "int n, double A[n][n], double x[n], int k[n]") {
  return "#include <math.h>\nvoid f(" + parameters + ") {\n#pragma scop\n" + region + "\n#pragma endscop\n}\n";
}

struct Refusal {
  const char* region;
  const char* code;
  int line, column;
  const char* note;  // a part of a note: the nearest form
};

// The region begins on line 4.
const Refusal kRefusals[] = {
    {"for (int i = 0; i < n; i++) x[k[i]] = 0;", "not-affine", 4, 31, "op compute"},
    {"for (int i = 0; i < n; i++) for (int j = 0; j < k[i]; j++) x[j] = 0;", "not-affine", 4, 49,
     "choose by data in the value"},
    {"for (int i = 0; i < n; i++) x[i * i] = 0;", "not-affine", 4, 31, "one factor must be a constant"},
    {"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) x[i * n + j] = 0;", "not-affine", 4, 59,
     "double x[][n], and write x[i][j]"},
    {"for (int i = 0; i < n / x[0]; i++) x[i] = 0;", "not-affine", 4, 21, ""},
    {"for (int i = 0; i < n % n; i++) x[i] = 0;", "not-affine", 4, 21, "pass it as an integer parameter"},
    {"for (int i = 0; i < sqrt(n); i++) x[i] = 0;", "not-affine", 4, 21, "before the region"},
    {"for (int i = 0; i < (i < 3 ? n : 5); i++) x[i] = 0;", "not-affine", 4, 22, "a < b ? a : b"},
    {"for (int i = 0; i < (n ^ 1); i++) x[i] = 0;", "not-affine", 4, 22, "2*i - j"},
    {"for (int i = 0; i < n; i++) { if (x[i] > 1) x[i] = 1; }", "not-affine", 4, 35, "x[i] = x[i] > 1 ? 1 : x[i];"},
    {"for (int i = 0; i < n; i++) if (x[i] > 1) x[i] = 1; else x[i] = 2;", "not-affine", 4, 33, "x[i] = x[i] > 1 ? 1 : 2;"},
    {"for (int i = 0; i < n; i++) if (x[i] > 1) x[i] += 3;", "not-affine", 4, 33, "x[i] = x[i] > 1 ? x[i] + 3 : x[i];"},
    {"int i = 0; while (i < n) { x[i] = 0; i++; }", "not-imported", 4, 12, "for (int i = 0; i < n; i++)"},
    {"int i = 0; do { x[i] = 0; i++; } while (i < n);", "not-imported", 4, 12, "for (int i = 0; i < n; i++)"},
    {"for (int i = 0; i < n; i++) { x[i] = 0; break; }", "not-imported", 4, 41, "choose in the value"},
    {"for (int i = 0; i < n; i++) { x[i] = 0; continue; }", "not-imported", 4, 41, "if (affine condition)"},
    {"x[0] = 1; goto end; end: x[0] = 2;", "not-imported", 4, 11, "write for and if"},
    {"x[0] = 1; return;", "not-imported", 4, 11, "behind the region"},
    {"switch (n) { case 1: x[0] = 1; }", "not-imported", 4, 1, "if and else"},
    {"for (int i = 0; i < n; i++) g(x, i);", "not-imported", 4, 29, "write the function's statements here"},
    {"for (int i = 0; i < n; i++) x[i] = h(i);", "not-imported", 4, 36, "one return of an expression"},
    {"for (int i = 0; i < n; i++) x[i] = two(i);", "not-imported", 4, 36, "write its statements in the region"},
    {"for (int i = 0; i < n; i++) *(x + i) = 0;", "not-imported", 4, 29, "write x[i]"},
    {"double *p = x; for (int i = 0; i < n; i++) p[i] = 0;", "not-imported", 4, 1, "A[i][j] instead of p[j]"},
    {"for (int i = 0; i < n; i++) s->v[i] = 0;", "not-imported", 4, 29, "'v'"},
    {"for (int i = 0; i < n; i++) x[i] = s->w;", "not-imported", 4, 36, "'w'"},
    {"for (int i = 0; i < n; i++) x[i] = k[i]++;", "not-imported", 4, 36, "statement of its own"},
    {"for (int i = 0; i < n; i++) x[i] = x[0] = 2;", "not-imported", 4, 36, "statement of its own"},
    {"for (int i = 0; i < n; i++) rows[i][0] = 2;", "not-imported", 4, 29, "(*rows)[m]"},
    {"for (int i = 0; i < n; i++) x[i] = wide;", "not-imported", 4, 36, "parameters of their own"},
    {"for (int i = 0; i != n; i++) x[i] = 0;", "loop-form", 4, 17, "i < n"},
    {"for (int i = 1; i < n; i *= 2) x[i] = 0;", "loop-form", 4, 24, "i += 2"},
    {"for (int i = 0; i < n; i += n) x[i] = 0;", "loop-form", 4, 24, "i += 2"},
    {"for (int i = 0, j = 0; i < n; i++) x[i] = j;", "loop-form", 4, 6, "for (int i = 0; i < n; i++)"},
    {"for (int i = 0; ; i++) x[i] = 0;", "loop-form", 4, 6, "write i < n"},
    {"for (int i = 0; i < n; i++) { x[i] = 0; i = i + 1; }", "loop-variable-assigned", 4, 41, ""},
    {"int m = n; m = m + 1; for (int i = 0; i < m; i++) x[i] = 0;", "not-affine", 4, 43, "const int"},
    {"double y[2] = {1, 2}; x[0] = y[1];", "not-imported", 4, 1, "assign its elements"},
    {"static double y; x[0] = y;", "not-imported", 4, 1, "parameter"},
    {"x[0] = *k ? 1 : undeclared;", "c-syntax", 4, 17, ""},
};

TEST_F(ImportC, RefusesWithPlaceAndNearestForm) {
  SKIP_WITHOUT_READER();
  const std::string head =
      "#include <math.h>\nstruct S { double v[9]; double w; }; void g(double*, int); double h(int); static int two(int a) { a += 1; return a; } "
      "void f(int n, double A[n][n], double x[n], int k[n], struct S *s, double **rows, long double wide) {\n#pragma scop\n";
  for (const Refusal& r : kRefusals) {
    const Json j = import(head + r.region + "\n#pragma endscop\n}\n");
    ASSERT_FALSE(j.is_discarded()) << r.region;
    EXPECT_EQ(status, 2) << r.region;
    ASSERT_TRUE(j.contains("error")) << r.region << j;
    const Json& e = j["error"];
    EXPECT_EQ(e["code"], r.code) << r.region << e;
    EXPECT_EQ(e["file"], "x.c");
    EXPECT_EQ(e["line"], r.line) << r.region << e;
    EXPECT_EQ(e["column"], r.column) << r.region << e;
    EXPECT_NE(e.value("notes", Json::array()).dump().find(r.note), std::string::npos) << r.region << "\n" << r.note << e;
  }
}

TEST_F(ImportC, ShowsTheLineWithACaret) {
  SKIP_WITHOUT_READER();
  write("y.c", function("  for (int i = 0; i < n; i++)\n    x[i*i] = 0;"));
  const Answer a = facet("import c y.c 2>&1 | cat");
  EXPECT_NE(
      a.out.find(
          "y.c:5:7: error[not-affine]: 'i*i' is not affine: it is a product of two variables\n      x[i*i] = 0;\n        ^\n"),
      std::string::npos)
      << a.out;
}

TEST_F(ImportC, InputsOutputsSymbolsAndRanges) {
  SKIP_WITHOUT_READER();
  const Json j = import(
      "void mv(int m, long n, double alpha, const double (*A)[n], const float *x, double y[]) {\n"
      "  for (int i = 0; i < m; i++) {\n    y[i] = 0;\n    for (int j = 0; j < n - 2; j++) y[i] += alpha * A[i][j] * x[j + 2];\n  }\n}");
  ASSERT_EQ(status, 0) << j;
  EXPECT_EQ(j["inputs"], Json({"alpha", "A", "x"}));
  EXPECT_EQ(j["outputs"], Json({"y"}));
  EXPECT_EQ(j["tensors"]["A"]["shape"], Json({"m", "n"}));
  EXPECT_EQ(j["tensors"]["x"], Json({{"dtype", "f32"}, {"shape", {"n"}}}));
  EXPECT_EQ(j["tensors"]["y"], Json({{"dtype", "f64"}, {"shape", {"m"}}}));
  EXPECT_EQ(j["tensors"]["alpha"]["shape"], Json::array());
  EXPECT_EQ(j["ops"][0]["out"], Json({"y"}));
  EXPECT_EQ(j["ops"][0]["source"], Json({{"file", "x.c"}, {"lines", {2, 3, 4, 5}}}));
  EXPECT_EQ(j["c_function"]["name"], "mv");
}

TEST_F(ImportC, SizesFollowFromTheArrays) {
  SKIP_WITHOUT_READER();
  const std::string text =
      "double T[20][30];\nvoid f(int n, int m, int p, double x[p]) {\n  for (int i = 0; i < n; i++) x[i + 3] = T[i + 2][4];\n"
      "  for (int i = 0; i <= m; i++) x[0] += T[0][i];\n  x[p - 4] = 1;\n}";
  const Json j = import(text);
  ASSERT_EQ(status, 0) << j;
  EXPECT_EQ(j["symbols"]["n"]["max"], 18);
  EXPECT_EQ(j["symbols"]["m"]["max"], 29);
  EXPECT_EQ(j["symbols"]["p"]["min"], 4);
  EXPECT_EQ(j["assume"], Json({"n + 3 <= p"}));
  const Json k = import(text, "--range p=50..90 --set n=7");
  EXPECT_EQ(k["symbols"]["p"]["min"], 50);
  EXPECT_EQ(k["symbols"]["n"]["default"], 7);
  EXPECT_EQ(error_code("import c x.c --range p=9"), "bad-assignment");
  EXPECT_EQ(error_code("import c x.c --set q=9"), "unknown-symbol");
}

TEST_F(ImportC, MacrosAndFlags) {
  SKIP_WITHOUT_READER();
  write("size.h", "#define ROWS 12\n");
  const std::string text =
      "#include \"size.h\"\n#ifdef SINGLE\ntypedef float real;\n#else\ntypedef double real;\n#endif\n"
      "void f(real x[ROWS]) {\n  for (int i = 0; i < ROWS; i++) x[i] = FACTOR;\n}";
  const Json j = import(text, "-DFACTOR=2.5 -D SINGLE -I.");
  ASSERT_EQ(status, 0) << j;
  EXPECT_EQ(j["tensors"]["x"], Json({{"dtype", "f32"}, {"shape", {12}}}));
  EXPECT_EQ(j["ops"][0]["code"], Json({"  for (int i = 0; i < 12; i++) x[i] = 2.5;"}));
  import(text);
  EXPECT_EQ(status, 2);
}

TEST_F(ImportC, ChoosesTheFunction) {
  SKIP_WITHOUT_READER();
  const std::string two =
      "void a(int n, float x[n]) {\n#pragma scop\nx[0] = 1;\n#pragma endscop\n}\nvoid b(int n, float x[n]) {\n#pragma scop\nx[0] = 2;\n"
      "#pragma endscop\n}\n";
  EXPECT_EQ(import(two)["error"]["code"], "no-c-function");
  EXPECT_EQ(import(two, "--function b")["name"], "b");
  EXPECT_EQ(import(two, "--function c")["error"]["code"], "no-c-function");
  EXPECT_EQ(import("void a(float x[3]) {\n#pragma scop\nx[0] = 1;\n}")["error"]["code"], "region-missing");
  EXPECT_EQ(import("void a(int n, float x[n]) {}")["error"]["code"], "c-no-output");
  EXPECT_EQ(import("void a(int n, float *x, int k) { for (int i = 0; i < n; i++) if (i < k) x[i] = 1; }")["error"]["code"],
            "c-extent");
  EXPECT_EQ(import("void a(int n, float x[n]) { for (int i = 0; i <= n; i++) x[i - i] = x[0] + (x[1) }")["error"]["code"],
            "c-syntax");
}

// What the loops reader finds out later names the C file too.
TEST_F(ImportC, LaterComplaintsNameTheFile) {
  SKIP_WITHOUT_READER();
  const Json j = import("void f(int n, double x[n]) {\n  for (int i = 0; i < n; i++)\n    x[i] = x[i - 1];\n}");
  EXPECT_EQ(status, 2);
  EXPECT_EQ(j["error"]["code"], "read-out-of-bounds") << j;
  EXPECT_EQ(j["error"]["file"], "x.c");
  EXPECT_EQ(j["error"]["line"], 3);
}

TEST_F(ImportC, WitnessesNameTheFile) {
  SKIP_WITHOUT_READER();
  write("x.c", "void f(int n, double x[n]) {\n  for (int i = 1; i < n; i++)\n    x[i] = x[i - 1] * 0.5;\n}");
  ASSERT_EQ(facet("import c x.c -o f.json").status, 0);
  write(
      "r.json",
      R"({"facet_recipe": 1, "variants": [{"groups": [{"ops": ["x"], "steps": [{"do": "parallelize", "statement": "x", "loop": "i"}]}]}]})");
  const Answer a = facet("legal f.json --schedule r.json --json");
  EXPECT_EQ(a.status, 1);
  const Json j = Json::parse(a.out, nullptr, false);
  ASSERT_FALSE(j.is_discarded()) << a.out;
  for (const char* end : {"source", "sink"}) {
    EXPECT_EQ(j["violation"][end]["file"], "x.c") << j;
    EXPECT_EQ(j["violation"][end]["line"], 3) << j;
  }
  EXPECT_NE(facet("legal f.json --schedule r.json").out.find("x is written at x.c:3:5: x[i] = x[i - 1] * 0.5;"),
            std::string::npos);
}

TEST_F(ImportC, DropInIsRefusedWhereItCannotReplace) {
  SKIP_WITHOUT_READER();
  write(
      "x.c",
      "void g(void);\nvoid f(int n, double x[n]) {\n  g();\n#pragma scop\n  for (int i = 0; i < n; i++) x[i] = i;\n#pragma endscop\n}");
  ASSERT_EQ(facet("import c x.c -o f.json").status, 0);
  EXPECT_EQ(facet("run f.json --verify --target reference").status, 0);
  EXPECT_EQ(error_code("compile f.json --c-function -o d"), "no-c-function-record");
  EXPECT_EQ(error_code("compile f.json --c-function --target cuda -o d"), "no-c-function-record");
  EXPECT_EQ(error_code("compile p.json --c-function -o d"), "no-c-function-record");
}

// A C program links the object with cc alone: memory for scratch arrays, workspaces and copies is C's.
TEST_F(ImportC, DropInLinksWithoutACxxLibrary) {
  SKIP_WITHOUT_READER();
  write("x.c", R"(#include <stdio.h>
void f(int n, double A[n][n], double x[n]) {
  double t[n];
#pragma scop
  for (int i = 0; i < n; i++) { t[i] = 0; for (int j = 0; j < n; j++) t[i] += A[i][j] * x[j]; }
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[j][i] = A[i][j] * t[i];
#pragma endscop
}
)");
  ASSERT_EQ(facet("import c x.c -o f.json").status, 0);
  ASSERT_EQ(facet("compile f.json --c-function -o k").status, 0);
  write("main.c",
        "void f(int n, double A[3][3], double x[3]);\n"
        "int main(void) {\n  double A[3][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}, x[3] = {1, 1, 1};\n"
        "  f(3, A, x);\n  return A[0][0] == 6 && A[1][0] == 12 ? 0 : 1;\n}\n");
  std::istringstream source(read("k/c_function.cpp"));
  std::vector<std::string> builds;
  for (std::string line; std::getline(source, line);)
    if (line.rfind("// Build: ", 0) == 0) builds.push_back(line.substr(10));
  ASSERT_EQ(builds.size(), 1U) << "one line says how";
  for (const std::string level : {"", " -O0"}) {
    const std::string commands = "cd " + folder_.string() + "/k && " + builds[0] + level +
                                 " && cc ../main.c c_function.o -fopenmp -lm -o ../main && ../main";
    EXPECT_EQ(std::system(commands.c_str()), 0) << commands;
  }
}

TEST_F(ImportC, ComplaintsAboutTheWholeRegionHaveALine) {
  SKIP_WITHOUT_READER();
  const Json none = import(function("double s = 0;\n  for (int i = 0; i < n; i++) s += x[i];"));
  EXPECT_EQ(none["error"]["code"], "c-no-output") << none;
  EXPECT_EQ(none["error"]["line"], 4);
  const Json extent =
      import(function("for (int i = 0; i < n; i++)\n    if (i < 3) B[i][0] = x[0];", "int n, double (*B)[10], double x[1]"));
  EXPECT_EQ(extent["error"]["code"], "c-extent") << extent;
  EXPECT_EQ(extent["error"]["line"], 5);
  const Json scratch = import(function("for (int i = 0; i < n; i++) {\n  double t[i + 1];\n  t[i] = x[i];\n  x[i] = t[i]; }"));
  EXPECT_EQ(scratch["error"]["code"], "not-imported") << scratch;
  EXPECT_EQ(scratch["error"]["line"], 6);
  EXPECT_NE(scratch["error"]["message"].get<std::string>().find("its size changes with the loop over 'i'"), std::string::npos);
}

TEST_F(ImportC, WhatIsNoTextIsToldSo) {
  SKIP_WITHOUT_READER();
  const Json binary =
      import(std::string("\x7f"
                         "ELF\n\x01\0\xff\xfe",
                         9));
  EXPECT_EQ(binary["error"]["code"], "c-syntax") << binary;
  EXPECT_EQ(binary["error"]["line"], 2);
  EXPECT_NE(binary["error"]["message"].get<std::string>().find("zero byte"), std::string::npos);
  const Json latin = import(function("for (int i = 0; i < n; i++) x[i] = \xe9;"));
  EXPECT_EQ(latin["error"]["code"], "c-syntax") << latin;
  EXPECT_EQ(latin["error"]["line"], 4);
  import(function("for (int i = 0; i < n; i++) x[i] = 1;  // caf\xe9"));
  EXPECT_EQ(status, 0);
}

TEST_F(Tool, ImportOnnxTellsWhatThereIs) {
  EXPECT_EQ(error_code("import onnx m.onnx"), "no-import");
  EXPECT_NE(facet("import onnx m.onnx --json").out.find("operators.md"), std::string::npos);
  EXPECT_EQ(error_code("import fortran m.f"), "no-import");
}

// Without the plugin the answer is exit 3 and what is missing; with it, the same is asked of a copy of the tool alone.
TEST_F(Tool, ImportWithoutThePluginTellsWhatIsMissing) {
  write("x.c", "void f(int n, float x[n]) { for (int i = 0; i < n; i++) x[i] = i; }");
  std::filesystem::create_directories(path("alone/bin"));
  std::filesystem::copy_file(test::tool_path(), path("alone/bin/facet"));
  const std::string command = "cd " + path(".") + " && alone/bin/facet import c x.c --json 2>/dev/null > answer.json";
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 3);
  std::ifstream file(path("answer.json"));
  const Json j = Json::parse(file, nullptr, false);
  ASSERT_FALSE(j.is_discarded());
  EXPECT_EQ(j["error"]["code"], "import-missing");
  EXPECT_NE(std::string(j["error"]["message"]).find("libfacet_jit.so"), std::string::npos);
}

// The record of lines and of the function is read as strictly as the rest.
TEST_F(Tool, SourceLinesAndFunctionRecordAreChecked) {
  const std::string head = R"({"facet": 1, "name": "p", "tensors": {"x": {"dtype": "f32", "shape": [4]}}, "inputs": ["x"],)";
  const auto program = [&](const std::string& source, const std::string& more) {
    return head +
           R"json("ops": [{"op": "loops", "inout": "x", "code": ["for (int i = 0; i < 4; i++)", "x[i] = y;"], "source": )json" +
           source + R"(}], "outputs": ["x"])" + more + "}";
  };
  write("q.json", program(R"({"file": "q.c", "lines": [7]})", ""));
  EXPECT_EQ(error_code("check q.json"), "source-lines");
  write("q.json", program(R"({"file": "q.c", "lines": [7, -8]})", ""));
  EXPECT_EQ(error_code("check q.json"), "wrong-type");
  write("q.json", program(R"({"file": "q.c", "lines": [7, 9]})", ""));
  const Json j = Json::parse(facet("check q.json --json").out);
  EXPECT_EQ(j["error"]["file"], "q.c");
  EXPECT_EQ(j["error"]["line"], 9);
  EXPECT_EQ(j["error"]["column"], 8);
  write("q.json",
        program(R"({"file": "q.c", "lines": [7, 9]})",
                R"(, "c_function": {"name": "f", "arguments": [{"name": "x", "type": "float*; evil", "tensor": "x"}]})"));
  EXPECT_EQ(error_code("check q.json"), "wrong-type");
  write("q.json", program(R"({"file": "q.c", "lines": [7, 9]})",
                          R"(, "c_function": {"name": "f", "arguments": [{"name": "x", "type": "float*", "tensor": "z"}]})"));
  EXPECT_EQ(error_code("check q.json"), "undefined-name");
}

// They became a program that was refused, and the complaint was of a file that nobody had written.
TEST_F(ImportC, ElementsThatNoTensorHoldsAreRefusedWhereTheyStand) {
  SKIP_WITHOUT_READER();
  const auto of_type = [&](const std::string& type) {
    return import("#include <stdint.h>\n#include <stdbool.h>\nvoid f(int n, " + type +
                      " x[n]) {\n#pragma scop\n for (int i = 0; i < n; i++)\n  x[i] = x[i];\n#pragma endscop\n}\n",
                  "-o made.json");
  };
  for (const std::string type : {"uint16_t", "uint32_t", "uint64_t", "unsigned", "unsigned short", "unsigned long", "size_t"}) {
    const Json j = of_type(type == "size_t" ? "unsigned long" : type);
    EXPECT_EQ(status, 2) << type << j;
    EXPECT_EQ(j["error"]["code"], "not-imported") << type << j;
    EXPECT_EQ(j["error"]["file"], "x.c") << type;
    EXPECT_EQ(j["error"]["line"], 6) << type;
    EXPECT_FALSE(std::filesystem::exists(path("made.json"))) << type;
  }
  for (const std::string type : {"bool", "int8_t", "uint8_t", "int16_t", "int32_t", "int64_t", "float", "double"}) {
    const Json j = of_type(type);
    EXPECT_EQ(status, 0) << type << j;
    EXPECT_TRUE(std::filesystem::exists(path("made.json"))) << type;
    std::filesystem::remove(path("made.json"));
  }
  const Json scalar = import(function("for (int i = 0; i < n; i++) s[0] += 1;", "int n, unsigned *s"));
  EXPECT_EQ(scalar["error"]["code"], "not-imported") << scalar;
}

}  // namespace
}  // namespace facet
