// Measures how fast a core multiplies and adds, and how fast all cores copy memory; remembers the result per CPU.
//
// Each figure is the best of several short runs: a ceiling is what the machine can do when nothing disturbs it.
#include "src/machine/ceilings.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <thread>
#include <vector>

#include "src/frontend/files.hpp"
#include "src/machine/detect.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace facet {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

constexpr int kChains = 12;  // enough to hide an FMA's latency of 4 cycles at 2 per cycle, few enough for 16 registers

// Each runs `rounds` rounds of kChains independent FMAs and returns something that depends on all of them.
#if defined(__x86_64__)
__attribute__((target("avx512f"))) float chains_avx512(std::int64_t rounds) {
  __m512 acc[kChains];
  const __m512 factor = _mm512_set1_ps(0.999F);
  const __m512 term = _mm512_set1_ps(0.001F);
  for (int c = 0; c < kChains; ++c) acc[c] = _mm512_set1_ps(static_cast<float>(c));
  for (std::int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) acc[c] = _mm512_fmadd_ps(acc[c], factor, term);
  }
  float sum = 0;
  for (int c = 0; c < kChains; ++c) sum += _mm512_cvtss_f32(acc[c]);
  return sum;
}

__attribute__((target("avx2,fma"))) float chains_avx2(std::int64_t rounds) {
  __m256 acc[kChains];
  const __m256 factor = _mm256_set1_ps(0.999F);
  const __m256 term = _mm256_set1_ps(0.001F);
  for (int c = 0; c < kChains; ++c) acc[c] = _mm256_set1_ps(static_cast<float>(c));
  for (std::int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) acc[c] = _mm256_fmadd_ps(acc[c], factor, term);
  }
  float sum = 0;
  for (int c = 0; c < kChains; ++c) sum += _mm256_cvtss_f32(acc[c]);
  return sum;
}
#endif

float chains_scalar(std::int64_t rounds) {
  float acc[kChains] = {};
  for (std::int64_t r = 0; r < rounds; ++r)
    for (float& a : acc) a = a * 0.999F + 0.001F;
  float sum = 0;
  for (const float a : acc) sum += a;
  return sum;
}

struct Chains {
  float (*run)(std::int64_t);
  int lanes;
};

Chains chains_for(const CpuMachine& machine) {
#if defined(__x86_64__)
  if (machine.isa == "avx512" && __builtin_cpu_supports("avx512f")) return {chains_avx512, 16};
  if (machine.isa != "generic" && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {chains_avx2, 8};
#endif
  (void)machine;
  return {chains_scalar, 1};
}

// The file that remembers a CPU's ceilings. The name holds what they depend on, and 3 for the third way of measuring.
std::string memory_of(const CpuMachine& machine) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  std::string folder = cache && *cache ? cache : home && *home ? std::string(home) + "/.cache" : "";
  if (folder.empty()) return "";
  std::string key;
  for (const char c : machine.name) key += std::isalnum(static_cast<unsigned char>(c)) ? c : '-';
  return folder + "/facet/ceilings-3-" + key + "-" + machine.isa + "-" + std::to_string(machine.cores) + ".txt";
}

// Copies by whole vectors stored past the caches: the line that is overwritten is not read first.
void copy_past_caches(char* to, const char* from, std::size_t bytes) {
#if defined(__x86_64__)
  for (std::size_t at = 0; at < bytes; at += sizeof(__m128i))
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + at), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at)));
  _mm_sfence();
#else
  std::memcpy(to, from, bytes);
#endif
}

void copy_through_caches(char* to, const char* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

using Copy = void (*)(char*, const char*, std::size_t);

// Bytes read and written a second when every core copies its share (whole pages).
double copied_gb_s(Copy copy, int cores, std::size_t share, char* to, const char* from) {
  const Clock::time_point start = Clock::now();
  std::vector<std::thread> threads;
  for (int c = 0; c < cores; ++c) {
    const std::size_t at = share * static_cast<std::size_t>(c);
    threads.emplace_back([=] { copy(to + at, from + at, share); });
  }
  for (std::thread& t : threads) t.join();
  return 2.0 * static_cast<double>(share) * cores / seconds_since(start) * 1e-9;
}

}  // namespace

double measure_peak_f32(const CpuMachine& machine) {
  const Chains chains = chains_for(machine);
  volatile float sink = chains.run(1000000);  // warms the clock up
  double best = 0;
  for (int i = 0; i < 10; ++i) {
    constexpr std::int64_t rounds = 500000;
    const Clock::time_point start = Clock::now();
    sink = chains.run(rounds);
    best = std::max(best, 2.0 * kChains * chains.lanes * rounds / seconds_since(start) * 1e-9);
  }
  (void)sink;
  return best;
}

double measure_copy(const CpuMachine& machine) {
  std::int64_t last = 32 << 20;
  for (const CacheLevel& level : machine.caches) last = std::max(last, level.size_bytes);
  const long pages = sysconf(_SC_AVPHYS_PAGES);
  const std::int64_t available = static_cast<std::int64_t>(pages) * sysconf(_SC_PAGESIZE);
  const std::int64_t bytes = std::min<std::int64_t>({4 * last, std::int64_t{512} << 20, available / 8});
  const std::size_t share = static_cast<std::size_t>(bytes / machine.cores) & ~std::size_t{4095};
  if (share == 0) return 0;
  double best = 0;
  try {
    std::vector<char> from(share * static_cast<std::size_t>(machine.cores), 1);
    std::vector<char> to(from.size() + 64, 2);
    char* const aligned = to.data() + (64 - reinterpret_cast<std::uintptr_t>(to.data()) % 64) % 64;
    for (int i = 0; i < 5; ++i)
      for (const Copy copy : {copy_through_caches, copy_past_caches})
        best = std::max(best, copied_gb_s(copy, machine.cores, share, aligned, from.data()));
  } catch (const std::exception&) {  // no memory or no threads: unknown is better than an end
    return best;
  }
  return best;
}

bool add_known_ceilings(CpuMachine& machine) {
  std::ifstream known(memory_of(machine));
  double peak = 0;
  double copy = 0;
  if (!(known >> peak >> copy) || peak <= 0 || copy <= 0) return false;
  machine.peak_f32_gflop_s = peak;
  machine.copy_gb_s = copy;
  return true;
}

void add_measured_ceilings(CpuMachine& machine) {
  if (add_known_ceilings(machine)) return;
  const std::string path = memory_of(machine);
  machine.peak_f32_gflop_s = measure_peak_f32(machine);
  machine.copy_gb_s = measure_copy(machine);
  // What a busy machine can do is not its ceiling: use the figures now, but measure again next time.
  double load = 0;
  const bool busy = getloadavg(&load, 1) == 1 && load > machine.cores + 0.5;
  if (busy || path.empty() || !make_folder(path.substr(0, path.rfind('/'))).ok()) return;
  char text[120];
  std::snprintf(text, sizeof text, "%.3f %.3f\npeak f32 GFLOP/s of one core, copy GB/s of all cores\n",
                machine.peak_f32_gflop_s, machine.copy_gb_s);
  (void)write_file(path, std::string(text)).ok();
}

}  // namespace facet
