// isl_text: quotients and remainders as programs mean them, for dividends of both signs, in conditions and in subscripts.
#include "polyhedral/affine.hpp"

#include <gtest/gtest.h>

#include "facet/expr.hpp"
#include "polyhedral/isl/isl.hpp"

namespace facet {
namespace {

// Is `e` of index i what `is` says for i in -20..20?
template <class Is>
void expect_everywhere(const ExprPtr& e, const Is& is) {
  const std::string text = *isl_text(e, {"i"});
  for (std::int64_t i = -20; i <= 20; ++i) {
    const std::string at = "{ [i0] : i0 = " + std::to_string(i) + " and " + text, value = std::to_string(is(i));
    EXPECT_FALSE(read_set(at + " = " + value + " }").is_empty()) << text << " at " << i;
    EXPECT_TRUE(read_set(at + " != " + value + " }").is_empty()) << text << " at " << i;
    EXPECT_TRUE(read_set("{ [i0, " + text + "] : i0 = " + std::to_string(i) + " }")
                    .is_equal(read_set("{ [" + std::to_string(i) + ", " + value + "] }")))
        << text << " at " << i;
  }
}

// Both ended in a syntax error of isl's where the dividend could be negative.
TEST(IslText, TruncatedQuotientsAndRemainders) {
  const ExprPtr i = index("i"), shifted = idx_sub(index("i"), idx(5));
  expect_everywhere(binary(Op::kTruncDiv, i, idx(3)), [](std::int64_t x) { return x / 3; });
  expect_everywhere(binary(Op::kTruncMod, i, idx(3)), [](std::int64_t x) { return x % 3; });
  expect_everywhere(binary(Op::kTruncDiv, shifted, idx(4)), [](std::int64_t x) { return (x - 5) / 4; });
  expect_everywhere(binary(Op::kTruncMod, shifted, idx(4)), [](std::int64_t x) { return (x - 5) % 4; });
}

TEST(IslText, FlooredOnes) {
  const auto floor_div = [](std::int64_t x, std::int64_t by) { return x >= 0 ? x / by : -((by - 1 - x) / by); };
  expect_everywhere(idx_floordiv(index("i"), 3), [&](std::int64_t x) { return floor_div(x, 3); });
  expect_everywhere(idx_mod(index("i"), 3), [&](std::int64_t x) { return x - 3 * floor_div(x, 3); });
}

}  // namespace
}  // namespace facet
