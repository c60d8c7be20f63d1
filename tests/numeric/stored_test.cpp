// Every operator against results that numpy computed on its own: tests/numeric/stored/*.json.
//
// The reference interpreter and the generated code share the operators' equations, so only results from outside can show that the
// equations mean the operator. Inputs are exact in every dtype and the interpreter works in f64, so the two may differ by the
// rounding of the output's dtype and of the nine stored digits, no more.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "src/graph/elaborate.hpp"
#include "src/ops/op_table.hpp"
#include "src/run/reference.hpp"

namespace facet {
namespace {

using Json = nlohmann::json;

double number_of(const Json& j) {
  if (!j.is_string()) return j.get<double>();
  return j == "nan" ? std::nan("") : j == "inf" ? HUGE_VAL : -HUGE_VAL;
}

Attribute attribute_of(const Json& j) {
  if (j.is_number_integer()) return Attribute{j.get<std::int64_t>()};
  if (j.is_number()) return Attribute{j.get<double>()};
  if (j.is_string()) return Attribute{j.get<std::string>()};
  std::vector<Attribute> list;
  for (const Json& x : j) list.push_back(attribute_of(x));
  return Attribute{list};
}

HostTensor tensor_of(const Json& j) {
  DType dtype = DType::kF32;
  EXPECT_TRUE(dtype_from_text(j["dtype"].get<std::string>(), &dtype));
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

Program program_of(const Json& c, HostTensors* inputs) {
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
    const std::string name = "z" + std::to_string(k);
    node.out.push_back(name);
    p.outputs.push_back(name);
    p.tensors[name].name = name;
    p.tensor_order.push_back(name);
  }
  p.nodes.push_back(node);
  return p;
}

// Relative distance allowed: the roundings of the output's dtype and of the intermediate casts that the operators state.
double tolerance_of(DType t) {
  switch (t) {
    case DType::kF16: return 2e-3;
    case DType::kBF16: return 1.6e-2;
    case DType::kF32: return 1e-6;
    default: return 2e-8;
  }
}

std::string compare(const ReferenceTensor& got, const Json& want) {
  const HostTensor expected = tensor_of(want);
  if (got.dtype != expected.dtype) return "dtype " + to_text(got.dtype) + ", expected " + to_text(expected.dtype);
  if (got.shape != expected.shape) return "another shape";
  const double tolerance = tolerance_of(got.dtype);
  for (std::int64_t i = 0; i < expected.element_count(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!is_float(got.dtype)) {
      if (got.ints[at] != expected.get_int(i)) return "element " + std::to_string(i) + " is " + std::to_string(got.ints[at]) + ", expected " + std::to_string(expected.get_int(i));
      continue;
    }
    const double x = got.floats[at], y = number_of(want["values"][at]);
    const bool same = std::isnan(y) ? std::isnan(x) : std::isinf(y) ? x == y : std::abs(x - y) <= tolerance * (1 + std::abs(y));
    if (!same) return "element " + std::to_string(i) + " is " + std::to_string(x) + ", expected " + std::to_string(y);
  }
  return "";
}

std::string run_case(const Json& c) {
  HostTensors inputs;
  const Program program = program_of(c, &inputs);
  const Result<Program> elaborated = elaborate(program);
  if (!elaborated) return to_text(elaborated.errors());
  const Result<ReferenceRun> run = run_reference(*elaborated, {}, inputs);
  if (!run) return to_text(run.errors()) + to_text(*elaborated);
  for (std::size_t k = 0; k < c["out"].size(); ++k) {
    const std::string wrong = compare(run->outputs.at("z" + std::to_string(k)), c["out"][k]);
    if (!wrong.empty()) return "output " + std::to_string(k) + ": " + wrong + "\n" + to_text(*elaborated);
  }
  return "";
}

std::vector<std::filesystem::path> stored_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(FACET_SOURCE_DIR "/tests/numeric/stored")) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

Json read_file(const std::filesystem::path& path) {
  std::ifstream in(path);
  return Json::parse(in);
}

class Stored : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Stored, ReferenceAgreesWithNumpy) {
  int number = 0;
  for (const Json& c : read_file(GetParam())) {
    const std::string wrong = run_case(c);
    EXPECT_EQ(wrong, "") << "case " << number << ": " << c["op"] << " " << c["attrs"].dump();
    ++number;
  }
  EXPECT_GT(number, 0);
}

INSTANTIATE_TEST_SUITE_P(Numpy, Stored, testing::ValuesIn(stored_files()),
                         [](const testing::TestParamInfo<std::filesystem::path>& p) { return p.param.stem().string(); });

// Every operator has results, and every attribute of it is off its default in at least one of them.
TEST(StoredCoverage, EveryOperatorAndAttribute) {
  std::map<std::string, std::set<std::string>> seen;
  for (const std::filesystem::path& path : stored_files())
    for (const Json& c : read_file(path)) {
      const OpDef* op = find_op(c["op"].get<std::string>());
      ASSERT_NE(op, nullptr) << c["op"];
      std::set<std::string>& attributes = seen[op->name];
      for (const AttrDef& a : op->attributes)
        if (c["attrs"].contains(a.name) && (!a.fallback || to_text(attribute_of(c["attrs"][a.name])) != to_text(*a.fallback))) attributes.insert(a.name);
    }
  // Accepted without a meaning of their own (contract), or a choice of arithmetic that tests of dtypes cover.
  const std::set<std::string> without = {"acc", "stash_type", "saturate", "sorted"};
  for (const OpDef* op : all_ops()) {
    EXPECT_TRUE(seen.count(op->name)) << op->name << " has no stored result";
    for (const AttrDef& a : op->attributes)
      EXPECT_TRUE(without.count(a.name) || seen[op->name].count(a.name)) << op->name << ": attribute " << a.name << " is always at its default";
  }
}

// A comparison that cannot fail would prove nothing.
TEST(StoredCoverage, AWrongResultIsSeen) {
  Json c = read_file(FACET_SOURCE_DIR "/tests/numeric/stored/contraction.json")[0];
  ASSERT_EQ(run_case(c), "");
  c["out"][0]["values"][0] = c["out"][0]["values"][0].get<double>() + 0.001;
  EXPECT_NE(run_case(c), "");
}

}  // namespace
}  // namespace facet
