// The machine the planner plans for: this one, another CPU by target name, or a described one.
#pragma once

#include "facet/machine.hpp"
#include "src/driver/options.hpp"

namespace facet {

// Detection, then --machine, then the instruction set of "openmp:NAME" or the architecture of "cuda:sm_NN". With `measured`,
// the ceilings are measured (once per machine) unless a file gives them.
Result<Machine> machine_in_force(const Options& options, bool measured);

}  // namespace facet
