// What the optimiser is spared: a function that holds vector loops keeps its scalar loops as they are.
#include "unit/codegen/openmp/jit/jit_fixture.hpp"

#include <gmock/gmock.h>

namespace {

using facet::test::Jit;

// The same scalar loop alone and beside a loop of vectors; functions stand in memory in the order of the text.
constexpr const char* kBoth = R"(
typedef float Lanes __attribute__((vector_size(32)));
extern "C" void alone(float* y, const float* x, long n) {
#pragma clang loop unroll(disable)
  for (long i = 0; i < n; ++i) y[i] = 3.0f * x[i] + y[i];
}
extern "C" void beside(Lanes* w, long m, float* y, const float* x, long n) {
#pragma clang loop unroll(disable)
  for (long i = 0; i < m; ++i) w[i] = w[i] * w[i];
#pragma clang loop unroll(disable)
  for (long i = 0; i < n; ++i) y[i] = 3.0f * x[i] + y[i];
}
extern "C" void end() {})";

TEST_F(Jit, ScalarLoopsBesideVectorsAreLeftScalar) {
  void* library = compile(kBoth);
  ASSERT_TRUE(library) << error_;
  const char* const alone = static_cast<const char*>(symbol_(library, "alone"));
  const char* const beside = static_cast<const char*>(symbol_(library, "beside"));
  const char* const end = static_cast<const char*>(symbol_(library, "end"));
  ASSERT_TRUE(alone && beside && end);
  ASSERT_LT(alone, beside);
  ASSERT_LT(beside, end);
  EXPECT_LT(end - beside, beside - alone) << "alone the loop is vectorised; beside vectors it is not";
  free_(library);
}

TEST_F(Jit, WhatIsSparedComputesTheSame) {
  void* library = compile(kBoth);
  ASSERT_TRUE(library) << error_;
  auto alone = reinterpret_cast<void (*)(float*, const float*, long)>(symbol_(library, "alone"));
  auto beside = reinterpret_cast<void (*)(void*, long, float*, const float*, long)>(symbol_(library, "beside"));
  alignas(32) float w[16];
  float x[37], y[37], z[37];
  for (int i = 0; i < 16; ++i) w[i] = static_cast<float>(i);
  for (int i = 0; i < 37; ++i) {
    x[i] = static_cast<float>(i) * 0.5f;
    y[i] = z[i] = static_cast<float>(37 - i);
  }
  alone(y, x, 37);
  beside(w, 2, z, x, 37);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(w[i], static_cast<float>(i * i));
  for (int i = 0; i < 37; ++i) EXPECT_EQ(y[i], z[i]);
  free_(library);
}

}  // namespace
