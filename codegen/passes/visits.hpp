// How often the loops around a register tile's sums come by, and what they ask for when they do: the vocabulary of the passes
// that prefetch what later tiles need.
#pragma once

#include <optional>

#include "codegen/passes/linear.hpp"
#include "codegen/passes/tree.hpp"

namespace facet::passes {

constexpr std::int64_t kLineBytes = 64;
constexpr std::int64_t kMostAtOnce = 4;  // lines an iteration
constexpr std::int64_t kWorkALine = 4;   // vectors that are computed beside a line asked for

// The loops from some loop down to a place: how many iterations came before, and how many there are.
struct Visits {
  ExprPtr before = idx(0);
  std::int64_t count = 1;

  Visits inside(const For& f, std::int64_t trips) const;
};

ExprPtr normal(const ExprPtr& e);

// The iterations of a serial loop, where they are a constant; and an upper bound of them: those of all tiles but the last.
std::optional<std::int64_t> constant_trips(const For& f);
std::optional<std::int64_t> most_trips(const For& f);

// Does the loop's body compute in named vectors, and store nothing?
bool sums_vectors(const LoopList& body);
// Named vectors that are set, `times` over.
std::int64_t vectors_set(const LoopList& body, std::int64_t times);

// Visits by number, several of them one where there are many more than lines.
ExprPtr spread(const Visits& visits, std::int64_t lines);

// The fewest lines, a whole part of a run of them, that are all asked for in so many visits; 0: more than kMostAtOnce.
std::int64_t lines_at_once(std::int64_t lines_of_run, std::int64_t all, std::int64_t visits);

}  // namespace facet::passes
