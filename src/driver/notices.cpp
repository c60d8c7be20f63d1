// Plain lines: stdout stays the verb's own.
#include "src/driver/notices.hpp"

#include <cstdio>

#include "src/driver/machines.hpp"

namespace facet {

void warn_of_budget(const Ledger& ledger, const Options& options) {
  static const std::string kGroup = "group ";
  std::string groups;
  for (const LedgerEntry& e : ledger) {
    if (e.kind != "budget" || e.subject.rfind(kGroup, 0) != 0) continue;
    const std::string name = e.subject.substr(kGroup.size());
    if ((", " + groups + ",").find(", " + name + ",") == std::string::npos) groups += (groups.empty() ? "" : ", ") + name;
  }
  if (groups.empty()) return;
  std::fprintf(stderr,
               "warning: the time budget of %g s ended before %s was planned: its code may be slow, serial or scalar; "
               "--time-budget S gives more time, `facet explain` lists what was given up\n",
               options.time_budget_s, groups.c_str());
}

void tell_ceilings(const Options& options, const Machine& machine) {
  std::fprintf(stderr, "planned for %s with %s\n", machine.cpu.name.c_str(), ceilings_text(options, machine).c_str());
}

}  // namespace facet
