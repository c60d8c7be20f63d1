// Checked access to a step's arguments.
#include <algorithm>
#include <limits>
#include <set>

#include "facet/nearest.hpp"
#include "polyhedral/transform/transform.hpp"

namespace facet {

std::string describe(const Argument& a) {
  if (std::holds_alternative<Hole>(a.value)) return "a hole";
  if (const auto* i = std::get_if<std::int64_t>(&a.value)) return std::to_string(*i);
  if (std::holds_alternative<bool>(a.value)) return "a truth value";
  if (const auto* s = std::get_if<std::string>(&a.value)) return "\"" + *s + "\"";
  return std::holds_alternative<ArgumentList>(a.value) ? "a list" : "an object";
}

namespace {

std::string join(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text.empty() ? "none" : text;
}

void collect_texts(const Argument& a, const std::string& path, std::vector<std::pair<std::string, std::string>>* texts) {
  if (const auto* text = std::get_if<std::string>(&a.value)) texts->emplace_back(path, *text);
  if (const auto* list = std::get_if<ArgumentList>(&a.value))
    for (std::size_t i = 0; i < list->size(); ++i) collect_texts((*list)[i], path + "/" + std::to_string(i), texts);
  if (const auto* map = std::get_if<ArgumentMap>(&a.value))
    for (const auto& [key, value] : *map) collect_texts(value, path + "/" + key, texts);
}

// The argument that a complaint is about: the one that it quotes first, as `name` or by its value; of several with that value
// the one that is not the statement. "": none.
std::string culprit(const Step& step, const std::string& complaint) {
  std::string found;
  std::size_t first = std::string::npos;
  const auto consider = [&](const std::string& path, const std::string& quoted) {
    const std::size_t at = complaint.find(quoted);
    if (at == std::string::npos || at > first || (at == first && found != "statement")) return;
    first = at;
    found = path;
  };
  for (const auto& [name, value] : step.arguments) {
    consider(name, "`" + name + "`");
    std::vector<std::pair<std::string, std::string>> texts;
    collect_texts(value, name, &texts);
    for (const auto& [path, text] : texts) consider(path, "'" + text + "'");
  }
  return found;
}

bool is_word(const std::string& text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

}  // namespace

void Arguments::bad(const std::string& name, const std::string& expected, const std::string& found) {
  bad_at(name, expected, found);
}

void Arguments::bad_at(const std::string& path, const std::string& expected, const std::string& found) {
  complain(
      diagnose(Code::kBadStepArgument, place_of(step_, path), {step_.verb, path.substr(0, path.find('/')), expected, found}));
}

void Arguments::refuse(const std::string& why, std::vector<std::string> notes) {
  const std::string path = culprit(step_, why);
  const Place place = path.empty() ? step_.place : place_of(step_, path);
  complain(diagnose(Code::kStepPrecondition, place, {step_.verb, why}, std::move(notes)));
}

std::string Arguments::text(const std::string& name, const std::string& otherwise) {
  const auto it = step_.arguments.find(name);
  if (it == step_.arguments.end()) return otherwise;
  if (const auto* s = std::get_if<std::string>(&it->second.value)) return *s;
  bad(name, "a text", describe(it->second));
  return otherwise;
}

bool Arguments::truth(const std::string& name, bool otherwise) {
  const auto it = step_.arguments.find(name);
  if (it == step_.arguments.end()) return otherwise;
  if (const auto* b = std::get_if<bool>(&it->second.value)) return *b;
  bad(name, "true or false", describe(it->second));
  return otherwise;
}

std::int64_t Arguments::integer(const std::string& name, std::int64_t otherwise, std::int64_t lowest, std::int64_t highest) {
  const auto it = step_.arguments.find(name);
  if (it == step_.arguments.end()) return otherwise;
  const auto* i = std::get_if<std::int64_t>(&it->second.value);
  if (i && *i >= lowest && *i <= highest) return *i;
  constexpr std::int64_t kNoLowest = std::numeric_limits<std::int64_t>::min();
  std::string range = lowest == kNoLowest ? "" : " from " + std::to_string(lowest);
  if (lowest != kNoLowest && highest != kHighest) range += " to " + std::to_string(highest);
  if (i && *i > highest) range = " up to " + std::to_string(highest);
  bad(name, "an integer" + range, describe(it->second));
  return otherwise;
}

std::int64_t Arguments::any_integer(const std::string& name) {
  return integer(name, 0, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
}

std::vector<std::int64_t> Arguments::integers(const std::string& name, std::int64_t lowest, std::int64_t highest) {
  std::vector<std::int64_t> list;
  const auto it = step_.arguments.find(name);
  if (it == step_.arguments.end()) return list;
  const auto* items = std::get_if<ArgumentList>(&it->second.value);
  if (!items) {
    bad(name, "a list of integers", describe(it->second));
    return list;
  }
  for (const Argument& a : *items) {
    const auto* i = std::get_if<std::int64_t>(&a.value);
    if (!i || *i < lowest || *i > highest) {
      bad_at(name + "/" + std::to_string(list.size()),
             i && *i > highest ? "integers up to " + std::to_string(highest) : "integers from " + std::to_string(lowest),
             describe(a));
      return {};
    }
    list.push_back(*i);
  }
  return list;
}

std::vector<std::string> Arguments::texts(const std::string& name) {
  std::vector<std::string> list;
  const auto it = step_.arguments.find(name);
  if (it == step_.arguments.end()) return list;
  if (const auto* one = std::get_if<std::string>(&it->second.value)) return {*one};
  const auto* items = std::get_if<ArgumentList>(&it->second.value);
  if (!items) {
    bad(name, "a list of names", describe(it->second));
    return list;
  }
  for (const Argument& a : *items) {
    const auto* s = std::get_if<std::string>(&a.value);
    if (!s) {
      bad_at(name + "/" + std::to_string(list.size()), "names", describe(a));
      return {};
    }
    list.push_back(*s);
  }
  return list;
}

const ArgumentMap* Arguments::map(const std::string& name) const {
  const auto it = step_.arguments.find(name);
  return it == step_.arguments.end() ? nullptr : std::get_if<ArgumentMap>(&it->second.value);
}

int Arguments::statement(const std::string& name) {
  const std::string wanted = text(name);
  if (problem_) return -1;
  const int s = schedule_.find(wanted);
  if (s >= 0) return s;
  std::vector<std::string> known;
  for (int i = 0; i < schedule_.statement_count(); ++i) known.push_back(schedule_.statement(i).name);
  std::vector<std::string> notes = did_you_mean(wanted, known);
  notes.push_back("statements: " + join(known));
  complain(diagnose(Code::kUnknownStatement, place_of(step_, name), {wanted, schedule_.scop->name}, std::move(notes)));
  return -1;
}

void Arguments::check_names(const std::string& name) {
  const auto it = step_.arguments.find(name);
  if (it == step_.arguments.end()) return;
  const std::vector<std::string> all =
      std::holds_alternative<ArgumentList>(it->second.value) ? texts(name) : std::vector{text(name)};
  std::set<std::string> seen;
  for (const std::string& n : all) {
    if (problem_) return;
    const std::vector<Symbol>& symbols = schedule_.scop->symbols;
    if (!is_word(n))
      bad(name, "letters, digits and _, a letter first", "\"" + n + "\"");
    else if (!seen.insert(n).second)
      refuse("two loops would be called '" + n + "'", {"give each a name of its own"});
    else if (std::any_of(symbols.begin(), symbols.end(), [&](const Symbol& s) { return s.name == n; }))
      refuse("'" + n + "' is a symbol of the program", {"choose other `" + name + "`"});
  }
}

std::vector<int> Arguments::statements() {
  std::vector<int> numbers;
  const std::vector<std::string> names = texts("statements");
  for (std::size_t i = 0; i < names.size(); ++i) {
    const int s = schedule_.find(names[i]);
    if (s < 0)
      bad_at("statements/" + std::to_string(i), "statements of group '" + schedule_.scop->name + "'", "\"" + names[i] + "\"");
    else
      numbers.push_back(s);
  }
  return numbers;
}

std::vector<std::string> Arguments::loops_for(int statement) {
  const ArgumentMap* own = map("loops");
  if (!own) return texts("loops");
  std::vector<std::string> names;
  if (const auto it = own->find(schedule_.statement(statement).name); it != own->end())
    if (const auto* list = std::get_if<ArgumentList>(&it->second.value))
      for (const Argument& a : *list)
        if (const auto* s = std::get_if<std::string>(&a.value)) names.push_back(*s);
  return names;
}

const Array* Arguments::array(const std::string& name) {
  const std::string wanted = text(name);
  if (problem_) return nullptr;
  const std::map<std::string, Array>& arrays = schedule_.scop->arrays;
  if (const auto it = arrays.find(wanted); it != arrays.end()) return &it->second;
  std::vector<std::string> known;
  for (const auto& [key, array] : arrays) known.push_back(key);
  std::vector<std::string> notes = did_you_mean(wanted, known);
  notes.push_back("arrays: " + join(known));
  complain(diagnose(Code::kUnknownArray, place_of(step_, name), {wanted, schedule_.scop->name}, std::move(notes)));
  return nullptr;
}

TreePtr Arguments::loop(int statement, const std::string& name) {
  if (problem_ || statement < 0) return nullptr;
  if (TreePtr found = find_loop(schedule_.tree, statement, name)) {
    if (found->mark.kind == LoopKind::kMapped && step_.verb != "map_gpu")
      refuse("loop '" + name + "' is mapped to the GPU", {"map_gpu comes after all other steps"});
    return found;
  }
  std::vector<std::string> known;
  for (const TreePtr& l : loops_around(schedule_.tree, statement)) known.push_back(l->names.at(statement));
  const std::string path = culprit(step_, "'" + name + "'");
  complain(diagnose(Code::kUnknownLoop, path.empty() ? step_.place : place_of(step_, path),
                    {schedule_.statement(statement).name, name, join(known)}, did_you_mean(name, known)));
  return nullptr;
}

}  // namespace facet
