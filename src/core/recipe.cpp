// Questions to steps and their arguments.
#include "facet/recipe.hpp"

#include <algorithm>

namespace facet {

bool operator==(const Argument& a, const Argument& b) { return a.value == b.value; }

bool operator==(const Step& a, const Step& b) { return a.verb == b.verb && a.arguments == b.arguments; }

Place place_of(const Step& step, const std::string& argument) {
  if (const auto it = step.argument_places.find(argument); it != step.argument_places.end()) return it->second;
  Place place = step.place;
  place.pointer += "/" + argument;
  return place;
}

Place place_of(const Group& group, std::size_t op) { return op < group.op_places.size() ? group.op_places[op] : group.place; }

bool holds_hole(const Argument& a) {
  if (const auto* list = std::get_if<ArgumentList>(&a.value)) return std::any_of(list->begin(), list->end(), holds_hole);
  if (const auto* map = std::get_if<ArgumentMap>(&a.value))
    return std::any_of(map->begin(), map->end(), [](const auto& entry) { return holds_hole(entry.second); });
  return std::holds_alternative<Hole>(a.value);
}

}  // namespace facet
