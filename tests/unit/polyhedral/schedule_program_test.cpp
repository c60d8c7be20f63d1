// From JSON text to loop trees: the layer's verbs on small whole programs.
#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

Scheduled scheduled(const Program& p, const Recipe& partial, Ledger* ledger = nullptr) {
  ScheduleOptions options;
  options.machine.cpu.cores = 2;
  Ledger own;
  Result<Recipe> recipe = plan(p, partial, options, ledger ? *ledger : own);
  EXPECT_TRUE(recipe.ok()) << (recipe.ok() ? "" : to_text(recipe.errors()));
  Result<Scheduled> s = schedule_program(p, *recipe, options);
  EXPECT_TRUE(s.ok()) << (s.ok() ? "" : to_text(s.errors()));
  return *s;
}

const char* const kMatmul =
    R"({"facet": 1, "name": "mm", "tensors": {"a": {"dtype": "f32", "shape": [100, 200]}, "b": {"dtype": "f32", "shape": [200, 300]}},
 "inputs": ["a", "b"], "ops": [{"op": "matmul", "in": ["a", "b"], "out": "c"}], "outputs": ["c"]})";

TEST(ScheduleProgram, EmptyStepsGiveTheOriginalOrderWithoutTilesVectorsOrThreads) {
  Recipe r;
  r.variants_hole = false;
  Variant v;
  v.groups_hole = false;
  Group g;
  g.name = "k0";
  g.ops = {"c"};
  g.steps_hole = false;
  v.groups = {g};
  r.variants = {v};
  const std::string text = to_text(scheduled(program_of(kMatmul), r).loops);
  EXPECT_EQ(text.find("parallel"), std::string::npos) << text;
  EXPECT_EQ(text.find("vector"), std::string::npos) << text;
  EXPECT_EQ(text.find("tile"), std::string::npos) << text;
}

TEST(ScheduleProgram, MatmulIsTiledPackedVectorisedAndParallel) {
  Ledger ledger;
  const Scheduled s = scheduled(program_of(kMatmul), {}, &ledger);
  const std::string text = to_text(s.loops);
  std::string log;
  for (const LedgerEntry& e : ledger) log += e.kind + " " + e.subject + (e.done ? " done: " : " not done: ") + e.reason + "\n";
  EXPECT_NE(text.find("parallel"), std::string::npos) << text << log;
  EXPECT_NE(text.find("vector"), std::string::npos) << text << log;
  EXPECT_NE(text.find("b.tile"), std::string::npos) << text << log << s.schedule_text;
}

}  // namespace
}  // namespace facet
