// The answer as compact JSON. Written by hand: the plugin links nothing of the tool.
#include "src/frontend/c_import/answer.hpp"

#include <cstdio>

namespace facet::c_import {

namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      out += escape;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string list(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& t : texts) out += (out.empty() ? "" : ",") + quoted(t);
  return "[" + out + "]";
}

std::string field(const char* key, const std::string& text) { return std::string("\"") + key + "\":" + quoted(text); }
std::string field(const char* key, int number) { return std::string("\"") + key + "\":" + std::to_string(number); }
std::string flag(const char* key, bool value) { return std::string("\"") + key + "\":" + (value ? "true" : "false"); }
std::string field(const char* key, const std::vector<std::string>& texts) {
  return std::string("\"") + key + "\":" + list(texts);
}

std::string json(const Problem& p) {
  return "{" + field("code", p.code) + "," + field("file", p.file) + "," + field("line", p.line) + "," +
         field("column", p.column) + "," + field("excerpt", p.excerpt) + "," + field("args", p.args) + "," +
         field("notes", p.notes) + "}";
}

std::string json(const Line& l) { return "{" + field("line", l.number) + "," + field("text", l.text) + "}"; }

std::string json(const TensorFact& t) {
  return "{" + field("name", t.name) + "," + field("dtype", t.dtype) + "," + field("extents", t.extents) + "," +
         flag("read", t.read) + "," + flag("written", t.written) + "," + flag("scratch", t.scratch) + "}";
}

std::string json(const ArgumentFact& a) {
  return "{" + field("name", a.name) + "," + field("text", a.text) + "," + field("type", a.type) + "," +
         flag("pointer", a.pointer) + "," + field("kind", a.kind) + "," + flag("global", a.global) + "," +
         flag("internal", a.internal) + "," + field("extents", a.extents) + "}";
}

template <class T>
std::string array(const char* key, const std::vector<T>& items) {
  std::string out;
  for (const T& item : items) out += (out.empty() ? "" : ",") + json(item);
  return std::string("\"") + key + "\":[" + out + "]";
}

}  // namespace

std::string to_json(const Answer& a) {
  return "{" + field("function", a.function) + "," + field("prototype", a.prototype) + "," +
         field("no_function", a.no_function) + "," + array("arguments", a.arguments) + "," + array("tensors", a.tensors) + "," +
         array("lines", a.lines) + "," + array("problems", a.problems) + "}";
}

}  // namespace facet::c_import
