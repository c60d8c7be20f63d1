// Small programs that compilers of this family have got wrong (docs/traps.md), with the right answer of each element.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <vector>

namespace facet {

struct Trap {
  std::string id;
  std::string program;
  // The output's element at an index; NaN where the right answer is not stated.
  std::map<std::string, std::function<double(const std::vector<std::int64_t>&)>> expected;
  std::vector<std::map<std::string, std::int64_t>> sizes = {{}};
  // Steps (JSON objects without the list's brackets) over one group of all ops that must be legal, and give the same numbers.
  std::vector<std::string> steps = {};
  std::vector<std::string> refused = {};
};
inline void PrintTo(const Trap& t, std::ostream* out) { *out << t.id; }

// 25 terms, one for each weight of a 5 x 5 window.
inline std::string unrolled_stencil() {
  std::string text;
  for (int k = 0; k < 25; ++k)
    text += (k ? " + r[i + " : "r[i + ") + std::to_string(k / 5) + ", j + " + std::to_string(k % 5) + "]";
  return text + " for i in 0..12, j in 0..12";
}

inline std::vector<Trap> all_traps() {
  using At = const std::vector<std::int64_t>&;
  const auto head = [](const std::string& tensors, const std::string& inputs = "") {
    return R"j({"facet": 1, "name": "trap", "tensors": {)j" + tensors + R"j(}, "inputs": [)j" + inputs + "], ";
  };
  const std::string symbol_n = R"j({"facet": 1, "name": "trap", "symbols": {"n": {"min": 0, "max": 4096, "default": 40}}, )j";
  return {
      {"A1",
       head(
           R"j("c": {"dtype": "f64", "shape": [3], "data": {"values": [0, 3, 5]}}, "z": {"dtype": "f64", "shape": [3], "data": {"values": [0, 2, 0]}},
        "a": {"dtype": "f64", "shape": [3]}, "s": {"dtype": "f64", "shape": [3]})j") +
           R"j("ops": [{"op": "loops", "in": ["c", "z"], "out": ["a", "s"], "code": ["for (int p = 0; p < 3; p++) a[p] = z[p];",
          "for (int p = 0; p < 3; p++) s[p] = 0;", "for (int p = 1; p < 3; p++) s[p] = a[1] * c[p];", "for (int p = 1; p < 3; p++) a[p] = s[p];"]}], "outputs": ["a"]})j",
       {{"a",
         [](At i) {
           return std::vector<double>{0, 6, 10}[static_cast<std::size_t>(i[0])];
         }}},
       {{}},
       {},
       {R"j({"do": "fuse", "statements": ["s.1", "a.1"], "loops": ["p"]})j"}},
      {"A2",
       head(
           R"j("a": {"dtype": "i32", "shape": [8], "data": {"iota": 0}}, "d": {"dtype": "i32", "shape": [8, 8], "data": {"iota": 0}})j") +
           R"j("ops": [{"op": "compute", "in": "a", "out": "c", "def": "c[k] = a[k] + 10 * a[k]"},
          {"op": "compute", "in": ["c", "d"], "out": "e", "def": "e[j, k] = c[k] - d[j, k]"}], "outputs": ["e"]})j",
       {{"e", [](At i) { return 11.0 * static_cast<double>(i[1]) - static_cast<double>(i[0]); }}},
       {{}},
       {R"j({"do": "tile", "statement": "e", "loops": ["j", "k"], "sizes": [3, 5]})j"},
       {R"j({"do": "fuse", "statements": ["c", "e"], "loops": {"c": ["k"], "e": ["j"]}})j"}},
      {"A4",
       head(R"j("x": {"dtype": "f32", "shape": [10], "data": {"fill": 1}})j") +
           R"j("ops": [{"op": "compute", "in": "x", "out": "o", "def": "o[i] = x[i] + 1.0"},
          {"op": "compute", "in": "x", "out": "r", "def": "r[] = sum[i](x[i])"}], "outputs": ["o", "r"]})j",
       {{"o", [](At) { return 2.0; }}, {"r", [](At) { return 10.0; }}},
       {{}},
       {R"j({"do": "fuse", "statements": ["o", "r"], "loops": ["i"]})j"}},
      {"A5",
       head(R"j("A": {"dtype": "i32", "shape": [10, 10]}, "T": {"dtype": "i32", "shape": [10, 10]})j") +
           R"j("ops": [{"op": "loops", "in": [], "out": ["A", "T"], "code": ["for (int i = 0; i < 10; i++) for (int j = 0; j < 10; j++) A[i][j] = 10 * i + j;",
          "for (int i = 0; i < 10; i++) for (int j = 0; j < 10; j++) T[i][j] = A[i][j];",
          "for (int i = 1; i < 9; i++) for (int j = 1; j < 9; j++) A[i][j] = T[i-1][j-1] + T[i+1][j+1];"]}], "outputs": ["A"]})j",
       {{"A",
         [](At i) {
           const bool inside = i[0] > 0 && i[0] < 9 && i[1] > 0 && i[1] < 9;
           return static_cast<double>(inside ? 20 * i[0] + 2 * i[1] : 10 * i[0] + i[1]);
         }}},
       {{}},
       {R"j({"do": "parallelize", "statement": "A.1", "loop": "i"})j"},
       {R"j({"do": "fuse", "statements": ["T", "A.1"], "loops": ["i", "j"]})j"}},
      {"A9",
       head(R"j("x": {"dtype": "i32", "shape": [1000], "data": {"iota": 0}})j") +
           R"j("ops": [{"op": "compute", "in": "x", "out": "t", "def": "t[i] = x[i] % 7 + 1"}, {"op": "compute", "in": "t", "out": "m", "def": "m[] = max[i](t[i])"},
          {"op": "compute", "in": ["t", "m"], "out": "u", "def": "u[i] = t[i] * m"}, {"op": "compute", "in": ["u", "t"], "out": "v", "def": "v[i] = u[i] - t[i]"}],
         "outputs": ["m", "u", "v"]})j",
       {{"m", [](At) { return 7.0; }},
        {"u", [](At i) { return 7.0 * static_cast<double>(i[0] % 7 + 1); }},
        {"v", [](At i) { return 6.0 * static_cast<double>(i[0] % 7 + 1); }}},
       {{}},
       {},
       {R"j({"do": "fuse", "statements": ["t", "u", "v"], "loops": ["i"]})j"}},
      {"A12",
       head(R"j("x": {"dtype": "f32", "shape": [216, 33], "data": {"fill": 1}})j") +
           R"j("ops": [{"op": "compute", "in": "x", "out": "p", "def": "p[i] = sum[j](x[i, j])"},
          {"op": "compute", "in": "x", "out": "q", "def": "q[j] = sum[i](x[i, j])"}], "outputs": ["p", "q"]})j",
       {{"p", [](At) { return 33.0; }}, {"q", [](At) { return 216.0; }}}},
      {"B2",
       head(R"j("A": {"dtype": "i32", "shape": [5, 5]})j") +
           R"j("ops": [{"op": "loops", "in": [], "out": "A", "code": ["for (int i = 0; i < 5; i++) for (int j = 0; j < 5; j++) A[i][j] = 10 * i + j;",
          "for (int i = 1; i < 5; i++) for (int j = 0; j < 4; j++) A[i][j] = A[i-1][j+1];"]}], "outputs": ["A"]})j",
       {{"A",
         [](At i) {
           const std::int64_t up = std::min(i[0], 4 - i[1]);
           return static_cast<double>(10 * (i[0] - up) + i[1] + up);
         }}},
       {{}},
       {R"j({"do": "unroll", "statement": "A.1", "loop": "i", "factor": 2}, {"do": "unroll", "statement": "A.1", "loop": "j", "factor": 4})j"},
       {R"j({"do": "interchange", "statement": "A.1", "order": ["j", "i"]})j",
        R"j({"do": "tile", "statement": "A.1", "loops": ["i", "j"], "sizes": [2, 2]})j"}},
      {"B5",
       head(R"j("x": {"dtype": "i64", "shape": [12, 12]}, "r": {"dtype": "i64", "shape": []})j") +
           R"j("ops": [{"op": "loops", "in": [], "out": "x", "code": ["for (int i = 0; i < 12; i++) for (int j = 0; j < 12; j++) x[i][j] = 1;",
          "for (int i = 0; i < 12; i++) for (int j = 0; j < 12; j++) x[i][j] = x[i][j] + x[(i + 11) % 12][j] + x[i][(j + 11) % 12];"]},
          {"op": "compute", "in": "x", "out": "r", "def": "r[] = sum[i, j](x[i, j])"},
          {"op": "compute", "in": "x", "out": "s", "def": "s[k] = x[11 * (k / 2), k % 2 + 10 * (k / 2)] for k in 0..4"}], "outputs": ["r", "s"]})j",
       {{"r", [](At) { return 20801004.0; }},
        {"s", [](At i) { return i[0] == 0   ? 3.0
                                : i[0] == 1 ? 5.0
                                : i[0] == 3 ? 5408311.0
                                            : NAN; }}},
       {{}},
       {R"j({"do": "skew", "statement": "x.1", "loop": "i", "by": "j"}, {"do": "parallelize", "statement": "x.1", "loop": "j"})j"}},
      {"C1",
       head(R"j("s": {"dtype": "f64", "shape": []})j") +
           R"j("ops": [{"op": "loops", "in": [], "out": "s", "code": "s = 0; for (int i = 0; i < 100; i++) s = s + (0.5 * s + 1);"}], "outputs": ["s"]})j",
       {{"s", [](At) { return 2 * (std::pow(1.5, 100) - 1); }}},
       {{}},
       {},
       {R"j({"do": "parallelize", "statement": "s.1", "loop": "i"})j",
        R"j({"do": "vectorize", "statement": "s.1", "loop": "i", "width": 4})j"}},
      {"C3",
       head(R"j("A": {"dtype": "i32", "shape": [1024], "data": {"iota": 0}}, "B": {"dtype": "i32", "shape": []})j") +
           R"j("ops": [{"op": "loops", "in": "A", "out": "B", "code": "for (int r = 0; r < 1024; r++) B = A[r];"}], "outputs": ["B"]})j",
       {{"B", [](At) { return 1023.0; }}},
       {{}},
       {R"j({"do": "unroll", "statement": "B", "loop": "r", "factor": 4})j"},
       {R"j({"do": "parallelize", "statement": "B", "loop": "r"})j", R"j({"do": "reverse", "statement": "B", "loop": "r"})j"}},
      {"C4",
       head("") +
           R"j("ops": [{"op": "compute", "in": [], "out": "in", "def": "in[x, y] = cast(i32, 2 * x + 5 * y) for x in 0..132, y in 0..132"},
          {"op": "compute", "in": "in", "out": "s", "def": "s[x, y] = sum[dx, dy](in[x + dx, y + dy]) for x in 0..128, y in 0..128, dx in 0..5, dy in 0..5"},
          {"op": "compute", "in": "s", "out": "o", "def": "o[x, y] = s[x, y] / 25"}], "outputs": ["o"]})j",
       {{"o", [](At i) { return static_cast<double>(2 * (i[0] + 2) + 5 * (i[1] + 2)); }}},
       {{}},
       {R"j({"do": "tile", "statement": "s", "loops": ["dx"], "sizes": [2]}, {"do": "tile", "statement": "o", "loops": ["x"], "sizes": [4]})j"}},
      {"D1",
       symbol_n + R"j("tensors": {"a": {"dtype": "f32", "shape": [4096], "data": {"iota": 0}}}, "inputs": [],
          "ops": [{"op": "compute", "in": "a", "out": "b", "def": "b[i] = sum[j](cast(f32, i) * (a[j] + 1.0)) for i in 0..32, j in 0..n"},
          {"op": "compute", "in": "b", "out": "o", "def": "o[i] = 2.0 * b[i] - cast(f32, i * n * (n + 1))"}], "outputs": ["b", "o"]})j",
       {{"o", [](At) { return 0.0; }}},
       {{{"n", 40}}, {{"n", 0}}, {{"n", 1}}, {{"n", 31}}, {{"n", 32}}, {{"n", 33}}},
       {R"j({"do": "tile", "statement": "b", "loops": ["j"], "sizes": [32]}, {"do": "promote", "array": "a", "statement": "b", "at": "jt"})j"}},
      {"D4",
       head("") +
           R"j("ops": [{"op": "compute", "in": [], "out": "s", "def": "s[] = sum[k](cast(i64, k)) for k in 0..129"}], "outputs": ["s"]})j",
       {{"s", [](At) { return 8256.0; }}},
       {{}},
       {R"j({"do": "tile", "statement": "s", "loops": ["k"], "sizes": [8]}, {"do": "tile", "statement": "s", "loops": ["k"], "sizes": [2]})j"}},
      {"D10",
       head(R"j("x": {"dtype": "f32", "shape": [7], "data": {"iota": 0}})j") +
           R"j("ops": [{"op": "compute", "in": "x", "out": "y", "def": "y[i] = x[i / 2] for i in 0..14"}], "outputs": ["y"]})j",
       {{"y", [](At i) { return static_cast<double>(i[0] / 2); }}},
       {{}},
       {R"j({"do": "tile", "statement": "y", "loops": ["i"], "sizes": [7]}, {"do": "promote", "array": "x", "statement": "y", "at": "it"})j",
        R"j({"do": "tile", "statement": "y", "loops": ["i"], "sizes": [5]}, {"do": "vectorize", "statement": "y", "loop": "i", "width": 4})j"}},
      {"E1",
       head(
           R"j("a": {"dtype": "f32", "shape": [4, 0], "data": {"fill": 1}}, "b": {"dtype": "f32", "shape": [0, 4], "data": {"fill": 1}},
          "p": {"dtype": "f32", "shape": [3, 4, 0], "data": {"fill": 1}}, "c": {"dtype": "f32", "shape": [4, 4], "data": {"fill": 5}})j") +
           R"j("ops": [{"op": "matmul", "in": ["a", "b"], "out": "y"}, {"op": "matmul", "in": ["p", "b"], "out": "z"},
          {"op": "add", "in": ["y", "c"], "out": "w"}], "outputs": ["y", "z", "w"]})j",
       {{"y", [](At) { return 0.0; }}, {"z", [](At) { return 0.0; }}, {"w", [](At) { return 5.0; }}}},
      {"E7",
       R"j({"facet": 1, "name": "trap", "symbols": {"n": {"min": 0, "max": 100, "default": 40}, "w": {"min": 0, "max": 100, "default": 0}},
          "tensors": {"x": {"dtype": "i32", "shape": [100], "data": {"fill": 1}}}, "inputs": [],
          "ops": [{"op": "compute", "in": "x", "out": "y", "def": "y[i] = sum[j](x[j]) where j < i + w for i in 0..n, j in i..n"},
          {"op": "compute", "in": "y", "out": "o", "def": "o[i] = y[i] - cast(i32, min(n, i + w) - i)"}], "outputs": ["y", "o"]})j",
       {{"o", [](At) { return 0.0; }}},
       {{{"n", 40}, {"w", 0}}, {{"n", 40}, {"w", 1}}, {{"n", 40}, {"w", 50}}, {{"n", 0}, {"w", 1}}}},
      {"F1",
       head(R"j("t": {"dtype": "i32", "shape": [120], "data": {"iota": 0}})j") +
           R"j("ops": [{"op": "compute", "in": "t", "out": "y", "def": "y[i] = t[(48 * (i - 16) + 241) / 16 + 40] for i in 0..32"}], "outputs": ["y"]})j",
       {{"y", [](At i) { return static_cast<double>(3 * i[0] + 7); }}},
       {{}},
       {R"j({"do": "vectorize", "statement": "y", "loop": "i", "width": 8})j",
        R"j({"do": "tile", "statement": "y", "loops": ["i"], "sizes": [5]})j"}},
      {"F6",
       head(R"j("x": {"dtype": "i32", "shape": [600], "data": {"iota": 0}})j") +
           R"j("ops": [{"op": "compute", "in": "x", "out": "y", "def": "y[q] = x[107 * q / 107] for q in 0..600"}], "outputs": ["y"]})j",
       {{"y", [](At i) { return static_cast<double>(i[0]); }}}},
      {"G1",
       R"j({"facet": 1, "name": "trap", "symbols": {"n": {"min": 1, "max": 2147483647, "default": 70}}, "tensors": {"x": {"dtype": "f32", "shape": ["n"], "sample": {"integers": [3, 3]}}},
          "inputs": ["x"], "ops": [{"op": "compute", "in": "x", "out": "y", "def": "y[i] = x[i] + 1.0"}], "outputs": ["y"]})j",
       {{"y", [](At) { return 4.0; }}},
       {{{"n", 70}}, {{"n", 2049}}},
       {R"j({"do": "tile", "statement": "y", "loops": ["i"], "sizes": [32]})j"}},
      {"I1",
       head(
           R"j("r": {"dtype": "i32", "shape": [4, 64], "data": {"iota": 0}}, "c": {"dtype": "i32", "shape": [4, 64], "data": {"iota": 1}}, "v": {"dtype": "i32", "shape": [5], "data": {"iota": 0}})j") +
           R"j("ops": [{"op": "compute", "in": ["r", "c"], "out": "x", "def": "x[i, j] = 100 * r[i, j] + c[i, j]"},
          {"op": "compute", "in": "x", "out": "y", "def": "y[i, j] = x[3 - i, j] for i in 0..4"}, {"op": "compute", "in": "x", "out": "z", "def": "z[i, j] = x[3 - i, 63 - j] for i in 0..4, j in 0..64"},
          {"op": "slice", "in": "v", "out": "w", "attrs": {"starts": [-1], "ends": [-10], "axes": [0], "steps": [-2]}}], "outputs": ["y", "z", "w"]})j",
       {{"y", [](At i) { return static_cast<double>(100 * (3 - i[0]) + i[1]); }},
        {"z", [](At i) { return static_cast<double>(100 * (3 - i[0]) + 63 - i[1]); }},
        {"w", [](At i) { return static_cast<double>(4 - 2 * i[0]); }}},
       {{}},
       {R"j({"do": "vectorize", "statement": "z", "loop": "j", "width": 16})j"}},
      {"J3",
       head(R"j("p": {"dtype": "f32", "shape": [8], "sample": {"integers": [2, 2]}}, "q": {"dtype": "f32", "shape": [8]})j",
            "\"p\"") +
           R"j("ops": [{"op": "loops", "in": [], "inout": "p", "out": "q", "code": ["for (int i = 0; i < 8; i++) q[i] = 2 * p[i];", "for (int i = 0; i < 8; i++) p[i] = q[i];",
          "for (int i = 0; i < 8; i++) p[i] = q[i] * 3;"]}], "outputs": ["p", "q"]})j",
       {{"p", [](At) { return 12.0; }}, {"q", [](At) { return 4.0; }}},
       {{}},
       {R"j({"do": "fuse", "statements": ["q", "p", "p.1"], "loops": ["i"]})j"},
       {R"j({"do": "contract", "array": "q"})j"}},
      {"K1",
       head(R"j("a": {"dtype": "f32", "shape": [16], "data": {"iota": 0}})j") +
           R"j("ops": [{"op": "compute", "in": "a", "out": "c", "def": "c[i] = max[j](-a[4 * i + j]) + 0.0 for i in 0..4, j in 0..4"}], "outputs": ["c"]})j",
       {{"c", [](At i) { return static_cast<double>(-4 * i[0]); }}},
       {{}},
       {R"j({"do": "vectorize", "statement": "c.max", "loop": "j", "width": 4})j"}},
      {"K6",
       head(R"j("r": {"dtype": "i32", "shape": [1, 1, 16], "data": {"iota": 2}})j") +
           R"j("ops": [{"op": "compute", "in": "r", "out": "x", "def": "x[n, c, i, j] = -(r[n, c, 4 * i + j] + 1) for n in 0..1, c in 0..1, i in 0..4, j in 0..4"},
          {"op": "max_pool", "in": "x", "out": "y", "attrs": {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}}], "outputs": ["y"]})j",
       {{"y",
         [](At i) {
           return static_cast<double>(-(4 * std::max<std::int64_t>(i[2] - 1, 0) + std::max<std::int64_t>(i[3] - 1, 0) + 1));
         }}}},
      {"L1",
       head(
           R"j("x": {"dtype": "f32", "shape": [5], "data": {"values": ["nan", -3, 2, 0.25, "nan"]}}, "y": {"dtype": "f32", "shape": [5], "data": {"values": [1, "nan", 2, 0, "nan"]}})j") +
           R"j("ops": [{"op": "max", "in": ["x", "y"], "out": "a0"}, {"op": "max", "in": ["y", "x"], "out": "b0"}, {"op": "relu", "in": "x", "out": "r0"},
          {"op": "clip", "in": "x", "out": "c0", "attrs": {"min": 0.5}}, {"op": "reduce_max", "in": "x", "out": "m0", "attrs": {"keepdims": 0}},
          {"op": "compute", "in": ["a0", "b0", "r0", "c0", "m0"], "out": ["a", "b", "r", "c", "m"],
           "def": ["a[i] = select(isnan(a0[i]), -9.0, a0[i])", "b[i] = select(isnan(b0[i]), -9.0, b0[i])", "r[i] = select(isnan(r0[i]), -9.0, r0[i])",
                   "c[i] = select(isnan(c0[i]), -9.0, c0[i])", "m[] = select(isnan(m0[]), -9.0, m0[])"]}], "outputs": ["a", "b", "r", "c", "m"]})j",
       {{"a",
         [](At i) {
           return std::vector<double>{-9, -9, 2, 0.25, -9}[static_cast<std::size_t>(i[0])];
         }},
        {"b",
         [](At i) {
           return std::vector<double>{-9, -9, 2, 0.25, -9}[static_cast<std::size_t>(i[0])];
         }},
        {"r",
         [](At i) {
           return std::vector<double>{-9, 0, 2, 0.25, -9}[static_cast<std::size_t>(i[0])];
         }},
        {"c",
         [](At i) {
           return std::vector<double>{-9, 0.5, 2, 0.5, -9}[static_cast<std::size_t>(i[0])];
         }},
        {"m", [](At) { return -9.0; }}}},
      {"L1.row",
       R"j({"facet": 1, "name": "trap", "symbols": {"n": {"min": 0, "max": 999, "default": 0}}, "tensors": {"i": {"dtype": "f32", "shape": [1000], "data": {"iota": 0}}}, "inputs": [],
          "ops": [{"op": "compute", "in": "i", "out": "x", "def": "x[k] = select(k == n, log(-1.0 - i[k]), i[k])"}, {"op": "reduce_max", "in": "x", "out": "m", "attrs": {"keepdims": 0}},
          {"op": "compute", "in": "m", "out": "y", "def": "y[] = select(isnan(m[]), -9.0, m[])"}], "outputs": ["y"]})j",
       {{"y", [](At) { return -9.0; }}},
       {{{"n", 0}}, {{"n", 1}}, {{"n", 31}}, {{"n", 999}}}},
      {"M4",
       head(
           R"j("x": {"dtype": "f32", "shape": [5], "data": {"values": [0.2691408770292272, 3.14, 1.00390625, 1.01171875, 3.4e38]}})j") +
           R"j("ops": [{"op": "cast", "in": "x", "out": "h", "attrs": {"to": "bf16"}}, {"op": "cast", "in": "h", "out": "y", "attrs": {"to": "f32"}}], "outputs": ["y"]})j",
       {{"y",
         [](At i) {
           return std::vector<double>{0.26953125, 3.140625, 1.0, 1.015625, HUGE_VAL}[static_cast<std::size_t>(i[0])];
         }}}},
      {"N1",
       head(
           R"j("a": {"dtype": "u8", "shape": [2], "data": {"fill": 128}}, "c": {"dtype": "i8", "shape": [2], "data": {"fill": 6}},
          "x": {"dtype": "i8", "shape": [2], "data": {"fill": 5}}, "y": {"dtype": "i8", "shape": [2], "data": {"fill": 20}})j") +
           R"j("ops": [{"op": "compute", "in": ["a", "c", "x", "y"], "out": ["s", "p", "q"],
          "def": ["s[i] = cast(i16, a[i] + a[i])", "p[i] = c[i] * (x[i] + y[i])", "q[i] = c[i] * x[i] + c[i] * y[i]"]}], "outputs": ["s", "p", "q"]})j",
       {{"s", [](At) { return 0.0; }}, {"p", [](At) { return -106.0; }}, {"q", [](At) { return -106.0; }}}},
      {"O2",
       R"j({"facet": 1, "name": "trap", "symbols": {"n": {"min": 1, "max": 5000, "default": 99}}, "tensors": {"x": {"dtype": "f32", "shape": ["n"], "sample": {"integers": [4, 4]}}}, "inputs": ["x"],
          "ops": [{"op": "compute", "in": "x", "out": "y", "def": ["s[i] = x[i] + 1.0", "t[i] = s[i] + 1.0", "y[i] = t[i] + 1.0"]}], "outputs": ["y"]})j",
       {{"y", [](At) { return 7.0; }}},
       {{{"n", 99}}, {{"n", 4099}}},
       {R"j({"do": "tile", "statement": "y.s", "loops": ["i"], "sizes": [4]}, {"do": "tile", "statement": "y.t", "loops": ["i"], "sizes": [4]}, {"do": "tile", "statement": "y", "loops": ["i"], "sizes": [4]},
          {"do": "fuse", "statements": ["y.s", "y.t", "y"], "loops": ["it"]}, {"do": "contract", "array": "y.s"}, {"do": "contract", "array": "y.t"})j"}},
      {"P3",
       head(R"j("x": {"dtype": "f32", "shape": [4, 6], "data": {"iota": 0}})j") +
           R"j("ops": [{"op": "compute", "in": "x", "out": "y", "def": "y[j] = sum[i](x[i, j])"}], "outputs": ["y"]})j",
       {{"y", [](At) { return 6.0; }}},
       {{}},
       {R"j({"do": "tile", "statement": "y", "loops": ["j"], "sizes": [2]})j"}},
      {"Q3",
       head(R"j("x": {"dtype": "f32", "shape": [64], "data": {"iota": 0}}, "y": {"dtype": "f16", "shape": [64]})j") +
           R"j("ops": [{"op": "loops", "in": "x", "out": "y", "code": ["for (int i = 0; i < 64; i++) y[i] = 7;",
          "for (int i = 0; i < 64; i++) { if (i >= 8) { if (i % 3 != 0) y[i] = x[i]; } }"]}], "outputs": ["y"]})j",
       {{"y", [](At i) { return i[0] >= 8 && i[0] % 3 != 0 ? static_cast<double>(i[0]) : 7.0; }}},
       {{}},
       {R"j({"do": "vectorize", "statement": "y.1", "loop": "i", "width": 8})j"}},
      {"T2",
       head(
           R"j("r": {"dtype": "i32", "shape": [5, 5], "data": {"iota": 0}}, "c": {"dtype": "i32", "shape": [5, 5], "data": {"iota": 1}})j") +
           R"j("ops": [{"op": "compute", "in": ["r", "c"], "out": "f", "def": ["x[t0, t1] = r[t0, t1] + c[t0, t1]", "y[t0, t1] = r[t0, t1] * c[t0, t1]",
          "f[t0, t1] = x[t0, t1] * x[t0, t1] * y[t0, t1]"]}], "outputs": ["f"]})j",
       {{"f", [](At i) { return static_cast<double>((i[0] + i[1]) * (i[0] + i[1]) * i[0] * i[1]); }}}},
      {"V1",
       head(R"j("r": {"dtype": "i32", "shape": [16, 16], "data": {"iota": 0}})j") +
           R"j("ops": [{"op": "compute", "in": "r", "out": "y", "def": "y[i, j] = )j" + unrolled_stencil() +
           R"j("}], "outputs": ["y"]})j",
       {{"y", [](At i) { return static_cast<double>(25 * (i[0] + 2)); }}},
       {{}},
       {R"j({"do": "tile", "statement": "y", "loops": ["i", "j"], "sizes": [5, 4]})j"}},
      {"W1",
       head(R"j("x": {"dtype": "f32", "shape": [1, 1, 2, 2], "data": {"fill": 1}})j") +
           R"j("ops": [{"op": "average_pool", "in": "x", "out": "y", "attrs": {"kernel_shape": [2, 2], "pads": [0, 0, 1, 1], "count_include_pad": 1}}], "outputs": ["y"]})j",
       {{"y", [](At i) { return (i[2] ? 0.5 : 1.0) * (i[3] ? 0.5 : 1.0); }}}},
      {"X2",
       head(
           R"j("x": {"dtype": "i32", "shape": [5], "data": {"values": [10, 11, 12, 13, 14]}}, "i": {"dtype": "i64", "shape": [4], "data": {"values": [4, -1, 5, 0]}})j") +
           R"j("ops": [{"op": "compute", "in": ["x", "i"], "out": "y", "def": "y[k] = x[i[k]]"}, {"op": "gather", "in": ["x", "i"], "out": "z"}], "outputs": ["y", "z"]})j",
       {{"y",
         [](At i) {
           return std::vector<double>{14, 10, 14, 10}[static_cast<std::size_t>(i[0])];
         }},  // clamped
        {"z",
         [](At i) {
           return std::vector<double>{14, 14, 14, 10}[static_cast<std::size_t>(i[0])];
         }}}},  // wrapped, then clamped
  };
}

}  // namespace facet
