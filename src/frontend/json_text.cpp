// Writing JSON: pretty for people, compact for lines; both keep the order of members and round-trip every number.
#include <charconv>
#include <cmath>
#include <cstdio>

#include "src/frontend/json_tree.hpp"
#include "src/frontend/utf8.hpp"

namespace facet {

namespace {

constexpr std::size_t kLineWidth = 120;

void quote(const std::string& text, std::string* out) {
  *out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    if (c == '"' || c == '\\') {
      *out += '\\';
      *out += static_cast<char>(c);
    } else if (c == '\n') {
      *out += "\\n";
    } else if (c == '\t') {
      *out += "\\t";
    } else if (c < 0x20 || c == 0x7F) {
      char buffer[8];
      std::snprintf(buffer, sizeof buffer, "\\u%04x", c);
      *out += buffer;
    } else {
      const std::size_t length = utf8_sequence(text, i);  // a file name may hold any bytes; JSON may not
      *out += length == 0 ? "\xEF\xBF\xBD" : text.substr(i, length);
      i += length == 0 ? 1 : length;
      continue;
    }
    ++i;
  }
  *out += '"';
}

std::string float_text(double v) {
  if (!std::isfinite(v)) return "null";
  char buffer[40];
  const std::to_chars_result r = std::to_chars(buffer, buffer + sizeof buffer, v);  // shortest that reads back
  std::string text(buffer, r.ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

void leaf(const JsonValue& v, std::string* out) {
  switch (v.kind) {
    case JsonValue::Kind::kNull: *out += "null"; break;
    case JsonValue::Kind::kBool: *out += v.boolean ? "true" : "false"; break;
    case JsonValue::Kind::kInteger: *out += std::to_string(v.integer); break;
    case JsonValue::Kind::kFloat: *out += float_text(v.number); break;
    default: quote(v.text, out);
  }
}

bool is_leaf(const JsonValue& v) { return !v.is(JsonValue::Kind::kArray) && !v.is(JsonValue::Kind::kObject); }

// One line; `space` follows every ',' and ':'.
void one_line(const JsonValue& v, const char* space, std::string* out) {
  if (is_leaf(v)) return leaf(v, out);
  const bool array = v.is(JsonValue::Kind::kArray);
  *out += array ? '[' : '{';
  bool first = true;
  const auto separate = [&] {
    if (!first) *out += std::string(",") + space;
    first = false;
  };
  for (const JsonValue& item : v.items) {
    separate();
    one_line(item, space, out);
  }
  for (const JsonMember& m : v.members) {
    separate();
    quote(m.key, out);
    *out += std::string(":") + space;
    one_line(m.value, space, out);
  }
  *out += array ? ']' : '}';
}

bool fits(const JsonValue& v, std::size_t used, std::string* line) {
  if (v.items.size() + v.members.size() > kLineWidth / 2) return false;
  one_line(v, " ", line);
  return used + line->size() <= kLineWidth;
}

void pretty(const JsonValue& v, std::size_t indent, std::size_t used, std::string* out) {
  std::string line;
  if (is_leaf(v) || fits(v, used, &line)) {
    if (is_leaf(v)) leaf(v, &line);
    *out += line;
    return;
  }
  const bool array = v.is(JsonValue::Kind::kArray);
  const std::string pad = "\n" + std::string(indent + 2, ' ');
  *out += array ? '[' : '{';
  bool first = true;
  for (const JsonValue& item : v.items) {
    *out += first ? pad : "," + pad;
    first = false;
    pretty(item, indent + 2, indent + 3, out);
  }
  for (const JsonMember& m : v.members) {
    *out += first ? pad : "," + pad;
    first = false;
    std::string key;
    quote(m.key, &key);
    *out += key + ": ";
    pretty(m.value, indent + 2, indent + 5 + key.size(), out);
  }
  *out += "\n" + std::string(indent, ' ') + (array ? ']' : '}');
}

}  // namespace

std::string write_json(const JsonValue& value) {
  std::string out;
  pretty(value, 0, 0, &out);
  return out + "\n";
}

std::string write_json_compact(const JsonValue& value) {
  std::string out;
  one_line(value, "", &out);
  return out;
}

}  // namespace facet
