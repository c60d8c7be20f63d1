// The plugin alone: text in, callable code out, complaints as text. Skipped where the plugin was not built.
#include "unit/codegen/openmp/jit/jit_fixture.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using facet::test::Jit;
using testing::HasSubstr;

constexpr const char* kSaxpy = R"(
#include <stdint.h>
extern "C" void saxpy(float* y, const float* x, float a, int64_t n) {
#pragma omp parallel for num_threads(2)
  for (int64_t i = 0; i < n; ++i) y[i] += a * __builtin_sqrtf(x[i]);
})";

TEST_F(Jit, CompilesAndRunsAnOpenMpKernelQuickly) {
  const auto start = std::chrono::steady_clock::now();
  void* library = compile(kSaxpy);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(library) << error_;
  EXPECT_LT(took.count(), 0.5 * 4) << "0.5 s is promised on an idle machine; four times that on a busy one";
  auto saxpy = reinterpret_cast<void (*)(float*, const float*, float, std::int64_t)>(symbol_(library, "saxpy"));
  ASSERT_TRUE(saxpy);
  std::vector<float> x(1000, 4.0f), y(1000, 1.0f);
  saxpy(y.data(), x.data(), 3.0f, 1000);
  for (float value : y) ASSERT_EQ(value, 7.0f);
  EXPECT_FALSE(symbol_(library, "no_such_symbol"));
  free_(library);
}

TEST_F(Jit, TwoLibrariesMayDefineTheSameName) {
  void* one = compile("extern \"C\" int f() { return 1; }", {});
  void* two = compile("extern \"C\" int f() { return 2; }", {});
  ASSERT_TRUE(one && two);
  EXPECT_EQ(reinterpret_cast<int (*)()>(symbol_(one, "f"))(), 1);
  EXPECT_EQ(reinterpret_cast<int (*)()>(symbol_(two, "f"))(), 2);
  free_(one);
  EXPECT_EQ(reinterpret_cast<int (*)()>(symbol_(two, "f"))(), 2);
  free_(two);
}

TEST_F(Jit, GivesTheCompilersComplaintAsText) {
  EXPECT_FALSE(compile("int f( { return 1; }"));
  EXPECT_THAT(error_, HasSubstr("kernel.cpp:1:"));
  EXPECT_THAT(error_, HasSubstr("error:"));
}

TEST_F(Jit, RefusesAnUnknownFlag) {
  EXPECT_FALSE(compile("int f() { return 1; }", {"-fno-such-flag"}));
  EXPECT_THAT(error_, HasSubstr("-fno-such-flag"));
}

TEST_F(Jit, FindsNoSystemHeader) {
  EXPECT_FALSE(compile("#include <vector>\nint f() { return 1; }"));
  EXPECT_THAT(error_, HasSubstr("'vector' file not found"));
}

TEST_F(Jit, AnUnresolvedSymbolIsAComplaint) {
  EXPECT_FALSE(compile("extern \"C\" int no_such_function(); extern \"C\" int f() { return no_such_function(); }", {}));
  EXPECT_THAT(error_, HasSubstr("no_such_function"));
}

TEST_F(Jit, NamesItsVersion) { EXPECT_THAT(version_(), HasSubstr("clang 19")); }

#ifdef FACET_SANITIZE
TEST_F(Jit, SanitizedKernelReportsAStrayStore) {
  void* library = compile("extern \"C\" void f(float* x, long i) { x[i] = 1; }", {"-O1", "-fsanitize=address"});
  ASSERT_TRUE(library) << error_;
  auto store = reinterpret_cast<void (*)(float*, long)>(symbol_(library, "f"));
  ASSERT_TRUE(store);
  std::vector<float> x(10);
  store(x.data(), 9);
  EXPECT_DEATH(store(x.data(), 10), "heap-buffer-overflow");
  free_(library);
}
#endif

}  // namespace
