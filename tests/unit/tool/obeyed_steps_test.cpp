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
  ASSERT_EQ(j["legal"], false);
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

// A recipe made for cuda ran as one for openmp, without a word.
TEST_F(Obeyed, RecipesAreForTheTargetThatTheyName) {
  const auto named = [&](const std::string& target) {
    write("r.json",
          R"({"facet_recipe": 1, "target": ")" + target + R"(", "variants": [{"groups": [{"ops": ["y"], "steps": []}]}]})");
  };
  named("cuda:sm_90");
  for (const std::string verb : {"legal", "schedule", "run", "show --stage source", "explain", "compile -o out"}) {
    const Json e = error(verb + " square.json --schedule r.json");
    EXPECT_EQ(e["code"], "recipe-for-other-target") << verb;
    EXPECT_EQ(e["pointer"], "/target") << verb;
    EXPECT_EQ(e["line"], 1) << verb;
    EXPECT_EQ(e["notes"][0], "take it with --target cuda:sm_90") << verb;
  }
  EXPECT_EQ(error("diff r.json r.json --program square.json")["code"], "recipe-for-other-target");
  EXPECT_EQ(facet("legal square.json --schedule r.json --target cuda").status, 0) << "another architecture";
  // A name that --target does not take is none for a recipe either, and no way out.
  for (const std::string unknown : {"openmp:bogus", "cuda:sm_12"}) {
    named(unknown);
    const Json e = error("legal square.json --schedule r.json");
    EXPECT_EQ(e["code"], "bad-target") << unknown;
    EXPECT_EQ(e["pointer"], "/target") << unknown;
  }
  named("openmp:avx2");
  EXPECT_EQ(facet("run square.json --schedule r.json").status, 0) << "another instruction set";
  for (const std::string target : {"gpu", "reference", "openmp:"}) {
    named(target);
    EXPECT_EQ(error("run square.json --schedule r.json")["code"], "bad-target") << target;
  }
  EXPECT_EQ(error("run square.json --schedule r.json --target reference")["code"], "bad-command-line");
  ASSERT_EQ(facet("schedule square.json --target reference -o r.json").status, 0);
  EXPECT_EQ(facet("run square.json --schedule r.json").status, 0);
}

// The "order" of "memory" was read and written over.
TEST_F(Obeyed, MemoryIsPlannedAsTheGroupsRun) {
  write("two.json", R"({"facet": 1, "name": "two", "tensors": {"x": {"dtype": "f32", "shape": [9]}}, "inputs": ["x"],
    "ops": [{"op": "relu", "in": "x", "out": "a"}, {"op": "exp", "in": "a", "out": "b"}], "outputs": ["b"]})");
  const auto order = [&](const std::string& names) {
    write("r.json", R"({"facet_recipe": 1, "variants": [{"groups": [{"name": "first", "ops": ["a"], "steps": []},
      {"name": "then", "ops": ["b"], "steps": []}]}], "memory": {"order": )" +
                        names + "}}");
  };
  for (const std::string fine : {R"(["first", "then"])", R"(["then"])", "[]", R"("?")"}) {
    order(fine);
    const Answer a = facet("schedule two.json --schedule r.json --json");
    ASSERT_EQ(a.status, 0) << fine << a.out;
    EXPECT_EQ(Json::parse(a.out)["memory"]["order"], Json({"first", "then"})) << fine;
  }
  order(R"(["then", "first"])");
  for (const std::string verb : {"legal", "schedule", "run", "show --stage source", "explain"}) {
    const Json e = error(verb + " two.json --schedule r.json");
    EXPECT_EQ(e["code"], "bad-memory-order") << verb;
    EXPECT_EQ(e["pointer"], "/memory/order/1") << verb;
    EXPECT_EQ(e["line"], 2) << verb;
  }
  order(R"(["frist"])");
  const Json e = error("run two.json --schedule r.json");
  EXPECT_EQ(e["code"], "bad-memory-order");
  EXPECT_EQ(e["notes"][0], "did you mean \"first\"?") << e;
}

TEST_F(Obeyed, ComplaintsOfGroupsNameTheirPlace) {
  const auto groups = [&](const std::string& list) {
    write("r.json", "{\"facet_recipe\": 1,\n \"variants\": [\n  {\"groups\": [\n" + list + "]}]}");
    return error("run square.json --schedule r.json");
  };
  const Json missing = groups("");
  EXPECT_EQ(missing["code"], "bad-groups");
  EXPECT_EQ(missing["pointer"], "/variants/0");
  EXPECT_EQ(missing["line"], 3);
  const Json unknown = groups(R"({"ops": ["y",
    "yy"]})");
  EXPECT_EQ(unknown["code"], "bad-groups");
  EXPECT_EQ(unknown["pointer"], "/variants/0/groups/0/ops/1");
  EXPECT_EQ(unknown["line"], 5);
  EXPECT_EQ(unknown["notes"][0], "did you mean \"y\"?");
  const Json twice = groups(R"({"ops": ["y"]},
    {"ops": ["y"]})");
  EXPECT_EQ(twice["pointer"], "/variants/0/groups/1/ops/0");
  EXPECT_EQ(twice["line"], 5);
  write("r.json", "{\"facet_recipe\": 1,\n \"program\": \"" + std::string(64, 'a') + "\"}");
  const Json other = error("run square.json --schedule r.json");
  EXPECT_EQ(other["code"], "recipe-for-other-program");
  EXPECT_EQ(other["line"], 2);
}

// Loops whose marks differ became one with the mark of the first.
TEST_F(Obeyed, FusedLoopsRunInOneWay) {
  write("two.json", R"({"facet": 1, "name": "two", "tensors": {"x": {"dtype": "f32", "shape": [64, 64]}}, "inputs": ["x"],
    "ops": [{"op": "compute", "in": "x", "out": ["y", "z"], "def": ["y[i, j] = x[i, j] * 2.0", "z[k, l] = y[k, l] + x[k, l]"]}],
    "outputs": ["y", "z"]})");
  const auto steps = [&](const std::string& list) {
    write("r.json", R"({"facet_recipe": 1, "variants": [{"groups": [{"ops": ["y"], "steps": [)" + list +
                        R"({"do": "fuse", "statements": ["y", "z"], "loops": {"y": ["i"], "z": ["k"]}}]}]}]})");
    return Json::parse(facet("legal two.json --schedule r.json --json").out);
  };
  const std::string y = R"({"do": "parallelize", "statement": "y", "loop": "i"}, )",
                    z = R"({"do": "parallelize", "statement": "z", "loop": "k"}, )",
                    four = R"({"do": "unroll", "statement": "z", "loop": "k", "factor": 4}, )",
                    two = R"({"do": "unroll", "statement": "y", "loop": "i", "factor": 2}, )";
  EXPECT_EQ(steps("")["legal"], true);
  EXPECT_EQ(steps(y + z)["legal"], true) << "both go to the threads";
  EXPECT_NE(source("two.json").find("omp parallel for"), std::string::npos);
  for (const std::string& other : {y, z, y + four, two + four}) {
    const Json j = steps(other);
    ASSERT_EQ(j["legal"], false) << other;
    EXPECT_NE(j["message"].get<std::string>().find("the loop that they become runs in one way"), std::string::npos) << j;
  }
}

// The passes dropped such steps with a note that only `explain` showed.
TEST_F(Obeyed, WhatTheCodeDoesNotDoIsRefused) {
  write("strided.json", R"({"facet": 1, "name": "strided", "symbols": {"N": {"min": 2, "max": 500, "default": 40}}, "tensors": {
    "A": {"dtype": "f64", "shape": ["2*N"]}}, "inputs": ["A"], "ops": [{"op": "loops", "in": ["N"], "inout": "A",
    "code": "for (int i = 0; i < 2*N; i += 2) A[i] = A[i] + 1.0;"}], "outputs": ["A"]})");
  const std::string vectors = R"({"do": "vectorize", "statement": "A", "loop": "i", "width": 4})";
  for (const std::string& step : {vectors, std::string(R"({"do": "unroll", "statement": "A", "loop": "i", "factor": 4})")}) {
    recipe("A", step);
    const Json j = Json::parse(facet("legal strided.json --schedule r.json --json").out);
    ASSERT_EQ(j["legal"], false) << j;
    EXPECT_EQ(j["step"], "/variants/0/groups/0/steps/0") << j;
    EXPECT_EQ(j["reason"], "precondition") << j;
    EXPECT_NE(j["message"].get<std::string>().find("no code obeys it: loop 'i': it runs in steps of 2"), std::string::npos)
        << j;
    for (const std::string verb : {"schedule", "run", "show --stage source", "explain", "compile -o out"}) {
      const Json e = error(verb + " strided.json --schedule r.json");
      EXPECT_EQ(e["code"], "step-precondition") << verb;
      EXPECT_EQ(e["pointer"], "/variants/0/groups/0/steps/0") << verb;
      EXPECT_EQ(e["line"], 1) << verb;
    }
  }
  recipe("A", R"({"do": "reverse", "statement": "A", "loop": "i"}, )" + vectors);
  EXPECT_EQ(error("run strided.json --schedule r.json")["pointer"], "/variants/0/groups/0/steps/1");
  recipe("A", R"({"do": "vectorize", "statement": "A", "loop": "i", "width": "?"})");
  EXPECT_EQ(error("run strided.json --schedule r.json")["code"], "step-precondition") << "the loop was asked for";
}

// A part of the tile is scalar, the rest is not: obeyed.
TEST_F(Obeyed, PiecesOfALoopAreEnough) {
  recipe("A", R"({"do": "tile", "statement": "A", "loops": ["i", "j"], "sizes": [8, 8]},
    {"do": "vectorize", "statement": "A", "loop": "j", "width": 8})");
  EXPECT_EQ(facet("legal triangle.json --schedule r.json").status, 0);
  EXPECT_EQ(facet("run triangle.json --schedule r.json --verify").status, 0);
  recipe("y", R"({"do": "unroll", "statement": "y", "loop": "i", "factor": 1})");
  EXPECT_EQ(facet("legal square.json --schedule r.json").status, 0);
  recipe("y", R"({"do": "unroll_and_jam", "statement": "y", "loop": "i", "factor": 4})");
  EXPECT_EQ(facet("legal square.json --schedule r.json").status, 0);
  EXPECT_EQ(facet("legal square.json --schedule r.json --target cuda").status, 0);
}

// Only the outermost of several parallel loops got threads, the others' steps meant nothing.
TEST_F(Obeyed, ThreadsAreSharedOutOnce) {
  const auto refused = [&](const std::string& op, const std::string& program, const std::string& steps, int step) {
    recipe(op, steps);
    const Json j = Json::parse(facet("legal " + program + " --schedule r.json --json").out);
    EXPECT_EQ(j["legal"], false) << steps << j;
    EXPECT_EQ(j["step"], "/variants/0/groups/0/steps/" + std::to_string(step)) << j;
    return j.value("message", "");
  };
  const std::string i = R"({"do": "parallelize", "statement": "y", "loop": "i"})",
                    j = R"({"do": "parallelize", "statement": "y", "loop": "j"})";
  EXPECT_NE(refused("y", "square.json", i + ", " + j, 1).find("loop 'i' around it runs on them"), std::string::npos);
  (void)refused("y", "square.json", j + ", " + i, 0);
  recipe("y", i);
  EXPECT_EQ(facet("legal square.json --schedule r.json").status, 0);
  write("sums.json", R"J({"facet": 1, "name": "sums", "numerics": {"reassociate": "free"}, "tensors": {"x": {"dtype": "f32",
    "shape": [64, 512]}}, "inputs": ["x"], "ops": [{"op": "compute", "in": "x", "out": "y", "def": "y[i] = sum[j](x[i, j])"}],
    "outputs": ["y"]})J");
  const std::string clause = R"({"do": "parallelize", "statement": "y", "loop": "j", "reduction": "clause", "parts": 8})";
  EXPECT_NE(refused("y", "sums.json", i + ", " + clause, 1).find("no threads would share its updates"), std::string::npos);
  recipe("y", R"({"do": "distribute", "statement": "y", "loop": "i"}, )" + clause);
  EXPECT_EQ(facet("run sums.json --schedule r.json --verify").status, 0);
}

TEST_F(Obeyed, MemoryOfAGpuIsRefusedOnAProcessor) {
  recipe("y", R"({"do": "promote", "array": "x", "statement": "y", "at": "i", "memory": "shared"})");
  const Json e = error("run square.json --schedule r.json");
  EXPECT_EQ(e["code"], "step-precondition");
  EXPECT_EQ(e["pointer"], "/variants/0/groups/0/steps/0/memory");
  recipe("y", R"({"do": "promote", "array": "x", "statement": "y", "at": "i", "memory": "stack"})");
  EXPECT_EQ(facet("legal square.json --schedule r.json").status, 0);
}

}  // namespace
}  // namespace facet
