// read_program: the sections of the document in order, then the rules that need all of them.
#include <algorithm>

#include "src/frontend/affine.hpp"
#include "src/frontend/json.hpp"
#include "src/frontend/program_reader.hpp"
#include "src/frontend/shape_bounds.hpp"

namespace facet {

namespace {

std::string folder_of(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : file.substr(0, slash);
}

void read_version(const JsonValue& root, ProgramReader* r) {
  const JsonValue* v = root.find("facet");
  if (!v) return;
  if (!v->is(JsonValue::Kind::kInteger)) {
    r->json.complain(Code::kWrongType, *v, {"\"facet\"", "the integer 1", kind_text(*v)});
  } else if (v->integer != 1) {
    r->json.complain(Code::kBadVersion, *v, {"facet", "1", std::to_string(v->integer)});
  }
}

// A declaration that nothing gives a value is a slip in a name more often than anything else.
void check_all_defined(ProgramReader* r) {
  const Program& p = r->program;
  std::set<std::string> defined(p.inputs.begin(), p.inputs.end());
  for (const Node& node : p.nodes) {
    defined.insert(node.out.begin(), node.out.end());
    defined.insert(node.inout.begin(), node.inout.end());
  }
  for (const auto& [name, value] : r->tensor_values)
    if (!defined.count(name) && !p.tensor(name).data) r->json.complain(Code::kNeverDefined, *value, {name});
}

void check_samples(ProgramReader* r) {
  const Program& p = r->program;
  for (const auto& [name, value] : r->tensor_values) {
    const JsonValue* sample = value->find("sample");
    if (sample && std::find(p.inputs.begin(), p.inputs.end(), name) == p.inputs.end())
      r->json.complain(Code::kSampleNotInput, *sample, {name});
  }
}

void check_shapes(ProgramReader* r) {
  for (const auto& [name, value] : r->tensor_values) {
    const Tensor& tensor = r->program.tensor(name);
    const JsonValue* shape = value->find("shape");
    if (!shape || !tensor.inferred) continue;
    if (const std::string fault = negative_extent(tensor, r->program); !fault.empty()) {
      r->json.complain(Code::kShapeNegative, *shape, {name, fault});
    } else if (const std::string size = excessive_size(tensor, r->program); !size.empty()) {
      r->json.complain(Code::kShapeTooLarge, *shape, {name, size});
    }
  }
}

}  // namespace

bool ProgramReader::is_symbol(const std::string& name) const {
  return std::find(symbol_names.begin(), symbol_names.end(), name) != symbol_names.end();
}

Result<Program> read_program(const std::string& text, const std::string& file) {
  const Result<JsonDocument> document = parse_json(text, file);
  if (!document) return document.errors();
  ProgramReader r(*document);
  const JsonValue& root = document->root;
  if (!r.json.fields(root, "a program", {"facet", "name", "ops", "outputs"},
                     {"symbols", "assume", "numerics", "tensors", "inputs", "c_function"}))
    return r.json.take();
  r.program.folder = folder_of(file);
  const auto section = [&](const char* key, void (*read)(const JsonValue&, ProgramReader*)) {
    if (const JsonValue* v = root.find(key)) read(*v, &r);
  };
  read_version(root, &r);
  if (const JsonValue* name = root.find("name"))
    if (const auto value = r.json.name(*name, "the program")) r.program.name = *value;
  section("symbols", read_symbols);
  section("assume", read_assumptions);
  section("numerics", read_numerics);
  // From here on symbols are known: shapes may use them.
  section("tensors", read_tensors);
  section("inputs", read_inputs);
  section("ops", read_ops);
  // From here on every tensor has an entry in Program::tensors.
  section("outputs", read_outputs);
  section("c_function", read_c_function);
  check_shapes(&r);
  check_samples(&r);
  if (r.json.clean()) check_all_defined(&r);  // otherwise a consequence of another complaint
  if (!r.json.clean()) return r.json.take();
  return std::move(r.program);
}

}  // namespace facet
