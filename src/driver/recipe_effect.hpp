// What a recipe makes of a program by the scheduler's model, for comparing recipes.
#pragma once

#include "src/driver/pipeline.hpp"
#include "src/frontend/json_tree.hpp"

namespace facet {

// Both recipes completed for the program and counted at the sizes in force: a table for people, the numbers for programs.
struct RecipeEffect {
  std::string text;
  JsonValue json = JsonValue::null();
};

// `options.program` names the program. An error is a program or recipe that is wrong, or a refused step.
Result<RecipeEffect> compare_effects(const Options& options, const std::string& first, const std::string& second);

}  // namespace facet
