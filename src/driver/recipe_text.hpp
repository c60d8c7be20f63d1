// Steps as a recipe file spells them.
#pragma once

#include <string>
#include <vector>

#include "facet/recipe.hpp"
#include "facet/result.hpp"
#include "src/frontend/json_tree.hpp"

namespace facet {

Result<JsonValue> steps_json(const std::vector<Step>& steps);
std::string step_text(const Step& step);  // one line of JSON

}  // namespace facet
