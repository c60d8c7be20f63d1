// Parts of arrays in fused loops whose statements' values lie apart: i at 0, 2, 4, .. for one and 1, 3, 5, .. for the other.
// isl scans such loops as one that walks the values of the first; a part of the second lies where its own values say.
#include "unit/tool/tool.hpp"

namespace facet {
namespace {

class StridedParts : public Tool {
 protected:
  void SetUp() override {
    Tool::SetUp();
    write("p.json", R"({"facet": 1, "name": "strided", "symbols": {"N": {"min": 2, "max": 500, "default": 40}}, "tensors": {
      "A": {"dtype": "i32", "shape": ["2*N"]}, "B": {"dtype": "i32", "shape": ["2*N"]}, "x": {"dtype": "i32", "shape": ["2*N+4"]},
      "t": {"dtype": "i32", "shape": ["2*N+4"]}, "u": {"dtype": "i32", "shape": ["2*N+1"]}},
      "inputs": ["A", "B", "x"], "ops": [{"op": "loops", "in": ["N", "x"], "inout": ["A", "B"], "out": ["t", "u"], "code": [
      "for (int j = 0; j < 2*N+4; j++) t[j] = x[j] * 5;",
      "for (int i = 0; i < 2*N; i += 2) { for (int j = 0; j < 4; j++) A[i] += t[i+j]; }",
      "for (int i = 1; i < 2*N; i += 2) { for (int j = 0; j < 3; j++) u[i+j-1] = x[i+j] * 3; for (int j = 0; j < 3; j++) B[i] += u[i+j-1]; }"
      ]}], "outputs": ["A", "B"]})");
  }
  // Fused, then these steps.
  void recipe(const std::string& steps) {
    write("r.json", R"({"facet_recipe": 1, "variants": [{"groups": [{"ops": ["t"], "steps": [
      {"do": "fuse", "statements": ["A", "B"], "loops": ["i"]})" +
                        (steps.empty() ? "" : ", " + steps) + "]}]}]}");
  }
};

TEST_F(StridedParts, LieWhereTheStatementsOwnValuesSay) {
  recipe(R"({"do": "contract", "array": "u", "statement": "B", "at": "i"})");
  const std::string tree = facet("show p.json --stage ast --schedule r.json").out;
  EXPECT_NE(tree.find("in 0..2 * N step 2"), std::string::npos) << "one loop for both, or nothing is tested\n" << tree;
  EXPECT_NE(tree.find("allocate u: i32[3]"), std::string::npos) << tree;
  EXPECT_NE(tree.find("u[j] = "), std::string::npos) << "it was u[j + 1], past the end\n" << tree;
}

TEST_F(StridedParts, ComputeTheSame) {
  for (
      const std::string steps : {
          R"({"do": "contract", "array": "u", "statement": "B", "at": "i"})",
          R"({"do": "promote", "array": "x", "statement": "u", "at": "i", "memory": "stack"})",
          R"({"do": "promote", "array": "t", "statement": "A", "at": "i", "memory": "stack"})",
          R"({"do": "compute_at", "array": "t", "statement": "A", "at": "i"})",
          R"({"do": "tile", "statement": "B", "loops": ["i"], "sizes": [6]}, {"do": "contract", "array": "u", "statement": "B", "at": "it"})",
          R"({"do": "tile", "statement": "B", "loops": ["i"], "sizes": [5]}, {"do": "contract", "array": "u", "statement": "B", "at": "i"})",
          R"({"do": "tile", "statement": "B", "loops": ["i"], "sizes": [6]}, {"do": "promote", "array": "t", "statement": "A", "at": "it", "memory": "stack"})",
      }) {
    recipe(steps);
    for (const std::string size : {"2", "3", "17"}) {
      const Answer a = facet("run p.json --schedule r.json --verify --threads 2 --set N=" + size);
      EXPECT_EQ(a.status, 0) << steps << a.out;
      EXPECT_NE(a.out.find("verified"), std::string::npos) << steps << a.out;
    }
  }
}

// What others write outside the loop, and nobody takes over, had no place in a part: the tool crashed, or wrote beside it.
TEST_F(StridedParts, HaveRoomForWhatNobodyTakesOver) {
  write("d.json", R"({"facet": 1, "name": "dead", "symbols": {"N": {"min": 2, "max": 500, "default": 40}}, "tensors": {
    "B": {"dtype": "i32", "shape": ["N"]}, "u": {"dtype": "i32", "shape": ["N+2"]}}, "inputs": ["B"], "ops": [{"op": "loops",
    "in": ["N"], "inout": ["B"], "out": ["u"], "code": ["for (int j = 0; j < N+2; j++) u[j] = 0;",
    "for (int i = 0; i < N; i++) { for (int j = 0; j < 3; j++) u[i+j] = i * j; for (int j = 0; j < 3; j++) B[i] += u[i+j]; }"]}],
    "outputs": ["B"]})");
  for (const std::string tile : {"", R"({"do": "tile", "statement": "B", "loops": ["i"], "sizes": [5]}, )"}) {
    write("r.json", R"({"facet_recipe": 1, "variants": [{"groups": [{"ops": ["u"], "steps": [)" + tile +
                        R"({"do": "contract", "array": "u", "statement": "B", "at": "i"}]}]}]})");
    for (const std::string size : {"2", "7", "40"}) {
      const Answer a = facet("run d.json --schedule r.json --verify --set N=" + size);
      EXPECT_EQ(a.status, 0) << tile << a.out;
    }
  }
}

// Turns go by the loop's values, so `buffers` stay refused there.
TEST_F(StridedParts, TakeNoTurns) {
  write("r.json", R"({"facet_recipe": 1, "variants": [{"groups": [{"ops": ["t"], "steps": [
    {"do": "promote", "array": "t", "statement": "A", "at": "i", "memory": "stack", "buffers": 2}]}]}]})");
  EXPECT_EQ(facet("legal p.json --schedule r.json").status, 1);
}

}  // namespace
}  // namespace facet
