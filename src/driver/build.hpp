// From a loaded program to loop trees and source text: plan, schedule, lower, print.
#pragma once

#include <optional>
#include <string>

#include "codegen/passes/passes.hpp"
#include "facet/host_tensor.hpp"
#include "facet/loop_ast.hpp"
#include "facet/module.hpp"
#include "polyhedral/facet_polyhedral.hpp"
#include "src/driver/pipeline.hpp"

namespace facet {

struct Planned {
  Recipe recipe;  // complete: nothing is left to choose
  Ledger ledger;
};

struct Built {
  Planned plan;
  Scheduled scheduled;  // as scanned
  LoopProgram loops;    // after the loop-tree passes
  PassLog passes;
  double analysis_ms = 0;
};

// The time budget starts here.
ScheduleOptions schedule_options(const Loaded& loaded, const Options& options, const Machine& machine);

// The --schedule recipe, or one whose every value is a hole. Refuses a recipe of another program.
Result<Recipe> wanted_recipe(const Loaded& loaded, const Options& options);

// The only stage that chooses: completes the holes of the wanted recipe.
Result<Planned> make_plan(const Loaded& loaded, const Options& options, const ScheduleOptions& schedule);

// Loop trees as scanned -> as printed: requests become code, or are in the log with the reason why not.
LoopProgram lower_to_target(const LoopProgram& scanned, const Options& options, const Machine& machine, PassLog* passes);

// Everything after the plan is determined by the recipe. A step that somebody wrote and no code obeys is an error.
Result<Built> build_loops(const Loaded& loaded, const Options& options, const Machine& machine);

// Constants small enough to stand in the source: fixed extents, at most 16 KiB.
Result<HostTensors> embedded_constants(const Loaded& loaded);

// "openmp" or "cuda", without what follows the colon.
std::string target_base(const Options& options);

}  // namespace facet
