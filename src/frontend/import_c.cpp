// Reading the answer, and writing the program.
#include "src/frontend/import_c.hpp"

#include <algorithm>

#include "src/frontend/program_c_function.hpp"
#include "src/frontend/utf8.hpp"

namespace facet {

namespace {

// C files may hold other encodings, in comments and in what a complaint quotes.
std::string valid_utf8(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_sequence(text, at);
    out += length > 0 ? text.substr(at, length) : "?";
    at += std::max<std::size_t>(length, 1);
  }
  return out;
}

std::string text_of(const JsonValue& v, const char* key) {
  const JsonValue* found = v.find(key);
  return found ? found->text : "";
}
bool flag_of(const JsonValue& v, const char* key) {
  const JsonValue* found = v.find(key);
  return found && found->boolean;
}
int integer_of(const JsonValue& v, const char* key) {
  const JsonValue* found = v.find(key);
  return found ? static_cast<int>(found->integer) : 0;
}
std::vector<std::string> texts_of(const JsonValue& v, const char* key) {
  std::vector<std::string> out;
  if (const JsonValue* found = v.find(key))
    for (const JsonValue& item : found->items) out.push_back(item.text);
  return out;
}
const std::vector<JsonValue>& items_of(const JsonValue& v, const char* key) {
  static const std::vector<JsonValue> none;
  const JsonValue* found = v.find(key);
  return found ? found->items : none;
}

Diagnostic complaint(const JsonValue& v, const std::string& file) {
  Code code = Code::kCSyntax;
  for (const Code c : all_codes())
    if (code_name(c) == text_of(v, "code")) code = c;
  Place place;
  place.file = text_of(v, "file").empty() ? file : text_of(v, "file");
  place.line = integer_of(v, "line");
  place.column = integer_of(v, "column");
  place.excerpt = text_of(v, "excerpt");
  return diagnose(code, place, texts_of(v, "args"), texts_of(v, "notes"));
}

CArgument argument(const JsonValue& v) {
  CArgument a;
  a.name = text_of(v, "name");
  a.type = text_of(v, "type") + (flag_of(v, "pointer") ? "*" : "");
  a.of = text_of(v, "text");
  const std::string kind = text_of(v, "kind");
  a.role = kind == "symbol"   ? CArgument::Role::kSymbol
           : kind == "tensor" ? CArgument::Role::kTensor
           : kind == "scalar" ? CArgument::Role::kScalar
                              : CArgument::Role::kUnused;
  if (a.role == CArgument::Role::kUnused) a.of.clear();
  a.global = flag_of(v, "global");
  for (const std::string& e : texts_of(v, "extents")) a.extents.push_back(std::stoll(e));
  return a;
}

CFunction function(const JsonValue& v, const std::string& file) {
  CFunction f;
  f.name = text_of(v, "function");
  f.file = file.substr(file.rfind('/') + 1);
  f.prototype = text_of(v, "prototype");
  f.impossible = text_of(v, "no_function");
  for (const JsonValue& a : items_of(v, "arguments")) {
    f.arguments.push_back(argument(a));
    if (flag_of(a, "internal") && f.impossible.empty())
      f.impossible = "it uses the static variable " + text_of(a, "name") + ", which other files cannot see";
  }
  return f;
}

JsonValue extent_json(const std::string& text) {
  const bool number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return number ? JsonValue::of(static_cast<std::int64_t>(std::stoll(text))) : JsonValue::of(text);
}

JsonValue tensors_json(const CRegion& region) {
  JsonValue out = JsonValue::object();
  for (const CTensor& t : region.tensors) {
    JsonValue shape = JsonValue::array();
    for (const std::string& e : t.extents) shape.items.push_back(extent_json(e));
    JsonValue one = JsonValue::object();
    out.add(t.name, one.add("dtype", JsonValue::of(to_text(t.dtype))).add("shape", std::move(shape)));
  }
  return out;
}

JsonValue symbols_json(const CRegion& region) {
  JsonValue out = JsonValue::object();
  for (const CSymbol& s : region.symbols) {
    JsonValue one = JsonValue::object();
    one.add("min", JsonValue::of(s.min)).add("max", JsonValue::of(s.max)).add("default", JsonValue::of(s.value));
    out.add(s.name, std::move(one));
  }
  return out;
}

}  // namespace

Place line_place(const CRegion& region, std::size_t line, const std::string& file) {
  Place place;
  place.file = file;
  if (line >= region.lines.size()) return place;
  place.line = region.numbers[line];
  place.excerpt = region.lines[line];
  place.column = static_cast<int>(place.excerpt.find_first_not_of(' ')) + 1;
  return place;
}

Result<CRegion> read_c_region(const std::string& answer, const std::string& file) {
  const Result<JsonDocument> document = parse_json(valid_utf8(answer), file);
  if (!document) return document.errors();
  const JsonValue& root = document->root;
  Diagnostics problems;
  for (const JsonValue& p : items_of(root, "problems")) problems.push_back(complaint(p, file));
  if (!problems.empty()) return problems;
  CRegion region;
  region.function = function(root, file);
  for (const JsonValue& t : items_of(root, "tensors")) {
    CTensor tensor;
    tensor.name = text_of(t, "name");
    dtype_from_text(text_of(t, "dtype"), &tensor.dtype);
    tensor.extents = texts_of(t, "extents");
    tensor.read = flag_of(t, "read");
    tensor.written = flag_of(t, "written");
    tensor.scratch = flag_of(t, "scratch");
    region.tensors.push_back(std::move(tensor));
  }
  // In the order of the parameters; scratch arrays last.
  const auto position = [&](const CTensor& t) {
    const std::vector<CArgument>& all = region.function.arguments;
    return std::find_if(all.begin(), all.end(), [&](const CArgument& a) { return a.of == t.name; }) - all.begin();
  };
  std::stable_sort(region.tensors.begin(), region.tensors.end(),
                   [&](const CTensor& a, const CTensor& b) { return position(a) < position(b); });
  for (const CArgument& a : region.function.arguments)
    if (a.role == CArgument::Role::kSymbol) region.symbols.push_back({a.of, 1, 1, 1});
  for (const JsonValue& line : items_of(root, "lines")) {
    const std::string text = text_of(line, "text");
    region.lines.push_back(text.substr(0, text.find_last_not_of(' ') + 1));
    region.numbers.push_back(integer_of(line, "line"));
  }
  const bool writes =
      std::any_of(region.tensors.begin(), region.tensors.end(), [](const CTensor& t) { return t.written && !t.scratch; });
  if (!writes)
    return diagnose(Code::kCNoOutput, line_place(region, 0, file), {region.function.name},
                    {"what the region computes must end in an array or in memory that a pointer parameter names: it has only "
                     "variables of its own and parameters by value"});
  return region;
}

JsonValue program_of(const CRegion& region, const std::set<std::string>& written_whole) {
  std::vector<std::string> inputs, in, inout, out, outputs;
  for (const CTensor& t : region.tensors) {
    const bool whole = t.scratch || written_whole.count(t.name) > 0;
    if (!whole) inputs.push_back(t.name);
    (whole ? out : t.written ? inout : in).push_back(t.name);
    // A number that is passed by value is the function's own: what it becomes, nobody sees.
    const bool by_value =
        t.extents.empty() &&
        std::any_of(region.function.arguments.begin(), region.function.arguments.end(),
                    [&](const CArgument& a) { return a.of == t.name && a.role == CArgument::Role::kScalar && !a.global; });
    if (t.written && !t.scratch && !by_value) outputs.push_back(t.name);
  }
  for (const CSymbol& s : region.symbols) in.push_back(s.name);
  JsonValue op = JsonValue::object();
  op.add("op", JsonValue::of("loops"));
  if (!in.empty()) op.add("in", JsonValue::array_of(in));
  if (!inout.empty()) op.add("inout", JsonValue::array_of(inout));
  if (!out.empty()) op.add("out", JsonValue::array_of(out));
  op.add("code", JsonValue::array_of(region.lines));
  JsonValue lines = JsonValue::array();
  for (const int n : region.numbers) lines.items.push_back(JsonValue::of(n));
  JsonValue source = JsonValue::object();
  op.add("source", source.add("file", JsonValue::of(region.function.file)).add("lines", std::move(lines)));

  JsonValue root = JsonValue::object();
  root.add("facet", JsonValue::of(1)).add("name", JsonValue::of(region.function.name));
  root.add("c_function", c_function_json(region.function));
  if (!region.symbols.empty()) root.add("symbols", symbols_json(region));
  if (!region.assumptions.empty()) root.add("assume", JsonValue::array_of(region.assumptions));
  root.add("tensors", tensors_json(region)).add("inputs", JsonValue::array_of(inputs));
  return root.add("ops", JsonValue::array({std::move(op)})).add("outputs", JsonValue::array_of(outputs));
}

}  // namespace facet
