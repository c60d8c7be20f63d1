// The sections "symbols", "assume" and "numerics" of a program (contract P8, V9, V11).
#include <algorithm>

#include "src/frontend/affine.hpp"
#include "src/frontend/program_reader.hpp"

namespace facet {

namespace {

void read_symbol(const JsonMember& member, ProgramReader* r) {
  const std::string what = "symbol \"" + member.key + "\"";
  r->json.check_name(member.key, member.value, "a symbol");
  if (!r->json.fields(member.value, what, {"min", "max", "default"}, {"assume"})) return;
  Symbol symbol;
  symbol.name = member.key;
  symbol.place = r->json.place(member.value);
  const JsonValue* const min = member.value.find("min");
  const JsonValue* const max = member.value.find("max");
  const JsonValue* const value = member.value.find("default");
  const auto read = [&](const JsonValue* v, const char* field, std::int64_t* out) {
    if (!v) return false;
    const auto integer = r->json.integer(*v, "\"" + std::string(field) + "\" of " + what);
    if (integer) *out = *integer;
    return integer.has_value();
  };
  const bool have_min = read(min, "min", &symbol.min), have_max = read(max, "max", &symbol.max);
  const bool have_value = read(value, "default", &symbol.value);
  if (have_min && have_max && have_value && !(symbol.min <= symbol.value && symbol.value <= symbol.max))
    r->json.complain(Code::kSymbolRange, member.value,
                     {member.key, std::to_string(symbol.min), std::to_string(symbol.value), std::to_string(symbol.max)});
  r->program.symbols.push_back(symbol);
  r->symbol_names.push_back(symbol.name);
}

}  // namespace

void read_symbols(const JsonValue& symbols, ProgramReader* r) {
  if (!symbols.is(JsonValue::Kind::kObject)) {
    r->json.complain(Code::kWrongType, symbols, {"\"symbols\"", "an object", kind_text(symbols)});
    return;
  }
  for (const JsonMember& member : symbols.members) read_symbol(member, r);
  for (const JsonMember& member : symbols.members)
    if (const JsonValue* assume = member.value.find("assume")) read_assumptions(*assume, r);
}

void read_assumptions(const JsonValue& assume, ProgramReader* r) {
  for (const JsonValue* text : r->json.strings(assume, "\"assume\"")) {
    const Result<ExprPtr> condition = parse_condition(text->text, r->symbol_names, r->json.document().text_place(*text));
    if (condition) {
      r->program.assumptions.push_back(*condition);
    } else {
      r->json.complain_all(condition.errors());
    }
  }
}

void read_numerics(const JsonValue& numerics, ProgramReader* r) {
  if (!r->json.fields(numerics, "\"numerics\"", {}, {"reassociate", "contract", "approximate", "denormals"})) return;
  Numerics& n = r->program.numerics;
  if (const JsonValue* v = numerics.find("reassociate")) {
    if (const auto text = r->json.choice(*v, "\"reassociate\"", {"strict", "tree", "free"}))
      n.reassociate = *text == "strict" ? Numerics::Reassociate::kStrict
                      : *text == "tree" ? Numerics::Reassociate::kTree
                                        : Numerics::Reassociate::kFree;
  }
  if (const JsonValue* v = numerics.find("contract")) n.contract = r->json.boolean(*v, "\"contract\"").value_or(n.contract);
  if (const JsonValue* v = numerics.find("approximate"))
    n.approximate = r->json.boolean(*v, "\"approximate\"").value_or(n.approximate);
  if (const JsonValue* v = numerics.find("denormals"))
    n.flush_denormals = r->json.choice(*v, "\"denormals\"", {"keep", "flush"}).value_or("keep") == "flush";
}

}  // namespace facet
