// Preconditions that have nothing to do with order.
#include "polyhedral/transform/memory_steps.hpp"

#include <algorithm>

namespace facet {

bool is_stored_otherwise(const Schedule& schedule, const std::string& array) {
  return std::any_of(schedule.storage.begin(), schedule.storage.end(), [&](const StorageMap& m) { return m.array == array; }) ||
         std::count(schedule.recomputed.begin(), schedule.recomputed.end(), array) > 0 ||
         std::any_of(schedule.reused.begin(), schedule.reused.end(),
                     [&](const auto& r) { return r.first == array || r.second == array; });
}

std::string intermediate(const Schedule& schedule, Arguments& args) {
  const Array* const found = args.array();
  if (args.problem()) return "";
  const std::string& name = found->name;
  if (found->external || found->live_out)
    args.refuse(
        "'" + name + "' exists outside the group: " + (found->external ? "it is an input of it" : "it is used after it"),
        {"leave the step out: only arrays that the group makes and uses alone have no memory of their own"});
  if (is_stored_otherwise(schedule, name))
    args.refuse("'" + name + "' is contracted, promoted or out of memory already", {"leave one of the steps out"});
  if (padded_reads(schedule, name, -1))
    args.refuse("'" + name + "' is read with a padding value, which needs the whole array's bounds", {"leave it in memory"});
  return name;
}

int only_writer(const Schedule& schedule, const std::string& array, Arguments& args) {
  int writer = -1;
  for (int s = 0; s < schedule.statement_count(); ++s) {
    const Statement& st = schedule.statement(s);
    if (st.target != array) continue;
    if (writer >= 0 || st.update) {
      args.refuse("'" + array + "' is not made by one assignment", {"leave it in memory"});
      return -1;
    }
    writer = s;
  }
  if (writer < 0) args.refuse("no statement of the group makes '" + array + "'", {"leave the step out"});
  return writer;
}

void refuse_second_part(const Schedule& schedule, Arguments& args, const std::string& array, StorageMap::Kind kind, int at) {
  const auto inside = [&](int inner, int outer) {
    const TreePtr loop = outer < 0 ? nullptr : find_loop(schedule.tree, outer);
    return inner != outer && (!loop || find_loop(loop, inner));
  };
  for (const StorageMap& m : schedule.storage) {
    if (m.array != array) continue;
    if (m.reader >= 0 && kind == StorageMap::Kind::kPromote && inside(at, -1) &&
        contains(find_loop(schedule.tree, at), m.reader))
      args.refuse(
          "'" + array + "' is laid out anew for '" + schedule.statement(m.reader).name + "' already ('" + m.buffer + "')",
          {"leave one of the two steps out"});
    const TreePtr loop = at < 0 ? nullptr : find_loop(schedule.tree, at);
    for (const int copy : {m.copy_in, m.copy_out})  // after an interchange: of an outer part inside the inner loop
      if (loop && m.at >= 0 && copy >= 0 && contains(loop, copy) && inside(at, m.at))
        args.refuse("'" + schedule.statement(copy).name + "' runs inside this loop, for a part at a loop around it",
                    {"promote at this loop first"});
    const std::string part = "'" + array + "' has its part at ";
    if (m.at == at && at >= 0)
      args.refuse(part + "this loop already ('" + m.buffer + "')", {"take another loop for one of them"});
    else if (m.kind == kind || m.at < 0)
      continue;
    else if (kind == StorageMap::Kind::kPromote ? !inside(at, m.at) : !inside(m.at, at))
      args.refuse("'" + array + "' is contracted at a loop inside the one where it is promoted", {"promote it further inside"});
  }
}

}  // namespace facet
