// The explicit list of operator families, look-up by name, and define().
#include "src/ops/op_table.hpp"

#include <algorithm>

#include "facet/nearest.hpp"
#include "src/ops/builder.hpp"
#include "src/ops/check_call.hpp"

namespace facet {

namespace {

const std::vector<OpDef>& table() {
  static const std::vector<OpDef> ops = [] {
    std::vector<OpDef> list;
    add_elementwise(list);
    add_activations(list);
    add_matmul(list);
    add_reductions(list);
    add_softmax(list);
    add_normalizations(list);
    add_convolutions(list);
    add_pools(list);
    add_movement(list);
    add_reshapes(list);
    add_layout(list);
    add_resize(list);
    add_conv_transpose(list);
    add_mean_pools(list);
    add_scans(list);
    add_selection(list);
    add_einsum(list);
    add_gathers(list);
    add_scatters(list);
    add_losses(list);
    add_attention(list);
    add_rotary(list);
    add_recurrent(list);
    add_misc(list);
    std::sort(list.begin(), list.end(), [](const OpDef& a, const OpDef& b) { return a.name < b.name; });
    return list;
  }();
  return ops;
}

}  // namespace

const OpDef* find_op(const std::string& name) {
  for (const OpDef& op : table()) {
    if (op.name == name) return &op;
    if (std::find(op.aliases.begin(), op.aliases.end(), name) != op.aliases.end()) return &op;
  }
  return nullptr;
}

const std::vector<const OpDef*>& all_ops() {
  static const std::vector<const OpDef*> ops = [] {
    std::vector<const OpDef*> list;
    for (const OpDef& op : table()) list.push_back(&op);
    return list;
  }();
  return ops;
}

Diagnostic unknown_op(const std::string& name, const Place& place) {
  std::vector<std::string> names = {"compute", "loops"};
  for (const OpDef& op : table()) {
    names.push_back(op.name);
    names.insert(names.end(), op.aliases.begin(), op.aliases.end());
  }
  std::vector<std::string> notes = did_you_mean(name, names);
  notes.push_back("any affine operator can be written as op \"compute\"");
  return diagnose(Code::kUnknownOp, place, {name}, std::move(notes));
}

Result<OpDefinition> define(const OpCall& call) {
  const OpDef* def = find_op(call.node.op);
  if (!def) return unknown_op(call.node.op, call.node.part("/op"));
  Diagnostics problems = check_call(call, *def);
  if (!problems.empty()) return problems;
  OpBuilder builder(call, *def);
  def->define(builder);
  return builder.finish();
}

std::string to_text(const Attribute& attribute) {
  if (const auto* i = std::get_if<std::int64_t>(&attribute.value)) return std::to_string(*i);
  if (const auto* d = std::get_if<double>(&attribute.value)) return to_text(literal(DType::kF64, *d));
  if (const auto* f = std::get_if<bool>(&attribute.value)) return *f ? "true" : "false";
  if (const auto* s = std::get_if<std::string>(&attribute.value)) return "\"" + *s + "\"";
  std::string text;
  for (const Attribute& item : std::get<std::vector<Attribute>>(attribute.value))
    text += (text.empty() ? "" : ", ") + to_text(item);
  return "[" + text + "]";
}

std::string to_text(DTypes dtypes) {
  switch (dtypes) {
    case DTypes::kAny: return "any dtype";
    case DTypes::kNumber: return "a number (not bool)";
    case DTypes::kFloat: return "a float (f16, bf16, f32, f64)";
    case DTypes::kInteger: return "an integer";
    case DTypes::kSigned: return "a signed number";
    case DTypes::kBool: return "bool";
  }
  return "";
}

}  // namespace facet
