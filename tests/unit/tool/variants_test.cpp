// Recipes with several variants: which one serves which sizes, everywhere a recipe goes.
#include <gtest/gtest.h>

#include "codegen/cuda/map.hpp"
#include "codegen/cuda/print.hpp"
#include "codegen/openmp/print.hpp"
#include "codegen/passes/passes.hpp"
#include "polyhedral/facet_polyhedral.hpp"
#include "src/driver/execute.hpp"
#include "src/driver/pipeline.hpp"
#include "src/frontend/json.hpp"
#include "src/run/inputs.hpp"
#include "src/run/interpret/interpret.hpp"
#include "src/run/reference.hpp"

namespace facet {
namespace {

const char* const kProgram =
    R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 1, "max": 100, "default": 40}}, "assume": ["N != 50"],
  "tensors": {"x": {"dtype": "i32", "shape": ["N", 24]}, "w": {"dtype": "i32", "shape": [24, 40]}}, "inputs": ["x", "w"],
  "ops": [{"op": "matmul", "in": ["x", "w"], "out": "h"}, {"op": "relu", "in": "h", "out": "r"},
          {"op": "reduce_sum", "in": "r", "out": "s", "attrs": {"axes": [0], "keepdims": 0}}], "outputs": ["s"]})";

// h and r in original order for few rows; fused, contracted and tiled for multiples of 8; the scheduler's choice otherwise.
const char* const kRecipe = R"({"facet_recipe": 1, "variants": [
  {"when": "N < 8", "groups": [{"name": "k0", "ops": ["h", "r"], "steps": []}, {"name": "k1", "ops": ["s"], "steps": []}]},
  {"when": "N % 8 == 0", "groups": [{"name": "k0", "ops": ["h", "r"], "steps": [
     {"do": "fuse", "statements": ["h", "r"], "loops": ["i", "j"]}, {"do": "contract", "array": "h"},
     {"do": "tile", "statement": "r", "loops": ["i"], "sizes": [8]}, {"do": "promote", "array": "w", "statement": "h", "at": "it", "memory": "l2"}]},
    {"name": "k1", "ops": ["s"]}]}]})";

Program program() {
  Result<Program> p = check_text(kProgram, "p.json");
  EXPECT_TRUE(p) << to_text(p.errors());
  return *p;
}

Result<Recipe> recipe(const Program& p, const std::string& text) {
  Result<Recipe> r = read_recipe(text, "r.json");
  if (!r) return r.errors();
  const Result<Done> bound = bind_conditions(p, &*r);
  if (!bound) return bound.errors();
  return r;
}

struct Made {
  Recipe recipe;
  Ledger ledger;
  Scheduled scheduled;
};

Made make(const Program& p, const std::string& text, const std::string& target = "openmp") {
  ScheduleOptions options;
  options.target = target;
  options.sizes = {{"N", 40}};
  Made m;
  const Result<Recipe> wanted = recipe(p, text);
  EXPECT_TRUE(wanted) << to_text(wanted.errors());
  Result<Recipe> completed = plan(p, *wanted, options, m.ledger);
  EXPECT_TRUE(completed) << to_text(completed.errors());
  m.recipe = *completed;
  Result<Scheduled> s = schedule_program(p, m.recipe, options);
  EXPECT_TRUE(s) << to_text(s.errors());
  m.scheduled = *s;
  return m;
}

std::vector<std::string> kernels_for(const LoopProgram& loops, std::int64_t n) {
  std::vector<std::string> names;
  for (const Kernel& k : loops.kernels)
    if (!k.when || evaluate_index(k.when, {{"N", n}})) names.push_back(k.name);
  return names;
}

bool told(const Ledger& ledger, const std::string& subject, const std::string& words) {
  for (const LedgerEntry& e : ledger)
    if (e.kind == "variant" && e.subject == subject && e.reason.find(words) != std::string::npos) return true;
  return false;
}

TEST(Variants, TheFirstWhoseConditionHoldsIsTaken) {
  const Program p = program();
  const Made m = make(p, kRecipe);
  ASSERT_EQ(m.recipe.variants.size(), 3u);
  EXPECT_EQ(m.recipe.variants[2].when, "");
  EXPECT_TRUE(told(m.ledger, "variant 2", "added for the sizes"));
  for (const auto& [n, suffix] :
       {std::pair<int, std::string>{1, "_v0"}, {7, "_v0"}, {8, "_v1"}, {40, "_v1"}, {9, "_v2"}, {99, "_v2"}})
    for (const std::string& k : kernels_for(m.scheduled.loops, n)) EXPECT_TRUE(k.ends_with(suffix)) << n << " " << k;
  // The completed recipe leaves nothing to choose and gives the same kernels again.
  const Made again = make(p, to_json(m.recipe));
  EXPECT_EQ(to_json(again.recipe), to_json(m.recipe));
  EXPECT_EQ(to_text(again.scheduled.loops), to_text(m.scheduled.loops));
}

TEST(Variants, EachGivesTheReferencesNumbers) {
  const Program p = program();
  const LoopProgram scanned = make(p, kRecipe).scheduled.loops;
  const LoopProgram trees[] = {scanned, lower_for_cpu(scanned, Machine{}.cpu, nullptr),
                               map_to_gpu(scanned, Machine{}.gpu, nullptr)};
  for (const std::int64_t n : {1, 7, 8, 13, 16, 40}) {
    const SymbolValues sizes = {{"N", n}};
    const Result<HostTensors> tensors = make_inputs(p, sizes, 5, {});
    ASSERT_TRUE(tensors) << to_text(tensors.errors());
    const HostTensors expected = outputs_of(*run_reference(p, sizes, *tensors));
    for (const LoopProgram& tree : trees) {
      HostTensors buffers = argument_values({p, "", sizes}, tree.inputs, *tensors);
      const Result<InterpretReport> report = interpret(tree, sizes, buffers, {});
      ASSERT_TRUE(report) << to_text(report.errors());
      EXPECT_TRUE(report->clean()) << to_text(*report);
      EXPECT_EQ(buffers.at("s").bytes, expected.at("s").bytes) << n;
    }
  }
}

TEST(Variants, TheWorkspaceIsWhatTheVariantInForceNeeds) {
  const LoopProgram loops = make(program(), kRecipe).scheduled.loops;
  const Buffer* tile = loops.find_buffer("w.tile.v1");
  ASSERT_NE(tile, nullptr) << to_text(loops);
  EXPECT_EQ(evaluate_index(tile->extents[0], {{"N", 7}}), 0);
  EXPECT_EQ(evaluate_index(tile->extents[0], {{"N", 16}}), 24);
}

TEST(Variants, TheSourcesDispatch) {
  const LoopProgram loops = make(program(), kRecipe).scheduled.loops;
  const Result<Module> cpu = print_openmp(lower_for_cpu(loops, Machine{}.cpu, nullptr), {});
  ASSERT_TRUE(cpu) << to_text(cpu.errors());
  EXPECT_NE(cpu->source.text.find("if (N < 8) {\n    k0_v0_r("), std::string::npos) << cpu->source.text;
  EXPECT_NE(cpu->source.text.find("if (!(N != 50)) return facet_p_bad_symbol;"), std::string::npos) << cpu->source.text;
  ASSERT_NE(cpu->kernels[0].when, nullptr);
  CudaPrintOptions print;
  const Result<CudaModule> gpu =
      print_cuda(map_to_gpu(make(program(), kRecipe, "cuda").scheduled.loops, Machine{}.gpu, nullptr), print);
  ASSERT_TRUE(gpu) << to_text(gpu.errors());
  EXPECT_NE(gpu->module.source.text.find("if (!(N != 50)) return facet_p_bad_symbol;"), std::string::npos);
  for (std::size_t k = 0; k < gpu->kernels.size(); ++k) {
    const bool first = gpu->module.kernels[k].name.find("_v0") != std::string::npos;
    EXPECT_EQ(evaluate_index(gpu->kernels[k].grid[0], {{"N", 7}}) > 0, first) << gpu->kernels[k].entry;
  }
}

TEST(Variants, AConditionCountsAsAnAssumption) {
  const std::string text = to_text(make(program(), kRecipe).scheduled.loops);
  EXPECT_NE(text.find("for it in 0..N / 8"), std::string::npos) << text;  // no partial tile
}

TEST(Variants, OneThatNoSizesTakeIsTold) {
  const Program p = program();
  const std::string rest = R"({"groups": [{"ops": ["h", "r", "s"], "steps": []}]})";
  const Made m =
      make(p, R"({"facet_recipe": 1, "variants": [{"when": "N > 100"}, {"when": "N == 50"}, )" + rest + ", " + rest + "]}");
  EXPECT_TRUE(told(m.ledger, "variant 0 (N > 100)", "no allowed sizes satisfy its condition"));
  EXPECT_TRUE(told(m.ledger, "variant 1 (N == 50)", "no allowed sizes satisfy its condition"));
  EXPECT_TRUE(told(m.ledger, "variant 3", "the variants before it serve all its sizes"));
  EXPECT_EQ(m.recipe.variants.size(), 4u);
  for (const Kernel& k : m.scheduled.loops.kernels) EXPECT_EQ(k.when, nullptr);  // one is left: nothing to dispatch
}

TEST(Variants, EveryVariantIsJudged) {
  const Program p = program();
  const std::string text =
      R"({"facet_recipe": 1, "variants": [{"when": "N < 8"}, {"groups": [{"ops": ["h"], "steps": []}, {"ops": ["r", "s"], "steps": [
    {"do": "parallelize", "statement": "s", "loop": "i"}]}]}]})";
  const Result<LegalReport> report = check_recipe(p, *recipe(p, text), {});
  ASSERT_TRUE(report) << to_text(report.errors());
  EXPECT_FALSE(report->legal);
  EXPECT_EQ(report->step, "/variants/1/groups/1/steps/0");
}

TEST(Variants, AWrongConditionIsNamed) {
  const Program p = program();
  for (const char* when : {"N <", "M < 3", "N * N < 9", "N + 1"}) {
    const Result<Recipe> r = recipe(p, R"({"facet_recipe": 1, "variants": [{"when": ")" + std::string(when) + "\"}]}");
    ASSERT_FALSE(r) << when;
    EXPECT_EQ(failure_of(r.errors()[0].code), Failure::kInput) << when;
    EXPECT_EQ(r.errors()[0].place.pointer, "/variants/0/when") << when;
  }
}

}  // namespace
}  // namespace facet
