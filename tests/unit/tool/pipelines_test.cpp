// Pipelines of stencils in the overlapped tiles that the scheduler makes for large arrays, at sizes that end inside a tile or
// are smaller than one, compared with the reference.
#include "tests/unit/tool/tool.hpp"

namespace facet {
namespace {

class Pipelines : public Tool {
 protected:
  void verifies(const std::string& ops, int stages, std::initializer_list<int> sizes) {
    write("s.json", R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 6, "max": 30000, "default": 8000}},
      "tensors": {"x": {"dtype": "f32", "shape": ["N", "N"]}}, "inputs": ["x"], "ops": [)" +
                        ops + R"(], "outputs": ["y"]})");
    ASSERT_EQ(facet("schedule s.json -o r.json --time-budget 60").status, 0);
    const std::string recipe = read("r.json");
    int made = 0;
    for (std::size_t at = recipe.find("compute_at"); at != std::string::npos; at = recipe.find("compute_at", at + 1)) ++made;
    EXPECT_EQ(made, stages) << recipe;
    for (const int n : sizes)
      for (const char* threads : {"1", "2"}) {
        const Answer a = facet("run s.json --schedule r.json --verify --set N=" + std::to_string(n) + " --threads " + threads);
        EXPECT_EQ(a.status, 0) << n << " on " << threads << "\n" << a.out;
        EXPECT_NE(a.out.find("verified"), std::string::npos) << a.out;
      }
  }
};

TEST_F(Pipelines, InnerPointsOnly) {
  verifies(
      R"({"op": "compute", "in": "x", "out": "p", "def": "p[i, j] = x[i, j] + x[i + 1, j] + x[i + 2, j] for i in 0..N - 2, j in 0..N"},
    {"op": "compute", "in": "p", "out": "q", "def": "q[i, j] = p[i, j] * p[i, j + 2] for i in 0..N - 2, j in 0..N - 2"},
    {"op": "compute", "in": "q", "out": "y", "def": "y[i, j] = q[i, j] + q[i + 2, j + 1] for i in 0..N - 4, j in 0..N - 4"})",
      2, {6, 17, 130, 300});
}

// The part of a tile at the border holds the padding value.
TEST_F(Pipelines, PaddedAtTheBorder) {
  verifies(R"({"op": "compute", "in": "x", "out": "p", "def": "p[i, j] = x[i - 1, j ? 0.0] + x[i, j] + x[i + 1, j ? 0.0]"},
    {"op": "compute", "in": "p", "out": "q", "def": "q[i, j] = p[i, j - 1 ? 1.5] + p[i, j] * p[i, j + 2 ? 1.5]"},
    {"op": "compute", "in": "q", "out": "y", "def": "y[i, j] = q[i - 2, j + 1 ? 0.25] + q[i, j] + q[i + 1, j - 1 ? 0.25]"})",
           2, {6, 17, 130, 300});
}

TEST_F(Pipelines, DifferentPaddingsStayApart) {
  verifies(R"({"op": "compute", "in": "x", "out": "p", "def": "p[i, j] = x[i, j] * 2.0"},
    {"op": "compute", "in": "p", "out": "y", "def": "y[i, j] = p[i - 1, j ? 0.0] + p[i, j + 1 ? 1.0]"})",
           0, {17});
}

// Steps that take isl many seconds: every verb ends with the budget, and none drops them.
TEST_F(Pipelines, StepsOfARecipeEndWithTheBudget) {
  write("s.json", R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 1, "max": 100000, "default": 16}},
    "tensors": {"a": {"dtype": "f32", "shape": ["N"]}}, "inputs": ["a"], "ops": [
    {"op": "compute", "in": "a", "out": "s0", "def": "s0[i] = max(max(a[i - 1 ? -2.0], a[2*i - 1 ? -2.0]), max[w](a[i + w - 1 ? -2.0])) for i in 0..N, w in 0..3"},
    {"op": "compute", "in": "s0", "out": "s1", "def": "s1[i] = s0[i - 2 ? 0.0] * 0.5 for i in 0..N"},
    {"op": "compute", "in": "s1", "out": "s2", "def": "s2[i] = max(s1[i + 1 ? -2.0], s1[i - 3 ? -2.0]) for i in 0..N"},
    {"op": "compute", "in": ["s1", "s2"], "out": "out", "def": "out[i] = max(s2[i - 1 ? 1.0], s2[i - 2 ? 1.0]) + s2[2*i + 1 ? 1.0] - s2[i + 1 ? 1.0] + s1[i + 1 ? -2.0] + max[w](s2[i + w - 1 ? 1.0]) for i in 0..N, w in 0..3"}],
    "outputs": ["out"]})");
  write("r.json", R"({"facet_recipe": 1, "variants": [{"groups": [{"name": "k0", "ops": ["s0", "s1", "s2", "out"], "steps": [
    {"do": "tile", "statement": "out", "loops": ["i"], "sizes": [3]},
    {"do": "compute_at", "array": "s2", "statement": "out", "at": "it"},
    {"do": "compute_at", "array": "s1", "statement": "s2.at", "at": "i"},
    {"do": "compute_at", "array": "s0", "statement": "s1.at", "at": "it"}]}]}]})");
  for (const char* verb : {"run", "compile -o made", "show --stage ast"})
    EXPECT_EQ(error_code(std::string(verb) + " s.json --schedule r.json --time-budget 0.1"), "budget-exhausted") << verb;
}

}  // namespace
}  // namespace facet
