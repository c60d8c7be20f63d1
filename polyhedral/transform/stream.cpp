// stream: an array's whole vectors are stored past the caches.
//
// A plain store reads the line that it overwrites, and keeps it: two transfers for one, and what the caches held is gone. Where
// nobody reads the array soon and it would not stay in the caches anyway, a third of a copy's traffic goes.
//
// The order of instances stays. Values stay right whatever else is done: a thread sees its own stores, and the printed code
// fences before other threads go on. So the step asks only whether it does what it says: the array is stored in memory by whole
// vectors, along the innermost subscript of a vector loop, and the group reads it nowhere. Vectors that are masked or not
// aligned are stored as usual. Known elsewhere as non-temporal stores. After vectorize; GPUs ignore it.
#include <algorithm>

#include "polyhedral/model.hpp"
#include "polyhedral/transform/memory_steps.hpp"

namespace facet {

namespace {

bool stores_vectors(const Schedule& schedule, int s) {
  const std::vector<TreePtr> loops = loops_around(schedule.tree, s);
  if (loops.empty() || loops.back()->mark.kind != LoopKind::kVector) return false;
  const std::string name = walked_iterator(schedule, *loops.back(), s);
  return !name.empty() && Model::stride(schedule.statement(s).subscripts, name) == Model::Stride::kUnit;
}

Schedule apply(const Schedule& schedule, Arguments& args) {
  const Array* const found = args.array();
  if (args.problem()) return schedule;
  const std::string& array = found->name;
  if (std::count(schedule.streamed.begin(), schedule.streamed.end(), array) > 0)
    args.refuse("'" + array + "' is streamed already", {"leave one of the two steps out"});
  bool stored = false, vectors = false;
  for (const int s : statements_of(schedule.tree)) {
    if (schedule.storage_of(s, array)) continue;  // it works on a copy
    const Statement& st = schedule.statement(s);
    const bool writes = st.target == array;
    const bool reads = (writes && st.update) || st.reads_of(array);
    if (reads)
      args.refuse("'" + st.name + "' reads '" + array + "' in the group: it belongs in the caches", {"leave the step out"});
    stored = stored || writes;
    vectors = vectors || (writes && stores_vectors(schedule, s));
  }
  if (!stored)
    args.refuse("no statement of the group stores '" + array + "' in its own memory", {"name a result of the group"});
  if (!vectors) args.refuse("no vector loop stores '" + array + "' along its innermost subscript", {"vectorize comes first"});
  if (args.problem()) return schedule;
  Schedule next = schedule;
  next.streamed.push_back(array);
  return next;
}

}  // namespace

extern const Transform kStream;
const Transform kStream = {
    "stream",
    "An array's whole vectors are stored past the caches, since nobody reads them soon. After vectorize.",
    {{"array", "array", true, "the array; the group reads it nowhere"}},
    apply,
    {"for i  y[i] = f(x[i])", "for i  y[i] = f(x[i])    # stores past the caches", "non-temporal stores",
     "arrays that the group reads, results that no vector loop writes"},
    "openmp"};

}  // namespace facet
