// contract: an intermediate array shrinks to the part that one iteration of a loop needs.
//
//     for i { for j  T[i, j] = ..;  for j  Y[i, j] = f(T[i, j]) }       contract T at i
//     -->  for i { double T[N];  for j  T[j] = ..;  for j  Y[i, j] = f(T[j]) }
//
// The box per dimension is isl's fixed box hull of the footprint below the loop; a dimension without a constant size keeps its
// whole extent. With no loop given it goes to the innermost loop that encloses every access: inside a fully fused nest one
// element is left, which the loop-tree passes keep in a register. Where no loop encloses them all, the array keeps its elements
// and takes the layout asked for. Known elsewhere as storage folding, array contraction.
// With `fold` a dimension has so many places, taken in turns: a sliding window of rows, a pair of buffers. Element e gives its
// place to e + n, e + 2n, ..: whoever touches e must run before these are written. The step adds that to the dependences, so
// that legality judges it now and after every later step. Elements must come in ascending order (reverse the loop otherwise).
//
// Refuses arrays that exist outside the group. Judged by value: no flow may leave the iteration.
// Source: De Greef, Catthoor and De Man, Memory size reduction through storage order optimization, 1997 (windows); Lefebvre and
// Feautrier, Automatic storage management for parallel programs, Parallel Computing 1998.
#include <algorithm>

#include "polyhedral/storage.hpp"
#include "polyhedral/transform/fold.hpp"
#include "polyhedral/transform/memory_steps.hpp"
#include "polyhedral/transform/promote_parts.hpp"
#include "polyhedral/transform/transform.hpp"

namespace facet {

namespace {

// The innermost loop around all users whose iterations share no value: a window slides below it.
int window_loop(const Schedule& schedule, const std::string& array) {
  int at = common_loop(schedule, array);
  while (at >= 0 && !keeps_flows(schedule, array, at)) {
    const std::vector<TreePtr> around = loops_around(schedule.tree, find_loop(schedule.tree, at)->member.begin()->first);
    const auto here = std::find_if(around.begin(), around.end(), [&](const TreePtr& l) { return l->id == at; });
    at = here == around.begin() ? -1 : (*std::prev(here))->id;
  }
  return at;
}

// `fold` {dimension: places} of the step over the named dimensions.
std::vector<std::int64_t> read_fold(Arguments& args, const std::vector<std::string>& dims) {
  std::vector<std::int64_t> places(dims.size(), 0);
  for (const auto& [name, number] : *args.map("fold")) {
    const auto d = std::find(dims.begin(), dims.end(), name);
    const auto* n = std::get_if<std::int64_t>(&number.value);
    if (d != dims.end() && (!n || *n < 1 || *n > Arguments::kHighest)) {
      args.bad_at("fold/" + name, "fold of " + name + " from 1 to " + std::to_string(Arguments::kHighest) + " places",
                  describe(number));
      return {};
    }
    if (d == dims.end()) {
      std::string known;
      for (const std::string& k : dims) known += (known.empty() ? "" : ", ") + k;
      args.bad_at("fold/" + name, "fold of the array's dimensions, which are " + known, "\"" + name + "\"");
      return {};
    }
    places[static_cast<std::size_t>(d - dims.begin())] = *n;
  }
  return places;
}

Schedule apply(const Schedule& schedule, Arguments& args) {
  const Array* const found = args.array();
  if (args.problem()) return schedule;
  const std::string array = found->name;
  if (found->external || found->live_out) {
    args.refuse(
        "'" + array + "' exists outside the group: " + (found->external ? "it is an input of it" : "it is used after it"),
        {"only arrays that the group makes and uses alone have no memory of their own; `promote` copies a part"});
    return schedule;
  }
  if (padded_reads(schedule, array, -1)) {
    args.refuse("'" + array + "' is read with a padding value, which needs the whole array's bounds", {"leave it whole"});
    return schedule;
  }
  const auto expanded = [&](const StorageMap& m) {  // by the step of this name
    return m.array == array && m.kind == StorageMap::Kind::kContract && m.at < 0 && !m.sizes.empty();
  };
  for (const StorageMap& m : schedule.storage)
    if (m.array == array && m.kind == StorageMap::Kind::kContract && !expanded(m))
      args.refuse("'" + array + "' is contracted already", {"leave one of the two steps out"});
  int at = args.has("fold") ? window_loop(schedule, array) : common_loop(schedule, array);
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
  if (at < 0 && !args.has("fold")) box.space = MemorySpace::kGlobal;  // whole arrays are too large for a stack
  if (args.has("fold") && args.map("fold")) {
    const int user = args.statement();
    if (args.problem()) return schedule;
    const std::vector<std::int64_t> places =
        read_fold(args, dimension_names(schedule.statement(user), array, found->extents.size()));
    if (args.problem()) return schedule;
    box.fold_to(places);
    add_dependences(next, turns(schedule, *found, places));
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
     {"statement", "statement", false, "with `at`, `layout` or `fold`: a statement inside the loop"},
     {"at", "loop", false,
      "the loop; otherwise the innermost around every access, with `fold` the innermost whose iterations share no value"},
     {"layout", "layout", false, "with `statement`: {order: dimensions by its loop names, slowest first}"},
     {"fold", "layout", false,
      "with `statement`: {dimension: places}; element e lies in place e mod places, so that a window of elements is kept"}},
    apply,
    {"for i { t[i] = a[i]; b[i] = t[i] }", "for i { double t; t = a[i]; b[i] = t }",
     "array contraction, privatisation; with `fold` storage folding (Halide's fold_storage), circular buffers",
     "arrays that exist outside the group; values that leave the iteration; a place that is taken while its value is wanted"}};

}  // namespace facet
