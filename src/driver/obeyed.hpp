// Steps that the code does not obey. The schedule accepts a step by its legality; what the passes then make of the loops that
// it marked is known only from what they have done.
#pragma once

#include "facet/loop_ast.hpp"
#include "facet/recipe.hpp"
#include "src/driver/build.hpp"

namespace facet {

// The first step that somebody wrote and no code obeys, as a refusal that names the loop and the reason. Steps of the
// scheduler's own that the passes refuse are taken out of the recipe: the loop stays as it is, with or without them.
Result<Done> obey_or_refuse(const LoopProgram& scanned, const PassLog& passes, Recipe* recipe);

// The same of a complete recipe before anybody builds by it. `schedule.memo` may hold what planning or judging it has made.
Result<Done> settle_code(const Loaded& loaded, const Options& options, const Machine& machine, const ScheduleOptions& schedule,
                         Recipe* recipe);

// The question alone; what the recipe leaves to the scheduler is not asked about.
Result<Done> check_code(const Loaded& loaded, const Options& options, const Machine& machine, const Recipe& recipe,
                        const ScheduleOptions& schedule);

}  // namespace facet
