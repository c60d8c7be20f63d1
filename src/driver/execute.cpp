// The reference as a target and as the oracle, and the memory question asked before anything is allocated.
#include "src/driver/execute.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <set>

#include <sys/resource.h>

namespace facet {

namespace {

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

// Bytes this process may still take: the system's estimate, less where a limit is set.
std::int64_t free_bytes() {
  std::int64_t free = std::int64_t{1} << 62;
  std::ifstream info("/proc/meminfo");
  std::string word;
  std::int64_t kib = 0;
  while (info >> word) {
    if (word != "MemAvailable:") continue;
    if (info >> kib) free = kib * 1024;
    break;
  }
  std::ifstream group("/sys/fs/cgroup/memory.max");
  std::int64_t limit = 0;
  if (group >> limit) free = std::min(free, limit);
  rlimit address{};
  if (::getrlimit(RLIMIT_AS, &address) == 0 && address.rlim_cur != RLIM_INFINITY)
    free = std::min(free, static_cast<std::int64_t>(address.rlim_cur));
  return free;
}

Result<Done> check_memory(const Loaded& loaded) {
  const Program& p = loaded.program;
  std::set<std::string> names(p.inputs.begin(), p.inputs.end());
  names.insert(p.outputs.begin(), p.outputs.end());
  for (const auto& [name, tensor] : p.tensors)
    if (tensor.data) names.insert(name);
  __int128 wanted = 0;
  for (const std::string& name : names) {
    __int128 bytes = size_bytes(p.tensor(name).dtype);
    for (const std::int64_t extent : extents_of(p.tensor(name), loaded.sizes))
      bytes = std::min<__int128>(bytes * extent, INT64_MAX);
    wanted = std::min<__int128>(wanted + bytes, INT64_MAX);
  }
  if (wanted <= free_bytes()) return Done{};
  return diagnose(Code::kOutOfMemory, {},
                  {"inputs, constants and outputs of \"" + p.name + "\"", std::to_string(static_cast<std::int64_t>(wanted))});
}

HostTensors argument_values(const Loaded& loaded, const std::vector<std::string>& inputs, const HostTensors& tensors) {
  static const std::string kGiven = ".given";
  HostTensors values = tensors;
  std::set<std::string> written(loaded.program.outputs.begin(), loaded.program.outputs.end());
  for (const std::string& name : inputs) {
    if (values.count(name) || name.size() <= kGiven.size() || name.substr(name.size() - kGiven.size()) != kGiven) continue;
    const std::string updated = name.substr(0, name.size() - kGiven.size());
    values[name] = tensors.at(updated);
    written.insert(updated);
    values.erase(updated);
  }
  for (const std::string& name : written) {
    if (values.count(name)) continue;
    values[name] = make_host_tensor(loaded.program.tensor(name).dtype, extents_of(loaded.program.tensor(name), loaded.sizes));
    poison(values[name]);
  }
  return values;
}

Result<Execution> execute_reference(const Loaded& loaded, const HostTensors& tensors) {
  const double start = now_ms();
  const Result<ReferenceRun> run = run_reference(loaded.program, loaded.sizes, tensors);
  if (!run) return run.errors();
  Execution e;
  e.target = "reference";
  e.outputs = outputs_of(*run);
  e.time_ms = now_ms() - start;
  return e;
}

}  // namespace facet
