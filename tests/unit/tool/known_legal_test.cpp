// tests/legal/recipes.txt: recipes that are known to be legal are accepted, and the schedule gives the reference's numbers: as
// scanned and after the loop passes. A checker that refuses too much is wrong as well.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "codegen/passes/passes.hpp"
#include "src/driver/execute.hpp"
#include "src/driver/machines.hpp"
#include "src/driver/options.hpp"
#include "src/frontend/json.hpp"
#include "src/run/inputs.hpp"
#include "src/run/interpret/interpret.hpp"
#include "src/run/verify.hpp"
#include "support/paths.hpp"

namespace facet {
namespace {

struct LegalCase {
  std::string program, what, rewrites, steps;
  std::vector<std::string> sizes;
};
void PrintTo(const LegalCase& c, std::ostream* out) { *out << c.program << ": " << c.what; }

std::vector<LegalCase> legal_cases() {
  std::vector<LegalCase> cases;
  std::ifstream file(test::source_path("tests/legal/recipes.txt"));
  LegalCase current;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "program") {
      current = {};
      words >> current.program;
      for (std::string size; words >> size;) current.sizes.push_back(size);
    } else if (kind == "case") {
      current.what = line.substr(5);
      cases.push_back(current);
    } else {
      const bool rewrite = kind == "rewrite";
      std::string& list = rewrite ? cases.back().rewrites : cases.back().steps;
      list += (list.empty() ? "" : ", ") + (rewrite ? line.substr(8) : line);
    }
  }
  return cases;
}

std::string recipe_text(const Program& p, const LegalCase& c) {
  std::string ops;
  for (const Node& n : p.nodes) ops += (ops.empty() ? "\"" : ", \"") + (n.out.empty() ? n.inout[0] : n.out[0]) + "\"";
  return R"({"facet_recipe": 1, "variants": [{"groups": [{"name": "k0", "ops": [)" + ops + R"(], "rewrites": [)" + c.rewrites +
         R"(], "steps": [)" + c.steps + "]}]}]}";
}

class KnownLegal : public testing::TestWithParam<LegalCase> {};

TEST_P(KnownLegal, IsAcceptedAndRight) {
  Options given;
  given.files = {test::source_path(GetParam().program)};
  given.set = GetParam().sizes;
  const Result<Loaded> loaded = load_program(given);
  ASSERT_TRUE(loaded.ok()) << to_text(loaded.errors());
  const Result<Machine> machine = described_machine(given);
  ASSERT_TRUE(machine.ok()) << to_text(machine.errors());
  const std::string text = recipe_text(loaded->program, GetParam());
  const Result<Recipe> recipe = read_recipe(text, "recipe");
  ASSERT_TRUE(recipe.ok()) << to_text(recipe.errors());
  ScheduleOptions options;
  options.machine = *machine;
  options.sizes = loaded->sizes;
  options.time_budget_s = 300;
  const Result<LegalReport> legal = check_recipe(loaded->program, *recipe, options);
  ASSERT_TRUE(legal.ok()) << text << to_text(legal.errors());
  ASSERT_TRUE(legal->legal) << text << "\n" << legal->message;
  const Result<Scheduled> scheduled = schedule_program(loaded->program, *recipe, options);
  ASSERT_TRUE(scheduled.ok()) << to_text(scheduled.errors());
  const Result<HostTensors> tensors = make_inputs(loaded->program, loaded->sizes, 1, {});
  ASSERT_TRUE(tensors.ok()) << to_text(tensors.errors());
  const Result<ReferenceRun> reference = run_reference(loaded->program, loaded->sizes, *tensors);
  ASSERT_TRUE(reference.ok()) << to_text(reference.errors());
  for (const LoopProgram& tree : {scheduled->loops, lower_for_cpu(scheduled->loops, machine->cpu, nullptr)}) {
    HostTensors values = argument_values(*loaded, tree.inputs, *tensors);
    const Result<InterpretReport> report = interpret(tree, loaded->sizes, values, {});
    ASSERT_TRUE(report.ok()) << to_text(report.errors());
    EXPECT_TRUE(report->clean()) << to_text(*report) << to_text(tree);
    const Verdict verdict = verify(loaded->program, *reference, values, true);
    EXPECT_TRUE(verdict.verified) << verdict.reason << "\n" << to_text(tree);
  }
}

INSTANTIATE_TEST_SUITE_P(Recipes, KnownLegal, testing::ValuesIn(legal_cases()));

TEST(KnownLegalList, HoldsAtLeastSixty) { EXPECT_GE(legal_cases().size(), 60U); }

}  // namespace
}  // namespace facet
