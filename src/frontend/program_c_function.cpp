// Reading and writing the record of a C function: its name, its prototype, and what each argument is to the program.
#include "src/frontend/program_c_function.hpp"

#include <algorithm>

#include "src/frontend/program_reader.hpp"

namespace facet {

namespace {

constexpr const char* kRoles[] = {"", "symbol", "tensor", "scalar"};  // by CArgument::Role

JsonValue argument_json(const CArgument& a) {
  JsonValue out = JsonValue::object();
  out.add("name", JsonValue::of(a.name)).add("type", JsonValue::of(a.type));
  if (a.role != CArgument::Role::kUnused) out.add(kRoles[static_cast<int>(a.role)], JsonValue::of(a.of));
  if (!a.global) return out;
  out.add("global", JsonValue::of(true));
  JsonValue extents = JsonValue::array();
  for (const std::int64_t e : a.extents) extents.items.push_back(JsonValue::of(e));
  return out.add("extents", std::move(extents));
}

// Words of C separated by blanks, perhaps a star: they are written into a source.
bool is_type(const std::string& text) {
  const std::string words = !text.empty() && text.back() == '*' ? text.substr(0, text.size() - 1) : text;
  return !words.empty() &&
         words.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789 ") == std::string::npos;
}

void read_role(const JsonValue& v, ProgramReader* r, CArgument* a) {
  for (int role = 1; role <= 3; ++role) {
    const JsonValue* of = v.find(kRoles[role]);
    if (!of) continue;
    const auto name = r->json.name(*of, kRoles[role]);
    if (!name) return;
    const bool known = role == 1 ? r->is_symbol(*name) : r->program.tensors.count(*name) > 0;
    if (!known) return r->json.complain(Code::kUndefinedName, *of, {*name});
    a->role = static_cast<CArgument::Role>(role);
    a->of = *name;
  }
}

bool read_argument(const JsonValue& v, ProgramReader* r, CArgument* a) {
  if (!r->json.fields(v, "an argument", {"name", "type"}, {"symbol", "tensor", "scalar", "global", "extents"})) return false;
  const JsonValue* const name = v.find("name");
  const JsonValue* const type = v.find("type");
  if (!name || !type) return false;
  // A parameter may have no name.
  const auto name_text = name->text.empty() ? r->json.string(*name, "\"name\"") : r->json.name(*name, "an argument");
  const auto type_text = r->json.string(*type, "\"type\"");
  if (!name_text || !type_text) return false;
  if (!is_type(*type_text)) {
    r->json.complain(Code::kWrongType, *type, {"\"type\"", "a C type like double or const float*", "\"" + *type_text + "\""});
    return false;
  }
  a->name = *name_text;
  a->type = *type_text;
  read_role(v, r, a);
  if (const JsonValue* global = v.find("global")) a->global = r->json.boolean(*global, "\"global\"").value_or(false);
  const JsonValue* const extents = v.find("extents");
  if (!extents || !r->json.array(*extents, "\"extents\"")) return true;
  for (const JsonValue& e : extents->items)
    if (const auto extent = r->json.integer(e, "an extent")) a->extents.push_back(*extent);
  return true;
}

}  // namespace

JsonValue c_function_json(const CFunction& f) {
  JsonValue out = JsonValue::object();
  out.add("name", JsonValue::of(f.name)).add("file", JsonValue::of(f.file)).add("prototype", JsonValue::of(f.prototype));
  JsonValue arguments = JsonValue::array();
  for (const CArgument& a : f.arguments) arguments.items.push_back(argument_json(a));
  out.add("arguments", std::move(arguments));
  if (!f.impossible.empty()) out.add("impossible", JsonValue::of(f.impossible));
  return out;
}

void read_c_function(const JsonValue& v, ProgramReader* r) {
  if (!r->json.fields(v, "\"c_function\"", {"name", "arguments"}, {"file", "prototype", "impossible"})) return;
  CFunction f;
  const auto text = [&](const char* key, std::string* to) {
    if (const JsonValue* found = v.find(key))
      if (const auto value = r->json.string(*found, "\"" + std::string(key) + "\"")) *to = *value;
  };
  const JsonValue* const name = v.find("name");
  const auto checked = name ? r->json.name(*name, "a C function") : std::nullopt;
  if (checked) f.name = *checked;
  text("file", &f.file);
  text("prototype", &f.prototype);
  text("impossible", &f.impossible);
  for (std::string* shown : {&f.file, &f.prototype})  // they stand in comments of sources
    std::replace_if(
        shown->begin(), shown->end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\\'; }, ' ');
  const JsonValue* const arguments = v.find("arguments");
  if (!arguments || !r->json.array(*arguments, "\"arguments\"")) return;
  for (const JsonValue& a : arguments->items) {
    CArgument argument;
    if (read_argument(a, r, &argument)) f.arguments.push_back(std::move(argument));
  }
  r->program.c_function = std::move(f);
}

}  // namespace facet
