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

}  // namespace
}  // namespace facet
