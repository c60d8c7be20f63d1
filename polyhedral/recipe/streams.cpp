// Policy: results that would not stay in the caches are stored past them.
//
// What a group reads and stores altogether is held against the last cache: less than that, and whoever reads the results next
// finds them there; more, and their beginning has been pushed out by their end and by what was read beside. A run of vectors
// must fill several lines (64 bytes each): a line that is left half full costs more than it saves.
#include <algorithm>

#include "polyhedral/recipe/planner.hpp"

namespace facet {

namespace {

constexpr double kLeastRunBytes = 256;

// Operations a stored byte (a function counts as ten) above which a loop waits for its arithmetic and streaming gains nothing,
// for each 32 bytes of a vector: how many operations an instruction does. Two threads of a Zen 3: bias + add gained a quarter;
// bias + gelu (4 operations a byte) lost 10 %. With vectors of 64 bytes (Sapphire Rapids) bias + gelu gains.
constexpr double kMostOperationsPerByte = 3;
constexpr double kCountedVectorBytes = 32;

// Bytes of the arrays that the group takes from others and makes for others.
double moved_bytes(const GroupPlanner& planner) {
  double bytes = 0;
  for (const auto& [name, a] : planner.schedule().scop->arrays)
    if (a.external || a.live_out) bytes += planner.model().array_bytes(name);
  return bytes;
}

// Is every assignment to the array a long run of whole vectors?
bool in_long_runs(const GroupPlanner& planner, const Array& array) {
  const Schedule& schedule = planner.schedule();
  for (const int s : statements_of(schedule.tree)) {
    const Statement& st = schedule.statement(s);
    if (st.target != array.name) continue;
    const std::vector<TreePtr> loops = loops_around(schedule.tree, s);
    if (st.update || loops.empty() || loops.back()->mark.kind != LoopKind::kVector) return false;
    if (planner.model().trips(*loops.back(), s) * static_cast<double>(size_bytes(array.dtype)) < kLeastRunBytes) return false;
  }
  return true;
}

// Does the loop around the array's assignment store fast enough for memory to bind?
bool waits_for_memory(const GroupPlanner& planner, const Array& array) {
  const Schedule& schedule = planner.schedule();
  for (const int s : statements_of(schedule.tree)) {
    if (schedule.statement(s).target != array.name) continue;
    double operations = 0, bytes = 0;
    for (const int beside : statements_of(loops_around(schedule.tree, s).back())) {
      const Statement& st = schedule.statement(beside);
      operations += Model::operations(st);
      const auto target = schedule.scop->arrays.find(st.target);  // not of a copy
      if (target != schedule.scop->arrays.end() && !target->second.external && target->second.live_out)
        bytes += static_cast<double>(size_bytes(target->second.dtype));
    }
    const double wide = planner.options().machine.cpu.vector_bytes / kCountedVectorBytes;
    if (operations > kMostOperationsPerByte * wide * bytes) return false;
  }
  return true;
}

}  // namespace

void plan_streams(GroupPlanner& planner) {
  const std::vector<CacheLevel>& caches = planner.options().machine.cpu.caches;
  if (caches.empty()) return;
  const double moved = moved_bytes(planner), last = static_cast<double>(caches.back().size_bytes);
  if (moved <= last) return;
  std::vector<std::string> arrays;
  for (const auto& [name, a] : planner.schedule().scop->arrays)
    if (!a.external && a.live_out && in_long_runs(planner, a) && waits_for_memory(planner, a)) arrays.push_back(name);
  for (const std::string& name : arrays)
    planner.attempt(make_step("stream", {{"array", arg(name)}}), "stream", "array " + name,
                    std::to_string(static_cast<long>(moved / (1 << 20))) +
                        " MiB of operands and results, the last cache holds " +
                        std::to_string(static_cast<long>(last / (1 << 20))));
}

}  // namespace facet
