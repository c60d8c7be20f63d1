// Counters of all threads: the kernel's own clock stands in where there is no hardware to count.
#include "src/run/counters.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

namespace facet {
namespace {

void spin(double ms) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double, std::milli>(ms);
  while (std::chrono::steady_clock::now() < end) {}
}

TEST(Counters, ThreadsAddUp) {
  std::atomic<int> go{0};
  std::thread other([&] {
    while (go == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (go == 1) spin(30);
  });
  ThreadCounters counters({task_clock_event()});
  if (!counters.problem().empty()) {
    go = 2;
    other.join();
    GTEST_SKIP() << counters.problem();
  }
  counters.start();
  go = 1;
  spin(60);
  other.join();
  const std::vector<EventCount> counts = counters.stop();
  ASSERT_EQ(counts.size(), 1U);
  EXPECT_GT(counts[0].most, 1e6) << "nanoseconds of a busy thread";
  EXPECT_GT(counts[0].all, counts[0].most) << "the other thread's are in the sum";
}

TEST(Counters, CountOnlyBetweenStartAndStop) {
  ThreadCounters counters({task_clock_event()});
  if (!counters.problem().empty()) GTEST_SKIP() << counters.problem();
  spin(40);
  counters.start();
  const double idle = counters.stop()[0].all;
  counters.start();
  spin(40);
  EXPECT_GT(counters.stop()[0].all, 4 * idle);
}

TEST(Counters, HardwareCountsOrSaysWhyNot) {
  ThreadCounters counters({cycles_event(), last_level_misses_event()});
  if (!counters.problem().empty()) {
    EXPECT_EQ(counters.problem().rfind("perf_event_open: ", 0), 0U) << counters.problem();
    return;
  }
  counters.start();
  spin(20);
  EXPECT_GT(counters.stop()[0].most, 1e5);
}

}  // namespace
}  // namespace facet
