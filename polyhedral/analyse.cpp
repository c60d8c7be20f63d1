// The first two stages of a group, each guarded.
#include "polyhedral/analyse.hpp"

#include <optional>

#include "polyhedral/rewrite/rewrite.hpp"

namespace facet {

Budget budget_of(const ScheduleOptions& options) {
  Budget b;
  b.deadline = options.deadline
                   ? *options.deadline
                   : std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                            std::chrono::duration<double>(options.time_budget_s));
  return b;
}

Result<Schedule> lower_group(const Program& program, const ReaderIndex& readers, const NodeGroup& group) {
  Schedule schedule;
  const Result<Done> lowered = guarded("lowering of " + group.name, Budget{0, {}}, [&] {
    schedule = original_schedule(std::make_shared<const Scop>(lower(program, readers, group.nodes, group.name)),
                                 std::make_shared<const Dependences>());
  });
  if (!lowered) return lowered.errors();
  return schedule;
}

Result<Schedule> analyse(const Program& program, const ReaderIndex& readers, const NodeGroup& group, const Budget& budget,
                         const std::vector<Step>& rewrites) {
  Result<Schedule> schedule = lower_group(program, readers, group);
  if (!schedule) return schedule.errors();
  if (!rewrites.empty()) {
    std::optional<Result<std::shared_ptr<const Scop>>> scop;
    const Result<Done> ran = guarded("rewrites of " + group.name, budget, [&] { scop = rewritten(schedule->scop, rewrites); });
    if (!ran) return ran.errors();
    if (!*scop) return scop->errors();
    schedule = original_schedule(**scop, std::make_shared<const Dependences>());
  }
  Dependences dependences;
  const Result<Done> analysed =
      guarded("dependences of " + group.name, budget, [&] { dependences = compute_dependences(*schedule->scop); });
  if (!analysed) return analysed.errors();
  schedule->dependences = std::make_shared<const Dependences>(std::move(dependences));
  return schedule;
}

}  // namespace facet
