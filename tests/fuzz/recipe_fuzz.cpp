// Fuzzing of the recipe reader: any bytes give diagnostics or a recipe that prints and reads back.
#include <cstdint>
#include <string>

#include "src/frontend/json.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace facet;
  const Result<Recipe> recipe = read_recipe(std::string(reinterpret_cast<const char*>(data), size), "r.json");
  if (!recipe) {
    require_explained(recipe.errors());
    return 0;
  }
  const std::string text = to_json(*recipe);
  const Result<Recipe> again = read_recipe(text, "r.json");
  if (!again) require(false, to_text(again.errors()) + text);
  require(to_json(*again) == text, "the recipe changes when read back:\n" + text + to_json(*again));
  return 0;
}
