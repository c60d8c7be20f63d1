// Every trap through every path: the reference against the stated answer; then the planner's recipe, no fusion and given steps,
// interpreted as loop trees (as scanned, for a CPU, for a GPU) and as compiled kernels on 1 and 2 threads.
#include "tests/unit/tool/traps.hpp"

#include <gtest/gtest.h>

#include "src/driver/fuzz_compiled.hpp"
#include "src/driver/fuzz_try.hpp"
#include "src/frontend/json.hpp"
#include "src/machine/detect.hpp"

namespace facet {
namespace {

Machine two_cores() {
  Machine machine;
  machine.cpu = detect_cpu();
  machine.cpu.cores = 2;
  return machine;
}

// A recipe with one group of all ops and these steps.
Recipe recipe_with(const Program& p, const std::string& steps) {
  std::string ops;
  for (const Node& n : p.nodes) ops += (ops.empty() ? "\"" : ", \"") + (n.out.empty() ? n.inout[0] : n.out[0]) + "\"";
  const Result<Recipe> r = read_recipe(
      R"({"facet_recipe": 1, "program": null, "target": "openmp", "variants": [{"groups": [{"name": "k0", "ops": [)" + ops +
          R"(], "steps": [)" + steps + "]}]}]}",
      "recipe.json");
  EXPECT_TRUE(r) << to_text(r.errors());
  return *r;
}

void expect_stated(const Trap& trap, const FuzzPair& pair) {
  for (const auto& [name, stated] : trap.expected) {
    const HostTensor& got = pair.expected.at(name);
    std::vector<std::int64_t> at(got.shape.size(), 0);
    for (std::int64_t i = 0; i < got.element_count(); ++i) {
      std::int64_t rest = i;
      for (std::size_t d = at.size(); d-- > 0; rest /= got.shape[d]) at[d] = rest % got.shape[d];
      const double wanted = stated(at), tolerance = trap.id == "C1" ? 1e-12 * wanted : 0;
      if (std::isnan(wanted) || got.get(i) == wanted) continue;
      ASSERT_NEAR(got.get(i), wanted, tolerance) << trap.id << ": " << name << " at " << i;
    }
  }
}

class Traps : public testing::TestWithParam<Trap> {
 protected:
  // Interprets the pair and puts it into the batch.
  void try_pair(const Trap& trap, const std::map<std::string, std::int64_t>& sizes, bool fusion, const std::string& steps) {
    std::vector<std::string> set;
    for (const auto& [name, value] : sizes) set.push_back(name + "=" + std::to_string(value));
    Result<FuzzPair> pair = fuzz_pair(trap.program, {}, set, seed_++, two_cores());
    ASSERT_TRUE(pair) << trap.id << to_text(pair.errors());
    pair->options.fusion = fusion;
    if (!steps.empty()) pair->recipe = recipe_with(pair->loaded.program, steps);
    expect_stated(trap, *pair);
    const Result<LegalReport> legal = check_recipe(pair->loaded.program, pair->recipe, pair->options);
    ASSERT_TRUE(legal) << trap.id << ", " << steps << ": " << to_text(legal.errors());
    ASSERT_TRUE(legal->legal) << trap.id << ", " << steps << ": " << legal->message;
    const Result<FuzzTrees> trees = fuzz_trees(*pair);
    ASSERT_TRUE(trees) << trap.id << ", " << steps << ": " << to_text(trees.errors());
    EXPECT_EQ(interpret_trees(*pair, *trees), "") << trap.id << ", " << steps;
    EXPECT_EQ(batch_.add(*pair, trees->cpu), "") << trap.id << ", " << steps;
  }

  FuzzBatch batch_;
  std::uint64_t seed_ = 1;
};

TEST_P(Traps, GiveTheStatedAnswer) {
  const Trap& trap = GetParam();
  for (const std::map<std::string, std::int64_t>& sizes : trap.sizes) {
    try_pair(trap, sizes, true, "");
    try_pair(trap, sizes, false, "");
    for (const std::string& steps : trap.steps) try_pair(trap, sizes, true, steps);
  }
  const Result<FuzzBatch::Misses> misses = batch_.run({}, two_cores());
  ASSERT_TRUE(misses) << to_text(misses.errors());
  for (const auto& [pair, what] : *misses) ADD_FAILURE() << trap.id << ": " << what << "\n" << to_json(pair.recipe);
}

TEST_P(Traps, RefuseTheStepThatWentWrong) {
  const Trap& trap = GetParam();
  const Result<Program> program = check_text(trap.program, "trap.json");
  ASSERT_TRUE(program) << trap.id << to_text(program.errors());
  ScheduleOptions options;
  options.machine = two_cores();
  for (const std::string& steps : trap.refused) {
    const Result<LegalReport> legal = check_recipe(*program, recipe_with(*program, steps), options);
    ASSERT_TRUE(legal) << trap.id << ", " << steps << ": " << to_text(legal.errors());
    EXPECT_FALSE(legal->legal) << trap.id << ", " << steps;
  }
}

INSTANTIATE_TEST_SUITE_P(Table, Traps, testing::ValuesIn(all_traps()), [](const testing::TestParamInfo<Trap>& info) {
  std::string name = info.param.id;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
});

}  // namespace
}  // namespace facet
