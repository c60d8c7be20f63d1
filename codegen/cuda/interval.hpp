// Intervals of index expressions over the symbols' ranges: how large can an extent become.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "facet/expr.hpp"
#include "facet/program.hpp"

namespace facet {

// low <= value <= high; the extremes of int64 mean unbounded.
struct Interval {
  std::int64_t low = std::numeric_limits<std::int64_t>::min();
  std::int64_t high = std::numeric_limits<std::int64_t>::max();

  bool constant() const { return low == high; }
  bool bounded_above() const { return high != std::numeric_limits<std::int64_t>::max(); }
};

// Names that are no symbols are unbounded. An over-approximation: every value for allowed symbol values is inside.
Interval interval_of(const ExprPtr& e, const std::vector<Symbol>& symbols);

}  // namespace facet
