// What a pair is held to: the trees' numbers, at its own sizes or, where these take too long, at smaller ones.
#include "src/driver/fuzz_try.hpp"

#include <gtest/gtest.h>

#include "src/driver/machines.hpp"
#include "src/driver/options.hpp"
#include "src/frontend/json.hpp"

namespace facet {
namespace {

constexpr const char* kProgram = R"({"facet": 1, "name": "p", "symbols": {"N": {"min": 1, "max": 40, "default": 24}},
  "tensors": {"x": {"dtype": "i32", "shape": ["N", 13]}}, "inputs": ["x"],
  "ops": [{"op": "compute", "in": ["x"], "out": "y", "def": "y[i, j] = x[i, j] + 1 for i in 0..N, j in 0..13"}],
  "outputs": ["y"]})";
constexpr const char* kRecipe = R"({"facet_recipe": 1, "target": "openmp", "variants": [
  {"when": "N % 8 == 0", "groups": [{"name": "k0", "ops": ["y"], "steps": []}]}]})";

FuzzPair pair_of() {
  const Result<Machine> machine = described_machine(Options{});
  EXPECT_TRUE(machine.ok()) << to_text(machine.errors());
  Result<Recipe> recipe = read_recipe(kRecipe, "recipe");
  EXPECT_TRUE(recipe.ok()) << to_text(recipe.errors());
  Result<FuzzPair> pair = fuzz_pair(kProgram, *recipe, {}, 1, *machine);
  EXPECT_TRUE(pair.ok()) << to_text(pair.errors());
  return *pair;
}

// The kernel of the variant for 24 writes something else to y.
LoopProgram changed(LoopProgram program) {
  Kernel& k = program.kernels.at(0);
  const ExprPtr wrong = binary(Op::kAdd, read("y", DType::kI32, {idx(0), idx(0)}), int_literal(DType::kI32, 1));
  Store again;
  again.statement = "again";
  again.buffer = "y";
  again.subscripts = {idx(0), idx(0)};
  again.value = wrong;
  k.body.push_back(make_loop(std::move(again)));
  return program;
}

TEST(FuzzTry, WhatTakesTooLongRunsAtSmallerSizesOfTheSameVariant) {
  const FuzzPair pair = pair_of();
  Result<FuzzTrees> trees = fuzz_trees(pair);
  ASSERT_TRUE(trees.ok()) << to_text(trees.errors());
  bool cut_down = false;
  EXPECT_EQ(interpret_trees(pair, *trees, &cut_down), "");
  EXPECT_FALSE(cut_down);
  EXPECT_EQ(interpret_trees(pair, *trees, &cut_down, 1000), "");  // 24 x 13 instances of some instructions each
  EXPECT_TRUE(cut_down);
  // At 8, not at 12: only there the variant's kernels run, which are wrong.
  trees->scanned = changed(trees->scanned);
  EXPECT_EQ(interpret_trees(pair, *trees, nullptr, 1000), "the tree as scanned: y is wrong");
}

TEST(FuzzTry, TooLongAtTheSmallestSizesIsAMiss) {
  const FuzzPair pair = pair_of();
  const Result<FuzzTrees> trees = fuzz_trees(pair);
  ASSERT_TRUE(trees.ok()) << to_text(trees.errors());
  EXPECT_EQ(interpret_trees(pair, *trees, nullptr, 1), "too many steps for the interpreter even at the smallest sizes");
}

}  // namespace
}  // namespace facet
