// Every operator against results that numpy computed on its own: tests/numeric/stored/*.json.
//
// The reference interpreter and the generated code share the operators' equations, so only results from outside can show that
// the equations mean the operator. Inputs are exact in every dtype and the interpreter works in f64, so the two may differ by
// the rounding of the output's dtype and of the nine stored digits, no more.
#include <gtest/gtest.h>

#include <set>

#include "src/graph/elaborate.hpp"
#include "src/ops/op_table.hpp"
#include "src/run/reference.hpp"
#include "tests/numeric/cases.hpp"
#include "support/paths.hpp"

namespace facet {
namespace {

using stored::Json;

std::string compare(const ReferenceTensor& got, const Json& want) {
  const HostTensor expected = stored::tensor_of(want);
  if (got.dtype != expected.dtype) return "dtype " + to_text(got.dtype) + ", expected " + to_text(expected.dtype);
  if (got.shape != expected.shape) return "another shape";
  for (std::int64_t i = 0; i < expected.element_count(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!is_float(got.dtype)) {
      if (got.ints[at] != expected.get_int(i))
        return "element " + std::to_string(i) + " is " + std::to_string(got.ints[at]) + ", expected " +
               std::to_string(expected.get_int(i));
      continue;
    }
    const double x = got.floats[at], y = stored::number_of(want["values"][at]);
    if (!stored::near(x, y, stored::tolerance_of(got.dtype)))
      return "element " + std::to_string(i) + " is " + std::to_string(x) + ", expected " + std::to_string(y);
  }
  return "";
}

std::string compare_all(const Program& elaborated, const SymbolValues& values, const HostTensors& inputs, const Json& c) {
  const Result<ReferenceRun> run = run_reference(elaborated, values, inputs);
  if (!run) return to_text(run.errors()) + to_text(elaborated);
  for (std::size_t k = 0; k < c["out"].size(); ++k) {
    if (c["out"][k].is_null()) continue;  // an output that is left out
    const std::string wrong = compare(run->outputs.at("z" + std::to_string(k)), c["out"][k]);
    if (!wrong.empty()) return "output " + std::to_string(k) + ": " + wrong + "\n" + to_text(elaborated);
  }
  return "";
}

std::string run_case(const Json& c) {
  HostTensors inputs;
  const Result<Program> elaborated = elaborate(stored::program_of(c, &inputs));
  return elaborated ? compare_all(*elaborated, {}, inputs, c) : to_text(elaborated.errors());
}

class Stored : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Stored, ReferenceAgreesWithNumpy) {
  int number = 0;
  for (const Json& c : stored::read_file(GetParam())) {
    const std::string wrong = run_case(c);
    EXPECT_EQ(wrong, "") << "case " << number << ": " << c["op"] << " " << c["attrs"].dump();
    ++number;
  }
  EXPECT_GT(number, 0);
}

INSTANTIATE_TEST_SUITE_P(Numpy, Stored, testing::ValuesIn(stored::files()),
                         [](const testing::TestParamInfo<std::filesystem::path>& p) { return p.param.stem().string(); });

// Symbolic sizes give the stored results too, or are refused by the operator.
TEST(StoredSymbolic, SameResultsOrRefused) {
  const std::set<Code> refusals = {Code::kOperandShapes, Code::kBroadcast, Code::kNotAffineOp, Code::kBadAttributeValue};
  int accepted = 0, refused = 0;
  for (const std::filesystem::path& path : stored::files())
    for (const Json& c : stored::read_file(path)) {
      HostTensors inputs;
      SymbolValues values;
      Program program = stored::program_of(c, &inputs);
      if (!stored::make_symbolic(&program, &values)) continue;
      const Result<Program> elaborated = elaborate(program);
      if (elaborated) {
        EXPECT_EQ(compare_all(*elaborated, values, inputs, c), "");
        ++accepted;
        continue;
      }
      EXPECT_TRUE(refusals.count(elaborated.errors()[0].code)) << c["op"] << to_text(elaborated.errors());
      ++refused;
    }
  RecordProperty("accepted", accepted);
  RecordProperty("refused", refused);
  EXPECT_GT(accepted, 400);
}

// Every operator has results, and every attribute of it is off its default in at least one of them.
TEST(StoredCoverage, EveryOperatorAndAttribute) {
  std::map<std::string, std::set<std::string>> seen;
  for (const std::filesystem::path& path : stored::files())
    for (const Json& c : stored::read_file(path)) {
      const OpDef* op = find_op(c["op"].get<std::string>());
      ASSERT_NE(op, nullptr) << c["op"];
      std::set<std::string>& attributes = seen[op->name];
      for (const AttrDef& a : op->attributes)
        if (c["attrs"].contains(a.name) &&
            (!a.fallback || to_text(stored::attribute_of(c["attrs"][a.name])) != to_text(*a.fallback)))
          attributes.insert(a.name);
    }
  // Accepted without a meaning of their own (contract), or a choice of arithmetic that tests of dtypes cover.
  const std::set<std::string> without = {"acc", "stash_type", "saturate", "sorted"};
  for (const OpDef* op : all_ops()) {
    EXPECT_TRUE(seen.count(op->name)) << op->name << " has no stored result";
    for (const AttrDef& a : op->attributes)
      EXPECT_TRUE(without.count(a.name) || seen[op->name].count(a.name))
          << op->name << ": attribute " << a.name << " is always at its default";
  }
}

// A comparison that cannot fail would prove nothing.
TEST(StoredCoverage, AWrongResultIsSeen) {
  Json c = stored::read_file(test::source_path("tests/numeric/stored/contraction.json"))[0];
  ASSERT_EQ(run_case(c), "");
  c["out"][0]["values"][0] = c["out"][0]["values"][0].get<double>() + 0.001;
  EXPECT_NE(run_case(c), "");
}

}  // namespace
}  // namespace facet
