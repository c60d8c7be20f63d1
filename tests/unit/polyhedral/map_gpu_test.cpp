// map_gpu: which places it gives, and what it refuses with which reason.
#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

Program product(const std::string& dtype = "f32") {
  return program_of(R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 1, "max": 4096, "default": 1024}},
    "tensors": {"a": {"dtype": ")" +
                    dtype + R"(", "shape": ["N", "N"]}, "b": {"dtype": ")" + dtype +
                    R"x(", "shape": ["N", "N"]}}, "inputs": ["a", "b"],
    "ops": [{"op": "compute", "in": ["a", "b"], "out": ["c"], "def": ["c[i, j] = sum[k](a[i, k] * b[k, j])"]}],
    "outputs": ["c"]})x");
}

std::string heat_code() { return R"(for (int t = 0; t < 3; t++) for (int i = 1; i < N - 1; i++) A[i] = A[i-1] + A[i+1];)"; }

Program elementwise() { return equations({"y[i, j] = x[i, j] * 2.0"}, "y"); }
Program row_sum() { return equations({"y[i] = sum[j](x[i, j])"}, "y"); }

struct Refused {
  const char* steps;
  const char* reason;
};

TEST(MapGpu, PlacesArePrinted) {
  const std::string text =
      loops_text(elementwise(),
                 R"({"do": "map_gpu", "statement": "y", "grid": ["i", "j"], "block": ["j"], "threads": [32], "points": [4]})");
  EXPECT_NE(text.find("for i in 0..8 mapped grid y"), std::string::npos) << text;
  EXPECT_NE(text.find("for j in 0..8 mapped grid x, block x 32, 4 a thread"), std::string::npos) << text;
  const std::string rows = loops_text(row_sum(), R"({"do": "map_gpu", "statement": "y", "grid": ["i"]},
      {"do": "map_gpu", "statement": "y", "block": ["j"], "threads": [64]})");
  EXPECT_NE(rows.find("mapped block x 64, reduces"), std::string::npos) << rows;
}

TEST(MapGpu, TheGridTakesOnlyLoopsThatCarryNothing) {
  const LegalReport heat = judge(in_place("[\"N\"]", heat_code()), R"({"do": "map_gpu", "statement": "A", "grid": ["i"]})");
  EXPECT_FALSE(heat.legal);
  ASSERT_TRUE(heat.has_violation);
  EXPECT_NE(heat.violation_text.find("the mapped loop 'i'"), std::string::npos) << heat.violation_text;
  const LegalReport sum = judge(row_sum(), R"({"do": "distribute", "statement": "y", "loop": "i"},
      {"do": "map_gpu", "statement": "y", "grid": ["i", "j"]})");
  EXPECT_FALSE(sum.legal);
  EXPECT_EQ(sum.kind, "reduction");
}

// The nests of one block have one number of threads; below a loop of the processor each has its own kernel.
TEST(MapGpu, KernelsOfOneHostLoopMayDifferInThreads) {
  const Program p =
      in_place("[\"N\", \"N\"]",
               "for (int t = 1; t < N; t++) { for (int i = 0; i < N; i++) A[t][i] = A[t-1][i]; for (int i = 0; i < N; i++) "
               "A[t][i] += 1.0; for (int i = 0; i < N; i++) A[t][i] *= 2.0; }");
  const std::string first = R"({"do": "map_gpu", "statement": "A", "block": ["i"], "threads": [64]}, )";
  const std::string other = R"({"do": "map_gpu", "statement": "A.2", "block": ["i"], "threads": [128]})";
  EXPECT_FALSE(judge(p, first + other).legal);
  EXPECT_TRUE(judge(p, first + R"({"do": "map_gpu", "statement": "A.1", "grid": ["i"]}, )" + other).legal);
}

TEST(MapGpu, AReductionKeepsItsOrderWhereTheNumericsAreStrict) {
  Program p = row_sum();
  p.numerics.reassociate = Numerics::Reassociate::kStrict;
  EXPECT_FALSE(judge(p, R"({"do": "map_gpu", "statement": "y", "block": ["j"], "threads": [32]})").legal);
}

TEST(MapGpu, RefusesWhatItsFormsCannotExpress) {
  const Refused elements[] = {
      {R"({"do": "map_gpu", "statement": "y"})", "names no loop"},
      {R"({"do": "map_gpu", "statement": "y", "grid": ["i", "i"]})", "named twice"},
      {R"({"do": "parallelize", "statement": "y", "loop": "i"}, {"do": "map_gpu", "statement": "y", "grid": ["i"]})",
       "marked by `parallelize` already"},
      {R"({"do": "map_gpu", "statement": "y", "grid": ["i"]}, {"do": "map_gpu", "statement": "y", "grid": ["j"]})",
       "is on the grid already"},
      {R"({"do": "map_gpu", "statement": "y", "grid": ["j"]}, {"do": "map_gpu", "statement": "y", "grid": ["i"]})",
       "map the grid's loops first"},
      {R"({"do": "map_gpu", "statement": "y", "block": ["i"], "threads": [32]},
          {"do": "map_gpu", "statement": "y", "block": ["j"], "threads": [32]})",
       "the threads are taken by loop 'i'"},
      {R"({"do": "map_gpu", "statement": "y", "grid": ["i", "j"], "block": ["i", "j"], "threads": [64, 32]})",
       "more than 1024 threads"},
      {R"({"do": "map_gpu", "statement": "y", "grid": ["i", "j"], "block": ["j"], "threads": [32], "points": [4], "adjacent": [2]})",
       "loops of the block alone"},
      {R"({"do": "map_gpu", "statement": "y", "grid": ["i"], "block": ["i", "j"], "threads": [2, 32]})",
       "a reduction before a loop of the grid"},
      {R"({"do": "map_gpu", "statement": "y", "grid": ["i", "j"], "split": ["j"]})", "needs `parts`"},
      {R"({"do": "map_gpu", "statement": "y", "grid": ["i"], "stage": ["j"], "threads": [16, 16], "points": [2, 2]})",
       "is no sum of products"},
      {R"({"do": "map_gpu", "statement": "y", "grid": ["i"]}, {"do": "tile", "statement": "y", "loops": ["i"], "sizes": [2]})",
       "map_gpu comes after all other steps"},
  };
  for (const Refused& r : elements) {
    const LegalReport report = judge(elementwise(), r.steps);
    EXPECT_FALSE(report.legal) << r.steps;
    EXPECT_NE(report.message.find(r.reason), std::string::npos) << r.steps << "\n" << report.message;
  }
}

TEST(MapGpu, RefusesReductionsThatMoveOrAreShared) {
  const Refused sums[] = {
      {R"({"do": "map_gpu", "statement": "y", "block": ["i"], "threads": [32]},
          {"do": "map_gpu", "statement": "y", "block": ["j"], "threads": [32]})",
       "the threads are taken"},
      {R"({"do": "distribute", "statement": "y", "loop": "i"}, {"do": "interchange", "statement": "y", "order": ["j", "i"]},
          {"do": "map_gpu", "statement": "y", "block": ["j"], "threads": [32]})",
       "moves with loop 'i' inside the reduction"},
      {R"({"do": "map_gpu", "statement": "y", "split": ["i"], "parts": 4})", "shared with other statements"},
  };
  for (const Refused& r : sums) {
    const LegalReport report = judge(row_sum(), r.steps);
    EXPECT_FALSE(report.legal) << r.steps;
    EXPECT_NE(report.message.find(r.reason), std::string::npos) << r.steps << "\n" << report.message;
  }
  const LegalReport serial =
      judge(in_place("[\"N\"]", heat_code()), R"({"do": "map_gpu", "statement": "A", "block": ["i"], "threads": [32]})");
  EXPECT_TRUE(serial.has_violation) << "what is about order has a witness";
  EXPECT_NE(serial.message.find("are in different iterations of the mapped loop 'i'"), std::string::npos) << serial.message;
}

TEST(MapGpu, WarpsAndLanes) {
  const std::string rows = R"({"do": "tile", "statement": "y", "loops": ["i"], "sizes": [4], "names": ["i0"]},
      {"do": "map_gpu", "statement": "y", "grid": ["i0"]}, {"do": "map_gpu", "statement": "y", "block": ["i"], "warps": [4],
       "lanes": [1]}, {"do": "map_gpu", "statement": "y", "block": ["j"], )";
  EXPECT_TRUE(judge(row_sum(), rows + R"("warps": [1], "lanes": [32]})").legal);
  EXPECT_TRUE(judge(elementwise(), R"({"do": "map_gpu", "statement": "y", "block": ["i", "j"], "warps": [2, 1],
      "lanes": [4, 8], "points": [1, 2]})")
                  .legal);
  const LegalReport threads = judge(row_sum(), rows + R"("threads": [32]})");
  EXPECT_NE(threads.message.find("have `warps` of 1 and `lanes` of 32"), std::string::npos) << threads.message;
  const Refused refused[] = {
      {R"("block": ["j"], "warps": [1], "lanes": [32], "threads": [32])", "`threads` are `warps` times `lanes`"},
      {R"("grid": ["i", "j"], "block": ["j"], "warps": [1], "lanes": [32])", "for loops of the block alone"},
  };
  for (const Refused& r : refused) {
    const LegalReport report = judge(elementwise(), R"({"do": "map_gpu", "statement": "y", )" + std::string(r.steps) + "}");
    EXPECT_FALSE(report.legal) << r.steps;
    EXPECT_NE(report.message.find(r.reason), std::string::npos) << report.message;
  }
}

// Nests inside the grid's loops have shapes of their own, of as many threads as the others.
TEST(MapGpu, NestsOfABlock) {
  const std::string grid = R"({"do": "tile", "statement": "c", "loops": ["i", "j"], "sizes": [64, 64], "names": ["i0", "j0"]},
      {"do": "distribute", "statement": "c", "loop": "i"}, {"do": "interchange", "statement": "c", "order": ["k", "i", "j"]},
      {"do": "map_gpu", "statement": "c", "grid": ["i0", "j0"]}, )",
                    init = R"({"do": "map_gpu", "statement": "c.init", "block": ["i", "j"], "threads": [4, 64]}, )";
  const auto sum = [](const std::string& rest) { return R"({"do": "map_gpu", "statement": "c", "block": )" + rest + "}"; };
  EXPECT_TRUE(judge(product(), grid + init + sum(R"(["i", "j"], "threads": [16, 16], "points": [4, 4])")).legal);
  EXPECT_TRUE(judge(product(), grid + init + sum(R"(["j", "i"], "threads": [16, 16])")).legal);
  const Refused refused[] = {
      {R"(["i", "j"], "threads": [16, 8])", "have 256 threads, not 128"},
      {R"(["k", "j"], "threads": [16, 16])", "do not stand directly inside each other"},
      {R"(["k", "i", "j"], "threads": [4, 8, 8])", "loop 'k' carries a dependence: alone"},
  };
  for (const Refused& r : refused) {
    const LegalReport report = judge(product(), grid + init + sum(r.steps));
    EXPECT_FALSE(report.legal) << r.steps;
    EXPECT_NE(report.message.find(r.reason), std::string::npos) << r.steps << "\n" << report.message;
  }
}

TEST(MapGpu, NumbersThatFitNoNest) {
  const Refused wrong[] = {
      {R"("block": ["i", "j"], "threads": [16, 16], "points": [4])", "expected 2 numbers"},
      {R"("block": ["i", "j"], "threads": [3, 8])", "a power of two up to 32, or a multiple of 32, found 24"},
      {R"("block": ["j"], "threads": [32], "points": [4], "adjacent": [3])", "divisors of `points`, found 3 of 4"},
      {R"("block": ["j"], "threads": [32], "adjacent": [1, 1])", "expected 1 numbers"},
      {R"("block": ["j"], "warps": [2], "lanes": [16])", "32 together, or [1]: an iteration a warp, found 16"},
      {R"("block": ["j"], "warps": [2, 1], "lanes": [32])", "expected 2 numbers, as `warps`, found 1"},
  };
  for (const Refused& w : wrong) {
    const Program p = elementwise();
    const Result<LegalReport> report = check_recipe(
        p, recipe_of(p, R"({"do": "map_gpu", "statement": "y", )" + std::string(w.steps) + "}"), ScheduleOptions{});
    ASSERT_FALSE(report.ok()) << w.steps;
    EXPECT_NE(to_text(report.errors()).find(w.reason), std::string::npos) << to_text(report.errors());
  }
}

TEST(MapGpu, StagedTiles) {
  const std::string tile = R"({"do": "map_gpu", "statement": "c", "grid": ["i", "j"], "block": ["i", "j"], "stage": ["k"], )";
  EXPECT_TRUE(judge(product(), tile + R"("threads": [16, 16], "points": [8, 8]})").legal);
  const LegalReport large = judge(product("f64"), tile + R"("threads": [16, 16], "points": [8, 8], "depth": 32})");
  EXPECT_NE(large.message.find("bytes of shared memory"), std::string::npos) << large.message;
  const LegalReport bare = judge(product(), R"({"do": "map_gpu", "statement": "c", "grid": ["i"], "block": ["i"],
      "stage": ["j", "k"], "threads": [16, 16], "points": [2, 2]})");
  EXPECT_FALSE(bare.legal);
}

// What plan says for a program and a target of "cuda".
Recipe planned(const Program& p, Ledger* ledger = nullptr) {
  ScheduleOptions options;
  options.target = "cuda";
  Ledger none;
  Recipe partial;
  partial.target = "cuda";
  const Result<Recipe> r = plan(p, partial, options, ledger ? *ledger : none);
  EXPECT_TRUE(r.ok());
  return *r;
}

TEST(PlanForCuda, AProductIsTiled) {
  const std::string text = to_json(planned(product()));
  EXPECT_NE(text.find("\"memory\": \"shared\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"adjacent\": [4, 4]"), std::string::npos) << text;
}

// Sums of rows and of columns: in both, neighbouring threads read neighbouring elements. (The sum of a row once counted its
// result's place once a term, and so went to columns, whose threads read a row apart.)
TEST(PlanForCuda, ThreadsOfASumRunAlongMemory) {
  const auto planned_sum = [](const std::string& equation) {
    return to_json(
        planned(program_of(R"json({"facet": 1, "name": "p", "tensors": {"x": {"dtype": "f32", "shape": [32768, 8192]}},
      "inputs": ["x"], "ops": [{"op": "compute", "in": ["x"], "out": ["y"], "def": [")json" +
                           equation + R"json("]}],
      "outputs": ["y"]})json")));
  };
  const std::string rows = planned_sum("y[i] = sum[j](x[i, j])"), columns = planned_sum("y[j] = sum[i](x[i, j])");
  EXPECT_NE(rows.find("\"block\": [\"j\"]"), std::string::npos) << rows;
  EXPECT_NE(columns.find("\"block\": [\"i\", \"j\"]"), std::string::npos) << columns;
}

TEST(PlanForCuda, AStencilIsLaunchedOnceAStep) {
  const Program p = in_place(R"(["N", "N"])",
                             "for (int t = 0; t < 5; t++) { for (int i = 1; i < N; i++) for (int j = 0; j < N; j++) "
                             "A[i][j] = A[i-1][j] * 2.0; }");
  Ledger ledger;
  ScheduleOptions options;
  options.target = "cuda";
  options.sizes = {{"N", 100}};
  const Result<Recipe> r = plan(p, Recipe{}, options, ledger);
  ASSERT_TRUE(r.ok());
  EXPECT_NE(to_json(*r).find("map_gpu"), std::string::npos);
}

TEST(PlanForCuda, ParallelLoopsComeOutside) {
  const Program p = in_place(R"(["N", "N"])",
                             "for (int i = 1; i < N; i++) { for (int k = 0; k < i; k++) for (int j = 0; j < N; j++) "
                             "A[i][j] -= A[k][j]; for (int j = 0; j < N; j++) A[i][j] = A[i][j] * 0.5; }");
  const std::string text = to_json(planned(p));
  EXPECT_NE(text.find("\"grid\": [\"j\"]"), std::string::npos) << text;
}

}  // namespace
}  // namespace facet
