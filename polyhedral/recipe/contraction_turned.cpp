// Results that are turned on their way to memory, block by block, instead of an operand.
//
//     C[c, b, a] += A[a, d, b] * B[c, d]              for at (threads)           16 values of a: a line of C
//       lanes a: every vector of A is turned             for a, br, cr { for d  C.tile[a, cr.., br..] += A B }   lanes b
//       lanes b: C is stored across            -->       for c, b, a  C[c, b, a] = C.tile[a, c, b]              squares turned
//
// An operand is turned once for each of its elements, which its few rows of the other do not pay for; C has k times fewer
// multiply-adds an element than that. A block of C that L2 holds is computed in tiles whose lanes are the operand's lines, and
// then stored in whole lines along C's last loop. (384 x 384 x 24 over 384: 41 ms with A turned, 15 so.) Where L2 does not hold
// such a block over all columns, these are cut into parts of whole panels (the same with 1 MiB of L2, where neither way was
// taken: 253 to 365 ms, 26 so).
//
// Where C's last loop are the tile's rows, a block is as many tiles of them as fill a line, and comes first: each row of A then
// goes on where it was left, in pages that stay known (48 rows took a fifth longer than 24).
#include <algorithm>
#include <cmath>

#include "polyhedral/recipe/contraction.hpp"

namespace facet {

namespace {

using Names = std::vector<std::string>;

constexpr double kTurnCycles = 3;  // an element of an operand whose lines are apart (two Sapphire Rapids cores, from L3)
constexpr double kMostRows = 48;   // for which lines of the operand are read in place
constexpr std::int64_t kLine = 64;
constexpr std::int64_t kLeastPanels = 2;  // of a block: its lines of the operand are read along, not piece by piece

// The loop along C's lines: alone in the last subscript; "": none.
std::string last_loop(const Statement& s) {
  if (s.subscripts.empty() || s.subscripts.back()->op != Op::kIndex) return "";
  return s.subscripts.back()->name;
}

// All columns, or equal parts of whole panels, of which `most` fit.
std::int64_t columns_in_cache(double columns, std::int64_t panel, double most) {
  if (columns <= most) return static_cast<std::int64_t>(columns);
  const double width = static_cast<double>(panel),
               parts = std::ceil(columns / std::max(width, std::floor(most / width) * width));
  return static_cast<std::int64_t>(std::ceil(columns / parts / width) * width);
}

}  // namespace

std::optional<TurnedResult> turned_result(const Contraction& c, const Statement& s, const Model& model,
                                          const ContractionSize& size, const ContractionTile& tile, std::int64_t cache_bytes) {
  const std::string last = last_loop(s);
  const bool plain = walks_dimension(*c.a, c.i) && walks_dimension(*c.b, c.j) && !c.a->pad && !c.b->pad && size.even;
  const bool along = Model::stride(c.b->args, c.j) == Model::Stride::kUnit;
  // Rows inside a block meet the lines of B in place; where the block is of rows, it is B that stays.
  const bool few = size.i <= kMostRows || last == c.i;
  if (!c.across || !plain || !along || last.empty() || !few) return std::nullopt;
  TurnedResult t;
  t.loop = last;
  const std::int64_t line = kLine / static_cast<std::int64_t>(size_bytes(s.value->type));
  t.size = last == c.i ? (line + tile.mr - 1) / tile.mr * tile.mr : line;
  const double rows = last == c.i ? 1 : size.i;
  const double column = static_cast<double>(t.size) * rows * static_cast<double>(size_bytes(s.value->type));
  t.columns = columns_in_cache(size.j, tile.nr, 0.5 * static_cast<double>(cache_bytes) / column);
  double extent = 0;
  for (std::size_t at = 0; at < s.iterators.size(); ++at)
    if (s.iterators[at] == last) extent = model.extent(c.statement, at);
  if ((size.j > static_cast<double>(t.columns) && t.columns < kLeastPanels * tile.nr) || extent < static_cast<double>(line))
    return std::nullopt;
  return t;
}

double rate_with_turning(double rate, const Contraction& c, const ContractionSize& size) {
  const bool turns = Model::stride(c.b->args, c.j) == Model::Stride::kOther && !size.prepared;
  return turns ? 1 / (1 / rate + kTurnCycles / size.m) : rate;
}

}  // namespace facet
