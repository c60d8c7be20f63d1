// The two measured ceilings of a CPU.
#pragma once

#include "facet/machine.hpp"

namespace facet {

// Most f32 FMA throughput of one core in GFLOP/s (2 per FMA) with the machine's vectors: independent register chains.
double measure_peak_f32(const CpuMachine& machine);

// Copy bandwidth of all cores together in GB/s, read plus written bytes, of arrays well beyond the last cache.
double measure_copy(const CpuMachine& machine);

}  // namespace facet
