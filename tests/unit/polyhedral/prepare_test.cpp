// What runs once: nests that depend on weights alone go to prepare, with the arrays of their own.
#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

Program weighted(const std::string& w) {
  return program_of(R"({"facet": 1, "name": "mm", "symbols": {"M": {"min": 1, "max": 4096, "default": 200}},
      "tensors": {"x": {"dtype": "f32", "shape": ["M", 96]}, "w": {"dtype": "f32", "shape": [96, 80])" +
                    w + R"(}}, "inputs": ["x")" + (w.empty() ? R"(, "w")" : "") + R"(],
      "ops": [{"op": "matmul", "in": ["x", "w"], "out": "y"}], "outputs": ["y"]})");
}

LoopProgram prepared(const Program& p, Ledger* ledger = nullptr) {
  ScheduleOptions options = two_wide_threads();
  options.machine.cpu.cores = 2;
  Ledger own;
  const Result<Recipe> recipe = plan(p, {}, options, ledger ? *ledger : own);
  EXPECT_TRUE(recipe.ok());
  const Result<Scheduled> s = schedule_program(p, *recipe, options);
  EXPECT_TRUE(s.ok());
  if (ledger) ledger->insert(ledger->end(), s->ledger.begin(), s->ledger.end());
  return s->loops;
}

std::string bodies(const std::vector<Kernel>& kernels) {
  std::string text;
  for (const Kernel& k : kernels) text += to_text(k.body);
  return text;
}

// Panels of weights are made once, before any run, and no run writes them.
TEST(Prepare, WeightsArePackedInPrepare) {
  Ledger ledger;
  const LoopProgram loops = prepared(weighted(R"(, "data": {"fill": 0.5})"), &ledger);
  ASSERT_EQ(loops.prepare.size(), 1u) << to_text(loops);
  EXPECT_NE(bodies(loops.prepare).find("w.packed["), std::string::npos);
  EXPECT_EQ(bodies(loops.kernels).find("w.packed.copy"), std::string::npos);
  EXPECT_NE(bodies(loops.kernels).find("w.packed["), std::string::npos);
  const auto told = [](const LedgerEntry& e) { return e.reason.find("once, in prepare") != std::string::npos; };
  EXPECT_TRUE(std::any_of(ledger.begin(), ledger.end(), told));
}

Program free_convolution(int channels, const std::string& w, const std::string& more = "", const std::string& output = "y") {
  const std::string c = std::to_string(channels);
  return program_of(R"({"facet": 1, "name": "c", "numerics": {"reassociate": "free"}, "tensors": {
      "x": {"dtype": "f32", "shape": [1, )" +
                    c + R"(, 28, 28]}, "w": {"dtype": "f32", "shape": [)" + c + ", " + c + ", 3, 3]" + w + R"(}},
      "inputs": ["x")" +
                    (w.empty() ? R"(, "w")" : "") + R"(], "ops": [
      {"op": "conv", "in": ["x", "w"], "out": "y", "attrs": {"pads": [1, 1, 1, 1]}})" +
                    more + R"(], "outputs": [")" + output + R"("]})");
}

// Transforms of constant filters run once, with the arrays of theirs inside; those of inputs in each run. Few filters are one
// array for all rows of tiles, many are made in panels, block by block.
TEST(Prepare, NestsWithArraysOfTheirOwnArePrepared) {
  for (const int channels : {32, 256}) {
    const LoopProgram constant = prepared(free_convolution(channels, R"(, "data": {"fill": 0.5})"));
    ASSERT_EQ(constant.prepare.size(), 1u) << to_text(constant);
    ASSERT_EQ(constant.prepare[0].body.size(), 1u) << to_text(constant);
    const std::string once = bodies(constant.prepare), run = bodies(constant.kernels);
    EXPECT_NE(once.find("allocate y.winograd.filter_rows"), std::string::npos) << once;
    EXPECT_NE(once.find("  y.winograd.filter["), std::string::npos) << once;
    for (const char* made : {"y.winograd.w[", "y.winograd.filter_rows[", "allocate y.winograd.filter"})
      EXPECT_EQ(run.find(made), std::string::npos) << made << "\n" << run;
    EXPECT_NE(run.find("y.winograd.filter["), std::string::npos) << run;
    EXPECT_EQ(constant.find_buffer("y.winograd.filter")->extents.size(), channels == 32 ? 4u : 5u) << to_text(constant);
    const LoopProgram input = prepared(free_convolution(channels, ""));
    EXPECT_TRUE(input.prepare.empty()) << to_text(input);
    EXPECT_NE(bodies(input.kernels).find("y.winograd.filter_rows["), std::string::npos) << to_text(input);
  }
}

// What follows a Winograd convolution element by element is applied to the block that was just turned, so that its result needs
// no memory of its own; not where others want the result.
TEST(Prepare, ConsumersOfWinogradsTilesJoinThem) {
  const std::string relu = R"(, {"op": "relu", "in": "y", "out": "z"})";
  for (const int channels : {32, 256}) {
    const LoopProgram joined = prepared(free_convolution(channels, "", relu, "z"));
    EXPECT_EQ(joined.find_buffer("y"), nullptr) << to_text(joined);
    const std::string text = bodies(joined.kernels);
    const std::size_t result = text.find("allocate y.winograd.result"), y = text.find("allocate y:", result);
    ASSERT_NE(y, std::string::npos) << text;
    EXPECT_EQ(text.find("parallel", result), std::string::npos) << text;
    EXPECT_NE(text.find("= max(y[", y), std::string::npos) << text;
    const LoopProgram both = prepared(free_convolution(channels, "", relu, R"(y", "z)"));
    EXPECT_EQ(bodies(both.kernels).find("allocate y:"), std::string::npos) << to_text(both);
  }
}

// What inputs or symbols have a part in stays in the run, and outputs do.
TEST(Prepare, OnlyWhatDependsOnWeightsAloneIsPrepared) {
  EXPECT_TRUE(prepared(weighted("")).prepare.empty());
  const Program scaled = program_of(R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 1, "max": 64, "default": 8}},
      "tensors": {"x": {"dtype": "f32", "shape": [64]}, "w": {"dtype": "f32", "shape": [64], "data": {"fill": 0.5}}},
      "inputs": ["x"], "ops": [
      {"op": "compute", "in": ["w"], "out": "v", "def": ["v[i] = cast(f32, N) * w[i]"]},
      {"op": "compute", "in": ["v", "x"], "out": "y", "def": ["y[i] = x[i] + v[63 - i]"]},
      {"op": "compute", "in": ["w"], "out": "z", "def": ["z[i] = w[i] + 1.0"]}], "outputs": ["y", "z"]})");
  EXPECT_TRUE(prepared(scaled).prepare.empty());
}

// Few rows: a thread that took rows would fetch all of b, panels of b would not pay, and blocks of the reduction keep its rows

}  // namespace
}  // namespace facet
