// The stored cases of tests/numeric/stored: reading them, making their one-operator programs, comparing results.
#pragma once

#include <cmath>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "facet/host_tensor.hpp"
#include "facet/program.hpp"
#include "support/paths.hpp"

namespace facet::stored {

using Json = nlohmann::json;

inline double number_of(const Json& j) {
  if (!j.is_string()) return j.get<double>();
  return j == "nan" ? std::nan("") : j == "inf" ? HUGE_VAL : -HUGE_VAL;
}

inline Attribute attribute_of(const Json& j) {
  if (j.is_number_integer()) return Attribute{j.get<std::int64_t>()};
  if (j.is_number()) return Attribute{j.get<double>()};
  if (j.is_string()) return Attribute{j.get<std::string>()};
  std::vector<Attribute> list;
  for (const Json& x : j) list.push_back(attribute_of(x));
  return Attribute{list};
}

inline HostTensor tensor_of(const Json& j) {
  DType dtype = DType::kF32;
  dtype_from_text(j["dtype"].get<std::string>(), &dtype);
  HostTensor t = make_host_tensor(dtype, j["shape"].get<std::vector<std::int64_t>>());
  for (std::size_t i = 0; i < j["values"].size(); ++i) {
    const Json& v = j["values"][i];
    if (is_float(dtype))
      t.set(static_cast<std::int64_t>(i), number_of(v));
    else
      t.set_int(static_cast<std::int64_t>(i), v.get<std::int64_t>());
  }
  return t;
}

// Inputs x0, x1, ...; outputs z0, z1, ...; not elaborated.
inline Program program_of(const Json& c, HostTensors* inputs) {
  Program p;
  p.name = "stored";
  Node node;
  node.op = c["op"].get<std::string>();
  node.place.pointer = "/ops/0";
  for (const auto& [name, value] : c["attrs"].items()) node.attrs[name] = attribute_of(value);
  for (std::size_t k = 0; k < c["in"].size(); ++k) {
    const std::string name = c["in"][k].is_null() ? "" : "x" + std::to_string(k);
    node.in.push_back(name);
    if (name.empty()) continue;
    (*inputs)[name] = tensor_of(c["in"][k]);
    Tensor t;
    t.name = name;
    t.dtype = (*inputs)[name].dtype;
    for (const std::int64_t e : (*inputs)[name].shape) t.shape.push_back(idx(e));
    t.declared = t.inferred = true;
    p.tensors[name] = t;
    p.tensor_order.push_back(name);
    p.inputs.push_back(name);
  }
  for (std::size_t k = 0; k < c["out"].size(); ++k) {
    const std::string name = c["out"][k].is_null() ? "" : "z" + std::to_string(k);
    node.out.push_back(name);
    if (name.empty()) continue;
    p.outputs.push_back(name);
    p.tensors[name].name = name;
    p.tensor_order.push_back(name);
  }
  p.nodes.push_back(node);
  return p;
}

// The same operands with every extent above 1 a symbol; false if there is none.
inline bool make_symbolic(Program* p, SymbolValues* values) {
  for (auto& [name, t] : p->tensors)
    for (ExprPtr& e : t.shape) {
      if (e->int_value < 2) continue;
      const std::string symbol = "S" + std::to_string(e->int_value);
      if (values->emplace(symbol, e->int_value).second)
        p->symbols.push_back({symbol, e->int_value, e->int_value + 2, e->int_value, {}});
      e = index(symbol);
    }
  return !values->empty();
}

// Relative distance allowed: the roundings of the output's dtype and of the intermediate casts that the operators state.
inline double tolerance_of(DType t) {
  switch (t) {
    case DType::kF16: return 2e-3;
    case DType::kBF16: return 1.6e-2;
    case DType::kF32: return 1e-6;
    default: return 2e-8;
  }
}

// Within `relative` of the stored number, with the same NaN and infinities.
inline bool near(double x, double y, double relative) {
  return std::isnan(y) ? std::isnan(x) : std::isinf(y) ? x == y : std::abs(x - y) <= relative * (1 + std::abs(y));
}

inline std::vector<std::filesystem::path> files() {
  std::vector<std::filesystem::path> list;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_path("tests/numeric/stored")))
    list.push_back(entry.path());
  std::sort(list.begin(), list.end());
  return list;
}

inline Json read_file(const std::filesystem::path& path) {
  std::ifstream in(path);
  return Json::parse(in);
}

}  // namespace facet::stored
