// Loops that share updates, run: every operation and type, as interpreted trees (races reported), as compiled kernels, with
// several numbers of threads.
#include <gtest/gtest.h>

#include "src/driver/fuzz_try.hpp"
#include "src/driver/machines.hpp"
#include "src/driver/options.hpp"
#include "src/frontend/json.hpp"
#include "unit/tool/tool.hpp"

namespace facet {
namespace {

std::string program(const std::string& dtype, const std::string& code, const std::string& reassociate = "tree") {
  return R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 1, "max": 5000, "default": 13}}, "numerics": {"reassociate": ")" +
         reassociate + R"("}, "tensors": {"A": {"dtype": ")" + dtype + R"(", "shape": ["N", "N"]}, "s": {"dtype": ")" + dtype +
         R"(", "shape": ["N"]}}, "inputs": ["A", "s"], "ops": [{"op": "loops", "in": ["A", "N"], "inout": ["s"], "code": ")" +
         code + R"("}], "outputs": ["s"]})";
}

std::string recipe(const std::string& step) {
  return R"({"facet_recipe": 1, "variants": [{"groups": [{"ops": ["s"], "steps": [)" + step + "]}]}]}";
}

std::string step(const std::string& more) { return R"({"do": "parallelize", "statement": "s", "loop": "i", )" + more + "}"; }
const std::string kClause = R"("reduction": "clause", "parts": 4)", kAtomic = R"("reduction": "atomic")";
const std::string kGrid =
    R"({"do": "map_gpu", "statement": "s", "grid": ["i"], "block": ["i"], "threads": [4], "reduction": "atomic"})";

std::string nest(const std::string& update) { return "for (int i = 0; i < N; i++) for (int j = 0; j <= i; j++) " + update; }
const std::vector<std::string> kUpdates = {nest("s[j] += A[i][j];"), nest("s[j] *= A[i][j];"),
                                           nest("s[j] = min(s[j], A[i][j]);"), nest("s[j] = max(s[j], A[i][j]);")};

// "" when the trees' numbers are the reference's and nothing races.
std::string tried(const std::string& dtype, const std::string& code, const std::string& steps) {
  const Result<Machine> machine = described_machine(Options{});
  const Result<Recipe> read = read_recipe(recipe(steps), "recipe");
  EXPECT_TRUE(machine.ok() && read.ok());
  const Result<FuzzPair> pair = fuzz_pair(program(dtype, code), *read, {}, 1, *machine);
  if (!pair) return to_text(pair.errors());
  const Result<FuzzTrees> trees = fuzz_trees(*pair);
  if (!trees) return to_text(trees.errors());
  return interpret_trees(*pair, *trees);
}

TEST(SharedUpdatesRun, EveryOperationAndType) {
  for (const char* dtype : {"i8", "i16", "i32", "i64"})
    for (const std::string& update : kUpdates)
      for (const std::string& how : {kClause, kAtomic})
        EXPECT_EQ(tried(dtype, update, step(how)), "") << dtype << update << how;
}

TEST(SharedUpdatesRun, TheGridOfAGpu) {
  for (const char* dtype : {"i32", "i64"})
    for (const std::string& update : {kUpdates[0], kUpdates[2], kUpdates[3]})
      EXPECT_EQ(tried(dtype, update, kGrid), "") << dtype << update;
}

// Pieces of loops with steps, of fewer iterations than pieces, of tiles, below other loops.
TEST(SharedUpdatesRun, Pieces) {
  const std::string below = "for (int t = 0; t < N; t++) for (int i = t; i < N; i += 3) s[t] += A[i][t];";
  EXPECT_EQ(tried("i32", below, step(kClause)), "");
  EXPECT_EQ(tried("i32", below, step(R"("reduction": "clause", "parts": 40)")), "");
  const std::string tiles = R"({"do": "strip_mine", "statement": "s", "loop": "i", "size": 4}, )";
  EXPECT_EQ(tried("i32", kUpdates[0], tiles + R"({"do": "parallelize", "statement": "s", "loop": "it", )" + kClause + "}"), "");
  EXPECT_EQ(tried("i32", kUpdates[0], step(kClause) + R"(, {"do": "vectorize", "statement": "s", "loop": "j", "width": 4})"),
            "");
}

class SharedUpdatesTool : public Tool {
 protected:
  void write_case(const std::string& dtype, const std::string& code, const std::string& steps,
                  const std::string& reassociate = "tree") {
    write("c.json", program(dtype, code, reassociate));
    write("r.json", recipe(steps));
  }
};

// Sums are rounded in the order of the recipe, whoever computes them.
TEST_F(SharedUpdatesTool, ResultsDoNotDependOnTheThreads) {
  write_case("f32", "for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) s[0] += A[i][j];", step(kClause));
  std::vector<std::string> results;
  for (const char* threads : {"1", "2", "3", "8"}) {
    ASSERT_EQ(facet(std::string("run c.json --schedule r.json --set N=700 --verify --output out --threads ") + threads).status,
              0);
    results.push_back(read("out/s.npy"));
  }
  EXPECT_FALSE(results[0].empty());
  for (const std::string& r : results) EXPECT_EQ(r, results[0]);
}

TEST_F(SharedUpdatesTool, CompiledKernelsAreRight) {
  for (const char* dtype : {"i8", "i64", "f32"})
    for (const std::string& update : kUpdates)
      for (const std::string& how : {kClause, kAtomic}) {
        write_case(dtype, update, step(how), "free");
        const Answer a = facet("run c.json --schedule r.json --set N=150 --verify --threads 3");
        EXPECT_EQ(a.status, 0) << dtype << update << how << a.out;
      }
}

TEST_F(SharedUpdatesTool, TheSourceShowsIt) {
  write_case("f64", kUpdates[0], step(kAtomic), "free");
  EXPECT_NE(facet("show c.json --schedule r.json --stage source").out.find("#pragma omp atomic\n"), std::string::npos);
  write_case("i32", kUpdates[2], kGrid);
  EXPECT_NE(facet("show c.json --schedule r.json --stage source --target cuda").out.find("atomic_min_i32(s + j, "),
            std::string::npos);
  EXPECT_EQ(facet("show c.json --schedule r.json --stage source").out.find("#pragma omp"), std::string::npos)
      << "a loop of a GPU is serial here";
  write_case("f64", kUpdates[0], step(kClause));
  EXPECT_NE(facet("show c.json --schedule r.json --stage source").out.find("for (int64_t part = 0; part < 4; ++part)"),
            std::string::npos);
}

TEST_F(SharedUpdatesTool, LegalProposesIt) {
  write_case("f64", kUpdates[0], R"({"do": "parallelize", "statement": "s", "loop": "i"})");
  const Json j = Json::parse(facet("legal c.json --schedule r.json --json").out);
  EXPECT_TRUE(j["repair"].is_null());
  EXPECT_EQ(j["instead"]["reduction"], "clause");
  write("r.json", recipe(j["instead"].dump()));
  EXPECT_EQ(facet("legal c.json --schedule r.json").status, 0);
}

}  // namespace
}  // namespace facet
