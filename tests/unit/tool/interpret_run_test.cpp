// run --interpret: a recipe's own kernels in the interpreter, against the reference, where there is no GPU.
#include "codegen/cuda/runner.hpp"
#include "src/driver/run_report.hpp"
#include "unit/tool/tool.hpp"

namespace facet {
namespace {

class InterpretRun : public Tool {
 protected:
  void SetUp() override {
    Tool::SetUp();
    write("m.json", R"~({"facet": 1, "name": "m", "symbols": {"N": {"min": 1, "max": 5000, "default": 37}},
      "tensors": {"a": {"dtype": "f32", "shape": ["N", "N"]}, "b": {"dtype": "f32", "shape": ["N", "N"]}}, "inputs": ["a", "b"],
      "ops": [{"op": "compute", "in": ["a", "b"], "out": ["c"], "def": ["c[i, j] = sum[k](a[i, k] * b[k, j])"]}], "outputs": ["c"]})~");
    write("gpu.json", R"({"facet_recipe": 1, "target": "cuda", "variants": [{"groups": [{"ops": ["c"], "steps": [
      {"do": "distribute", "statement": "c", "loop": "i"},
      {"do": "tile", "statement": "c", "loops": ["i", "j", "k"], "sizes": [16, 16, 16]},
      {"do": "promote", "array": "a", "statement": "c", "at": "kt", "memory": "shared"},
      {"do": "promote", "array": "b", "statement": "c", "at": "kt", "memory": "shared"},
      {"do": "map_gpu", "statement": "c", "grid": ["it", "jt"]},
      {"do": "map_gpu", "statement": "c", "block": ["i", "j"], "threads": [16, 16]},
      {"do": "map_gpu", "statement": "a.tile.copy", "block": ["i", "k"], "threads": [16, 16]},
      {"do": "map_gpu", "statement": "b.tile.copy", "block": ["k", "j"], "threads": [16, 16]},
      {"do": "map_gpu", "statement": "c.init", "grid": ["i", "j"]}]}]}]})");
  }
};

TEST_F(InterpretRun, AUsersOwnGpuRecipeIsRunWatchedAndVerified) {
  const Answer a = facet("run m.json --schedule gpu.json --target cuda --interpret --verify --json");
  ASSERT_EQ(a.status, 0) << facet("legal m.json --schedule gpu.json --target cuda").out;
  const Json j = Json::parse(a.out);
  EXPECT_EQ(j["target"], "cuda:interpreted") << "what really ran";
  EXPECT_EQ(j["verified"], true);
  EXPECT_EQ(j["verified_elements"], 37 * 37);
  const Json& seen = j["interpreter"];
  EXPECT_EQ(seen["finding_count"], 0);
  EXPECT_TRUE(seen["findings"].empty());
  EXPECT_GT(seen["barriers"], 0) << "the blocks of the recipe, with their shared memory";
  EXPECT_EQ(seen["shared_bytes"], 2 * 16 * 16 * 4) << "two parts of the recipe";
  ASSERT_FALSE(j["kernels"].empty());
  EXPECT_NE(facet("run m.json --schedule gpu.json --target cuda --interpret").out.find("\ninterpreted: no race, "),
            std::string::npos);
}

TEST_F(InterpretRun, TheProcessorsKernelsToo) {
  const Json j = Json::parse(facet("run m.json --interpret --verify --json --output out").out);
  EXPECT_EQ(j["target"], "openmp:interpreted");
  EXPECT_EQ(j["verified"], true);
  EXPECT_EQ(j["interpreter"]["barriers"], 0);
  EXPECT_FALSE(read("out/c.npy").empty());
}

TEST_F(InterpretRun, WhatItDoesNotGoWith) {
  EXPECT_EQ(error_code("run m.json --interpret --time"), "bad-command-line");
  EXPECT_EQ(error_code("run m.json --interpret --target reference"), "bad-command-line");
  EXPECT_EQ(error_code("run m.json --schedule gpu.json --interpret"), "recipe-for-other-target");
  EXPECT_EQ(error_code("show m.json --interpret"), "bad-command-line") << "only run";
}

TEST(InterpretReportOfARun, WithoutAGpuTheWayOutIsNamed) {
  Options options;
  options.target = "cuda";
  const Result<Execution> r = execute_cuda(Loaded{}, options, Machine{}, {});
  if (cuda_device().ok()) GTEST_SKIP() << "there is a GPU";
  ASSERT_FALSE(r.ok());
  if (r.errors()[0].code != Code::kNoGpu) GTEST_SKIP() << to_text(r.errors());
  ASSERT_EQ(r.errors()[0].notes.size(), 2U);
  EXPECT_EQ(r.errors()[0].notes[0].rfind("--interpret ", 0), 0U) << r.errors()[0].notes[0];
}

// Findings are a no, though every value may be right.
TEST(InterpretReportOfARun, FindingsEndInStatusOne) {
  Loaded loaded;
  loaded.program.name = "p";
  Execution e;
  e.target = "cuda:interpreted";
  e.watched.emplace();
  Verdict right;
  right.verified = true;
  Outcome clean;
  report_run(loaded, Options{}, e, &right, &clean);
  EXPECT_EQ(clean.status, 0);
  Finding race;
  race.kernel = "k0_0";
  race.buffer = "c";
  race.subscripts = {3, 4};
  race.text = "race: c[3, 4]";
  e.watched->findings = {race};
  e.watched->finding_count = 7;
  Outcome found;
  report_run(loaded, Options{}, e, &right, &found);
  EXPECT_EQ(found.status, 1);
  EXPECT_NE(found.text.find("NOT CLEAN: 7 findings"), std::string::npos) << found.text;
  EXPECT_NE(found.text.find("  race: c[3, 4]\n"), std::string::npos) << found.text;
  Outcome unasked;
  report_run(loaded, Options{}, e, nullptr, &unasked);
  EXPECT_EQ(unasked.status, 1) << "without --verify too";
}

}  // namespace
}  // namespace facet
