// The same questions that the scan asks: which updates are shared, and whether there are copies.
#include "polyhedral/ast/tell_updates.hpp"

#include "polyhedral/ast/copied_arrays.hpp"
#include "polyhedral/legality.hpp"

namespace facet {

namespace {

std::string what_is_carried(const Schedule& schedule, const std::string& array, int update) {
  return "it carries the " + to_text(*schedule.statement(update).update) + " in " + array + ": ";
}

std::string copies_text(const CopiedArray& p, std::int64_t parts) {
  const std::string where = p.buffer.space == MemorySpace::kStack ? "on the stack" : "in workspace";
  return std::to_string(parts) + " pieces each update a copy " + where +
         ", combined in the order of the pieces, so that results do not depend on the threads";
}

}  // namespace

void tell_updates(const Schedule& schedule, Ledger* ledger) {
  for_each_loop(schedule.tree, [&](const Tree& l) {
    if (l.mark.updates == SharedUpdates::kNone) return;
    const int first = l.names.begin()->first;
    const std::string kind = l.mark.kind == LoopKind::kMapped ? "gpu" : "parallel";
    const std::string subject = "loop " + l.names.at(first) + " of " + schedule.statement(first).name;
    const auto tell = [&](bool done, const std::string& why) {
      ledger->push_back({kind, subject, done, why, schedule.scop->name, 0});
    };
    if (l.mark.updates == SharedUpdates::kParts) {
      const std::vector<CopiedArray> copies = copied_arrays(schedule, l);
      for (const CopiedArray& p : copies)
        tell(true, what_is_carried(schedule, p.array, *p.updates.begin()) + copies_text(p, l.mark.parts));
      if (copies.empty()) tell(false, "no copies: its updates are those of one thread, or none are shared any more");
      return;
    }
    for (const auto& [array, updates] : shared_updates(schedule, l)) {
      const bool rounds = schedule.statement(*updates.begin()).rounds();
      tell(true, what_is_carried(schedule, array, *updates.begin()) + "each update is atomic, " +
                     (rounds ? "the numerics leave the order free" : "any order gives the same"));
    }
  });
}

}  // namespace facet
