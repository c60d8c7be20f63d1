// The words of the CPU bench: a case, its buffers, and the functions that are timed against each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bench {

// A float buffer, 64-byte aligned; inputs hold random values, outputs are poisoned with NaN before every first run.
class Buffer {
 public:
  explicit Buffer(std::int64_t count);
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  float* data() { return data_; }
  std::int64_t count() const { return count_; }
  void randomize(std::uint64_t seed);
  void poison();

 private:
  float* data_ = nullptr;
  std::int64_t count_ = 0;
};

struct Case {
  std::string name;                   // "matmul 1024x1024x1024"
  std::string program;                // file name of the exported library: libPROGRAM.so
  std::vector<std::int64_t> symbols;  // in program order
  std::vector<std::int64_t> inputs;   // elements of each f32 input, in program order
  std::int64_t output = 0;            // elements of the one f32 output
  double flops = 0, bytes = 0;        // floor: operations; each input read once, the output written once
};

struct Rival {
  std::string name;           // "oneDNN"
  std::function<void()> run;  // writes the output buffer
};

const std::vector<Case>& all_cases();

// The libraries' ways to compute the case into `output`; empty where there is none.
std::vector<Rival> rivals_of(const Case& which, std::vector<Buffer>& inputs, Buffer& output, int threads);

struct Ceilings {
  double fma_gflop_s = 0;  // f32, all threads
  double copy_gb_s = 0;    // read + write, all threads
};
Ceilings measure_ceilings(int threads);

}  // namespace bench
