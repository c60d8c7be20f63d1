// What `run --time` tells of each kernel beside its time: the model's prediction, the object code, the hardware's counters.
#pragma once

#include "src/driver/compiled.hpp"
#include "src/driver/execute.hpp"

namespace facet {

// Fills `e->kernels`; what cannot be told leaves its reason in `e->unknown`. The kernels have run before, so that all threads
// exist.
void add_kernel_facts(const Loaded& loaded, const Options& options, const Machine& machine, Compiled* compiled, Execution* e);

}  // namespace facet
