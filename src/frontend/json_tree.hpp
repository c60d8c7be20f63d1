// JSON text as a tree of values that know where they stand.
//
// The reader is our own: every complaint needs line, column and pointer of a value's first character, a duplicate key must be
// seen, and an integer must not pass through a double. Strict RFC 8259 (no comments, no trailing commas), UTF-8, at most 256
// levels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "facet/result.hpp"

namespace facet {

struct JsonMember;

struct JsonValue {
  enum class Kind : std::uint8_t { kNull, kBool, kInteger, kFloat, kString, kArray, kObject };
  Kind kind = Kind::kNull;
  bool boolean = false;
  std::int32_t begin = 0, end = 0;  // bytes [begin, end) of the text
  std::int64_t integer = 0;
  double number = 0;                // kFloat, and kInteger converted
  std::string text;                 // kString, UTF-8
  std::vector<JsonValue> items;     // kArray
  std::vector<JsonMember> members;  // kObject, in the order written

  bool is(Kind k) const { return kind == k; }
  bool is_number() const { return kind == Kind::kInteger || kind == Kind::kFloat; }
  const JsonValue* find(const std::string& key) const;  // null if absent

  // For writing documents.
  static JsonValue null();
  static JsonValue of(bool v);
  static JsonValue of(std::int64_t v);
  static JsonValue of(double v);
  static JsonValue of(const std::string& v);
  static JsonValue of(const char* v);
  static JsonValue of(int v);
  static JsonValue array(std::vector<JsonValue> items);
  static JsonValue array();
  static JsonValue array_of(const std::vector<std::string>& texts);
  static JsonValue object();
  JsonValue& add(const std::string& key, JsonValue value);  // appends a member; returns *this
};

struct JsonMember {
  std::string key;
  std::int32_t key_begin = 0;
  JsonValue value;
};

// Below JsonMember: a JsonValue can be destroyed only where its members are complete.
inline JsonValue JsonValue::null() { return {}; }
inline JsonValue JsonValue::array() { return array(std::vector<JsonValue>{}); }
inline JsonValue JsonValue::of(const char* v) { return of(std::string(v)); }
inline JsonValue JsonValue::of(int v) { return of(static_cast<std::int64_t>(v)); }

// "a string", "an integer", ... for messages.
std::string kind_text(const JsonValue& value);

// A read document: the tree, and the text it points into.
struct JsonDocument {
  std::string file;
  std::string text;
  JsonValue root;
  std::vector<std::int32_t> line_starts;

  Place place(const JsonValue& value) const;
  Place place_of_key(const JsonMember& member) const;
  Place place_at(std::int32_t offset) const;        // without a pointer
  Place text_place(const JsonValue& string) const;  // of the first character inside the quotes
};

// All complaints about form at once where that is possible (duplicate keys, numbers out of range); a syntax error ends the
// reading.
Result<JsonDocument> parse_json(const std::string& text, const std::string& file);

// Pretty: two spaces, short arrays and objects on one line. Compact: no white space. Both deterministic, both round-trip;
// non-finite numbers are written as null.
std::string write_json(const JsonValue& value);
std::string write_json_compact(const JsonValue& value);

}  // namespace facet
