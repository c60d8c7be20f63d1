// Hardware counters of all threads of this process, where the system lets one read them (Linux, perf_event_open).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace facet {

struct CounterEvent {
  std::uint32_t type = 0;  // as in linux/perf_event.h
  std::uint64_t config = 0;
};
CounterEvent cycles_event();             // of the core's clock, in user code
CounterEvent last_level_misses_event();  // lines that the last cache did not have
CounterEvent task_clock_event();         // nanoseconds; the kernel counts it itself, so that it works without hardware counters

struct EventCount {
  double all = 0;   // of all threads together
  double most = 0;  // of the thread that counted most
};

// Not copied: it owns file descriptors.
class ThreadCounters {
 public:
  // One counter of each event for every thread that the process has now: OpenMP's threads exist after a first run.
  explicit ThreadCounters(const std::vector<CounterEvent>& events);
  ~ThreadCounters();
  ThreadCounters(const ThreadCounters&) = delete;
  ThreadCounters& operator=(const ThreadCounters&) = delete;

  // Empty, or why nothing is counted: "perf_event_open: No such file or directory".
  const std::string& problem() const { return problem_; }
  void start();
  // Since start(), by event. Where counters took turns, scaled up to the whole time.
  std::vector<EventCount> stop();

 private:
  std::vector<std::vector<int>> files_;  // by event, by thread
  std::string problem_;
};

}  // namespace facet
