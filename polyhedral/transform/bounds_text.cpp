// Each bound is a piecewise expression: its pieces, joined by "or".
#include "polyhedral/transform/bounds_text.hpp"

#include <algorithm>
#include <vector>

#include "polyhedral/affine.hpp"

namespace facet {

namespace {

constexpr std::size_t kMostPieces = 3;

std::string pieces_text(const isl::pw_multi_aff& bound) {
  std::vector<std::string> texts;
  bound.foreach_piece([&](const isl::set&, const isl::multi_aff& piece) {
    const std::string text = to_text(expr_of(piece.at(0), {}));
    if (std::count(texts.begin(), texts.end(), text) == 0) texts.push_back(text);
  });
  std::string all;
  for (std::size_t i = 0; i < std::min(texts.size(), kMostPieces); ++i) all += (all.empty() ? "" : " or ") + texts[i];
  return all + (texts.size() > kMostPieces ? " or others" : "");
}

}  // namespace

std::string bounds_text(const isl::map& values, unsigned dimension) {
  const isl::set range = values.range();
  const isl::map one = map_to_values(range, {output_dimension(range, dimension)});  // { T[v] -> [v_d] }
  const isl::map reached = map_to_values(range, {}).reverse().apply_range(one);     // { [] -> [v_d] }
  return "from " + pieces_text(reached.lexmin_pw_multi_aff()) + " to " + pieces_text(reached.lexmax_pw_multi_aff());
}

}  // namespace facet
