// Typed access to a JSON document for the readers of programs, recipes and machines: asks for a value and complains in one
// line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/frontend/json_tree.hpp"

namespace facet {

// Collects complaints while a document is read; reading goes on after each, so that several come at once.
class JsonReader {
 public:
  explicit JsonReader(const JsonDocument& document) : document_(document) {}

  const JsonDocument& document() const { return document_; }
  Place place(const JsonValue& v) const { return document_.place(v); }

  void complain(Code code, const JsonValue& at, std::vector<std::string> args = {}, std::vector<std::string> notes = {});
  void complain_at(Diagnostic diagnostic);
  void complain_all(const Diagnostics& diagnostics);
  bool clean() const { return complaints_.empty(); }
  Diagnostics take() { return std::move(complaints_); }

  // Complains about members outside `known` (with the nearest known one) and about absent members of `needed`.
  // A member that may belong into the object `home` instead ("attrs") is told so. False if `v` is not an object at all.
  bool fields(const JsonValue& v, const std::string& what, const std::vector<std::string>& needed,
              const std::vector<std::string>& optional = {}, const std::string& home = "");

  // The value, or nothing after a complaint; `what` names it: "\"min\" of symbol N".
  std::optional<std::int64_t> integer(const JsonValue& v, const std::string& what);
  std::optional<double> number(const JsonValue& v, const std::string& what);          // finite
  std::optional<double> number_or_text(const JsonValue& v, const std::string& what);  // also "inf", "-inf", "nan"
  std::optional<bool> boolean(const JsonValue& v, const std::string& what);
  std::optional<std::string> string(const JsonValue& v, const std::string& what);
  std::vector<const JsonValue*> strings(const JsonValue& v, const std::string& what);  // a string or an array of strings
  bool array(const JsonValue& v, const std::string& what);
  std::optional<std::string> choice(const JsonValue& v, const std::string& what, const std::vector<std::string>& choices);
  std::optional<std::string> name(const JsonValue& v, const std::string& what);  // contract P2
  bool check_name(const std::string& name, const JsonValue& at, const std::string& what);

 private:
  const JsonDocument& document_;
  Diagnostics complaints_;
};

// [A-Za-z_][A-Za-z0-9_]*, at most 255 characters.
bool is_name(const std::string& text);

}  // namespace facet
