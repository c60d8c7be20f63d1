// How far parts of a loop over time must be moved along space so that no dependence reaches back any more.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "polyhedral/dependences.hpp"

namespace facet {

// A nest below the loop over time: its statements, and for each the value of the space loop in question.
using AlignedPart = std::map<int, isl::pw_aff>;

struct Alignment {
  std::int64_t factor = 0;           // of the skew by time
  std::vector<std::int64_t> shifts;  // of each part, none negative

  std::int64_t greatest_shift() const;
};

// The smallest factor c up to `most` for which shifts s exist with
//     min over pairs (S, T) of  (i_T + c t_T) - (i_S + c t_S)  +  s_T - s_S  >=  0        for all dependences S -> T;
// the shifts are longest paths (Bellman and Ford). None where a dependence reaches back without bound.
std::optional<Alignment> align(const Dependences& dependences, const std::vector<AlignedPart>& parts,
                               const std::map<int, isl::pw_aff>& time, std::int64_t most);

// The same parts walked backwards.
std::vector<AlignedPart> backwards(std::vector<AlignedPart> parts);

// A tile of time is cut by the lines on which data run forwards and backwards. How far apart the two have run at its end, and
// below which width hexagons of a front would need each other.
struct HexagonSlopes {
  Alignment forwards, backwards;

  std::int64_t spread(std::int64_t height) const;
  std::int64_t least_width(std::int64_t height) const;
};

}  // namespace facet
