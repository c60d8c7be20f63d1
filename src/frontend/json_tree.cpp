// The tree's small operations: building, looking up, and turning offsets into places.
#include "src/frontend/json_tree.hpp"

#include <algorithm>

namespace facet {

namespace {

constexpr std::size_t kExcerptLimit = 200;  // contract P3

// ~ and / are escaped as RFC 6901 says.
std::string escaped(const std::string& key) {
  std::string out;
  for (const char c : key) out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return out;
}

// The pointer of the innermost value that starts at `offset`, by descent: children lie inside their parents' bytes.
std::string pointer_to(const JsonValue& root, const JsonValue& target) {
  std::string pointer;
  const JsonValue* at = &root;
  while (at != &target) {
    const JsonValue* next = nullptr;
    if (at->is(JsonValue::Kind::kArray)) {
      const auto it = std::upper_bound(at->items.begin(), at->items.end(), target.begin,
                                       [](std::int32_t offset, const JsonValue& v) { return offset < v.begin; });
      if (it == at->items.begin()) return pointer;
      pointer += "/" + std::to_string(it - at->items.begin() - 1);
      next = &*(it - 1);
    } else if (at->is(JsonValue::Kind::kObject)) {
      const auto it = std::upper_bound(at->members.begin(), at->members.end(), target.begin,
                                       [](std::int32_t offset, const JsonMember& m) { return offset < m.value.begin; });
      if (it == at->members.begin()) return pointer;
      pointer += "/" + escaped((it - 1)->key);
      next = &(it - 1)->value;
    }
    if (!next) return pointer;
    at = next;
  }
  return pointer;
}

}  // namespace

const JsonValue* JsonValue::find(const std::string& key) const {
  for (const JsonMember& m : members)
    if (m.key == key) return &m.value;
  return nullptr;
}

JsonValue JsonValue::of(bool v) {
  JsonValue out;
  out.kind = Kind::kBool;
  out.boolean = v;
  return out;
}

JsonValue JsonValue::of(std::int64_t v) {
  JsonValue out;
  out.kind = Kind::kInteger;
  out.integer = v;
  out.number = static_cast<double>(v);
  return out;
}

JsonValue JsonValue::of(double v) {
  JsonValue out;
  out.kind = Kind::kFloat;
  out.number = v;
  return out;
}

JsonValue JsonValue::of(const std::string& v) {
  JsonValue out;
  out.kind = Kind::kString;
  out.text = v;
  return out;
}

JsonValue JsonValue::array(std::vector<JsonValue> items) {
  JsonValue out;
  out.kind = Kind::kArray;
  out.items = std::move(items);
  return out;
}

JsonValue JsonValue::array_of(const std::vector<std::string>& texts) {
  JsonValue out = array();
  for (const std::string& t : texts) out.items.push_back(of(t));
  return out;
}

JsonValue JsonValue::object() {
  JsonValue out;
  out.kind = Kind::kObject;
  return out;
}

JsonValue& JsonValue::add(const std::string& key, JsonValue value) {
  members.push_back(JsonMember{key, 0, std::move(value)});
  return *this;
}

std::string kind_text(const JsonValue& value) {
  static const char* const names[] = {"null",     "true or false", "an integer", "a number with a fraction",
                                      "a string", "an array",      "an object"};
  if (value.is(JsonValue::Kind::kBool)) return value.boolean ? "true" : "false";
  return names[static_cast<int>(value.kind)];
}

Place JsonDocument::place_at(std::int32_t offset) const {
  Place place;
  place.file = file;
  const auto it = std::upper_bound(line_starts.begin(), line_starts.end(), offset);
  place.line = static_cast<int>(it - line_starts.begin());
  const std::int32_t start = *(it - 1);
  place.column = offset - start + 1;
  const std::size_t stop = it == line_starts.end() ? text.size() : static_cast<std::size_t>(*it - 1);
  std::size_t length = std::min(stop - static_cast<std::size_t>(start), kExcerptLimit);
  while (length > 0 && static_cast<std::size_t>(start) + length < text.size() &&
         (static_cast<unsigned char>(text[static_cast<std::size_t>(start) + length]) & 0xC0) == 0x80)
    --length;  // not inside a UTF-8 sequence
  place.excerpt = text.substr(static_cast<std::size_t>(start), length);
  std::replace(place.excerpt.begin(), place.excerpt.end(), '\t', ' ');
  if (!place.excerpt.empty() && place.excerpt.back() == '\r') place.excerpt.pop_back();
  return place;
}

Place JsonDocument::place(const JsonValue& value) const {
  Place place = place_at(value.begin);
  place.pointer = pointer_to(root, value);
  return place;
}

Place JsonDocument::place_of_key(const JsonMember& member) const {
  Place place = place_at(member.key_begin);
  place.pointer = pointer_to(root, member.value);
  return place;
}

Place JsonDocument::text_place(const JsonValue& string) const {
  Place p = place(string);
  ++p.column;
  return p;
}

}  // namespace facet
