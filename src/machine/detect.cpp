// CPU facts of this host: CPUID for the instruction set, the affinity mask and sysfs for cores and caches.
#include "src/machine/detect.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>
#include <vector>

namespace facet {

namespace {

const std::string kCpuFolder = "/sys/devices/system/cpu/cpu";

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// "0-3,8" -> {0, 1, 2, 3, 8}
std::set<int> cpu_list(const std::string& text) {
  std::set<int> cpus;
  std::istringstream parts(text);
  std::string part;
  while (std::getline(parts, part, ',')) {
    int first = 0;
    int last = 0;
    const int read = std::sscanf(part.c_str(), "%d-%d", &first, &last);
    if (read < 1 || first < 0 || (read == 2 && last - first > 65536)) continue;
    for (int cpu = first; cpu <= (read == 2 ? last : first); ++cpu) cpus.insert(cpu);
  }
  return cpus;
}

std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  if (cpus.empty())  // more CPUs than a cpu_set_t holds
    for (int cpu = 0; cpu < std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)); ++cpu) cpus.push_back(cpu);
  return cpus;
}

// CPUs a cgroup (v2) lets this process keep busy; 0 is no limit.
double cgroup_quota() {
  double quota = 0;
  double period = 0;
  const std::string line = first_line("/sys/fs/cgroup/cpu.max");
  return std::sscanf(line.c_str(), "%lf %lf", &quota, &period) == 2 && period > 0 ? quota / period : 0;
}

int count_cores(const std::vector<int>& cpus) {
  std::set<std::string> cores;
  for (const int cpu : cpus) {
    const std::string siblings = first_line(kCpuFolder + std::to_string(cpu) + "/topology/thread_siblings_list");
    cores.insert(siblings.empty() ? std::to_string(cpu) : siblings);
  }
  const double quota = cgroup_quota();
  const int limit = quota > 0 ? std::max(1, static_cast<int>(std::lround(quota))) : static_cast<int>(cores.size());
  return std::min(static_cast<int>(cores.size()), limit);
}

// "32K" -> 32768
std::int64_t size_of_text(const std::string& text) {
  char* end = nullptr;
  const std::int64_t value = std::strtoll(text.c_str(), &end, 10);
  if (*end == 'K') return value << 10;
  if (*end == 'M') return value << 20;
  return value;
}

// Data and unified caches of one CPU, nearest first.
std::vector<CacheLevel> read_caches(int cpu) {
  std::vector<CacheLevel> caches;
  for (int i = 0; i < 8; ++i) {
    const std::string folder = kCpuFolder + std::to_string(cpu) + "/cache/index" + std::to_string(i) + "/";
    const std::string type = first_line(folder + "type");
    if (type.empty()) break;
    if (type == "Instruction") continue;
    CacheLevel level;
    level.size_bytes = size_of_text(first_line(folder + "size"));
    if (level.size_bytes <= 0) continue;
    const std::int64_t line = size_of_text(first_line(folder + "coherency_line_size"));
    if (line > 0) level.line_bytes = line;
    const std::int64_t ways = size_of_text(first_line(folder + "ways_of_associativity"));
    if (ways > 0) level.associativity = static_cast<int>(ways);
    const std::size_t sharers = cpu_list(first_line(folder + "shared_cpu_list")).size();
    const std::size_t threads =
        cpu_list(first_line(kCpuFolder + std::to_string(cpu) + "/topology/thread_siblings_list")).size();
    level.shared_by_cores = static_cast<int>(std::max<std::size_t>(1, sharers / std::max<std::size_t>(1, threads)));
    caches.push_back(level);
  }
  return caches;
}

// A virtual machine reports its host's whole last cache for the few cores that it has, and a thread of it keeps what the other
// guests leave: 480 MiB were reported to two cores, and reads of 128 MiB ran at the speed of memory. Processors have up to 16
// MiB a core, rare ones 32.
constexpr std::int64_t kMostLastCacheByCore = 16 << 20;

void limit_last_cache(std::vector<CacheLevel>& caches) {
  if (caches.size() < 3) return;
  CacheLevel& last = caches.back();
  last.size_bytes = std::min(last.size_bytes, kMostLastCacheByCore * last.shared_by_cores);
}

// Where sysfs says nothing (some containers): small sizes that every CPU of the last ten years has.
std::vector<CacheLevel> usual_caches() {
  CacheLevel l1;
  l1.size_bytes = 32 << 10;
  CacheLevel l2;
  l2.size_bytes = 256 << 10;
  CacheLevel l3;
  l3.size_bytes = 8 << 20;
  l3.shared_by_cores = 4;
  l3.associativity = 16;
  return {l1, l2, l3};
}

struct CpuInfo {
  std::string vendor, name;
  int family = 0;
};

CpuInfo read_cpuinfo() {
  CpuInfo info;
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line) && !line.empty()) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || colon + 2 > line.size()) continue;
    const std::string value = line.substr(colon + 2);
    if (line.rfind("vendor_id", 0) == 0) info.vendor = value;
    if (line.rfind("model name", 0) == 0) info.name = value;
    if (line.rfind("cpu family", 0) == 0) info.family = std::atoi(value.c_str());
  }
  return info;
}

void set_isa(CpuMachine& m, const std::string& isa) {
  m.isa = isa;
  m.march = isa == "avx512" ? "x86-64-v4" : isa == "avx2" ? "x86-64-v3" : isa == "neon" ? "armv8-a" : "x86-64";
  m.vector_bytes = isa == "avx512" ? 64 : isa == "avx2" ? 32 : 16;
  m.vector_registers = isa == "avx512" || isa == "neon" ? 32 : 16;
  m.fma_per_cycle = isa == "generic" ? 1 : 2;
}

std::string host_isa() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  // The features of x86-64-v4 and of x86-64-v3 that generated code relies on.
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return v4 ? "avx512" : v3 ? "avx2" : "generic";
#else
  return "generic";
#endif
}

}  // namespace

CpuMachine detect_cpu() {
  CpuMachine m;
  set_isa(m, host_isa());
  const CpuInfo info = read_cpuinfo();
  if (!info.name.empty()) m.name = info.name;
  // Zen 4 (family 25) executes a 512-bit FMA in two halves: one per cycle (AMD software optimization guide 57647).
  if (m.isa == "avx512" && info.vendor == "AuthenticAMD" && info.family == 25) m.fma_per_cycle = 1;
  const std::vector<int> cpus = allowed_cpus();
  m.cores = count_cores(cpus);
  m.caches = read_caches(cpus.front());
  if (m.caches.size() < 2) m.caches = usual_caches();
  limit_last_cache(m.caches);
  return m;
}

bool cpu_for_isa(const std::string& name, const CpuMachine& host, CpuMachine* out) {
  struct Known {
    const char* name;
    const char* isa;
    const char* march;
    int fma_per_cycle;
  };
  static constexpr Known known[] = {{"generic", "generic", "x86-64", 1},
                                    {"x86-64", "generic", "x86-64", 1},
                                    {"neon", "neon", "armv8-a", 2},
                                    {"avx2", "avx2", "x86-64-v3", 2},
                                    {"x86-64-v3", "avx2", "x86-64-v3", 2},
                                    {"haswell", "avx2", "haswell", 2},
                                    {"skylake", "avx2", "skylake", 2},
                                    {"znver2", "avx2", "znver2", 2},
                                    {"znver3", "avx2", "znver3", 2},
                                    {"avx512", "avx512", "x86-64-v4", 2},
                                    {"x86-64-v4", "avx512", "x86-64-v4", 2},
                                    {"skylake-avx512", "avx512", "skylake-avx512", 2},
                                    {"icelake-server", "avx512", "icelake-server", 2},
                                    {"sapphirerapids", "avx512", "sapphirerapids", 2},
                                    {"znver4", "avx512", "znver4", 1}};
  for (const Known& k : known) {
    if (name != k.name) continue;
    *out = host;
    set_isa(*out, k.isa);
    out->march = k.march;
    out->fma_per_cycle = k.fma_per_cycle;
    return true;
  }
  return false;
}

}  // namespace facet
