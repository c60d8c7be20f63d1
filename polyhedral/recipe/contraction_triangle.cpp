// Triangles whose slope lies between a register tile's side and the reduction: B[i, j] += A[k, i] * B[k, j] for k > i.
//
// The rows of a tile then have different ranges of k, and a tile that asks for each k which of its rows take part keeps none of
// them in registers. Beyond the tile's own rows all take part: that point cuts the reduction's loop in two.
#include "polyhedral/recipe/contraction.hpp"

#include "polyhedral/affine.hpp"

namespace facet {

namespace {

// Where the reduction's loop `k` leaves a triangle with the side of a register tile: the point of index_set_split, and whether
// full tiles lie behind it.
struct TriangleCut {
  std::string point;
  bool behind = true;
};

isl::pw_aff index_of(const Statement& s, const std::string& name) {
  unsigned d = 0;
  while (s.iterators[d] != name) ++d;
  return output_dimension(s.domain, d);
}

std::optional<TriangleCut> triangle_cut(const Statement& s, const std::string& k, const std::string& side,
                                        const std::string& tile, std::int64_t size) {
  const isl::pw_aff inner = index_of(s, k), row = index_of(s, side);
  const std::string first = std::to_string(size) + "*" + tile;
  if (s.domain.is_subset(row.le_set(inner))) return TriangleCut{first + " + " + std::to_string(size), true};
  if (s.domain.is_subset(inner.le_set(row))) return TriangleCut{first, false};
  return std::nullopt;
}

}  // namespace

int cut_triangle(GroupPlanner& planner, int statement, const Contraction& c, const ContractionTile& tile) {
  const std::string name = planner.schedule().statement(statement).name, k = c.k.back();
  const std::pair<std::string, std::int64_t> sides[] = {{c.i, tile.mr}, {c.j, tile.nr}};
  for (const auto& [side, size] : sides) {
    std::optional<TriangleCut> cut;
    const Result<Done> asked = guarded("triangles", planner.budget(), [&] {
      cut = triangle_cut(planner.schedule().statement(statement), k, side, side + "r", size);
    });
    if (!asked || !cut || c.k.size() > 1) continue;
    const Step split =
        make_step("index_set_split", {{"statement", arg(name)}, {"loop", arg(k)}, {"expression", arg(cut->point)}});
    if (!planner.attempt(split, "tile", "loop " + k + " of " + name, "full register tiles apart from the triangle")) continue;
    return planner.schedule().find(cut->behind ? name + ".from" : name);
  }
  return statement;
}

}  // namespace facet
