// Medians, repeats and the roofline share.
#include "src/run/measure.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace facet {
namespace {

TEST(Measure, Median) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median({}), 0);
}

TEST(Measure, RepeatsUntilBothLimitsAreReached) {
  int calls = 0;
  const auto once = [&]() -> Result<double> { return static_cast<double>(++calls); };
  TimingOptions options;
  options.warm_up = 1;
  options.least_repeats = 3;
  options.least_ms = 0;
  Result<TimingSeries> series = measure(once, options);
  ASSERT_TRUE(series.ok());
  EXPECT_EQ(series->repeats, 3);
  EXPECT_EQ(series->median_ms, 3) << "the first call does not count";
  EXPECT_EQ(series->least_ms, 2);
  options.least_ms = 1000;
  EXPECT_GT(measure(once, options)->repeats, 3);
}

TEST(Measure, FailuresEndIt) {
  const auto once = []() -> Result<double> { return diagnose(Code::kInternalError, {}, {"a", "b"}); };
  EXPECT_FALSE(measure(once, {}).ok());
}

TEST(Measure, ShareOfTheRoofline) {
  KernelInfo k;
  k.name = "k0";
  k.ops = {"c"};
  k.flops = idx_mul(idx(2), index("N"));
  k.bytes = idx_mul(idx(4), index("N"));
  // 2e6 flops at 1 GFLOP/s are 2 ms; 4e6 bytes at 1 GB/s are 4 ms: the bound is 4 ms.
  const KernelReport r = kernel_report(k, {{"N", 1000000}}, 8, {1, 1});
  EXPECT_DOUBLE_EQ(r.gflops, 0.25);
  EXPECT_DOUBLE_EQ(r.gbps, 0.5);
  EXPECT_DOUBLE_EQ(r.fraction_of_bound, 0.5);
  EXPECT_EQ(kernel_report(k, {{"N", 1000000}}, 8, {}).fraction_of_bound, 0) << "unknown ceilings give no share";
  EXPECT_NE(to_text(std::vector<KernelReport>{r}).find("k0"), std::string::npos);
}

TEST(Measure, TheBoundSaysWhatSetsIt) {
  EXPECT_EQ(roofline_bound(2e6, 4e6, 4, {1, 1}).by, "memory");
  EXPECT_EQ(roofline_bound(2e6, 1e6, 4, {1, 1}).by, "compute");
  EXPECT_DOUBLE_EQ(roofline_bound(2e6, 1e6, 4, {1, 1}).time_ms, 2);
  EXPECT_DOUBLE_EQ(roofline_bound(2e6, 1e6, 8, {1, 1}).time_ms, 4) << "f64 has half the rate";
  EXPECT_EQ(roofline_bound(2e6, 1e6, 4, {}).by, "");
  CpuMachine two;
  two.cores = 2;
  two.peak_f32_gflop_s = 100;
  EXPECT_DOUBLE_EQ(ceilings_of(two, 1).gflop_s, 100);
  EXPECT_DOUBLE_EQ(ceilings_of(two, 8).gflop_s, 200) << "more threads than cores add nothing";
}

TEST(Measure, TheTableTellsAllThatIsKnown) {
  KernelReport k;
  k.name = "k0";
  k.time_ms = 2;
  k.bound_by = "memory";
  const std::string bare = to_text(std::vector<KernelReport>{k});
  EXPECT_EQ(std::count(bare.begin(), bare.end(), '\n'), 2) << bare;
  PredictedCost p;
  p.time_ms = 1.5;
  p.cycles = 4.5e6;
  p.bytes = {{"L2", 2e6}, {"memory", 1e6}};
  p.bound_by = "memory";
  k.predicted = p;
  k.object_code = ObjectCode{3, 2, 64, 0, 128};
  k.counted = MeasuredCounts{6e6, 1.1e6};
  EXPECT_NE(to_text(std::vector<KernelReport>{k})
                .find("  k0: by the model 2 MB to and from L2, 1 MB to and from memory, bound by memory; "
                      "512-bit vectors in 2 of 3 innermost loops, 0 bytes of spill stores, 128 of loads; "
                      "counted 6e+06 cycles (by the model 4.5e+06), 1.1 MB of last-level misses\n"),
            std::string::npos)
      << to_text(std::vector<KernelReport>{k});
}

}  // namespace
}  // namespace facet
