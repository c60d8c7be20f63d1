// Writes a program as canonical JSON: declared tensors, texts as written, numbers in "in" as numbers.
#include <cmath>

#include "src/frontend/json.hpp"
#include "src/frontend/json_tree.hpp"
#include "src/frontend/program_c_function.hpp"
#include "src/frontend/sha256.hpp"

namespace facet {

namespace {

JsonValue number_json(double v) {
  if (std::isnan(v)) return JsonValue::of("nan");
  if (std::isinf(v)) return JsonValue::of(v > 0 ? "inf" : "-inf");
  return JsonValue::of(v);
}

JsonValue data_json(const TensorData& d, DType dtype) {
  const bool real = is_float(dtype);
  JsonValue out = JsonValue::object();
  switch (d.kind) {
    case TensorData::Kind::kFile: return JsonValue::of(d.path);
    case TensorData::Kind::kFill: return out.add("fill", real ? number_json(d.fill) : JsonValue::of(d.int_fill));
    case TensorData::Kind::kIota: return out.add("iota", JsonValue::of(d.axis));
    case TensorData::Kind::kValues: break;
  }
  JsonValue values = JsonValue::array();
  for (const double v : d.values) values.items.push_back(number_json(v));
  for (const std::int64_t v : d.int_values) values.items.push_back(JsonValue::of(v));
  return out.add("values", std::move(values));
}

JsonValue sample_json(const Sample& s) {
  const auto pair = [&](const char* key, bool whole) {
    const auto part = [&](double v) { return whole ? JsonValue::of(static_cast<std::int64_t>(v)) : JsonValue::of(v); };
    JsonValue out = JsonValue::object();
    return out.add(key, JsonValue::array({part(s.a), part(s.b)}));
  };
  switch (s.kind) {
    case Sample::Kind::kUniform: return pair("uniform", false);
    case Sample::Kind::kNormal: return pair("normal", false);
    case Sample::Kind::kIntegers: return pair("integers", true);
    case Sample::Kind::kSpd: return JsonValue::of("spd");
    default: return JsonValue::of("permutation");
  }
}

JsonValue tensor_json(const Tensor& t) {
  JsonValue shape = JsonValue::array();
  for (const ExprPtr& e : t.shape)
    shape.items.push_back(e->op == Op::kLiteral ? JsonValue::of(e->int_value) : JsonValue::of(to_text(e)));
  JsonValue out = JsonValue::object();
  out.add("dtype", JsonValue::of(to_text(t.dtype))).add("shape", std::move(shape));
  if (t.data) out.add("data", data_json(*t.data, t.dtype));
  if (t.sample.kind != Sample::Kind::kDefault) out.add("sample", sample_json(t.sample));
  return out;
}

JsonValue attribute_json(const Attribute& a) {
  if (const auto* v = std::get_if<std::int64_t>(&a.value)) return JsonValue::of(*v);
  if (const auto* v = std::get_if<double>(&a.value)) return JsonValue::of(*v);
  if (const auto* v = std::get_if<bool>(&a.value)) return JsonValue::of(*v);
  if (const auto* v = std::get_if<std::string>(&a.value)) return JsonValue::of(*v);
  JsonValue list = JsonValue::array();
  for (const Attribute& item : std::get<std::vector<Attribute>>(a.value)) list.items.push_back(attribute_json(item));
  return list;
}

// The provisional dtype of a number in "in" may have been replaced by elaboration; a fraction still tells how it was written.
JsonValue scalar_json(const TensorData& d, DType dtype) {
  if (!is_float(dtype)) return JsonValue::of(d.int_fill);
  const bool whole = d.fill == static_cast<double>(d.int_fill) && d.int_fill != 0;
  return whole ? JsonValue::of(d.int_fill) : JsonValue::of(d.fill);
}

JsonValue node_json(const Node& n, const Program& p) {
  JsonValue out = JsonValue::object();
  out.add("op", JsonValue::of(n.op));
  JsonValue in = JsonValue::array();
  for (const std::string& name : n.in) {
    const auto t = p.tensors.find(name);
    const bool scalar = name.find('.') != std::string::npos && t != p.tensors.end() && t->second.data;
    in.items.push_back(scalar ? scalar_json(*t->second.data, t->second.dtype) : JsonValue::of(name));
  }
  if (!n.in.empty()) out.add("in", std::move(in));
  if (!n.inout.empty()) out.add("inout", JsonValue::array_of(n.inout));
  if (!n.out.empty() || n.op != "loops") out.add("out", JsonValue::array_of(n.out));
  if (!n.attrs.empty()) {
    JsonValue attrs = JsonValue::object();
    for (const auto& [key, value] : n.attrs) attrs.add(key, attribute_json(value));
    out.add("attrs", std::move(attrs));
  }
  if (n.op == "compute") out.add("def", JsonValue::array_of(n.text));
  if (n.op == "loops") out.add("code", JsonValue::array_of(n.text));
  if (!n.source_lines.empty()) {
    JsonValue lines = JsonValue::array(), source = JsonValue::object();
    for (const int line : n.source_lines) lines.items.push_back(JsonValue::of(line));
    out.add("source", source.add("file", JsonValue::of(n.source_file)).add("lines", std::move(lines)));
  }
  return out;
}

JsonValue numerics_json(const Numerics& n) {
  static const char* const orders[] = {"strict", "tree", "free"};
  JsonValue out = JsonValue::object();
  out.add("reassociate", JsonValue::of(orders[static_cast<int>(n.reassociate)]));
  out.add("contract", JsonValue::of(n.contract)).add("approximate", JsonValue::of(n.approximate));
  return out.add("denormals", JsonValue::of(n.flush_denormals ? "flush" : "keep"));
}

JsonValue program_json(const Program& p) {
  JsonValue out = JsonValue::object();
  out.add("facet", JsonValue::of(1)).add("name", JsonValue::of(p.name));
  if (p.c_function) out.add("c_function", c_function_json(*p.c_function));
  JsonValue symbols = JsonValue::object();
  for (const Symbol& s : p.symbols) {
    JsonValue one = JsonValue::object();
    one.add("min", JsonValue::of(s.min)).add("max", JsonValue::of(s.max)).add("default", JsonValue::of(s.value));
    symbols.add(s.name, std::move(one));
  }
  if (!p.symbols.empty()) out.add("symbols", std::move(symbols));
  std::vector<std::string> assumptions;
  for (const ExprPtr& a : p.assumptions) assumptions.push_back(to_text(a));
  if (!assumptions.empty()) out.add("assume", JsonValue::array_of(assumptions));
  out.add("numerics", numerics_json(p.numerics));
  JsonValue tensors = JsonValue::object();
  for (const std::string& name : p.tensor_order)
    if (p.tensor(name).declared) tensors.add(name, tensor_json(p.tensor(name)));
  out.add("tensors", std::move(tensors)).add("inputs", JsonValue::array_of(p.inputs));
  JsonValue ops = JsonValue::array();
  for (const Node& n : p.nodes) ops.items.push_back(node_json(n, p));
  return out.add("ops", std::move(ops)).add("outputs", JsonValue::array_of(p.outputs));
}

}  // namespace

std::string to_json(const Program& program) { return write_json(program_json(program)); }

std::string program_hash(const Program& program) { return sha256(to_json(program)); }

}  // namespace facet
