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
constexpr std::int64_t kLineBytes = 64;

// Operations a stored byte (a function counts as ten) above which a loop waits for its arithmetic and streaming gains nothing,
// for each 32 bytes of a vector: how many operations an instruction does. Two threads of a Zen 3: bias + add gained a quarter;
// bias + gelu (4 operations a byte) lost 10 %. With vectors of 64 bytes (Sapphire Rapids) bias + gelu gains.
constexpr double kMostOperationsPerByte = 3;
constexpr double kCountedVectorBytes = 32;

constexpr double kHidden = 0.4;  // of the arithmetic's time

// Bytes of the arrays that the group takes from others and makes for others.
double moved_bytes(const GroupPlanner& planner) {
  double bytes = 0;
  for (const auto& [name, a] : planner.schedule().scop->arrays)
    if (a.external || a.live_out) bytes += planner.model().array_bytes(name);
  return bytes;
}

// Does the loop around the lanes walk the array's last dimension but one?
bool walks_rows(const Statement& st, const TreePtr& loop, int s) {
  const std::optional<unsigned> walked = involved_dimension(loop->member.at(s));
  if (!walked || st.subscripts.size() < 2) return false;
  return Model::stride({st.subscripts[st.subscripts.size() - 2]}, st.iterators[*walked]) == Model::Stride::kUnit;
}

// Do the runs of a tile's store, and what they walk of the array, begin and end with lines? A run goes on over rows that are
// stored whole and side by side; those of another dimension lie apart.
bool in_whole_lines(const GroupPlanner& planner, const Array& array, int s, const std::vector<TreePtr>& loops) {
  const auto trips = [&](std::size_t back) {
    return static_cast<std::int64_t>(planner.model().trips(*loops[loops.size() - back], s));
  };
  const std::size_t rank = array.extents.size();
  if (rank == 0 || loops.size() < rank) return false;
  const auto extent = [&](std::size_t back) { return evaluate_index(array.extents[rank - back], planner.model().sizes()); };
  std::int64_t run = trips(1) * size_bytes(array.dtype), row = extent(1) * size_bytes(array.dtype);
  const TreePtr& rows = loops[loops.size() - 2];
  if (rank > 1 && trips(1) == extent(1) && rows->mark.kind == LoopKind::kUnroll &&
      walks_rows(planner.schedule().statement(s), rows, s)) {
    run *= trips(2);
    row *= extent(2);
  }
  return row % kLineBytes == 0 && run % kLineBytes == 0;
}

// Is every assignment to the array a long run of whole vectors, or a tile's of whole lines?
bool in_long_runs(const GroupPlanner& planner, const Array& array) {
  const Schedule& schedule = planner.schedule();
  for (const int s : statements_of(schedule.tree)) {
    const Statement& st = schedule.statement(s);
    if (st.target != array.name || schedule.storage_of(s, array.name)) continue;
    const std::vector<TreePtr> loops = loops_around(schedule.tree, s);
    if (st.update || loops.empty() || loops.back()->mark.kind != LoopKind::kVector) return false;
    const double run = planner.model().trips(*loops.back(), s) * static_cast<double>(size_bytes(array.dtype));
    const bool tile = st.kind == StatementKind::kCopy;
    if (tile ? !in_whole_lines(planner, array, s, loops) : run < kLeastRunBytes) return false;
  }
  return true;
}

// Is what a tile's sums need of the memory, with the result's lines read before they are overwritten, more than their
// arithmetic (11520 x 8000 over 24 took a third less past the caches), or are the stores alone so few that they hide behind it?
// Between the two tiles wait for the buffers that hold such stores (4096 x 4096 over 64 on two Emerald Rapids cores, 0.8 of the
// arithmetic: 9 % longer; on two Zen 4 cores 0.3 to 0.5: from 9 % less to 5 % longer; 96 x 592704 over 96 0.2 to 0.3: 8 %
// less).
bool sums_wait_for_memory(const GroupPlanner& planner, const Array& array) {
  const CpuMachine& cpu = planner.options().machine.cpu;
  const Model model = planner.model();
  double operations = 0, bytes = 2 * model.array_bytes(array.name);
  for (const int s : statements_of(planner.schedule().tree)) {
    const Statement& st = planner.schedule().statement(s);
    if (st.target != array.name || !st.update) continue;
    operations += 2 * model.instances(s);
    walk(st.value, [&](const Expr& e) { bytes += e.op == Op::kRead && e.name != array.name ? model.array_bytes(e.name) : 0; });
  }
  const double peak = peak_gflop_s(cpu, static_cast<double>(size_bytes(array.dtype))) * planner.threads();
  const double arithmetic = operations / peak, stored = model.array_bytes(array.name) / (0.5 * copied_gb_s(cpu));
  // Tiles come by the same rows of a smaller result again while they are in the last cache (384 x 376 x 24 over 384 beside 221
  // MB: 14.5 ms, 18 past it).
  if (operations > 0 && model.array_bytes(array.name) <= static_cast<double>(cpu.caches.back().size_bytes)) return false;
  return bytes / copied_gb_s(cpu) > arithmetic || stored <= kHidden * arithmetic;
}

// Does the loop around the array's assignment store fast enough for memory to bind?
bool waits_for_memory(const GroupPlanner& planner, const Array& array) {
  const Schedule& schedule = planner.schedule();
  for (const int s : statements_of(schedule.tree)) {
    if (schedule.statement(s).target != array.name || schedule.storage_of(s, array.name)) continue;
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
    if (!a.external && a.live_out && in_long_runs(planner, a) && waits_for_memory(planner, a) &&
        sums_wait_for_memory(planner, a))
      arrays.push_back(name);
  for (const std::string& name : arrays)
    planner.attempt(make_step("stream", {{"array", arg(name)}}), "stream", "array " + name,
                    std::to_string(static_cast<long>(moved / (1 << 20))) +
                        " MiB of operands and results, the last cache holds " +
                        std::to_string(static_cast<long>(last / (1 << 20))));
}

}  // namespace facet
