// Copies that are combined in the recipe's order keep to numerics `tree`; atomic updates come in another order on each run,
// which only `free` allows. Where nothing rounds the order is nobody's concern.
#include "polyhedral/transform/shared_updates.hpp"

#include "polyhedral/atomic_updates.hpp"
#include "polyhedral/legality.hpp"

namespace facet {

void check_shared_updates(const Schedule& marked, const std::vector<TreePtr>& loops, Arguments& args) {
  bool any = false;
  for (const TreePtr& named : loops) {
    const TreePtr loop = find_loop(marked.tree, named->id);
    for (const auto& [array, updates] : shared_updates(marked, *loop))
      for (const int s : updates) {
        any = true;
        if (loop->mark.updates != SharedUpdates::kAtomic) continue;
        const AtomicAnswer answer = may_be_atomic(*marked.scop, loop->mark, marked.statement(s));
        if (!answer.why_not.empty()) return args.refuse(answer.why_not, answer.notes);
      }
  }
  if (any) return;
  const std::string what = loops.size() > 1 ? "the loops carry" : "the loop carries";
  if (marked.scop->reassociate == Numerics::Reassociate::kStrict)
    return args.refuse(what + " no reduction whose order is free: numerics are strict",
                       {"numerics reassociate=tree allows it"});
  args.refuse(what + " no reduction", {"leave `reduction` out"});
}

}  // namespace facet
