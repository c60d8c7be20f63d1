// Running a witness in both orders: what `legal --replay` shows and the fuzzer checks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "polyhedral/facet_polyhedral.hpp"
#include "src/frontend/json_tree.hpp"

namespace facet {

// One order, as it ran.
struct ReplayedOrder {
  bool both_ran = false;
  bool source_first = false;
  std::string value;                    // the value that tells; "nothing (never written)" where the memory held none
  std::string source_left, sink_found;  // the element after the source, before the sink
};

struct ReplayReport {
  bool ran = false;
  std::string why_not;  // when it did not
  std::string scope;    // "the whole group" | "the two instances alone"
  std::uint64_t seed = 0;
  SymbolValues sizes;
  ReplayedOrder original, refused;
  bool differs = false;  // between the two values
  bool real = false;     // both touch the element, and their order, or the value in its place, changes
};

// Runs the witness with inputs drawn from `seed`, `seed` + 1, ... until the values differ, a few at most.
ReplayReport run_replay(const Program& program, const LegalReport& legal, std::uint64_t seed, std::int64_t max_steps);

std::string to_text(const ReplayReport& report, const LegalReport& legal);
JsonValue to_json(const ReplayReport& report);

}  // namespace facet
