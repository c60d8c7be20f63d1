// The points of bounded sets, one by one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "polyhedral/isl/isl.hpp"

namespace facet {

// All points of a set without parameters left, in lexicographic order; nullopt when there are more than `most`.
std::optional<std::vector<std::vector<std::int64_t>>> points_of(const isl::set& set, std::size_t most);

// f as pieces { domain; value }: one piece where one affine expression serves all.
std::vector<std::pair<isl::set, isl::aff>> pieces_of(const isl::pw_aff& f);
// The largest magnitude among the coefficients and constants of f.
double largest_number(const isl::pw_aff& f);
bool contains_point(const isl::set& set, const std::vector<std::int64_t>& point);

}  // namespace facet
