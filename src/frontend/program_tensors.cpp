// The sections "tensors", "inputs" and "outputs" of a program: declarations, shapes, and who may be what.
#include <algorithm>
#include <set>

#include "facet/nearest.hpp"
#include "src/frontend/affine.hpp"
#include "src/frontend/program_reader.hpp"

namespace facet {

namespace {

const std::vector<std::string> kDtypeNames = {"bool", "i8", "u8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"};
const std::vector<std::string> kReservedDtypes = {"u16", "u32", "u64", "f8e4m3", "f8e5m2"};  // contract V8

bool read_dtype(const JsonValue& v, const std::string& tensor, ProgramReader* r, DType* dtype) {
  const auto text = r->json.string(v, "\"dtype\" of tensor \"" + tensor + "\"");
  if (!text) return false;
  if (std::find(kReservedDtypes.begin(), kReservedDtypes.end(), *text) != kReservedDtypes.end()) {
    r->json.complain(Code::kReservedDtype, v, {*text});
    return false;
  }
  if (dtype_from_text(*text, dtype)) return true;
  std::vector<std::string> notes = did_you_mean(*text, kDtypeNames);
  if (*text == "float") notes = {"did you mean \"f32\"?"};
  if (*text == "double") notes = {"did you mean \"f64\"?"};
  if (*text == "int") notes = {"did you mean \"i32\"?"};
  if (notes.empty()) notes = {"the dtypes are bool i8 u8 i16 i32 i64 f16 bf16 f32 f64"};
  r->json.complain(Code::kUnknownDtype, v, {*text}, notes);
  return false;
}

ExprPtr read_extent(const JsonValue& v, const std::string& tensor, ProgramReader* r) {
  if (v.is(JsonValue::Kind::kInteger)) {
    if (v.integer >= 0) return idx(v.integer);
    r->json.complain(Code::kShapeNegative, v, {tensor, std::to_string(v.integer)});
    return nullptr;
  }
  if (!v.is(JsonValue::Kind::kString)) {
    r->json.complain(
        Code::kWrongType, v,
        {"an extent of tensor \"" + tensor + "\"", "a non-negative integer, a symbol or an affine text", kind_text(v)});
    return nullptr;
  }
  const Result<ExprPtr> e = parse_affine(v.text, r->symbol_names, r->json.document().text_place(v));
  if (e) return *e;
  r->json.complain_all(e.errors());
  return nullptr;
}

bool read_shape(const JsonValue& v, ProgramReader* r, Tensor* tensor) {
  constexpr std::size_t kMaxRank = 32;  // as many loops as a statement may have
  if (!r->json.array(v, "\"shape\" of tensor \"" + tensor->name + "\"")) return false;
  if (v.items.size() > kMaxRank) {
    r->json.complain(Code::kTooManyElements, v, {"the shape of tensor \"" + tensor->name + "\"", std::to_string(kMaxRank)});
    return false;
  }
  bool good = true;
  for (const JsonValue& item : v.items) {
    tensor->shape.push_back(read_extent(item, tensor->name, r));
    good = good && tensor->shape.back() != nullptr;
  }
  if (!good) tensor->shape.clear();
  return good;
}

void read_tensor(const JsonMember& member, ProgramReader* r) {
  Tensor tensor;
  tensor.name = member.key;
  tensor.declared = true;
  tensor.place = r->json.document().place_of_key(member);
  r->json.check_name(member.key, member.value, "a tensor");
  if (r->is_symbol(member.key)) r->json.complain(Code::kNameTaken, member.value, {member.key});
  if (r->json.fields(member.value, "tensor \"" + member.key + "\"", {"dtype", "shape"}, {"data", "sample"})) {
    const JsonValue* const dtype = member.value.find("dtype");
    const JsonValue* const shape = member.value.find("shape");
    const bool typed = dtype && read_dtype(*dtype, member.key, r, &tensor.dtype);
    const bool shaped = shape && read_shape(*shape, r, &tensor);
    tensor.inferred = typed && shaped;
    const JsonValue* const data = member.value.find("data");
    if (data && tensor.inferred) read_tensor_data(*data, r, &tensor);
    if (data && !tensor.data) tensor.data.emplace();  // a complaint was made; it still is a constant
    const JsonValue* const sample = member.value.find("sample");
    if (sample && tensor.inferred) read_tensor_sample(*sample, r, &tensor);
  }
  r->tensor_values[member.key] = &member.value;
  r->program.tensor_order.push_back(member.key);
  r->program.tensors[member.key] = std::move(tensor);
}

std::vector<std::string> declared_names(const ProgramReader& r) {
  std::vector<std::string> names;
  for (const std::string& name : r.program.tensor_order)
    if (name.find('.') == std::string::npos) names.push_back(name);
  return names;
}

}  // namespace

void read_tensors(const JsonValue& tensors, ProgramReader* r) {
  if (!tensors.is(JsonValue::Kind::kObject)) {
    r->json.complain(Code::kWrongType, tensors, {"\"tensors\"", "an object", kind_text(tensors)});
    return;
  }
  for (const JsonMember& member : tensors.members) read_tensor(member, r);
}

void read_inputs(const JsonValue& inputs, ProgramReader* r) {
  if (!r->json.array(inputs, "\"inputs\"")) return;
  std::set<std::string> seen;
  for (const JsonValue* item : r->json.strings(inputs, "\"inputs\"")) {
    const std::string& name = item->text;
    const auto found = r->program.tensors.find(name);
    if (!seen.insert(name).second) {
      r->json.complain(Code::kListedTwice, *item, {name, "\"inputs\""});
    } else if (found == r->program.tensors.end()) {
      r->json.complain(Code::kInputUndeclared, *item, {name}, did_you_mean(name, declared_names(*r)));
    } else if (found->second.data) {
      r->json.complain(Code::kInputHasData, *item, {name});
    } else {
      r->program.inputs.push_back(name);
    }
  }
}

void read_outputs(const JsonValue& outputs, ProgramReader* r) {
  if (!r->json.array(outputs, "\"outputs\"")) return;
  if (outputs.items.empty()) r->json.complain(Code::kEmptyList, outputs, {"\"outputs\""});
  std::set<std::string> computed, seen;
  for (const Node& node : r->program.nodes) {
    computed.insert(node.out.begin(), node.out.end());
    computed.insert(node.inout.begin(), node.inout.end());
  }
  for (const JsonValue* item : r->json.strings(outputs, "\"outputs\"")) {
    const std::string& name = item->text;
    const auto found = r->program.tensors.find(name);
    if (!seen.insert(name).second) {
      r->json.complain(Code::kListedTwice, *item, {name, "\"outputs\""});
    } else if (computed.count(name)) {
      r->program.outputs.push_back(name);
    } else if (found != r->program.tensors.end() && found->second.data) {
      r->json.complain(Code::kOutputIsConstant, *item, {name});
    } else if (std::count(r->program.inputs.begin(), r->program.inputs.end(), name)) {
      r->json.complain(Code::kOutputIsInput, *item, {name},
                       {"an input is an output only if a \"loops\" op has it in \"inout\""});
    } else {
      r->json.complain(Code::kUndefinedName, *item, {name},
                       did_you_mean(name, std::vector<std::string>(computed.begin(), computed.end())));
    }
  }
}

}  // namespace facet
