// The first two stages of a group, each guarded.
#include "polyhedral/analyse.hpp"

#include "polyhedral/lower.hpp"

namespace facet {

Budget budget_of(const ScheduleOptions& options) {
  Budget b;
  b.deadline = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                      std::chrono::duration<double>(options.time_budget_s));
  return b;
}

Result<Schedule> analyse(const Program& program, const NodeGroup& group, const Budget& budget) {
  Schedule schedule;
  const Result<Done> lowered = guarded("lowering of " + group.name, Budget{0, {}}, [&] {
    schedule = original_schedule(std::make_shared<const Scop>(lower(program, group.nodes, group.name)),
                                 std::make_shared<const Dependences>());
  });
  if (!lowered) return lowered.errors();
  const std::shared_ptr<const Scop> scop = schedule.scop;
  Dependences dependences;
  const Result<Done> analysed =
      guarded("dependences of " + group.name, budget, [&] { dependences = compute_dependences(*scop); });
  if (!analysed) return analysed.errors();
  schedule.dependences = std::make_shared<const Dependences>(std::move(dependences));
  return schedule;
}

}  // namespace facet
