// diff: what two recipes do differently: kernels that were cut in another way, and steps added, removed or changed in each.
#include <algorithm>
#include <map>
#include <set>

#include "src/driver/recipe_effect.hpp"
#include "src/driver/recipe_text.hpp"
#include "src/driver/verbs.hpp"
#include "src/frontend/files.hpp"
#include "src/frontend/json.hpp"

namespace facet {

namespace {

struct Change {
  std::string kind;   // "kernels", "step", "target", "program", "graph", "memory"
  std::string where;  // "variant 0, kernel of h0, h1"
  std::string first, second;
  std::string effect;
};

Result<Recipe> load(const std::string& path) {
  const Result<std::string> text = read_text_file(path);
  if (!text) return text.errors();
  return read_recipe(*text, path);
}

std::vector<std::string> step_lines(const Group& g) {
  std::vector<std::string> lines;
  for (const Step& s : g.rewrites) lines.push_back("rewrite " + step_text(s));
  if (g.steps_hole) lines.push_back("steps left to the scheduler");
  for (const Step& s : g.steps) lines.push_back(step_text(s));
  return lines;
}

std::string effect_of(const std::string& line) {
  const std::map<std::string, std::string> effects = {
      {"fuse", "which intermediate values stay in registers or cache instead of memory"},
      {"tile", "the working set of a tile, and so which cache level serves it"},
      {"interchange", "the order of loops: strides of accesses, where reductions run"},
      {"reschedule", "the order of whole nests: skews, shifts, fusion, which loops may be tiled or run in parallel"},
      {"parallelize", "how work is spread over threads"},
      {"vectorize", "which loop becomes lanes and how wide"},
      {"unroll", "how many values are kept in registers at once"},
      {"promote", "a packed copy: fewer cache misses for the price of the copy"},
      {"flatten", "rows that end no vector and no tile"},
      {"rfactor", "the order of a reduction: more parallelism, another rounding"}};
  const std::size_t at = line.find("\"do\":\"");
  if (at == std::string::npos) return "";
  const std::string verb = line.substr(at + 6, line.find('"', at + 6) - at - 6);
  const auto it = effects.find(verb);
  return it == effects.end() ? "" : it->second;
}

// What a step is and what it is about: steps that agree in it were changed, not removed and added.
std::string subject_of(const std::string& line) {
  const Result<JsonDocument> document = parse_json(line, "");
  if (!document) return line;
  std::string text;
  for (const char* key : {"do", "statement", "array", "loop"})
    if (const JsonValue* v = document->root.find(key)) text += write_json_compact(*v) + " ";
  return text;
}

// A removed step and an added one of the same subject become one change.
void join_changed(std::size_t from, std::vector<Change>* changes) {
  for (std::size_t i = from; i < changes->size(); ++i) {
    Change& removed = (*changes)[i];
    if (removed.kind != "step" || removed.first.empty() || !removed.second.empty()) continue;
    for (std::size_t j = from; j < changes->size(); ++j) {
      Change& added = (*changes)[j];
      if (!added.first.empty() || added.second.empty() || subject_of(added.second) != subject_of(removed.first)) continue;
      removed.second = added.second;
      changes->erase(changes->begin() + static_cast<long>(j));
      if (j < i) --i;
      break;
    }
  }
}

std::string ops_text(const std::vector<std::string>& ops) {
  std::string text;
  for (const std::string& op : ops) text += (text.empty() ? "" : ", ") + op;
  return text;
}

// Longest common subsequence of lines; what is outside it was removed or added.
void diff_lines(const std::string& where, const std::vector<std::string>& a, const std::vector<std::string>& b,
                std::vector<Change>* changes) {
  std::vector<std::vector<int>> common(a.size() + 1, std::vector<int>(b.size() + 1, 0));
  for (std::size_t i = a.size(); i-- > 0;)
    for (std::size_t j = b.size(); j-- > 0;)
      common[i][j] = a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      ++i;
      ++j;
    } else if (j == b.size() || (i < a.size() && common[i + 1][j] >= common[i][j + 1])) {
      changes->push_back({"step", where, a[i], "", effect_of(a[i])});
      ++i;
    } else {
      changes->push_back({"step", where, "", b[j], effect_of(b[j])});
      ++j;
    }
  }
}

// One that a recipe does not have is the scheduler's where sizes are left for it.
Variant variant_at(const Recipe& r, std::size_t v) {
  if (v < r.variants.size()) return r.variants[v];
  Variant none;
  none.groups_hole = r.variants.empty() || !r.variants.back().when.empty();
  return none;
}

std::string groups_text(const Variant& v) {
  std::string text;
  for (const Group& g : v.groups) text += "[" + ops_text(g.ops) + "] ";
  return text;
}

// What one recipe leaves open, the other does not contradict: a recipe and its completion are for the same program.
void diff_heads(const Recipe& a, const Recipe& b, std::vector<Change>* changes) {
  if (!a.target.empty() && !b.target.empty() && a.target != b.target)
    changes->push_back({"target", "recipe", a.target, b.target, "where the kernels run"});
  if (!a.program_hash.empty() && !b.program_hash.empty() && a.program_hash != b.program_hash)
    changes->push_back({"program", "recipe", a.program_hash, b.program_hash, "the recipes were made for different programs"});
}

void diff_variants(const Variant& a, const Variant& b, const std::string& name, std::vector<Change>* changes) {
  if (a.when != b.when) changes->push_back({"when", name, a.when, b.when, "for which sizes this variant is taken"});
  if (a.groups_hole || b.groups_hole) {
    const std::string effect = "who chooses the kernels";
    const std::string kOpen = "kernels left to the scheduler";
    if (!a.groups_hole) changes->push_back({"kernels", name, groups_text(a), kOpen, effect});
    if (!b.groups_hole) changes->push_back({"kernels", name, kOpen, groups_text(b), effect});
    return;
  }
  std::map<std::string, const Group*> second;
  for (const Group& g : b.groups) second[ops_text(g.ops)] = &g;
  std::set<std::string> matched;
  std::string only_a, only_b;
  for (const Group& g : a.groups) {
    const std::string ops = ops_text(g.ops);
    const auto it = second.find(ops);
    if (it == second.end()) {
      only_a += "[" + ops + "] ";
      continue;
    }
    matched.insert(ops);
    const std::size_t from = changes->size();
    diff_lines(name + ", kernel of " + ops, step_lines(g), step_lines(*it->second), changes);
    join_changed(from, changes);
  }
  for (const Group& g : b.groups)
    if (!matched.count(ops_text(g.ops))) only_b += "[" + ops_text(g.ops) + "] ";
  if (!only_a.empty() || !only_b.empty())
    changes->push_back({"kernels", name, only_a, only_b, "which values pass between kernels through memory"});
}

}  // namespace

Result<Outcome> verb_diff(const Options& options) {
  const Result<Recipe> a = load(options.files[0]);
  if (!a) return a.errors();
  const Result<Recipe> b = load(options.files[1]);
  if (!b) return b.errors();
  std::vector<Change> changes;
  diff_heads(*a, *b, &changes);
  const std::size_t variants = std::max(a->variants.size(), b->variants.size());
  for (std::size_t i = 0; i < variants; ++i)
    diff_variants(variant_at(*a, i), variant_at(*b, i), "variant " + std::to_string(i), &changes);
  if (!a->memory_order.empty() && !b->memory_order.empty() && a->memory_order != b->memory_order)
    changes.push_back(
        {"memory", "recipe", ops_text(a->memory_order), ops_text(b->memory_order), "where intermediate tensors live"});
  Outcome outcome;
  JsonValue list = JsonValue::array();
  for (const Change& c : changes) {
    JsonValue one = JsonValue::object();
    one.add("kind", JsonValue::of(c.kind)).add("where", JsonValue::of(c.where));
    one.add("first", c.first.empty() ? JsonValue::null() : JsonValue::of(c.first));
    one.add("second", c.second.empty() ? JsonValue::null() : JsonValue::of(c.second)).add("changes", JsonValue::of(c.effect));
    list.items.push_back(std::move(one));
    outcome.text += c.where + (c.kind == "step" ? "" : ", " + c.kind) + "\n";
    if (!c.first.empty()) outcome.text += "  - " + c.first + "\n";
    if (!c.second.empty()) outcome.text += "  + " + c.second + "\n";
    if (!c.effect.empty()) outcome.text += "    changes: " + c.effect + "\n";
  }
  if (changes.empty()) outcome.text = "the recipes do the same\n";
  outcome.json.add("same", JsonValue::of(changes.empty())).add("changes", std::move(list));
  if (options.program.empty()) return outcome;
  Result<RecipeEffect> effect = compare_effects(options, options.files[0], options.files[1]);
  if (!effect) return effect.errors();
  outcome.text += effect->text;
  outcome.json.add("effect", std::move(effect->json));
  return outcome;
}

}  // namespace facet
