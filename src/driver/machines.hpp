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

// "reference", "openmp", "openmp:NAME", "cuda", "cuda:NAME": the form alone, not whether the machine knows the name.
bool is_target(const std::string& target);

// Detection, then --machine, then the instruction set of "openmp:NAME" or the architecture of "cuda:sm_NN". Without what was
// measured: seeds of `fuzz` and of the sweep plan alike whenever they run.
Result<Machine> described_machine(const Options& options);

// The same with the ceilings that the file gives or, without a file, that were measured before; with `measured` they are
// measured if need be.
Result<Machine> machine_in_force(const Options& options, bool measured);

// What every verb plans by, so that all of them plan alike: with ceilings that are remembered, never with what was measured
// just now and is not (on a busy machine it is none). `measure`: the verb measures anyway, so measure and remember first.
Result<Machine> planning_machine(const Options& options, bool measure);

// Which ceilings plans are made by: measured ones, those of a file, or assumed ones.
std::string ceilings_text(const Options& options, const Machine& machine);

}  // namespace facet
