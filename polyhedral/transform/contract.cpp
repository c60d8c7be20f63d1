// contract: an intermediate array shrinks to the part that one iteration of a loop needs.
//
//     for i { for j  T[i, j] = ..;  for j  Y[i, j] = f(T[i, j]) }       contract T at i
//     -->  for i { double T[N];  for j  T[j] = ..;  for j  Y[i, j] = f(T[j]) }
//
// The box per dimension is isl's fixed box hull of the footprint below the loop; a dimension without a constant size keeps its
// whole extent. With no loop given it goes to the innermost loop that encloses every access: inside a fully fused nest one
// element is left, which the loop-tree passes keep in a register. Known elsewhere as storage folding, array contraction.
// Refuses arrays that exist outside the group. Judged by value: no flow may leave the iteration.
// Source: Lefebvre and Feautrier, Automatic storage management for parallel programs, Parallel Computing 1998.
#include <algorithm>

#include "polyhedral/storage.hpp"
#include "polyhedral/transform/memory_steps.hpp"
#include "polyhedral/transform/promote_parts.hpp"
#include "polyhedral/transform/transform.hpp"

namespace facet {

namespace {

Schedule apply(const Schedule& schedule, Arguments& args) {
  const Array* const found = args.array();
  if (args.problem()) return schedule;
  const std::string array = found->name;
  if (found->external || found->live_out) {
    args.refuse("'" + array +
                "' exists outside the group: " + (found->external ? "it is an input of it" : "it is used after it"));
    return schedule;
  }
  if (padded_reads(schedule, array, -1)) {
    args.refuse("'" + array + "' is read with a padding value, which needs the whole array's bounds");
    return schedule;
  }
  const auto expanded = [&](const StorageMap& m) {  // by the step of this name
    return m.array == array && m.kind == StorageMap::Kind::kContract && m.at < 0 && !m.sizes.empty();
  };
  for (const StorageMap& m : schedule.storage)
    if (m.array == array && m.kind == StorageMap::Kind::kContract && !expanded(m))
      args.refuse("'" + array + "' is contracted already");
  int at = common_loop(schedule, array);
  if (args.has("at")) {
    const TreePtr loop = args.loop(args.statement(), args.text("at"));
    if (!loop) return schedule;
    at = loop->id;
  }
  refuse_second_part(schedule, args, array, StorageMap::Kind::kContract, at);
  if (args.problem()) return schedule;
  Schedule next = schedule;
  std::erase_if(next.storage, expanded);
  // Parts promoted from it stay the nearest place of their accesses: they come after it.
  const auto part =
      std::find_if(next.storage.begin(), next.storage.end(), [&](const StorageMap& m) { return m.array == array; });
  StorageMap box = contracted(schedule, array, at);
  if (args.has("layout")) {
    const int user = args.statement();
    if (args.problem()) return schedule;
    const std::vector<std::string> dims = dimension_names(schedule.statement(user), array, found->extents.size());
    box.order.clear();
    read_layout(args, dims, box);
  }
  next.storage.insert(part, std::move(box));
  return next;
}

}  // namespace

extern const Transform kContract;
const Transform kContract = {
    "contract",
    "An intermediate array shrinks to what one iteration of a loop needs.",
    {{"array", "array", true, "the array"},
     {"statement", "statement", false, "with `at`: a statement inside the loop"},
     {"at", "loop", false, "the loop; otherwise the innermost around every access"},
     {"layout", "layout", false, "with `statement`: {order: dimensions by its loop names, slowest first}"}},
    apply,
    {"for i { t[i] = a[i]; b[i] = t[i] }", "for i { double t; t = a[i]; b[i] = t }",
     "storage folding, array contraction, privatisation",
     "arrays that exist outside the group; values that leave the iteration"}};

}  // namespace facet
