// What a recipe says is obeyed or refused, by every verb alike: no step is accepted and ignored.
#include "unit/tool/tool.hpp"

namespace facet {
namespace {

class Obeyed : public Tool {
 protected:
  void SetUp() override {
    Tool::SetUp();
    write(
        "square.json",
        R"({"facet": 1, "name": "square", "symbols": {"N": {"min": 1, "max": 500, "default": 40}}, "tensors": {"x": {"dtype": "f32",
      "shape": ["N", "N"]}}, "inputs": ["x"], "ops": [{"op": "compute", "in": "x", "out": "y", "def": "y[i, j] = x[i, j] * 2"}],
      "outputs": ["y"]})");
    write("triangle.json",
          R"({"facet": 1, "name": "triangle", "symbols": {"N": {"min": 1, "max": 500, "default": 40}}, "tensors": {"A":
      {"dtype": "f32", "shape": ["N", "N"]}}, "inputs": ["A"], "ops": [{"op": "loops", "in": "N", "inout": "A",
      "code": ["for (int i = 0; i < N; i++) for (int j = 0; j <= i; j++) A[i][j] = A[i][j] + 1.0f;"]}], "outputs": ["A"]})");
    write("chain.json",
          R"({"facet": 1, "name": "chain", "tensors": {"A": {"dtype": "f32", "shape": [64, 64]}}, "inputs": ["A"],
      "ops": [{"op": "loops", "inout": "A",
      "code": ["for (int i = 1; i < 64; i++) for (int j = 0; j < 64; j++) A[i][j] = A[i-1][j] + 1.0f;"]}], "outputs": ["A"]})");
  }

  void recipe(const std::string& op, const std::string& steps) {
    write("r.json", R"({"facet_recipe": 1, "variants": [{"groups": [{"ops": [")" + op + R"("], "steps": [)" + steps + "]}]}]}");
  }
  Json error(const std::string& arguments) {
    const Answer a = facet(arguments + " --json");
    EXPECT_NE(a.status, 0) << arguments << a.out;
    const Json j = Json::parse(a.out, nullptr, false);
    return j.is_object() && j.contains("error") ? j["error"] : Json{{"code", "none"}, {"pointer", ""}, {"message", a.out}};
  }
  std::string source(const std::string& program) { return facet("show " + program + " --stage source --schedule r.json").out; }
};

const char* const kVerbs[] = {"schedule", "run", "show --stage source", "explain"};

TEST_F(Obeyed, TheWholeRestStandsLast) {
  recipe("y", R"("?", {"do": "tile", "statement": "y", "loops": ["i", "j"], "sizes": [8, 8]})");
  for (const std::string verb : {"legal", "schedule", "run", "show --stage schedule", "explain"}) {
    const Json e = error(verb + " square.json --schedule r.json");
    EXPECT_EQ(e["code"], "wrong-type") << verb << e;
    EXPECT_EQ(e["pointer"], "/variants/0/groups/0/steps/0") << verb;
  }
  recipe("y", R"({"do": "tile", "statement": "y", "loops": ["i", "j"], "sizes": [8, 8]}, "?")");
  EXPECT_EQ(facet("legal square.json --schedule r.json").status, 0);
  EXPECT_EQ(facet("schedule square.json --schedule r.json").status, 0);
}

// `schedule` printed whatever stood there: complete recipes were not judged.
TEST_F(Obeyed, WhatOneVerbRefusesAllRefuse) {
  recipe("A", R"({"do": "parallelize", "statement": "A", "loop": "i"})");
  EXPECT_EQ(facet("legal chain.json --schedule r.json").status, 1);
  for (const std::string verb : kVerbs)
    EXPECT_EQ(error(verb + " chain.json --schedule r.json")["code"], "illegal-step") << verb;
  recipe("y", R"({"do": "tile", "statement": "y", "loops": ["i", "q"], "sizes": [8, 8]})");
  EXPECT_EQ(error("legal square.json --schedule r.json")["code"], "unknown-loop");
  for (const std::string verb : kVerbs)
    EXPECT_EQ(error(verb + " square.json --schedule r.json")["code"], "unknown-loop") << verb;
}

TEST_F(Obeyed, AFixedStepBeforeAHoleHasItsWitness) {
  recipe(
      "A",
      R"({"do": "parallelize", "statement": "A", "loop": "i"}, {"do": "vectorize", "statement": "A", "loop": "j", "width": "?"})");
  const Answer a = facet("legal chain.json --schedule r.json --json");
  EXPECT_EQ(a.status, 1);
  const Json j = Json::parse(a.out);
  EXPECT_EQ(j["step"], "/variants/0/groups/0/steps/0") << j;
  EXPECT_EQ(j["violation"]["array"], "A") << j;
}

TEST_F(Obeyed, CollapseIsOfBoxes) {
  recipe("A", R"({"do": "parallelize", "statement": "A", "loop": "i", "collapse": 2})");
  const Json j = Json::parse(facet("legal triangle.json --schedule r.json --json").out);
  EXPECT_EQ(j["legal"], false);
  EXPECT_NE(j["message"].get<std::string>().find("the bounds of loop 'j' depend on the loops that `collapse` joins"),
            std::string::npos)
      << j;
  recipe("y", R"({"do": "parallelize", "statement": "y", "loop": "i", "collapse": 2})");
  EXPECT_NE(source("square.json").find("collapse(2)"), std::string::npos) << source("square.json");
  recipe("y", R"({"do": "tile", "statement": "y", "loops": ["i", "j"], "sizes": [8, 8]},
    {"do": "parallelize", "statement": "y", "loop": "it", "collapse": 2})");
  EXPECT_NE(source("square.json").find("collapse(2)"), std::string::npos) << source("square.json");
  recipe("y", R"({"do": "tile", "statement": "y", "loops": ["i", "j"], "sizes": [8, 8]},
    {"do": "parallelize", "statement": "y", "loop": "it", "collapse": 2},
    {"do": "promote", "array": "x", "statement": "y", "at": "it", "memory": "l2"})");
  EXPECT_EQ(facet("legal square.json --schedule r.json").status, 1) << "a copy would stand between the loops";
}

// Without a factor a loop of N iterations stayed as it was.
TEST_F(Obeyed, UnrolledLoopsHaveCopies) {
  const std::string unroll = R"({"do": "unroll", "statement": "y", "loop": "j")";
  recipe("y", unroll + "}");
  EXPECT_NE(source("square.json").find("j += 4"), std::string::npos) << source("square.json");
  recipe("y", unroll + R"(, "factor": 2})");
  EXPECT_NE(source("square.json").find("j += 2"), std::string::npos) << source("square.json");
  recipe("y", R"({"do": "tile", "statement": "y", "loops": ["i", "j"], "sizes": [8, 8]}, )" + unroll + "}");
  EXPECT_NE(source("square.json").find("jt * 8 + 7]"), std::string::npos) << source("square.json");
  recipe("A", R"({"do": "unroll", "statement": "A", "loop": "j"})");
  EXPECT_NE(source("triangle.json").find("j += 4"), std::string::npos) << source("triangle.json");
  for (const std::string factor : {"65", "-3", "1099511627776"}) {
    recipe("y", unroll + ", \"factor\": " + factor + "}");
    EXPECT_EQ(error("run square.json --schedule r.json")["message"],
              "argument 'factor' of step 'unroll': expected copies from 1 to 64, or 0 for all iterations, found " + factor);
  }
  recipe("y", unroll + R"(, "factor": 1})");
  EXPECT_NE(source("square.json").find("++j"), std::string::npos) << "one copy";
}

TEST_F(Obeyed, WidthsAreNamedWithTheirRange) {
  for (const std::string width : {"0", "1", "3", "2048", "1099511627776"}) {
    recipe("y", R"({"do": "vectorize", "statement": "y", "loop": "j", "width": )" + width + "}");
    const Json e = error("legal square.json --schedule r.json");
    EXPECT_EQ(e["message"], "argument 'width' of step 'vectorize': expected a power of two from 2 to 1024, found " + width);
    EXPECT_EQ(e["pointer"], "/variants/0/groups/0/steps/0/width");
  }
}

TEST_F(Obeyed, StepsOfAnotherTargetAreRefused) {
  recipe("y", R"({"do": "map_gpu", "statement": "y", "grid": ["i", "j"], "block": ["j"], "threads": [32]})");
  const Answer refused = facet("legal square.json --schedule r.json --json");
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(Json::parse(refused.out)["message"].get<std::string>().find("it is for the target cuda, this one is openmp"),
            std::string::npos)
      << refused.out;
  EXPECT_EQ(Json::parse(refused.out)["step"], "/variants/0/groups/0/steps/0");
  for (const std::string verb : kVerbs) EXPECT_EQ(error(verb + " square.json --schedule r.json")["code"], "step-precondition");
  EXPECT_EQ(facet("legal square.json --schedule r.json --target cuda").status, 0);
  recipe("y", R"({"do": "vectorize", "statement": "y", "loop": "j", "width": 8})");
  EXPECT_EQ(facet("legal square.json --schedule r.json --target openmp:avx2").status, 0);
  EXPECT_EQ(facet("legal square.json --schedule r.json --target cuda").status, 1);
}

TEST_F(Obeyed, ConditionsThatNoSizeSatisfies) {
  write("r.json", R"({"facet_recipe": 1, "variants": [{"when": "N > 500", "groups": [{"ops": ["y"], "steps": []}]}, {}]})");
  for (const std::string verb : {"legal", "schedule", "run"}) {
    const Json e = error(verb + " square.json --schedule r.json");
    EXPECT_EQ(e["code"], "wrong-type") << e;
    EXPECT_EQ(e["pointer"], "/variants/0/when");
    EXPECT_EQ(e["notes"][0], "symbol N is in 1..500");
  }
  write("r.json", R"({"facet_recipe": 1, "variants": [{"when": "N > 499", "groups": [{"ops": ["y"], "steps": []}]}, {}]})");
  EXPECT_EQ(facet("run square.json --schedule r.json --set N=500").status, 0);
}

TEST_F(Obeyed, CutsTellTheRange) {
  recipe("y", R"({"do": "index_set_split", "statement": "y", "loop": "i", "at": 4000})");
  const Json j = Json::parse(facet("legal square.json --schedule r.json --json").out);
  const std::string message = j["message"];
  EXPECT_NE(message.find("`at` 4000 leaves all iterations on one side: loop 'i' runs from 0 to N - 1"), std::string::npos)
      << message;
  recipe("A", R"({"do": "peel", "statement": "A", "loop": "i", "last": 63})");
  EXPECT_NE(Json::parse(facet("legal chain.json --schedule r.json --json").out)["message"].get<std::string>().find(
                "`last` 63 leaves all iterations on one side: loop 'i' runs from 1 to 63"),
            std::string::npos);
}

}  // namespace
}  // namespace facet
