// The policy for fusion: what it gives up, with the costs that decided.
#include "tests/unit/polyhedral/program_support.hpp"

namespace facet {
namespace {

// q[i] reads p[i] and p[i - 1]: fused, the loop waits for the iteration before.
Planned neighbours(int n) {
  const std::string shape = R"({"dtype": "f32", "shape": [)" + std::to_string(n) + "]}";
  return plan_of(program_of(R"({"facet": 1, "name": "p", "tensors": {"x": )" + shape + R"(, "p": )" + shape + R"(, "q": )" +
                            shape + R"(}, "inputs": ["x"], "ops": [{"op": "loops", "in": ["x"], "out": ["p", "q"], "code":
    "for (int i = 0; i < )" +
                            std::to_string(n) + R"(; i++) p[i] = x[i] * 2.0f; q[0] = 0.0f; for (int i = 1; i < )" +
                            std::to_string(n) + R"(; i++) q[i] = p[i] + p[i - 1];"}], "outputs": ["p", "q"]})"),
                 two_wide_threads(), "fusion");
}

TEST(Fusion, AParallelLoopIsKeptWhereThreadsPay) {
  const Planned made = neighbours(1 << 24);
  EXPECT_EQ(made.count("fuse"), 0) << made.recipe;
  EXPECT_NE(made.told().find("the outer loop would no longer be parallel: "), std::string::npos) << made.told();
  EXPECT_NE(made.told().find(" fused, at "), std::string::npos) << made.told();
}

}  // namespace
}  // namespace facet
