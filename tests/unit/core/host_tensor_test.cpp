// Host tensors round exactly once, keep NaNs, and saturate or wrap integers as the contract says.
#include "facet/host_tensor.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

namespace facet {
namespace {

TEST(HostTensor, RoundsToBf16HalfToEven) {
  EXPECT_EQ(round_to(DType::kBF16, 0.2691408770292272), 0.26953125);
  EXPECT_EQ(round_to(DType::kBF16, 3.14), 3.140625);
  EXPECT_EQ(round_to(DType::kBF16, 1 + 0x1p-8), 1.0);
  EXPECT_EQ(round_to(DType::kBF16, 1 + 3 * 0x1p-8), 1.015625);
  EXPECT_TRUE(std::isinf(round_to(DType::kBF16, 3.4e38)));
  EXPECT_TRUE(std::isinf(bf16_to_f32(f32_to_bf16(3.4e38f))));
}

TEST(HostTensor, RoundsFromDoubleInOneStep) {
  // Just above a tie: via f32 it would become the tie and go to even (down).
  EXPECT_EQ(round_to(DType::kBF16, 1 + 0x1p-8 + 0x1p-40), 1 + 0x1p-7);
  EXPECT_EQ(round_to(DType::kF16, 1 + 0x1p-11 + 0x1p-40), 1 + 0x1p-10);
}

TEST(HostTensor, KeepsNanWithLowPayload) {
  const std::uint32_t bits = 0x7F800001;
  float nan = 0;
  std::memcpy(&nan, &bits, sizeof nan);
  EXPECT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(nan))));
  EXPECT_TRUE(std::isnan(f16_to_f32(f32_to_f16(nan))));
}

TEST(HostTensor, F16PatternsRoundTrip) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const float value = f16_to_f32(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) continue;
    ASSERT_EQ(f32_to_f16(value), bits);
  }
  EXPECT_EQ(round_to(DType::kF16, 65519.0), 65504.0);
  EXPECT_TRUE(std::isinf(round_to(DType::kF16, 65520.0)));
  EXPECT_EQ(round_to(DType::kF16, 0x1p-25), 0.0);
  EXPECT_EQ(round_to(DType::kF16, 0x1.8p-25), 0x1p-24);
}

TEST(HostTensor, Bf16PatternsRoundTrip) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const float value = bf16_to_f32(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) continue;
    ASSERT_EQ(f32_to_bf16(value), bits);
  }
}

TEST(HostTensor, SetSaturatesAndSetIntWraps) {
  HostTensor t = make_host_tensor(DType::kI8, {2, 2});
  EXPECT_EQ(t.element_count(), 4);
  t.set(0, 300.0);
  t.set(1, -300.7);
  t.set(2, std::numeric_limits<double>::quiet_NaN());
  t.set_int(3, 300);
  EXPECT_EQ(t.get_int(0), 127);
  EXPECT_EQ(t.get_int(1), -128);
  EXPECT_EQ(t.get_int(2), 0);
  EXPECT_EQ(t.get_int(3), 44);
  EXPECT_EQ(round_to(DType::kI64, 1e30), static_cast<double>(std::numeric_limits<std::int64_t>::max()));
}

TEST(HostTensor, EmptyWithExtentsWhoseProductDoesNotFit) {
  EXPECT_EQ(make_host_tensor(DType::kF64, {std::numeric_limits<std::int64_t>::max(), 3, 0}).bytes.size(), 0u);
}

TEST(HostTensor, EveryDtypeKeepsSmallIntegers) {
  for (const DType d : {DType::kBool, DType::kI8, DType::kU8, DType::kI16, DType::kU16, DType::kI32, DType::kU32, DType::kI64,
                        DType::kU64, DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
    HostTensor t = make_host_tensor(d, {});
    t.set(0, 1.0);
    EXPECT_EQ(t.get(0), 1.0) << to_text(d);
    EXPECT_EQ(t.get_int(0), 1) << to_text(d);
  }
}

// A vector that straddles two lines costs two accesses.
TEST(HostTensor, BeginsWithACacheLine) {
  for (const std::int64_t n : {1, 100, 100000}) {
    const HostTensor t = make_host_tensor(DType::kF32, {n});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(t.bytes.data()) % 64, 0u);
  }
}

}  // namespace
}  // namespace facet
