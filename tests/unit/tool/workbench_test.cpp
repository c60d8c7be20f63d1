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

// The completion names program, target and memory, which the recipe that it completes leaves open.
TEST_F(Workbench, ARecipeAndItsCompletionAreForTheSameProgram) {
  ASSERT_EQ(facet("schedule m.json --schedule holes.json -o done.json --time-budget 200").status, 0);
  const Json j = Json::parse(facet("diff holes.json done.json --json").out);
  for (const Json& change : j["changes"]) EXPECT_EQ(change["kind"], "step") << change;
  EXPECT_FALSE(j["changes"].empty());
  ASSERT_EQ(facet("schedule m.json --target cuda -o gpu.json").status, 0);
  bool target = false;
  const Json other = Json::parse(facet("diff done.json gpu.json --json").out);
  for (const Json& change : other["changes"]) target = target || change["kind"] == "target";
  EXPECT_TRUE(target) << "two targets that are named differ";
  write("open.json", R"({"facet_recipe": 1})");
  const Json open = Json::parse(facet("diff open.json done.json --json").out);
  ASSERT_EQ(open["changes"].size(), 1U) << open;
  EXPECT_EQ(open["changes"][0]["first"], "kernels left to the scheduler");
}

TEST_F(Workbench, GroupsWithoutANameAreNumbered) {
  write("t.json", R"({"facet": 1, "name": "t", "tensors": {"x": {"dtype": "f32", "shape": [9]}}, "inputs": ["x"],
    "ops": [{"op": "relu", "in": "x", "out": "a"}, {"op": "exp", "in": "a", "out": "b"}, {"op": "abs", "in": "b", "out": "c"}],
    "outputs": ["c"]})");
  const auto names = [&](const std::string& groups) {
    write("g.json", R"({"facet_recipe": 1, "variants": [{"groups": [)" + groups + "]}]}");
    std::string all;
    const Json j = Json::parse(facet("schedule t.json --schedule g.json --json").out);
    if (j.contains("error")) return j["error"]["code"].get<std::string>();
    for (const Json& g : j["variants"][0]["groups"]) all += g["name"].get<std::string>() + " ";
    return all;
  };
  const std::string b = R"({"ops": ["b"], "steps": []}, {"ops": ["c"], "steps": []})";
  EXPECT_EQ(names(R"({"ops": ["a"], "steps": []}, )" + b), "k0 k1 k2 ");
  EXPECT_EQ(names(R"({"name": "k1", "ops": ["a"], "steps": []}, )" + b), "k1 k2 k3 ");
  EXPECT_EQ(names(R"({"name": "first", "ops": ["a"], "steps": []}, )" + b), "first k1 k2 ");
  EXPECT_EQ(names(R"({"name": "k", "ops": ["a"], "steps": []}, {"name": "k", "ops": ["b", "c"], "steps": []})"),
            "listed-twice");
  EXPECT_EQ(names(R"({"ops": [], "steps": []}, {"ops": ["a"], "steps": []}, )" + b), "empty-list") << "it crashed";
  write("g.json", R"({"facet_recipe": 1, "variants": [{"groups": [{"ops": ["a"], "steps": []}, )" + b + "]}]}");
  const std::string text = facet("explain t.json --schedule g.json").out;
  EXPECT_NE(text.find("kernel k2 (c): "), std::string::npos) << text;
}

// Of a triangle's register tile one piece has no form that is unrolled, the other has: the step is obeyed, and stays.
TEST_F(Workbench, TheSchedulersOwnRecipeGivesTheSameSource) {
  const std::string program = test::source_path("bench/polybench/trmm.json") + " --time-budget 200";
  ASSERT_EQ(facet("schedule " + program + " -o own.json").status, 0);
  EXPECT_NE(read("own.json").find("\"unroll\""), std::string::npos) << "or nothing was tested";
  EXPECT_EQ(facet("show " + program + " --stage source").out,
            facet("show " + program + " --stage source --schedule own.json").out);
}

// A stencil in place, fused with its consumer, tiled and run on threads: one repair for each of two refusals.
TEST_F(Workbench, LegalTellsARepairOfTheStepWhereNoneServesTheWhole) {
  write("st.json", R"~({"facet": 1, "name": "st", "symbols": {"N": {"min": 4, "max": 4096, "default": 100}},
    "tensors": {"A": {"dtype": "f64", "shape": ["N", "N"]}, "B": {"dtype": "f64", "shape": ["N", "N"]}}, "inputs": ["A"],
    "ops": [{"op": "loops", "in": ["N"], "inout": ["A"], "out": ["B"], "code": [
      "for (int i = 1; i < N-1; i++) for (int j = 1; j < N-1; j++) A[i][j] = 0.25 * (A[i-1][j] + A[i][j-1] + A[i+1][j] + A[i][j+1]);",
      "for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) B[i][j] = A[i][j] + A[min(i + 1, N - 1)][j];"]}],
    "outputs": ["A", "B"]})~");
  const auto paste = [&](const std::vector<Json>& steps) {
    write("st.r.json", Json({{"facet_recipe", 1}, {"variants", {{{"groups", {{{"ops", {"A"}}, {"steps", steps}}}}}}}}).dump());
  };
  std::vector<Json> steps = {R"({"do": "fuse", "statements": ["A", "B"], "loops": ["i", "j"]})"_json,
                             R"({"do": "tile", "statement": "A", "loops": ["i", "j"], "sizes": [32, 32]})"_json,
                             R"({"do": "parallelize", "statement": "A", "loop": "it"})"_json};
  paste(steps);
  const Json first = Json::parse(facet("legal st.json --schedule st.r.json --json").out);
  EXPECT_TRUE(first["repair"].is_null() && first["instead"].is_null()) << "those make the whole recipe legal";
  EXPECT_EQ(first["step_repair"]["leaves"]["step"], "/variants/0/groups/0/steps/2");
  const Answer told = facet("legal st.json --schedule st.r.json");
  EXPECT_NE(told.out.find("\n  repair of this step: insert before it [{\"do\":\"shift\""), std::string::npos) << told.out;
  EXPECT_NE(told.out.find("\n  it makes this step legal; a later one is still refused: /variants/0/groups/0/steps/2: step "
                          "'parallelize' is illegal: "),
            std::string::npos)
      << told.out;
  const Json& insert = first["step_repair"]["insert"];
  steps.insert(steps.begin(), insert.begin(), insert.end());
  paste(steps);
  const Json second = Json::parse(facet("legal st.json --schedule st.r.json --json").out);
  EXPECT_TRUE(second["step_repair"].is_null());
  steps.insert(steps.end() - 1, second["repair"].begin(), second["repair"].end());
  paste(steps);
  EXPECT_EQ(facet("legal st.json --schedule st.r.json").out, "legal\n");
  EXPECT_EQ(facet("run st.json --schedule st.r.json --verify").status, 0);
}

}  // namespace
}  // namespace facet
