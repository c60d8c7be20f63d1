// Work on all cores: each piece once, and the same results as one after another.
#include "src/driver/in_threads.hpp"

#include <atomic>
#include <vector>

#include <gtest/gtest.h>

#include "src/driver/gpu_selftest.hpp"

namespace facet {
namespace {

TEST(InThreads, EachPieceIsDoneOnce) {
  std::vector<std::atomic<int>> times(1000);
  in_threads(times.size(), [&](std::size_t i) { ++times[i]; });
  for (const std::atomic<int>& t : times) EXPECT_EQ(t.load(), 1);
  in_threads(0, [](std::size_t) { FAIL(); });
}

TEST(InThreads, CasesArePlannedAndInterpretedTheSame) {
  std::vector<GpuCase> cases = operator_cases();
  cases.resize(24);
  std::vector<GpuCaseResult> together(cases.size());
  in_threads(cases.size(), [&](std::size_t i) { together[i] = check_in_interpreter(cases[i], 1); });
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const GpuCaseResult alone = check_in_interpreter(cases[i], 1);
    EXPECT_TRUE(together[i].verified) << cases[i].name << together[i].reason;
    EXPECT_EQ(together[i].max_abs_error, alone.max_abs_error) << cases[i].name;
    EXPECT_EQ(together[i].tolerance, alone.tolerance) << cases[i].name;
  }
}

}  // namespace
}  // namespace facet
