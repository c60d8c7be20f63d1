// Recipes as JSON. Only the form is judged here; which steps exist and what they take is known to the transforms.
#include <algorithm>

#include "src/frontend/affine.hpp"
#include "src/frontend/json.hpp"
#include "src/frontend/json_reader.hpp"

namespace facet {

namespace {

using Kind = JsonValue::Kind;

// {"do": "?"}: "?" as somebody may write it.
bool is_rest(const JsonValue& v) {
  const JsonValue* const verb = v.is(Kind::kObject) ? v.find("do") : nullptr;
  return verb && verb->is(Kind::kString) && verb->text == "?";
}

bool is_hole(const JsonValue& v) { return v.is(Kind::kString) && v.text == "?"; }

class RecipeReader {
 public:
  explicit RecipeReader(const JsonDocument& document) : json(document) {}

  void run(const JsonValue& root) {
    if (!json.fields(root, "a recipe", {"facet_recipe"}, {"program", "target", "graph", "variants", "memory"})) return;
    if (const JsonValue* v = root.find("facet_recipe")) {
      recipe.place = json.place(root);
      if (const auto version = json.integer(*v, "\"facet_recipe\""); version && *version != 1)
        json.complain(Code::kBadVersion, *v, {"facet_recipe", "1", std::to_string(*version)});
    }
    if (const JsonValue* v = root.find("program")) hash(*v);
    if (const JsonValue* v = root.find("target"); v && !is_hole(*v)) {
      recipe.target = json.string(*v, "\"target\"").value_or("");
      recipe.target_place = json.place(*v);
    }
    if (const JsonValue* v = root.find("graph"); v && !is_hole(*v)) {
      recipe.graph = steps(*v, "\"graph\"");
      if (!recipe.graph.empty())
        json.complain(Code::kNotInThisVersion, *v, {"a step of \"graph\""},
                      {"steps stand in a group: {\"variants\": [{\"groups\": [{\"ops\": [...], \"steps\": [...]}]}]}"});
    }
    if (const JsonValue* v = root.find("variants"); v && !is_hole(*v)) variants(*v);
    if (const JsonValue* v = root.find("memory"); v && !is_hole(*v)) memory(*v);
  }

  JsonReader json;
  Recipe recipe;

 private:
  void hash(const JsonValue& v) {
    if (v.is(Kind::kNull) || is_hole(v)) return;
    const auto text = json.string(v, "\"program\"");
    if (!text) return;
    const bool hex = text->size() == 64 && text->find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!hex) json.complain(Code::kBadHash, v, {*text});
    recipe.program_hash = *text;
    recipe.hash_place = json.place(v);
  }

  void variants(const JsonValue& v) {
    if (!json.array(v, "\"variants\"")) return;
    recipe.variants_hole = false;
    for (const JsonValue& item : v.items) {
      Variant variant;
      variant.place = json.place(item);
      if (!json.fields(item, "a variant", {}, {"when", "groups"})) continue;
      if (const JsonValue* when = item.find("when"); when && !is_hole(*when)) {
        variant.when = json.string(*when, "\"when\"").value_or("");
        if (when->is(Kind::kString) && variant.when.empty())
          json.complain(Code::kWrongType, *when, {"\"when\"", "a condition on symbols", "an empty text"},
                        {"leave \"when\" out where the variant serves all sizes"});
        variant.when_place = json.document().text_place(*when);
      }
      const JsonValue* const list = item.find("groups");
      variant.groups_hole = !list || is_hole(*list);
      if (!variant.groups_hole && json.array(*list, "\"groups\""))
        for (const JsonValue& g : list->items) group(g, &variant);
      recipe.variants.push_back(std::move(variant));
    }
  }

  void group(const JsonValue& v, Variant* variant) {
    Group g;
    g.place = json.place(v);
    if (!json.fields(v, "a group", {"ops"}, {"name", "rewrites", "steps"})) return;
    if (const JsonValue* name = v.find("name"); name && !is_hole(*name)) g.name = json.name(*name, "a group").value_or("");
    if (const JsonValue* ops = v.find("ops"); ops && json.array(*ops, "\"ops\""))
      for (const JsonValue* item : json.strings(*ops, "\"ops\"")) {
        if (std::count(g.ops.begin(), g.ops.end(), item->text))
          json.complain(Code::kListedTwice, *item, {item->text, "\"ops\""});
        g.ops.push_back(item->text);
        g.op_places.push_back(json.place(*item));
      }
    if (const JsonValue* rewrites = v.find("rewrites")) {
      g.rewrites_hole = is_hole(*rewrites);
      if (!g.rewrites_hole) g.rewrites = steps(*rewrites, "\"rewrites\"");
      no_holes_in(g.rewrites);
    }
    const JsonValue* const list = v.find("steps");
    g.steps_hole = !list || is_hole(*list);
    if (!g.steps_hole) g.steps = steps(*list, "\"steps\"");
    variant->groups.push_back(std::move(g));
  }

  // The scheduler chooses rewrites all together or not at all.
  void no_holes_in(const std::vector<Step>& rewrites) {
    for (const Step& s : rewrites)
      for (const auto& [name, value] : s.arguments) {
        if (!holds_hole(value)) continue;
        json.complain_at(diagnose(Code::kBadStepArgument, place_of(s, name),
                                  {s.verb, name, "a value: rewrites have no holes", "\"?\""},
                                  {"give `" + name + "`, or leave all rewrites to the scheduler: \"rewrites\": \"?\""}));
      }
  }

  std::vector<Step> steps(const JsonValue& v, const std::string& what) {
    std::vector<Step> list;
    if (!json.array(v, what)) return list;
    for (const JsonValue& item : v.items) {
      Step step;
      step.place = json.place(item);
      const bool rest = is_hole(item) || is_rest(item);
      if (rest && what == "\"steps\"") {
        for (const JsonMember& m : item.members)
          if (m.key != "do")
            json.complain(
                Code::kUnknownStepArgument, m.value, {"?", m.key},
                {"\"?\" stands for the whole rest and takes no arguments; write the step's name, and \"?\" for what of it "
                 "the scheduler shall choose"});
        if (&item != &v.items.back())
          json.complain(Code::kWrongType, item, {"an entry of \"steps\" before the last", "a step", "\"?\", the whole rest"},
                        {"move it to the end, or write the steps at its place with \"?\" as their arguments"});
        step.verb = "?";
        list.push_back(std::move(step));
        continue;
      }
      if (!item.is(Kind::kObject)) {
        json.complain(Code::kWrongType, item, {"a step", "an object", kind_text(item)});
        continue;
      }
      const JsonValue* const verb = item.find("do");
      if (!verb) {
        const std::string name = item.members.size() == 1 ? item.members[0].key : "tile";
        json.complain(Code::kMissingField, item, {"do", "a step"},
                      {"a step is written {\"do\": \"" + name + "\", ...}, its arguments beside \"do\""});
      }
      if (verb) {
        step.verb = json.string(*verb, "\"do\"").value_or("");
        step.argument_places["do"] = json.place(*verb);
      }
      for (const JsonMember& m : item.members)
        if (m.key != "do") step.arguments[m.key] = argument(m.value, "argument \"" + m.key + "\"", m.key, &step);
      list.push_back(std::move(step));
    }
    return list;
  }

  Argument argument(const JsonValue& v, const std::string& what, const std::string& path, Step* step) {
    Argument a;
    step->argument_places[path] = json.place(v);
    switch (v.kind) {
      case Kind::kBool: a.value = v.boolean; break;
      case Kind::kInteger: a.value = v.integer; break;
      case Kind::kString:
        if (!is_hole(v)) a.value = v.text;
        break;
      case Kind::kArray: {
        ArgumentList list;
        for (const JsonValue& item : v.items)
          list.push_back(argument(item, "an entry of " + what, path + "/" + std::to_string(list.size()), step));
        a.value = std::move(list);
        break;
      }
      case Kind::kObject: {
        ArgumentMap map;
        for (const JsonMember& m : v.members)
          map[m.key] = argument(m.value, "\"" + m.key + "\" of " + what, path + "/" + m.key, step);
        a.value = std::move(map);
        break;
      }
      default:
        json.complain(Code::kWrongType, v, {what, "an integer, a text, true, false, a list, an object or \"?\"", kind_text(v)});
    }
    return a;
  }

  void memory(const JsonValue& v) {
    if (!json.fields(v, "\"memory\"", {}, {"order", "arena"})) return;
    if (const JsonValue* order = v.find("order"); order && !is_hole(*order) && json.array(*order, "\"order\""))
      for (const JsonValue* item : json.strings(*order, "\"order\"")) {
        recipe.memory_order.push_back(item->text);
        recipe.order_places.push_back(json.place(*item));
      }
    const JsonValue* const arena = v.find("arena");
    if (!arena || is_hole(*arena)) return;
    if (json.choice(*arena, "\"arena\"", {"auto", "none"}).value_or("auto") == "none")
      json.complain(Code::kNotInThisVersion, *arena, {"\"arena\": \"none\""},
                    {"write \"auto\": arrays that do not live at the same time share memory"});
  }
};

JsonValue argument_json(const Argument& a) {
  if (std::holds_alternative<Hole>(a.value)) return JsonValue::of("?");
  if (const auto* v = std::get_if<std::int64_t>(&a.value)) return JsonValue::of(*v);
  if (const auto* v = std::get_if<bool>(&a.value)) return JsonValue::of(*v);
  if (const auto* v = std::get_if<std::string>(&a.value)) return JsonValue::of(*v);
  if (const auto* list = std::get_if<ArgumentList>(&a.value)) {
    JsonValue out = JsonValue::array();
    for (const Argument& item : *list) out.items.push_back(argument_json(item));
    return out;
  }
  JsonValue out = JsonValue::object();
  for (const auto& [key, value] : std::get<ArgumentMap>(a.value)) out.add(key, argument_json(value));
  return out;
}

JsonValue steps_json(const std::vector<Step>& steps) {
  JsonValue out = JsonValue::array();
  for (const Step& s : steps) {
    if (s.verb == "?") {
      out.items.push_back(JsonValue::of("?"));
      continue;
    }
    JsonValue step = JsonValue::object();
    step.add("do", JsonValue::of(s.verb));
    for (const auto& [key, value] : s.arguments) step.add(key, argument_json(value));
    out.items.push_back(std::move(step));
  }
  return out;
}

JsonValue group_json(const Group& g) {
  JsonValue out = JsonValue::object();
  if (!g.name.empty()) out.add("name", JsonValue::of(g.name));
  out.add("ops", JsonValue::array_of(g.ops));
  if (g.rewrites_hole) out.add("rewrites", JsonValue::of("?"));
  if (!g.rewrites.empty()) out.add("rewrites", steps_json(g.rewrites));
  if (!g.steps_hole) out.add("steps", steps_json(g.steps));
  return out;
}

}  // namespace

Result<Recipe> read_recipe(const std::string& text, const std::string& file) {
  const Result<JsonDocument> document = parse_json(text, file);
  if (!document) return document.errors();
  RecipeReader reader(*document);
  reader.run(document->root);
  if (!reader.json.clean()) return reader.json.take();
  return std::move(reader.recipe);
}

Result<Done> bind_conditions(const Program& program, Recipe* recipe) {
  std::vector<std::string> symbols;
  for (const Symbol& s : program.symbols) symbols.push_back(s.name);
  Diagnostics errors;
  for (Variant& v : recipe->variants) {
    v.condition = nullptr;
    if (v.when.empty()) continue;
    const Result<ExprPtr> condition = parse_condition(v.when, symbols, v.when_place);
    if (condition) {
      v.condition = *condition;
    } else {
      errors.insert(errors.end(), condition.errors().begin(), condition.errors().end());
    }
  }
  if (!errors.empty()) return errors;
  return Done{};
}

std::string to_json(const Recipe& r) {
  JsonValue out = JsonValue::object();
  out.add("facet_recipe", JsonValue::of(1));
  out.add("program", r.program_hash.empty() ? JsonValue::null() : JsonValue::of(r.program_hash));
  if (!r.target.empty()) out.add("target", JsonValue::of(r.target));
  if (!r.graph.empty()) out.add("graph", steps_json(r.graph));
  if (!r.variants_hole) {
    JsonValue variants = JsonValue::array();
    for (const Variant& v : r.variants) {
      JsonValue variant = JsonValue::object();
      if (!v.when.empty()) variant.add("when", JsonValue::of(v.when));
      JsonValue groups = JsonValue::array();
      for (const Group& g : v.groups) groups.items.push_back(group_json(g));
      if (!v.groups_hole) variant.add("groups", std::move(groups));
      variants.items.push_back(std::move(variant));
    }
    out.add("variants", std::move(variants));
  }
  JsonValue memory = JsonValue::object();
  if (!r.memory_order.empty()) memory.add("order", JsonValue::array_of(r.memory_order));
  memory.add("arena", JsonValue::of(r.arena));
  out.add("memory", std::move(memory));
  return write_json(out);
}

}  // namespace facet
