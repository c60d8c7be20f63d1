// Triangles whose slope lies between a register tile's side and the reduction: B[i, j] += A[k, i] * B[k, j] for k > i.
//
// The rows of a tile then have different ranges of k, and a tile that asks for each k which of its rows take part keeps none of
// them in registers. Beyond the tile's own rows all take part: that point cuts the reduction's loop in two.
#include "polyhedral/recipe/contraction.hpp"

#include "polyhedral/affine.hpp"

namespace facet {

namespace {

isl::pw_aff index_of(const Statement& s, const std::string& name) {
  unsigned d = 0;
  while (s.iterators[d] != name) ++d;
  return output_dimension(s.domain, d);
}

}  // namespace

std::optional<TriangleCut> triangle_cut(const Statement& s, const std::string& k, const std::string& side,
                                        const std::string& tile, std::int64_t size) {
  const isl::pw_aff inner = index_of(s, k), row = index_of(s, side);
  const std::string first = std::to_string(size) + "*" + tile;
  if (s.domain.is_subset(row.le_set(inner))) return TriangleCut{first + " + " + std::to_string(size), true};
  if (s.domain.is_subset(inner.le_set(row))) return TriangleCut{first, false};
  return std::nullopt;
}

}  // namespace facet
