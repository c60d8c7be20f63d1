// The reader's questions, each with its complaint.
#include "src/frontend/json_reader.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "facet/nearest.hpp"

namespace facet {

namespace {

constexpr std::size_t kMaxComplaints = 20;
constexpr std::size_t kMaxNameLength = 255;  // contract P2

std::string quoted_list(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "\"" : ", \"") + item + "\"";
  return text;
}

}  // namespace

bool is_name(const std::string& text) {
  if (text.empty() || text.size() > kMaxNameLength || (text[0] >= '0' && text[0] <= '9')) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

void JsonReader::complain(Code code, const JsonValue& at, std::vector<std::string> args, std::vector<std::string> notes) {
  complain_at(diagnose(code, document_.place(at), std::move(args), std::move(notes)));
}

void JsonReader::complain_at(Diagnostic diagnostic) {
  if (complaints_.size() < kMaxComplaints) complaints_.push_back(std::move(diagnostic));
}

void JsonReader::complain_all(const Diagnostics& diagnostics) {
  for (const Diagnostic& d : diagnostics) complain_at(d);
}

bool JsonReader::fields(const JsonValue& v, const std::string& what, const std::vector<std::string>& needed,
                        const std::vector<std::string>& optional, const std::string& home) {
  if (!v.is(JsonValue::Kind::kObject)) {
    complain(Code::kWrongType, v, {what, "an object", kind_text(v)});
    return false;
  }
  std::vector<std::string> known = needed;
  known.insert(known.end(), optional.begin(), optional.end());
  for (const JsonMember& m : v.members) {
    if (std::find(known.begin(), known.end(), m.key) != known.end()) continue;
    std::vector<std::string> notes = did_you_mean(m.key, known);
    if (notes.empty()) {
      notes.push_back("the fields of " + what + " are " + quoted_list(known));
      if (!home.empty() && is_name(m.key))
        notes.push_back("an attribute stands in \"" + home + "\": \"" + home + "\": {\"" + m.key + "\": ...}");
    }
    complain_at(diagnose(Code::kUnknownField, document_.place_of_key(m), {m.key, what}, std::move(notes)));
  }
  for (const std::string& key : needed)
    if (!v.find(key)) complain(Code::kMissingField, v, {key, what});
  return true;
}

std::optional<std::int64_t> JsonReader::integer(const JsonValue& v, const std::string& what) {
  if (v.is(JsonValue::Kind::kInteger)) return v.integer;
  complain(Code::kWrongType, v, {what, "an integer", kind_text(v)});
  return std::nullopt;
}

std::optional<double> JsonReader::number(const JsonValue& v, const std::string& what) {
  if (v.is_number()) return v.number;
  complain(Code::kWrongType, v, {what, "a number", kind_text(v)});
  return std::nullopt;
}

std::optional<double> JsonReader::number_or_text(const JsonValue& v, const std::string& what) {
  if (v.is_number()) return v.number;
  if (v.is(JsonValue::Kind::kString)) {
    if (v.text == "inf") return std::numeric_limits<double>::infinity();
    if (v.text == "-inf") return -std::numeric_limits<double>::infinity();
    if (v.text == "nan") return std::numeric_limits<double>::quiet_NaN();
  }
  const std::string found = v.is(JsonValue::Kind::kString) ? "\"" + v.text + "\"" : kind_text(v);
  complain(Code::kWrongType, v, {what, "a number, \"inf\", \"-inf\" or \"nan\"", found});
  return std::nullopt;
}

std::optional<bool> JsonReader::boolean(const JsonValue& v, const std::string& what) {
  if (v.is(JsonValue::Kind::kBool)) return v.boolean;
  complain(Code::kWrongType, v, {what, "true or false", kind_text(v)});
  return std::nullopt;
}

std::optional<std::string> JsonReader::string(const JsonValue& v, const std::string& what) {
  if (v.is(JsonValue::Kind::kString)) return v.text;
  complain(Code::kWrongType, v, {what, "a string", kind_text(v)});
  return std::nullopt;
}

std::vector<const JsonValue*> JsonReader::strings(const JsonValue& v, const std::string& what) {
  std::vector<const JsonValue*> list;
  if (v.is(JsonValue::Kind::kString)) return {&v};
  if (!v.is(JsonValue::Kind::kArray)) {
    complain(Code::kWrongType, v, {what, "a string or an array of strings", kind_text(v)});
    return list;
  }
  for (const JsonValue& item : v.items) {
    if (item.is(JsonValue::Kind::kString)) {
      list.push_back(&item);
    } else {
      complain(Code::kWrongType, item, {"an entry of " + what, "a string", kind_text(item)});
    }
  }
  return list;
}

bool JsonReader::array(const JsonValue& v, const std::string& what) {
  if (v.is(JsonValue::Kind::kArray)) return true;
  complain(Code::kWrongType, v, {what, "an array", kind_text(v)});
  return false;
}

std::optional<std::string> JsonReader::choice(const JsonValue& v, const std::string& what,
                                              const std::vector<std::string>& choices) {
  const std::optional<std::string> text = string(v, what);
  if (!text || std::find(choices.begin(), choices.end(), *text) != choices.end()) return text;
  complain(Code::kBadChoice, v, {what, quoted_list(choices), *text}, did_you_mean(*text, choices));
  return std::nullopt;
}

bool JsonReader::check_name(const std::string& name, const JsonValue& at, const std::string& what) {
  if (is_name(name)) return true;
  const bool long_name = name.size() > kMaxNameLength;
  complain(
      Code::kBadName, at, {name, what},
      {long_name ? "a name has at most 255 characters" : "a name is a letter or _ followed by letters, digits and _ (ASCII)"});
  return false;
}

std::optional<std::string> JsonReader::name(const JsonValue& v, const std::string& what) {
  const std::optional<std::string> text = string(v, what);
  if (!text || !check_name(*text, v, what)) return std::nullopt;
  return text;
}

}  // namespace facet
