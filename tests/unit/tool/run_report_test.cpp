// run --time: what is told of each kernel beside its time, and that what `explain` says of vectors is in the object code.
#include <regex>

#include "codegen/toolchain.hpp"
#include "unit/tool/tool.hpp"

namespace facet {
namespace {

class RunReport : public Tool {
 protected:
  void SetUp() override {
    Tool::SetUp();
    write("rows.json", R"({"facet": 1, "name": "rows", "tensors": {"x": {"dtype": "f32", "shape": [64, 512]}}, "inputs": ["x"],
      "ops": [{"op": "softmax", "in": "x", "out": "s"}, {"op": "cum_sum", "in": "s", "out": "c", "attrs": {"axis": 1}},
              {"op": "mul", "in": ["c", 2.0], "out": "y"}], "outputs": ["y"]})");
    write("product.json", R"({"facet": 1, "name": "product", "tensors": {"a": {"dtype": "f32", "shape": [48, 64]},
      "b": {"dtype": "f32", "shape": [64, 96]}}, "inputs": ["a", "b"],
      "ops": [{"op": "matmul", "in": ["a", "b"], "out": "c"}], "outputs": ["c"]})");
  }
  // The scheduler's recipe for AVX2 with 16 rows in a tile of 16 columns: 32 vectors of results, and there are 16 registers.
  void write_spilling_recipe() {
    const std::string recipe = facet("schedule product.json --target openmp:avx2").out;
    const std::regex rows(R"("names": \["ir"\], "sizes": \[\d+\])");
    ASSERT_TRUE(std::regex_search(recipe, rows)) << recipe;
    write("spilling.json", std::regex_replace(recipe, rows, R"("names": ["ir"], "sizes": [16])"));
  }
};

TEST_F(RunReport, EveryKernelHasItsFigures) {
  const Answer a = facet("run rows.json --time --fusion off --json");
  ASSERT_EQ(a.status, 0);
  const Json j = Json::parse(a.out);
  ASSERT_GE(j["kernels"].size(), 2U);
  for (const Json& k : j["kernels"]) {
    EXPECT_GT(k["time_ms"], 0) << k;
    EXPECT_GT(k["bound_ms"], 0) << k;
    EXPECT_TRUE(k["bound_by"] == "memory" || k["bound_by"] == "compute") << k;
    const Json& p = k["predicted"];
    ASSERT_TRUE(p.is_object()) << k << j["unknown"];
    EXPECT_GT(p["time_ms"], 0);
    EXPECT_GT(p["cycles"], 0);
    EXPECT_GT(p["flops"], 0);
    for (const char* level : {"L2", "L3", "memory"}) EXPECT_GE(p["bytes"][level], 64 * 512 * 4) << level << k;
    EXPECT_NEAR(p["measured_over_predicted"].get<double>() * p["time_ms"].get<double>(), k["time_ms"].get<double>(), 1e-9);
  }
  // What is missing has its reason; what is not, none.
  const Json& unknown = j["unknown"];
  EXPECT_FALSE(unknown.contains("predicted")) << unknown;
  EXPECT_EQ(unknown.contains("counters"), j["kernels"][0]["counters"].is_null()) << unknown;
}

TEST_F(RunReport, TheTextSaysWhatIsMissing) {
  const Answer a = facet("run product.json --time");
  ASSERT_EQ(a.status, 0);
  EXPECT_NE(a.out.find("model ms"), std::string::npos) << a.out;
  EXPECT_TRUE(std::regex_search(a.out, std::regex("  k0: by the model [0-9.]+ KB to and from L2, "))) << a.out;
  EXPECT_TRUE(std::regex_search(a.out, std::regex("counted [0-9.e+]+ cycles|  no measured cycles and cache misses: ")))
      << a.out;
  EXPECT_EQ(facet("run product.json").out.find("model"), std::string::npos) << "only with --time";
  EXPECT_FALSE(Json::parse(facet("run product.json --json").out)["kernels"][0].contains("predicted"));
}

// A kernel for which the ledger has a vectorised loop has packed instructions of its width; one whose loops were all refused
// (a running sum waits for itself) has none.
TEST_F(RunReport, VectorsOfTheLedgerAreInTheObjectCode) {
  const Json ledger = Json::parse(facet("explain rows.json --fusion off --json").out);
  const Json run = Json::parse(facet("run rows.json --fusion off --time --json").out);
  std::set<bool> seen;
  for (const Json& k : run["kernels"]) {
    if (k["object_code"].is_null()) continue;
    bool vectors = false;
    for (const Json& l : ledger["loops"])
      vectors = vectors || (l["kind"] == "vectorize" && l["done"] == true && l["group"] == k["name"]);
    EXPECT_EQ(k["object_code"]["vector_loops"] > 0, vectors) << k;
    EXPECT_GE(k["object_code"]["vector_bytes"], vectors ? 16 : 0) << k;
    seen.insert(vectors);
  }
  EXPECT_EQ(seen.size(), 2U) << "one kernel of each kind: " << run["kernels"];
}

TEST_F(RunReport, SpillsAreFoundInTheObjectCode) {
  const Json few = Json::parse(facet("run product.json --target openmp:avx2 --time --json").out);
  EXPECT_EQ(few["kernels"][0]["object_code"]["spill_load_bytes"], 0) << few;
  EXPECT_EQ(few["kernels"][0]["object_code"]["vector_bytes"], 32) << few;
  write_spilling_recipe();
  const Answer a = facet("run product.json --target openmp:avx2 --schedule spilling.json --verify --time --json");
  ASSERT_EQ(a.status, 0) << a.out;
  const Json many = Json::parse(a.out);
  EXPECT_GT(many["kernels"][0]["object_code"]["spill_load_bytes"], 100) << many;
}

TEST_F(RunReport, AsmHasTheSameLine) {
  write_spilling_recipe();
  for (const std::string compiler : {"", " --compiler g++", " --compiler clang++-19"}) {
    if (!compiler.empty() && !find_compiler(compiler.substr(12))) continue;
    const std::string command =
        "compile product.json --target openmp:avx2 --schedule spilling.json --emit asm -o out" + compiler;
    const Answer a = facet(command);
    ASSERT_EQ(a.status, 0) << compiler << a.out;
    EXPECT_TRUE(std::regex_search(a.out, std::regex("  k0: 256-bit vectors in [0-9] of [0-9] innermost loops, "
                                                    "[0-9]+ bytes of spill stores, [0-9]+ of loads")))
        << compiler << a.out;
    const Json j = Json::parse(facet(command + " --json").out);
    EXPECT_GT(j["emitted"]["resources"][0]["object_code"]["spill_load_bytes"], 100) << compiler << j["emitted"];
  }
}

}  // namespace
}  // namespace facet
