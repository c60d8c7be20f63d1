// Opened for threads one by one: a counter that is inherited follows only threads made after it.
#include "src/run/counters.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace facet {

namespace {

std::vector<int> threads_of_this_process() {
  std::vector<int> threads;
  DIR* folder = ::opendir("/proc/self/task");
  if (!folder) return {0};
  while (const dirent* entry = ::readdir(folder))
    if (const int id = std::atoi(entry->d_name); id > 0) threads.push_back(id);
  ::closedir(folder);
  return threads;
}

int open_counter(const CounterEvent& event, int thread) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.disabled = 1;
  attributes.exclude_kernel = 1;  // what a user may count where perf_event_paranoid is 2
  attributes.exclude_hv = 1;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return static_cast<int>(::syscall(SYS_perf_event_open, &attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

double scaled_count(int file) {
  std::uint64_t values[3] = {};  // the count, time enabled, time running
  if (::read(file, values, sizeof values) != static_cast<ssize_t>(sizeof values) || values[2] == 0) return 0;
  return static_cast<double>(values[0]) * static_cast<double>(values[1]) / static_cast<double>(values[2]);
}

}  // namespace

CounterEvent cycles_event() { return {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES}; }
CounterEvent last_level_misses_event() { return {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES}; }
CounterEvent task_clock_event() { return {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK}; }

ThreadCounters::ThreadCounters(const std::vector<CounterEvent>& events) {
  const std::vector<int> threads = threads_of_this_process();
  for (const CounterEvent& event : events) {
    files_.emplace_back();
    for (const int thread : threads) {
      const int file = open_counter(event, thread);
      if (file >= 0) {
        files_.back().push_back(file);
      } else if (errno != ESRCH) {  // a thread that has ended meanwhile counts nothing
        problem_ = std::string("perf_event_open: ") + std::strerror(errno);
        return;
      }
    }
  }
}

ThreadCounters::~ThreadCounters() {
  for (const std::vector<int>& list : files_)
    for (const int file : list) ::close(file);
}

void ThreadCounters::start() {
  for (const std::vector<int>& list : files_)
    for (const int file : list) {
      ::ioctl(file, PERF_EVENT_IOC_RESET, 0);
      ::ioctl(file, PERF_EVENT_IOC_ENABLE, 0);
    }
}

std::vector<EventCount> ThreadCounters::stop() {
  std::vector<EventCount> counts;
  for (const std::vector<int>& list : files_) {
    EventCount count;
    for (const int file : list) {
      ::ioctl(file, PERF_EVENT_IOC_DISABLE, 0);
      const double value = scaled_count(file);
      count.all += value;
      count.most = std::max(count.most, value);
    }
    counts.push_back(count);
  }
  return counts;
}

}  // namespace facet
