// Random recipes over a random program, without steps: these are tried one after another (fuzz_grow).
#include <algorithm>

#include "src/driver/fuzz_maker.hpp"

namespace facet {

namespace {

Variant random_variant(const FuzzProgram& program, FuzzRandom& random) {
  Variant variant;
  variant.groups_hole = false;
  for (std::size_t at = 0; at < program.ops.size();) {
    const std::size_t count = std::min<std::size_t>(static_cast<std::size_t>(1 + random.below(3)), program.ops.size() - at);
    Group group;
    group.name = "k" + std::to_string(variant.groups.size());
    for (std::size_t i = at; i < at + count; ++i) group.ops.push_back(program.ops[i]);
    group.steps_hole = random.chance(20);
    variant.groups.push_back(std::move(group));
    at += count;
  }
  return variant;
}

std::string random_condition(FuzzRandom& random) {
  const std::string c = std::to_string(1 + random.below(20));
  switch (random.below(4)) {
    case 0: return "N < " + c;
    case 1: return "N % 4 == 0";
    case 2: return "N > " + c + " and N % 2 == 1";
    default: return "N == " + c;
  }
}

}  // namespace

Recipe random_recipe(const FuzzProgram& program, FuzzRandom& random) {
  Recipe recipe;
  if (random.chance(15)) return recipe;  // all left to the scheduler
  recipe.variants_hole = false;
  recipe.variants.push_back(random_variant(program, random));
  if (!random.chance(20)) return recipe;
  recipe.variants.back().when = random_condition(random);
  if (random.chance(50)) recipe.variants.push_back(random_variant(program, random));
  return recipe;
}

}  // namespace facet
