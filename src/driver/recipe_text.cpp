// A recipe that holds nothing but the steps lends its form.
#include "src/driver/recipe_text.hpp"

#include "src/frontend/json.hpp"

namespace facet {

Result<JsonValue> steps_json(const std::vector<Step>& steps) {
  Recipe carrier;
  carrier.graph = steps;
  const Result<JsonDocument> document = parse_json(to_json(carrier), "");
  if (!document) return document.errors();
  const JsonValue* graph = document->root.find("graph");
  return graph ? *graph : JsonValue::array();
}

std::string step_text(const Step& step) {
  const Result<JsonValue> list = steps_json({step});
  return list && !list->items.empty() ? write_json_compact(list->items[0]) : step.verb;
}

}  // namespace facet
