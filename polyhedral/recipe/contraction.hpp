// Contractions: which loops of a statement play which part, and the tile that the machine takes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "polyhedral/recipe/planner.hpp"

namespace facet {

// C[..] += A[..] * B[..]. The loops of C by where else they occur: m in A only, n in B only, batch in both or none; k are the
// reduction's. i and j are the loops of the register tile: i of m, j of n, which walks the last dimension of C (the lanes).
struct Contraction {
  int statement = -1;
  std::vector<std::string> batch, m, n, k;
  std::string i, j;
  const Expr* a = nullptr;
  const Expr* b = nullptr;
};

std::optional<Contraction> recognise_contraction(const Statement& s, int number, const Model& model);

// Sizes of one statement at the typical values of the symbols.
struct ContractionSize {
  double i = 1, j = 1;         // the tile's loops
  double m = 1, n = 1, k = 1;  // all loops of the kind
  double batch = 1;
};

struct ContractionTile {
  std::int64_t lanes = 1, columns = 1;  // of vectors: nr = lanes * columns
  std::int64_t mr = 1, nr = 1;
};

// The register tile of the highest modelled rate.
ContractionTile choose_tile(const CpuMachine& cpu, std::int64_t element_bytes, const ContractionSize& size);

// Rows of A whose k values fill half of L2, a multiple of mr.
std::int64_t rows_in_cache(const CpuMachine& cpu, std::int64_t element_bytes, double k, std::int64_t mr);

}  // namespace facet
