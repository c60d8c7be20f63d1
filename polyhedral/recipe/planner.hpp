// GroupPlanner: tries steps on a schedule, keeps the legal ones, and writes down every decision. Policies build on it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "polyhedral/facet_polyhedral.hpp"
#include "polyhedral/model.hpp"
#include "polyhedral/transform/apply.hpp"

namespace facet {

// Argument values for steps made in code.
Argument arg(const std::string& text);
Argument arg(std::int64_t number);
Argument arg(const std::vector<std::string>& texts);
Argument arg(const std::vector<std::int64_t>& numbers);
Argument arg(ArgumentMap map);
Step make_step(const std::string& verb, ArgumentMap arguments);

// A statement that calls this loop by a name no inner loop has too: how a step addresses it. Statement -1 when there is none.
std::pair<int, std::string> address_of(const Schedule& schedule, const TreePtr& loop);

class GroupPlanner {
 public:
  GroupPlanner(Schedule original, const ScheduleOptions& options, const Budget& budget, Ledger& ledger)
      : schedule_(std::move(original)), options_(options), budget_(budget), ledger_(ledger) {}

  // Applies the step when it is legal. The ledger gets one entry: done with `why`, or refused with the refusal's message.
  bool attempt(const Step& step, const std::string& kind, const std::string& subject, const std::string& why);
  // Several steps as one decision: all or none.
  bool attempt_all(const std::vector<Step>& steps, const std::string& kind, const std::string& subject, const std::string& why);
  // What was found, for the ledger; a decision against a step.
  void note(const std::string& kind, const std::string& subject, const std::string& what);
  void decline(const std::string& kind, const std::string& subject, const std::string& why);

  const Schedule& schedule() const { return schedule_; }
  const ScheduleOptions& options() const { return options_; }
  const std::vector<Step>& steps() const { return steps_; }
  const Budget& budget() const { return budget_; }
  Model model() const { return Model(schedule_, options_.sizes); }
  int threads() const { return options_.used_threads(); }

 private:
  Schedule schedule_;
  const ScheduleOptions& options_;
  Budget budget_;
  Ledger& ledger_;
  std::vector<Step> steps_;
};

// The outermost loop of every nest that the schedule has now; what a visit changes in one nest leaves the others.
void for_each_nest(GroupPlanner& planner, const std::function<void(const TreePtr& loop)>& visit);

// What instances of a statement take as scalar code on one thread, and from how much work on threads pay, in microseconds.
double scalar_us(const Statement& s, double instances);
double threads_pay_us(const ScheduleOptions& options);

// A mebibyte where the machine does not say.
std::int64_t second_cache_bytes(const CpuMachine& cpu);

// Multiply-adds of one core on elements of that size, and copies of all cores; of a common machine where this one does not say.
double peak_gflop_s(const CpuMachine& cpu, double element_bytes);
double copied_gb_s(const CpuMachine& cpu);

// A predicted time for a ledger: "12.3 us", "4.56 ms".
std::string time_text(double us);

// Loops that a plan has given marks or tiles already?
bool is_planned(const TreePtr& tree);

// What a schedule takes on the CPU with the lanes and threads that it allows; nullopt where `share` of the time that is left
// does not suffice.
std::optional<double> predicted_us(const GroupPlanner& planner, const Schedule& schedule, double share);

// The rewrites of a group, whose plain schedule (without dependences) this is.
std::vector<Step> plan_rewrites(const Schedule& plain, const ScheduleOptions& options, const Budget& budget, Ledger& ledger);

// The steps of the original order, marks alone, where that is predicted to be clearly faster than what was planned for the same
// schedule; tells the ledger both costs.
std::optional<std::vector<Step>> better_original_order(const Schedule& original, GroupPlanner& planned);

// Policies: each reads the planner's schedule and attempts steps.
void plan_expansions(GroupPlanner& planner);    // results that are started anew outside: a place for each, contractions then
void plan_contractions(GroupPlanner& planner);  // matrix-product-like nests: cache and register tiles, packing
void plan_fusion(GroupPlanner& planner);        // neighbouring nests along their data flow
void plan_overlaps(GroupPlanner& planner);      // stages of stencils in overlapped tiles
void plan_contraction_of_arrays(GroupPlanner& planner);
void plan_time_tiles(GroupPlanner& planner);      // stencils: tiles over time in wavefronts
void plan_bands(GroupPlanner& planner);           // factorizations: permutable bands in tiles
void plan_pivots(GroupPlanner& planner);          // in place around one row and column: cut there
void plan_recurrences(GroupPlanner& planner);     // several rows or columns of a recurrence at once
void plan_vectors(GroupPlanner& planner);         // one vector loop a statement
void plan_windows(GroupPlanner& planner);         // before that: vector loops around short reductions
void plan_row_blocks(GroupPlanner& planner);      // after that: rows of matrix-vector products, several at once
void plan_threads(GroupPlanner& planner);         // one parallel loop a nest
void plan_streams(GroupPlanner& planner);         // results larger than the caches go past them
void plan_gpu_time_tiles(GroupPlanner& planner);  // stencils: hexagons over time, a front of blocks at once
void plan_gpu_order(GroupPlanner& planner);       // parallel loops outermost, nests apart that have some of their own
void plan_gpu_memory(GroupPlanner& planner);      // intermediates computed again, or in an output's memory
void plan_gpu_nests(GroupPlanner& planner);       // nests whose outer loop is sequential: taken apart or rescheduled

}  // namespace facet
