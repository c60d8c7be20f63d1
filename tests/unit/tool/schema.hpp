// The part of JSON Schema that docs/schema uses, in as many lines as it takes to test with it.
#pragma once

#include <regex>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

namespace facet {

class Schema {
 public:
  explicit Schema(nlohmann::json root) : root_(std::move(root)) {}
  bool accepts(const nlohmann::json& value) const { return valid(value, root_); }

 private:
  using Json = nlohmann::json;

  static bool has_type(const Json& v, const std::string& type) {
    if (type == "object") return v.is_object();
    if (type == "array") return v.is_array();
    if (type == "string") return v.is_string();
    if (type == "integer") return v.is_number_integer();
    if (type == "number") return v.is_number();
    if (type == "boolean") return v.is_boolean();
    return v.is_null();
  }

  int matching(const Json& v, const Json& list) const {
    int count = 0;
    for (const Json& s : list) count += valid(v, s);
    return count;
  }

  bool valid(const Json& v, const Json& s) const {
    if (s.contains("$ref")) {
      const std::string ref = s["$ref"];
      if (!valid(v, root_["$defs"][ref.substr(ref.rfind('/') + 1)])) return false;
    }
    if (s.contains("type") && !has_type(v, s["type"])) return false;
    if (s.contains("const") && v != s["const"]) return false;
    if (s.contains("enum") && std::find(s["enum"].begin(), s["enum"].end(), v) == s["enum"].end()) return false;
    if (s.contains("not") && valid(v, s["not"])) return false;
    if (s.contains("anyOf") && matching(v, s["anyOf"]) == 0) return false;
    if (s.contains("oneOf") && matching(v, s["oneOf"]) != 1) return false;
    if (s.contains("minimum") && v.is_number() && v.get<double>() < s["minimum"].get<double>()) return false;
    if (v.is_string()) {
      const std::string text = v;
      if (s.contains("pattern") && !std::regex_search(text, std::regex(s["pattern"].get<std::string>()))) return false;
      if (s.contains("minLength") && text.size() < s["minLength"].get<std::size_t>()) return false;
    }
    return !(v.is_array() && !valid_array(v, s)) && !(v.is_object() && !valid_object(v, s));
  }

  bool valid_array(const Json& v, const Json& s) const {
    if (s.contains("minItems") && v.size() < s["minItems"].get<std::size_t>()) return false;
    if (s.contains("maxItems") && v.size() > s["maxItems"].get<std::size_t>()) return false;
    if (s.value("uniqueItems", false) && std::set<Json>(v.begin(), v.end()).size() != v.size()) return false;
    if (s.contains("items"))
      for (const Json& item : v)
        if (!valid(item, s["items"])) return false;
    return true;
  }

  bool valid_object(const Json& v, const Json& s) const {
    if (s.contains("required"))
      for (const Json& key : s["required"])
        if (!v.contains(key.get<std::string>())) return false;
    for (const auto& [key, member] : v.items()) {
      if (s.contains("propertyNames") && !valid(key, s["propertyNames"])) return false;
      if (s.contains("properties") && s["properties"].contains(key)) {
        if (!valid(member, s["properties"][key])) return false;
      } else if (s.contains("additionalProperties")) {
        const Json& rest = s["additionalProperties"];
        if (rest.is_boolean() ? !rest.get<bool>() : !valid(member, rest)) return false;
      }
    }
    return true;
  }

  Json root_;
};

}  // namespace facet
