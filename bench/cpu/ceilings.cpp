// The two ceilings every case is held against: f32 multiply-adds and copying, on all threads, best of several.
#include <omp.h>

#include <algorithm>
#include <cstring>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "bench/cpu/bench.hpp"

namespace bench {
namespace {

// What one register holds: a wider one is no operand of the empty asm below.
#if defined(__AVX512F__)
using Vector = float __attribute__((vector_size(64)));
#elif defined(__AVX__)
using Vector = float __attribute__((vector_size(32)));
#else
using Vector = float __attribute__((vector_size(16)));
#endif
constexpr std::size_t kLanes = sizeof(Vector) / sizeof(float);

// 12 independent chains hide the latency of two pipes (4 cycles each on Zen 4 and Intel cores alike). They start apart and each
// is opaque to the compiler: equal chains were merged into one, whose latency passed for 1.5 times the peak.
float multiply_adds(std::int64_t rounds) {
  Vector a = Vector{} + 1.0000001f, b = Vector{} + 1e-9f;
  Vector v[12];
  for (int c = 0; c < 12; ++c) {
    v[c] = Vector{} + static_cast<float>(c);
    asm volatile("" : "+v"(v[c]));
  }
  asm volatile("" : "+v"(a), "+v"(b));
  for (std::int64_t r = 0; r < rounds; ++r)
    for (Vector& x : v) x = x * a + b;
  Vector sum = {};
  for (const Vector& x : v) sum += x;
  return sum[0];
}

// By memcpy, or by vectors stored past the caches: which is faster depends on the machine.
void copy(float* to, const float* from, std::int64_t count, bool past_caches) {
#if defined(__SSE__)
  if (past_caches) {
    for (std::int64_t i = 0; i < count; i += 4) _mm_stream_ps(to + i, _mm_loadu_ps(from + i));
    _mm_sfence();
    return;
  }
#else
  static_cast<void>(past_caches);
#endif
  std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
}

}  // namespace

Ceilings measure_ceilings(int threads) {
  Ceilings best;
  constexpr std::int64_t kRounds = 4'000'000, kCount = 32 << 20;
  Buffer from(kCount, 4), to(kCount, 4);
  from.randomize(1);
  for (int repeat = 0; repeat < 7; ++repeat) {
    double start = omp_get_wtime();
#pragma omp parallel num_threads(threads)
    {
      const float sum = multiply_adds(kRounds);
      asm volatile("" : : "x"(sum));
    }
    double took = omp_get_wtime() - start;
    best.fma_gflop_s = std::max(best.fma_gflop_s, threads * 2.0 * kLanes * 12 * kRounds / took * 1e-9);

    for (const bool past_caches : {false, true}) {
      start = omp_get_wtime();
#pragma omp parallel num_threads(threads)
      {
        const std::int64_t part = kCount / threads, first = omp_get_thread_num() * part;
        copy(to.f32() + first, from.f32() + first, part, past_caches);
      }
      took = omp_get_wtime() - start;
      best.copy_gb_s = std::max(best.copy_gb_s, 2.0 * 4 * kCount / took * 1e-9);
    }
  }
  return best;
}

}  // namespace bench
