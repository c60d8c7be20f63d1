// The time budget: whatever the program, planning and scheduling end in time and in a correct kernel, and say what they gave
// up. Growth is measured in isl operations or by ratios, so that a loaded machine does not decide.
#include <ctime>

#include <gtest/gtest.h>

#include "src/driver/build.hpp"
#include "src/driver/execute.hpp"
#include "src/frontend/json.hpp"
#include "src/run/inputs.hpp"
#include "src/run/interpret/interpret.hpp"
#include "src/run/reference.hpp"
#include "support/examples.hpp"

namespace facet {
namespace {

// One nest of `n` statements, each reading what its neighbours wrote in this and the last iterations.
std::string crowded_nest(int n) {
  std::string code = "for (int t = 1; t < N; t++) for (int i = 2; i < N - 2; i++) {";
  for (int s = 0; s < n; ++s) {
    const std::string at = std::to_string(s % 5), before = std::to_string((s + 1) % 5), other = std::to_string((s + 3) % 5);
    code += " A[" + at + "][i] = A[" + before + "][i-1] + A[" + other + "][i+2] - A[" + at + "][i+1] * A[" + before + "][i-2];";
  }
  return R"({"facet": 1, "name": "crowded", "symbols": {"N": {"min": 6, "max": 200, "default": 9}},
    "tensors": {"A": {"dtype": "i64", "shape": [5, "N"]}}, "inputs": ["A"],
    "ops": [{"op": "loops", "in": ["N"], "inout": ["A"], "code": ")" +
         code + R"( }"}], "outputs": ["A"]})";
}

const char* const kWideEinsum = R"j({"facet": 1, "name": "wide",
  "tensors": {"a": {"dtype": "i32", "shape": [2, 3, 2, 3]}, "b": {"dtype": "i32", "shape": [3, 2, 3, 2]}, "c": {"dtype": "i32", "shape": [2, 2, 3, 2]},
              "d": {"dtype": "i32", "shape": [3, 2, 2, 2]}},
  "inputs": ["a", "b", "c", "d"],
  "ops": [{"op": "compute", "in": ["a", "b", "c", "d"], "out": "e",
           "def": "e[i, j, k, l] = sum[p, q, r, s](a[i, p, k, q] * b[q, j, p, s] * c[s, r, p, l] * d[p, r, i, j])"
}], "outputs": ["e"]
})j";

std::string chain(int n) {
  std::string ops;
  for (int i = 0; i < n; ++i)
    ops += std::string(i ? ", " : "") + R"({"op": ")" + (i % 2 ? "relu" : "add") + R"(", "in": [)" +
           (i ? "\"t" + std::to_string(i - 1) + "\"" : std::string("\"x\"")) + (i % 2 ? "" : ", \"b\"") + R"(], "out": "t)" +
           std::to_string(i) + "\"}";
  return R"({"facet": 1, "name": "chain", "tensors": {"x": {"dtype": "i32", "shape": [64, 32]}, "b": {"dtype": "i32", "shape": [32]}},
    "inputs": ["x", "b"], "ops": [)" +
         ops + R"(], "outputs": ["t)" + std::to_string(n - 1) + "\"]}";
}

double cpu_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Trial {
  Built built;
  Loaded loaded;
  double seconds = 0;  // of the processor
};

Trial build(const std::string& json, double budget_s, const Machine& machine = {}) {
  Trial t;
  Options options;
  options.time_budget_s = budget_s;
  Result<Program> program = check_text(json, "p.json", 20, &t.loaded.ledger);
  EXPECT_TRUE(program) << to_text(program.errors());
  t.loaded.program = *program;
  t.loaded.sizes = *sizes_in_force(*program, {});
  const double start = cpu_s();
  Result<Built> built = build_loops(t.loaded, options, machine);
  t.seconds = cpu_s() - start;
  EXPECT_TRUE(built) << to_text(built.errors());
  t.built = std::move(*built);
  return t;
}

void expect_right(const Trial& t) {
  const Result<HostTensors> tensors = make_inputs(t.loaded.program, t.loaded.sizes, 3, {});
  ASSERT_TRUE(tensors) << to_text(tensors.errors());
  const HostTensors expected = outputs_of(*run_reference(t.loaded.program, t.loaded.sizes, *tensors));
  HostTensors buffers = argument_values(t.loaded, t.built.loops.inputs, *tensors);
  const Result<InterpretReport> report = interpret(t.built.loops, t.loaded.sizes, buffers, {});
  ASSERT_TRUE(report) << to_text(report.errors());
  EXPECT_TRUE(report->clean()) << to_text(*report);
  for (const std::string& name : t.loaded.program.outputs) EXPECT_EQ(buffers.at(name).bytes, expected.at(name).bytes) << name;
}

bool gave_up(const Trial& t) {
  for (const LedgerEntry& e : t.built.plan.ledger)
    if (e.kind == "budget") return true;
  return false;
}

TEST(TimeBudget, HostileProgramsEndInTimeAndRight) {
  // 60 statements: their dependences were looked for again after planning had given them up (5 s).
  for (const std::string& json : {crowded_nest(20), crowded_nest(60), std::string(kWideEinsum)}) {
    const Trial t = build(json, 1);
    EXPECT_LT(t.seconds, 1 + 1.0) << json.substr(0, 60);
    expect_right(t);
  }
}

TEST(TimeBudget, NoTimeAtAllGivesTheOriginalOrderAndSaysSo) {
  const Trial t = build(chain(6), 0);
  EXPECT_TRUE(gave_up(t));
  for (const Group& g : t.built.plan.recipe.variants[0].groups) EXPECT_TRUE(g.steps.empty());
  expect_right(t);
}

// Large caches give large tiles over time. isl took 25 s to scan their wavefronts (7 s for half the tile), and nothing stopped
// it.
TEST(TimeBudget, WavefrontsOfLargeTilesAreScannedInTime) {
  Machine machine;
  machine.cpu.cores = 2;
  machine.cpu.caches = {{48 << 10}, {8 << 20}, {64 << 20}};
  Trial t = build(R"({"facet": 1, "name": "stencil",
    "symbols": {"N": {"min": 3, "max": 16384, "default": 1024}, "T": {"min": 0, "max": 10000, "default": 10}},
    "tensors": {"A": {"dtype": "i32", "shape": ["N", "N"]}, "B": {"dtype": "i32", "shape": ["N", "N"]}},
    "inputs": ["A", "B"], "ops": [{"op": "loops", "in": ["N", "T"], "inout": ["A", "B"], "code": [
      "for (int t = 0; t < T; t++) {",
      "  for (int i = 1; i < N - 1; i++) for (int j = 1; j < N - 1; j++) B[i][j] = A[i-1][j] - A[i+1][j] + A[i][j-1] + 3 * A[i][j+1];",
      "  for (int i = 1; i < N - 1; i++) for (int j = 1; j < N - 1; j++) A[i][j] = B[i-1][j] + B[i+1][j] - B[i][j-1] + 3 * B[i][j+1];",
      "}"]}], "outputs": ["A"]})",
                  10, machine);
  EXPECT_FALSE(gave_up(t));
  EXPECT_LT(t.seconds, 5);
  EXPECT_NE(to_json(t.built.plan.recipe).find("\"tt\""), std::string::npos);  // or nothing was tested
  t.loaded.sizes = {{"N", 37}, {"T", 5}};
  expect_right(t);
}

TEST(TimeBudget, AChainOfOpsGrowsLikeItsLength) {
  const double small = build(chain(50), 100).seconds, large = build(chain(200), 100).seconds;
  EXPECT_LT(large, 4 * 1.6 * small + 0.2) << small << " " << large;  // ops x 1.3, and what a busy machine adds
}

// The share that planning has of the default budget, in processor seconds of an unoptimised build.
TEST(TimeBudget, NoExampleFallsBackAtTheDefaultBudget) {
  for (const std::string& file : test::example_files()) {
    Options options;
    options.files = {file};
    options.time_budget_s = 300;  // of the wall's clock, which a busy machine stretches
    const Result<Loaded> loaded = load_program(options);
    ASSERT_TRUE(loaded) << to_text(loaded.errors());
    const double start = cpu_s();
    Result<Planned> planned = make_plan(*loaded, options, schedule_options(*loaded, options, Machine{}));
    ASSERT_TRUE(planned) << to_text(planned.errors());
    EXPECT_LT(cpu_s() - start, 0.45 * Options{}.time_budget_s) << file;
    for (const LedgerEntry& e : planned->ledger) EXPECT_NE(e.kind, "budget") << file << ": " << e.subject << ": " << e.reason;
  }
}

}  // namespace
}  // namespace facet
