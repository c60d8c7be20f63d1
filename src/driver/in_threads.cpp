// A counter that the threads share.
#include "src/driver/in_threads.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace facet {

void in_threads(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  for (std::size_t t = 0; t < std::min(count, cores); ++t)
    threads.emplace_back([&] {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    });
  for (std::thread& t : threads) t.join();
}

}  // namespace facet
