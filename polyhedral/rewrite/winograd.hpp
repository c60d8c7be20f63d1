// Winograd's convolutions: what the rewrite recognises, its matrices, and what its stages are called.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "polyhedral/scop.hpp"

namespace facet {

// F(m x m, 3 x 3): y = A^T [(G w G^T) * (B^T x B)] A for a tile of m x m outputs; numerators over one denominator.
struct WinogradForm {
  std::int64_t tile = 0;  // m
  std::int64_t denominator = 1;
  std::vector<std::vector<std::int64_t>> input, filter, output;  // B^T [m + 2, m + 2], G [m + 2, 3], A^T [m, m + 2]

  std::int64_t points() const { return tile + 2; }
};

const WinogradForm* winograd_form(std::int64_t tile);  // of 2 or 4; null: there is none

// Is sum[a] A^T[i, a] G[a, r] B^T[a, j] one where j = i + r and else zero? That is the whole proof, in each direction.
bool computes_windows(const WinogradForm& form);

// A sum of products  y[.., p, q] += x[.., p + r + c, q + s + d] * w[.., r, s]  with r and s in 0..3.
struct WindowProduct {
  int statement = -1, init = -1;
  const Expr *x = nullptr, *w = nullptr;
  std::array<std::size_t, 2> x_dimension{}, w_dimension{};
  std::array<std::string, 2> place, tap;  // p, q and r, s
  std::array<std::int64_t, 2> offset{};   // c, d
  std::array<ExprPtr, 2> extent;          // of p and q; that of q is a literal
  std::string lanes;                      // the index of y that w has and x has not: its filters
};

// nullopt with the reason in `why`, where the statement is another one.
std::optional<WindowProduct> window_product(const Scop& scop, int statement, std::string* why);

// The arrays of the stages, which the statements are named after.
struct WinogradStages {
  explicit WinogradStages(const std::string& target);

  std::string x, w;                 // the operands, channels and filters last
  std::string rows, input;          // B^T x, B^T x B
  std::string filter_rows, filter;  // G w, G w G^T
  std::string products;             // of tiles, summed over channels
  std::string sums, result;         // A^T M, A^T M A with filters last
};

}  // namespace facet
