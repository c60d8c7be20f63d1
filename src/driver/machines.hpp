// The machine the planner plans for: this one, another CPU by target name, or a described one.
#pragma once

#include <string>
#include <vector>

#include "facet/machine.hpp"
#include "src/driver/options.hpp"

namespace facet {

// "openmp:generic,avx2,avx512" or "openmp:all": kernels for several instruction sets, from the least to the largest. Empty for
// every other target. A list that lacks generic, or names something else, is a complaint.
Result<std::vector<std::string>> instruction_sets(const Options& options);

// Detection, then --machine, then the instruction set of "openmp:NAME" or the architecture of "cuda:sm_NN". With `measured`,
// the ceilings are measured (once per machine) unless a file gives them.
Result<Machine> machine_in_force(const Options& options, bool measured);

}  // namespace facet
