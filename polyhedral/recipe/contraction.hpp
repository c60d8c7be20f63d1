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

// tile of one loop.
Step tile_loop(const std::string& statement, const std::string& loop, std::int64_t size, const std::string& name);

// Operands of a statement laid out in panels, with the loops of the copies.
struct Packing {
  using Names = std::vector<std::string>;
  GroupPlanner& planner;
  std::string statement;
  Names reduction;  // its loops
  std::int64_t lanes = 1;

  // The whole operand in panels of `panel` of `axis`, slowest the loops outside the tile, then the reduction's, then the panel.
  void pack(const Expr& operand, const std::string& axis, std::int64_t panel, bool worth, const std::string& what) const;

 private:
  double extent(const std::string& iterator) const;
  void shape_copy(std::string copy, const Names& outside, const std::string& axis, const Names& inside, std::int64_t panel,
                  const Names& dims) const;
};

// Where the reduction's loop `k` leaves a triangle with the side of a register tile: the point of index_set_split, and whether
// full tiles lie behind it. nullopt: no triangle.
struct TriangleCut {
  std::string point;
  bool behind = true;
};
std::optional<TriangleCut> triangle_cut(const Statement& s, const std::string& k, const std::string& side,
                                        const std::string& tile, std::int64_t size);

// Rows of A whose k values fill half of L2, a multiple of mr.
std::int64_t rows_in_cache(const CpuMachine& cpu, std::int64_t element_bytes, double k, std::int64_t mr);

}  // namespace facet
