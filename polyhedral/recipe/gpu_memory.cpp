// Policy: intermediates of a GPU's nests that need no memory. What is cheap is computed again where it is read; what is made
// into an output of its shape lives there.
#include <algorithm>

#include "facet/expr_facts.hpp"
#include "polyhedral/recipe/planner.hpp"
#include "polyhedral/transform/memory_steps.hpp"

namespace facet {

namespace {

constexpr int kMostOperations = 16;  // with a function as ten: one exponential and what goes with it
constexpr int kMostReads = 3;

int operations_of(const ExprPtr& value) {
  int n = 0;
  walk(value, [&](const Expr& e) {
    if (e.op == Op::kLiteral || e.op == Op::kIndex || e.op == Op::kRead || e.op == Op::kCast || e.type == DType::kI64) return;
    n += is_function(e.op) ? kFunctionOperations : 1;
  });
  return n;
}

class Memory {
 public:
  explicit Memory(GroupPlanner& planner) : planner_(planner) {}

  void run() {
    std::vector<std::string> names;
    for (const auto& [name, a] : planner_.schedule().scop->arrays)
      if (!a.external && !a.live_out && !a.scalar && !a.extents.empty()) names.push_back(name);
    for (const std::string& name : names)
      if (!is_stored_otherwise(planner_.schedule(), name)) place(name);
  }

 private:
  void place(const std::string& array) {
    const Schedule& s = planner_.schedule();
    int writers = 0, reads = 0, operations = 0;
    std::vector<std::string> made;  // from it
    for (int k = 0; k < s.statement_count(); ++k) {
      const Statement& st = s.statement(k);
      if (st.target == array) {
        ++writers;
        operations = st.update ? kMostOperations + 1 : operations_of(st.value);
      }
      bool here = false;
      walk(st.value, [&](const Expr& e) {
        if (e.op != Op::kRead || e.name != array) return;
        ++reads;
        here = true;
      });
      if (here && st.target != array) made.push_back(st.target);
    }
    if (reads == 0) return;
    if (writers == 1 && operations <= kMostOperations && reads <= kMostReads && on_rows(array) &&
        planner_.attempt(make_step("recompute", {{"array", arg(array)}}), "memory", "array " + array,
                         "computed where it is read: its row would go through memory"))
      return;
    const Array& own = s.scop->arrays.at(array);
    for (const std::string& of : made) {
      const Array& a = s.scop->arrays.at(of);
      if (!a.live_out || a.dtype != own.dtype || a.extents.size() != own.extents.size()) continue;
      if (planner_.attempt(make_step("reuse", {{"array", arg(array)}, {"of", arg(of)}}), "memory", "array " + array,
                           "in the memory of " + of))
        return;
    }
  }

  // Is it defined by threads that share a row? Elsewhere the value is one thread's, and contraction has kept it in a register.
  bool on_rows(const std::string& array) const {
    const Schedule& s = planner_.schedule();
    for (const int k : statements_of(s.tree)) {
      if (s.statement(k).target != array) continue;
      const std::vector<TreePtr> around = loops_around(s.tree, k);
      return !around.empty() && around.back()->mark.kind == LoopKind::kMapped && around.back()->mark.gpu.grid < 0;
    }
    return false;
  }

  GroupPlanner& planner_;
};

}  // namespace

void plan_gpu_memory(GroupPlanner& planner) { Memory(planner).run(); }

}  // namespace facet
