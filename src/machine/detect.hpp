// What this host is: the CPU facts the planner needs, without LLVM, and its measured ceilings.
#pragma once

#include <string>

#include "facet/machine.hpp"
#include "facet/result.hpp"

namespace facet {

// Instruction set, cores and caches from CPUID, the affinity mask and sysfs. Immediate; the measured fields stay 0.
// Cores are physical cores this process may run on (threads of one core count once), limited by a cgroup's CPU quota.
CpuMachine detect_cpu();

// A description of another x86-64 CPU by the name users give a target: "avx2", "avx512", "znver4", "skylake-avx512", ...
// Cores, caches and ceilings stay those of `host`. False if the name is not known.
bool cpu_for_isa(const std::string& name, const CpuMachine& host, CpuMachine* out);

// Fills the measured fields from what was remembered. False, and nothing filled, if this CPU was not measured yet.
bool add_known_ceilings(CpuMachine& machine);

// Fills peak_f32_gflop_s (one core) and copy_gb_s (all cores, read + write): from ${XDG_CACHE_HOME:-~/.cache}/facet if this CPU
// was measured before, else by running two small kernels for about half a second and remembering the result. A cache that
// cannot be written is no error: the next run measures again.
void add_measured_ceilings(CpuMachine& machine);

}  // namespace facet
