// Bounds for recurrences, from how far the results spread when every rounding is moved at random.
//
// A running error bound adds up as if no two errors ever cancelled: in a recurrence, or along a deep network, it grows at every
// step, until it allows anything (a recursive filter: 1e9 for values near 1; a transformer block: 0.6) or calls a divisor
// ambiguous. Where that happens, the program runs again
// a few times with each rounded result one unit off, up or down at random, and the largest distance between runs, widened,
// bounds the elements of that output (Vignes, Discrete stochastic arithmetic for validating results of numerical software,
// Numerical Algorithms 37, 2004). Elements that move as far as the output is large hang on a comparison: they stay as they
// were. Short chains of equations and operators keep their running bounds.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "facet/program.hpp"
#include "src/run/reference.hpp"

namespace facet::reference {

constexpr std::uint64_t kSpreadRuns = 3;
constexpr double kSpreadFactor = 16;  // a kernel may be this much further off than the furthest of the runs

// Loop nests, which can hold recurrences over many steps, and chains of many operators.
bool can_be_vague(const Program& program);

// True if some output has an element whose bound is large beside the output's root mean square.
bool bounds_are_vague(const ReferenceRun& run);

class Spread {
 public:
  explicit Spread(const ReferenceRun& base);
  void add(const ReferenceRun& moved);
  void tighten(ReferenceRun& base) const;

 private:
  struct Output {
    double size = 0;     // root mean square of the reference
    double largest = 0;  // distance from the reference, among elements that do not jump
    std::vector<bool> jumps;
  };
  const ReferenceRun& base_;
  std::map<std::string, Output> outputs_;
};

}  // namespace facet::reference
