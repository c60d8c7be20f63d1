// trial: one group's schedule, tried step by step: what a generator of random steps chooses by, and what it learns.
//
// The view is plain: statements, loops and arrays with what the preconditions of steps ask for. Statements and loops are
// numbered as in the schedule.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "facet/loop_ast.hpp"
#include "facet/recipe.hpp"
#include "polyhedral/enumerate.hpp"
#include "polyhedral/facet_polyhedral.hpp"

namespace facet {

struct TrialLoop {
  int id = -1;
  int outer = -1;  // the loop around it, when it stands directly inside
  LoopKind kind = LoopKind::kSerial;
  bool threads = false;         // mapped to a block's threads
  bool shares_threads = false;  // collapsed into a parallel loop above
  bool leaf = false;            // no loop inside
  bool boxes = false;           // arrays live in buffers inside
  std::vector<int> statements;  // below it, in order
};

struct TrialStatement {
  int number = -1;
  std::string name;
  std::vector<int> loops;          // around it, outermost first
  std::vector<std::string> names;  // its names for them
  std::vector<std::string> iterators;
  std::string target;
  std::vector<std::string> reads;  // arrays
  bool copy = false;
  bool update = false;
  std::vector<std::string> reduced;  // of an update whose target has plain subscripts: the iterators that are not among them
  bool adds_terms = false;           // an update that adds a sum or difference
  std::vector<std::string> inputs;   // arrays that `precompute` may take
  bool stores_rows = false;          // its innermost loop walks the target's last dimension alone
};

struct TrialArray {
  std::string name;
  bool outside = false;  // exists before or after the group
  bool scalar = false, padded = false, contracted = false, stored_otherwise = false, streamed = false;
  std::vector<int> parts;  // the loops at which it is contracted or promoted
};

// One of the neighbours in a sequence, which `fuse` may join.
struct TrialNest {
  std::vector<int> statements;
  std::vector<int> loops;  // directly inside each other, outermost first
};

struct TrialView {
  std::vector<TrialStatement> statements;  // of the tree, in order
  std::vector<TrialLoop> loops;            // outermost first
  std::vector<TrialArray> arrays;
  std::vector<std::vector<TrialNest>> sequences;

  const TrialLoop& loop(int id) const;
  const TrialStatement& statement(int number) const;
  const TrialArray* array(const std::string& name) const;
};

// How a step was judged.
struct TrialVerdict {
  bool accepted = false;
  std::string reason;  // "dependence" | "precondition" | the code of a complaint
  std::string message;
  LegalReport report;  // of a refusal by dependences: the witness, and its replay
};

class Trial {
 public:
  ~Trial();
  Trial(Trial&&) noexcept;

  int variant() const;
  int group() const;
  const SymbolValues& sizes() const;  // typical ones, which the variant serves
  TrialView view() const;

  // Smallest and largest value of a loop for a statement, at the typical sizes.
  std::pair<std::int64_t, std::int64_t> range(int loop, int statement) const;
  // Has what the loop's iteration touches of the array a constant size, a small one?
  bool has_constant_part(const std::string& array, int loop) const;
  // Does an iteration of the loop write, by plain assignments, all that it touches of the array?
  bool writes_its_part(const std::string& array, int loop) const;

  // What a layout calls the dimensions of a part promoted for the statement.
  std::vector<std::string> dimensions(const std::string& array, int statement) const;

  // Do the step's preconditions hold after those accepted so far (the answer may be no by dependences)? Nothing is kept.
  bool applies(const Step& step) const;
  // Judges the step after those accepted so far and keeps it when it is legal. An internal error is a complaint like others.
  TrialVerdict attempt(const Step& step);
  // Judges a rewrite; only before the first step.
  TrialVerdict attempt_rewrite(const Step& step);

  // The group in its own order, as scheduled so far, and as the step refused last would have scheduled it.
  Enumeration original(const SymbolValues& sizes, std::size_t most) const;
  Enumeration scheduled(const SymbolValues& sizes, std::size_t most) const;
  Enumeration refused(const SymbolValues& sizes, std::size_t most) const;

 private:
  friend Result<std::vector<Trial>> trials_of(const Program&, const Recipe&, const ScheduleOptions&);
  struct State;
  explicit Trial(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// One for each group that the recipe's variants name, none of their steps taken.
Result<std::vector<Trial>> trials_of(const Program& program, const Recipe& recipe, const ScheduleOptions& options);

}  // namespace facet
