// The matrices of Winograd's minimal filtering, at the points 0, 1, -1, (2, -2) and infinity.
//
// Source: Winograd, Arithmetic complexity of computations, SIAM 1980; Lavin and Gray, Fast algorithms for convolutional neural
// networks, CVPR 2016.
#include "polyhedral/rewrite/winograd.hpp"

namespace facet {

const WinogradForm* winograd_form(std::int64_t tile) {
  static const WinogradForm two = {2,
                                   2,
                                   {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}},
                                   {{2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}},
                                   {{1, 1, 1, 0}, {0, 1, -1, -1}}};
  static const WinogradForm four = {4,
                                    24,
                                    {{4, 0, -5, 0, 1, 0},
                                     {0, -4, -4, 1, 1, 0},
                                     {0, 4, -4, -1, 1, 0},
                                     {0, -2, -1, 2, 1, 0},
                                     {0, 2, -1, -2, 1, 0},
                                     {0, 4, 0, -5, 0, 1}},
                                    {{6, 0, 0}, {-4, -4, -4}, {-4, 4, -4}, {1, 2, 4}, {1, -2, 4}, {0, 0, 24}},
                                    {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}}};
  return tile == 2 ? &two : tile == 4 ? &four : nullptr;
}

bool computes_windows(const WinogradForm& form) {
  const std::size_t points = static_cast<std::size_t>(form.points());
  for (std::size_t i = 0; i < form.output.size(); ++i)
    for (std::size_t r = 0; r < 3; ++r)
      for (std::size_t j = 0; j < points; ++j) {
        std::int64_t sum = 0;
        for (std::size_t a = 0; a < points; ++a) sum += form.output[i][a] * form.filter[a][r] * form.input[a][j];
        if (sum != (j == i + r ? form.denominator : 0)) return false;
      }
  return true;
}

WinogradStages::WinogradStages(const std::string& target)
    : x(target + ".winograd.x"),
      w(target + ".winograd.w"),
      rows(target + ".winograd.rows"),
      input(target + ".winograd.input"),
      filter_rows(target + ".winograd.filter_rows"),
      filter(target + ".winograd.filter"),
      products(target + ".winograd.products"),
      sums(target + ".winograd.sums"),
      result(target + ".winograd.result") {}

}  // namespace facet
