// Recipes with holes and differences of recipes, as a user meets them.
#include "unit/tool/tool.hpp"

namespace facet {
namespace {

class Workbench : public Tool {
 protected:
  void SetUp() override {
    Tool::SetUp();
    write("m.json", R"~({"facet": 1, "name": "m", "tensors": {"a": {"dtype": "f32", "shape": [96, 96]},
      "b": {"dtype": "f32", "shape": [96, 96]}}, "inputs": ["a", "b"], "ops": [{"op": "compute", "in": ["a", "b"], "out": ["c"],
      "def": ["c[i, j] = sum[k](a[i, k] * b[k, j])"]}], "outputs": ["c"]})~");
    recipe(
        "holes.json",
        R"({"do": "interchange", "statement": "c", "order": "?"}, {"do": "tile", "statement": "c", "loops": ["i", "j"], "sizes": [16, "?"]})");
    recipe("plain.json", "");
    recipe("four.json", R"({"do": "vectorize", "statement": "c", "loop": "j", "width": 4})", R"(["i", "k", "j"])");
    recipe(
        "eight.json",
        R"({"do": "vectorize", "statement": "c", "loop": "j", "width": 8}, {"do": "parallelize", "statement": "c", "loop": "i"})",
        R"(["i", "k", "j"])");
  }

  void recipe(const std::string& name, const std::string& steps, const std::string& order = "") {
    std::string all = R"({"do": "distribute", "statement": "c", "loop": "i"})";
    if (!order.empty()) all += R"(, {"do": "interchange", "statement": "c", "order": )" + order + "}";
    if (!steps.empty()) all += ", " + steps;
    write(name, R"({"facet_recipe": 1, "variants": [{"groups": [{"ops": ["c"], "steps": [)" + all + "]}]}]}");
  }
};

TEST_F(Workbench, ACompletedRecipeGivesTheSameSource) {
  ASSERT_EQ(facet("schedule m.json --schedule holes.json -o done.json --time-budget 200").status, 0);
  const Answer text = facet("schedule m.json --schedule done.json");
  EXPECT_EQ(text.out.find("\"?\""), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("16"), std::string::npos) << text.out;
  EXPECT_EQ(facet("show m.json --stage source --schedule holes.json --time-budget 200").out,
            facet("show m.json --stage source --schedule done.json").out);
  EXPECT_EQ(facet("legal m.json --schedule holes.json --time-budget 200").status, 0);
}

TEST_F(Workbench, HolesWithoutAValueAreErrors) {
  recipe("no.json", R"({"do": "promote", "array": "b", "statement": "c", "at": "i", "layout": {"order": "?"}})");
  EXPECT_EQ(error_code("schedule m.json --schedule no.json"), "bad-step-argument");
}

TEST_F(Workbench, DiffTellsWhatTheStepsChange) {
  const Json same = Json::parse(facet("diff four.json four.json --program m.json --json").out);
  EXPECT_EQ(same["same"], true);
  EXPECT_EQ(same["effect"]["first"], same["effect"]["second"]);
  const Json j = Json::parse(facet("diff four.json eight.json --program m.json --threads 2 --json").out);
  EXPECT_EQ(j["same"], false);
  ASSERT_EQ(j["changes"].size(), 2U) << j.dump();
  EXPECT_FALSE(j["changes"][0]["first"].is_null()) << "a changed width is one change";
  EXPECT_FALSE(j["changes"][0]["second"].is_null());
  const Json first = j["effect"]["first"], second = j["effect"]["second"];
  EXPECT_EQ(first["flops"], second["flops"]);
  EXPECT_EQ(first["lanes"], 4);
  EXPECT_EQ(second["lanes"], 8);
  EXPECT_EQ(second["threads"], 2);
  EXPECT_EQ(second["parallel_iterations"], 96);
  EXPECT_LT(second["time_us"], first["time_us"]);
  for (const char* level : {"L2", "L3", "memory"}) EXPECT_TRUE(first["bytes"].contains(level)) << level;
  const Answer text = facet("diff plain.json four.json --program m.json");
  EXPECT_NE(text.out.find("predicted us"), std::string::npos) << text.out;
  EXPECT_EQ(error_code("diff plain.json four.json --program absent.json"), "file-unreadable");
}

}  // namespace
}  // namespace facet
