#include "facet/program.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace facet {
namespace {

constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min(), kHigh = std::numeric_limits<std::int64_t>::max();

std::int64_t at(Op op, std::int64_t a, std::int64_t b) {
  return evaluate_index(binary(op, index("a"), index("b")), {{"a", a}, {"b", b}});
}

// Sizes at the ends of 64 bits are read from programs; their arithmetic must not be undefined before it is refused.
TEST(EvaluateIndex, StaysAtTheEndsOf64Bits) {
  EXPECT_EQ(at(Op::kAdd, kHigh, 1), kHigh);
  EXPECT_EQ(at(Op::kSub, kLow, 1), kLow);
  EXPECT_EQ(at(Op::kMul, kHigh, kHigh), kHigh);
  EXPECT_EQ(at(Op::kMul, kHigh, kLow), kLow);
  EXPECT_EQ(at(Op::kFloorDiv, kLow, -1), kHigh);
  EXPECT_EQ(at(Op::kTruncDiv, kLow, -1), kHigh);
  EXPECT_EQ(at(Op::kFloorMod, kLow, -1), 0);
  EXPECT_EQ(at(Op::kTruncMod, kLow, -1), 0);
  EXPECT_EQ(evaluate_index(unary(Op::kNeg, index("a")), {{"a", kLow}}), kHigh);
  EXPECT_EQ(evaluate_index(unary(Op::kAbs, index("a")), {{"a", kLow}}), kHigh);
}

TEST(EvaluateIndex, FloorAndTruncationDiffer) {
  EXPECT_EQ(at(Op::kFloorDiv, -7, 2), -4);
  EXPECT_EQ(at(Op::kTruncDiv, -7, 2), -3);
  EXPECT_EQ(at(Op::kFloorMod, -7, 2), 1);
  EXPECT_EQ(at(Op::kTruncMod, -7, 2), -1);
  EXPECT_EQ(at(Op::kFloorDiv, 7, 0), 0);
}

}  // namespace
}  // namespace facet
