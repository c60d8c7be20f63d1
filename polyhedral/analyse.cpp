// The first two stages of a group, each guarded.
#include "polyhedral/analyse.hpp"

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

Result<Schedule> analyse(const Program& program, const ReaderIndex& readers, const NodeGroup& group, const Budget& budget) {
  Result<Schedule> schedule = lower_group(program, readers, group);
  if (!schedule) return schedule.errors();
  Dependences dependences;
  const Result<Done> analysed =
      guarded("dependences of " + group.name, budget, [&] { dependences = compute_dependences(*schedule->scop); });
  if (!analysed) return analysed.errors();
  schedule->dependences = std::make_shared<const Dependences>(std::move(dependences));
  return schedule;
}

}  // namespace facet
