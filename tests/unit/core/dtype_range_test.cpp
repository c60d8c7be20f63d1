// The ends of every integer dtype.
#include "facet/dtype_range.hpp"

#include <gtest/gtest.h>

namespace facet {
namespace {

TEST(DtypeRange, EndsOfEveryIntegerType) {
  EXPECT_EQ(lowest_of(DType::kI8), -128);
  EXPECT_EQ(highest_of(DType::kI8), 127);
  EXPECT_EQ(lowest_of(DType::kU8), 0);
  EXPECT_EQ(highest_of(DType::kU8), 255);
  EXPECT_EQ(highest_of(DType::kBool), 1);
  EXPECT_EQ(highest_of(DType::kI64), INT64_MAX);
  EXPECT_EQ(lowest_of(DType::kI64), INT64_MIN);
  EXPECT_EQ(static_cast<std::uint64_t>(highest_of(DType::kU64)), UINT64_MAX);  // the generator took INT64_MAX
}

}  // namespace
}  // namespace facet
