// The polyhedral layer's verbs: validate a program, plan a recipe, schedule a program by a recipe. No isl types.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "facet/loop_ast.hpp"
#include "facet/machine.hpp"
#include "facet/program.hpp"
#include "facet/recipe.hpp"
#include "facet/result.hpp"

namespace facet {

// One decision, done or refused, with its reason. The texts come from the decision itself.
struct LedgerEntry {
  std::string kind;  // "fusion" | "contraction" | "tile" | "promotion" | "parallel" | "vector" | "unroll" | "gpu" | "budget" |
                     // "partition"
  std::string subject;  // "h0 -> h1", "loop i of h0", "array w1"
  bool done = false;
  std::string reason;
  std::string group;
  double bytes = 0;  // memory traffic saved or moved, 0 unknown
};
using Ledger = std::vector<LedgerEntry>;

struct ScheduleMemo;
std::shared_ptr<ScheduleMemo> make_schedule_memo();

struct ScheduleOptions {
  Machine machine;
  std::string target = "openmp";
  int threads = 0;  // 0: all cores of the machine
  bool fusion = true;
  double time_budget_s = 20;  // for planning and scheduling together, from the call on, unless there is a deadline
  std::optional<std::chrono::steady_clock::time_point> deadline;  // shared by calls that follow each other
  SymbolValues sizes;                                             // typical sizes for the cost model; legality never uses them
  bool replay = false;                                            // check_recipe: also make the programs that replay a witness
  bool repair = true;                                             // check_recipe: look for a repair
  // Where plan() leaves its schedules, so that schedule_program() of the same program object need not judge the same steps
  // again. Absent: it judges them.
  std::shared_ptr<ScheduleMemo> memo;

  bool for_gpu() const { return target.rfind("cuda", 0) == 0; }
  int used_threads() const { return threads > 0 ? threads : machine.cpu.cores; }
};

// Every subscript inside its array, every read defined, every output defined everywhere, nothing defined twice: for all allowed
// symbol values. Complaints carry a concrete element and symbol values. Reads of a loop nest's new arrays before any write are
// looked for as long as the budget lasts; a nest that it cuts short stands in the ledger.
Result<Done> validate(const Program& program, double time_budget_s = 20, Ledger* ledger = nullptr);

// How many statements the program lowers to.
Result<int> count_statements(const Program& program);

// The group structure and the steps: completes every hole of `partial`, keeps what is fixed. Always succeeds with a correct
// recipe when the fixed part is legal; what the budget cut short stands in the ledger as "budget".
Result<Recipe> plan(const Program& program, const Recipe& partial, const ScheduleOptions& options, Ledger& ledger);

// A program scheduled by a complete recipe, with the text of each stage. A group whose steps the budget cuts short runs in the
// program's own order.
struct Scheduled {
  LoopProgram loops;
  std::string deps_text;
  std::string statements_text;
  std::string schedule_text;
  Ledger ledger;  // "budget": groups whose steps did not fit the time
};
Result<Scheduled> schedule_program(const Program& program, const Recipe& recipe, const ScheduleOptions& options);

// The two instances of a witness, in the original order and in the refused one, as programs to run. Their buffers
// `replay.value` (the element before and after the source, before and after the sink) and `replay.ran`, `replay.first` are
// probes, zero at the start; all buffers that exist before the group are kInOut.
struct Replay {
  std::string why_not;  // not empty: there is nothing to run
  SymbolValues sizes;
  LoopProgram original, refused;            // the whole group
  LoopProgram original_pair, refused_pair;  // the two instances alone, all arrays given; no kernels where that has no meaning
  enum class Seen { kSink, kSource, kLast };
  Seen seen = Seen::kSink;    // the value that tells: what the sink reads, what the source reads, what the later one leaves
  bool lost_update = false;   // two updates at the same time: both read, then both write
  bool both_touch = false;    // both instances access the element, by their subscripts
  bool order_changes = true;  // false: the order stays, the place of the value changes (storage)
};

// What a schedule costs at the typical sizes, by counting: to compare schedules, not a measurement.
struct Prediction {
  double flops = 0, instances = 0;
  std::vector<std::string> levels = {};  // "L2", "L3", "memory"
  std::vector<double> bytes = {};        // moved to and from each level
  double parallel_iterations = 1;        // of the parallel loop that has most
  double busy_threads = 0;
  double lanes = 1;
  double time_us = 0;
  std::string bound;  // what takes the time: "arithmetic" or a level
};
struct PredictedKernel {
  std::string name;
  std::vector<std::string> ops;
  Prediction prediction;
};
// Kernel by kernel of the variant that the typical sizes take; the recipe is complete and legal.
Result<std::vector<PredictedKernel>> predict_program(const Program& program, const Recipe& recipe,
                                                     const ScheduleOptions& options);

// Does the target's code obey every step? An error names the first that it would not.
Result<Done> check_target(const Recipe& recipe, const std::string& target);
// Do some allowed sizes satisfy the condition of each variant?
Result<Done> check_conditions(const Program& program, const Recipe& recipe);

// Is the step the whole rest, or does it leave an argument, or a part of one, to the scheduler?
bool leaves_hole(const Step& step);
// Does a step of the recipe?
bool has_argument_holes(const Recipe& recipe);

// The judgement of `legal`.
struct LegalReport {
  bool legal = true;
  std::string step;  // JSON pointer of the refused step
  std::string verb;
  std::string reason;  // "dependence" | "precondition"
  std::string message;
  std::optional<Diagnostic> refusal;  // the same for those who must obey the recipe
  struct Instance {
    std::string statement;
    std::vector<std::string> loops;
    std::vector<std::int64_t> instance;
    Place place;  // where the statement is written: the program, or the C file it came from
  };
  bool has_violation = false;
  std::string kind;  // "flow", ...
  std::string array;
  std::vector<std::int64_t> element;
  Instance source, sink;
  std::vector<std::pair<std::string, std::int64_t>> symbols;
  std::string violation_text;
  std::optional<Replay> replay;  // with ScheduleOptions::replay and a violation
  std::vector<Step> repair;      // steps to insert before the refused one
  std::optional<Step> instead;   // with or without these, a step to take instead of it; with neither no repair was found
  // Not empty: the repair makes the refused step legal, and the step with this JSON pointer is refused then, for this reason.
  // Empty: it makes the whole group legal.
  std::string leaves, leaves_why;
};
// An error is a wrong recipe (exit 2); an illegal or refused step is a report with legal = false.
Result<LegalReport> check_recipe(const Program& program, const Recipe& recipe, const ScheduleOptions& options);

// Markdown reference of all recipe steps, from the transforms' records.
std::string recipe_reference();

}  // namespace facet
