// The table of CPU cases: one line a case.
#include "bench/cpu/bench.hpp"

namespace bench {
namespace {

Case matmul(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {"matmul " + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k),
          "matmul",
          {m, n, k},
          {m * k, k * n},
          m * n,
          2.0 * static_cast<double>(m * n * k),
          4.0 * static_cast<double>(m * k + k * n + m * n)};
}

// Memory-bound, m rows of n: `per_row` further inputs of n elements, `flops` operations an element.
Case rows(const std::string& program, std::int64_t m, std::int64_t n, int per_row, double flops) {
  std::vector<std::int64_t> inputs(1, m * n);
  inputs.insert(inputs.end(), per_row, n);
  return {program + " " + std::to_string(m) + "x" + std::to_string(n),
          program,
          {m, n},
          inputs,
          m * n,
          flops * static_cast<double>(m * n),
          8.0 * static_cast<double>(m * n)};
}

}  // namespace

const std::vector<Case>& all_cases() {
  static const std::vector<Case> cases = {
      matmul(256, 256, 256),
      matmul(512, 512, 512),
      matmul(1024, 1024, 1024),
      matmul(2048, 2048, 2048),
      matmul(4096, 4096, 64),
      matmul(64, 4096, 4096),
      matmul(127, 129, 131),
      rows("softmax_rows", 4096, 4096, 0, 5),
      rows("softmax_rows", 512, 4096, 0, 5),
      rows("layer_norm", 4096, 4096, 2, 8),
      rows("layer_norm", 512, 4096, 2, 8),
      rows("bias_gelu", 4096, 4096, 1, 6),
  };
  return cases;
}

}  // namespace bench
