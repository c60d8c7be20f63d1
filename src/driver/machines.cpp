// Detection, files and target names in one order.
#include "src/driver/machines.hpp"

#include <cstdio>
#include <cstdlib>
#include <set>
#include <sstream>

#include "src/frontend/files.hpp"
#include "src/frontend/json.hpp"
#include "src/machine/detect.hpp"

namespace facet {

namespace {

// "sm_90a" -> 9, 0
bool read_architecture(const std::string& name, GpuMachine* gpu) {
  if (name.rfind("sm_", 0) != 0) return false;
  char* end = nullptr;
  const long number = std::strtol(name.c_str() + 3, &end, 10);
  if (number < 50 || number > 999 || (*end != '\0' && std::string(end) != "a")) return false;
  gpu->compute_major = static_cast<int>(number / 10);
  gpu->compute_minor = static_cast<int>(number % 10);
  gpu->name = name;
  return true;
}

}  // namespace

Result<std::vector<std::string>> instruction_sets(const Options& options) {
  static const std::vector<std::string> known = {"generic", "avx2", "avx512"};
  const std::string head = "openmp:";
  if (options.target == head + "all") return known;
  if (options.target.rfind(head, 0) != 0 || options.target.find(',') == std::string::npos) return std::vector<std::string>{};
  std::set<std::string> named;
  std::stringstream list(options.target.substr(head.size()));
  for (std::string name; std::getline(list, name, ',');) named.insert(name);
  std::vector<std::string> sets;
  for (const std::string& name : known)
    if (named.erase(name)) sets.push_back(name);
  if (!named.empty() || sets.empty() || sets[0] != "generic")
    return diagnose(
        Code::kBadTarget, {}, {options.target},
        {"a list of instruction sets holds generic, which runs anywhere, and avx2 or avx512; openmp:all has all three"});
  return sets;
}

bool is_target(const std::string& target) {
  const std::string base = target.substr(0, target.find(':'));
  const bool bare = base.size() == target.size();
  return base == "reference" ? bare : (base == "openmp" || base == "cuda") && (bare || target.size() > base.size() + 1);
}

Result<Machine> described_machine(const Options& options) {
  Machine machine;
  machine.cpu = detect_cpu();
  if (!options.machine.empty()) {
    const Result<std::string> text = read_text_file(options.machine);
    if (!text) return text.errors();
    Result<Machine> described = read_machine(*text, options.machine, machine);
    if (!described) return described.errors();
    machine = std::move(*described);
  }
  const std::size_t colon = options.target.find(':');
  if (colon != std::string::npos) {
    const std::string base = options.target.substr(0, colon), name = options.target.substr(colon + 1);
    const CpuMachine host = machine.cpu;
    const bool known = base == "cuda" ? read_architecture(name, &machine.gpu) : cpu_for_isa(name, host, &machine.cpu);
    if (!known)
      return diagnose(Code::kBadTarget, {}, {options.target},
                      base == "cuda" ? std::vector<std::string>{"cuda targets are cuda:sm_70 to cuda:sm_120, cuda:sm_90a"}
                                     : std::vector<std::string>{
                                           "openmp targets are openmp:avx2, openmp:avx512, "
                                           "openmp:znver4 and other x86-64 CPU names, openmp:generic, openmp:neon",
                                           "several at once, as openmp:generic,avx2 or openmp:all, are for `compile`"});
  }
  return machine;
}

Result<Machine> machine_in_force(const Options& options, bool measured) {
  Result<Machine> machine = described_machine(options);
  if (!machine || machine->cpu.peak_f32_gflop_s > 0) return machine;
  if (measured)
    add_measured_ceilings(machine->cpu);
  else if (options.machine.empty())  // a description is of another machine than this one
    (void)add_known_ceilings(machine->cpu);
  return machine;
}

Result<Machine> planning_machine(const Options& options, bool measure) {
  if (measure && options.machine.empty())
    if (const Result<Machine> first = machine_in_force(options, true); !first) return first;
  return machine_in_force(options, false);
}

std::string ceilings_text(const Options& options, const Machine& machine) {
  const CpuMachine& cpu = machine.cpu;
  char text[200];
  std::snprintf(text, sizeof text, "%.4g GFLOP/s f32 a core, %.4g GB/s copy", cpu.peak_f32_gflop_s, cpu.copy_gb_s);
  if (cpu.peak_f32_gflop_s <= 0) return "typical ceilings: none is known of this machine (`facet doctor` measures them)";
  return std::string(text) + (options.machine.empty() ? ", as measured" : ", as " + options.machine + " says");
}

}  // namespace facet
