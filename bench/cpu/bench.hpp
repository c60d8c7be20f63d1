// The words of the CPU bench: a case, its buffers, and the functions that are timed against each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace bench {

// Floats of 4 or 8 bytes, 64-byte aligned; inputs hold random values, outputs are poisoned with NaN before every first run.
class Buffer {
 public:
  Buffer(std::int64_t count, int bytes);
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  void* data() { return data_; }
  float* f32() { return static_cast<float*>(data_); }
  double* f64() { return static_cast<double*>(data_); }
  double at(std::int64_t i) { return bytes_ == 4 ? f32()[i] : f64()[i]; }
  std::int64_t count() const { return count_; }
  void randomize(std::uint64_t seed);
  void poison();

 private:
  void* data_ = nullptr;
  std::int64_t count_ = 0;
  int bytes_ = 4;
};

// Batch 1; the same size, window, stride and padding in each of `rank` dimensions.
struct Convolution {
  std::int64_t channels = 0, size = 0, filters = 0, window = 0, stride = 1, pad = 0, groups = 1, rank = 2;
  bool transposed = false;
  bool free = false;  // numerics: sums of other products allowed
  std::int64_t output() const {
    return transposed ? (size - 1) * stride + window - 2 * pad : (size + 2 * pad - window) / stride + 1;
  }
};

struct Case {
  std::string name;     // "matmul f32 1024x1024x1024"
  std::string program;  // name of the program and of the exported library: libPROGRAM.so
  std::string json;     // the program
  std::string kind;     // "matmul", "contraction", "convolution", "softmax", "layer_norm", "bias_gelu", "matmul_bias_gelu", ..
  int bytes = 4;        // of an element
  std::vector<std::int64_t> sizes;  // m, n, k; rows, columns
  std::string einsum;               // contraction
  std::map<char, std::int64_t> axes;
  Convolution conv;
  std::vector<std::int64_t> inputs;  // elements of each input, in program order
  std::int64_t output = 0;           // elements of the one output
  double flops = 0;
  double moved = 0;  // bytes: each input read once, the output written once
};

struct Rival {
  std::string name;           // "oneDNN"
  std::function<void()> run;  // writes the output buffer, or one in a layout of its own
  bool same_output = true;    // writes the output buffer: it is compared
};

// `contractions`: file of einsum lines with sizes. With a seed other than 0 the sizes are drawn anew within the same families.
std::vector<Case> all_cases(const std::string& contractions, std::uint64_t seed);

// The libraries' ways to compute the case into `output`; empty where there is none.
std::vector<Rival> rivals_of(const Case& which, std::vector<Buffer>& inputs, Buffer& output, int threads);

const char* openblas_core();  // the processor whose kernels OpenBLAS chose

struct Ceilings {
  double fma_gflop_s = 0;  // f32, all threads
  double copy_gb_s = 0;    // read + write, all threads
};
Ceilings measure_ceilings(int threads);

}  // namespace bench
