// What the scheduler computes in the register tile of a contraction: elementwise consumers, and those that take their elements
// class by class.
#include <algorithm>

#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

struct Plan {
  std::vector<Step> steps;
  Ledger ledger;

  bool says(const std::string& subject, const std::string& reason) const {
    return std::any_of(ledger.begin(), ledger.end(), [&](const LedgerEntry& e) {
      return e.done && e.subject == subject && e.reason.find(reason) != std::string::npos;
    });
  }
  bool has(const std::string& verb, const std::string& statement, const std::string& list,
           const std::vector<std::string>& names) const {
    ArgumentList wanted;
    for (const std::string& n : names) wanted.push_back({n});
    return std::any_of(steps.begin(), steps.end(), [&](const Step& s) {
      const auto of = s.arguments.find("statement"), order = s.arguments.find(list);
      return s.verb == verb && of != s.arguments.end() && of->second == Argument{statement} && order != s.arguments.end() &&
             order->second == Argument{wanted};
    });
  }
};

Plan planned(const Program& p) {
  const Planned made = plan_of(p, two_wide_threads());
  return {made.steps, made.decisions};
}

Program transposed(const std::string& x, const std::string& w, const std::string& attributes) {
  return program_of(R"({"facet": 1, "name": "p", "tensors": {"x": {"dtype": "f32", "shape": )" + x +
                    R"(}, "w": {"dtype": "f32", "shape": )" + w + R"(}}, "inputs": ["x", "w"], "ops": [{"op": "conv_transpose",
    "in": ["x", "w"], "out": "y", "attrs": {)" +
                    attributes + R"(}}], "outputs": ["y"]})");
}

// The classes never reach memory: y takes its places from the register tile, along its rows.
TEST(Epilogue, TheClassesOfATransposedConvolutionStayInTheTile) {
  const Plan plan = planned(transposed("[1, 128, 16, 16]", "[128, 64, 4, 4]", R"("strides": [2, 2], "pads": [1, 1, 1, 1])"));
  EXPECT_TRUE(plan.says("y.parts -> y", "in the register tile"));
  EXPECT_TRUE(plan.says("array y.parts", "lives in the register tile"));
  EXPECT_TRUE(plan.has("interchange", "y", "order", {"m", "qt"}));
}

// A line of filters holds the taps of all classes: they go to their panels together.
TEST(Epilogue, TheTapsOfAllClassesArePackedTogether) {
  const Plan plan = planned(transposed("[1, 128, 16, 16]", "[128, 64, 4, 4]", R"("strides": [2, 2], "pads": [1, 1, 1, 1])"));
  EXPECT_TRUE(plan.has("interchange", "w.packed.copy", "order", {"m2p", "c", "d2", "d3", "m2"}));
}

Plan shuffled(const std::string& line, const std::string& shape) {
  const std::string declared = R"({"facet": 1, "name": "p", "tensors": {"a": {"dtype": "f32", "shape": [64, 32]},
    "b": {"dtype": "f32", "shape": [32, 64]}, "y": {"dtype": "f32", "shape": )";
  const std::string ops = R"-(}}, "inputs": ["a", "b"], "ops": [{"op": "compute", "in": ["a", "b"], "out": "y",
    "def": ["t[i, j] = sum[k](a[i, k] * b[k, j])", ")-";
  return planned(program_of(declared + shape + ops + line + R"("]}], "outputs": ["y"]})"));
}

TEST(Epilogue, ConsumersByQuotientAndRemainderJoin) {
  EXPECT_TRUE(shuffled("y[p, q] = t[p, q]", "[64, 64]").says("y.t -> y", "in the register tile"));
  EXPECT_TRUE(shuffled("y[p] = t[p / 64, p % 64]", "[4096]").says("y.t -> y", "in the register tile"));
  EXPECT_TRUE(shuffled("y[p] = t[p % 64, p / 64]", "[4096]").says("y.t -> y", "in the register tile"));
}

TEST(Epilogue, OtherConsumersStayApart) {
  for (const auto& [line, shape] : std::vector<std::pair<std::string, std::string>>{
           {"y[p] = t[p / 64, p % 32]", "[4096]"},                      // remainder of another number
           {"y[p] = t[p % 64, p % 64]", "[4096]"},                      // the diagonal, many times
           {"y[p] = t[p / 64, p % 64] + t[p % 64, p / 64]", "[4096]"},  // two elements of it
           {"y[p, q] = t[p / 2, q]", "[128, 64]"},                      // each row twice
           {"y[p, q] = t[q, p] + t[p, q]", "[64, 64]"}})
    EXPECT_FALSE(shuffled(line, shape).says("y.t -> y", "in the register tile")) << line;
}

}  // namespace
}  // namespace facet
