// Vectors that go on from row to row, for results whose rows are short.
//
//     C[f, e, d, c, b, a] += A[a, g, e, d] * B[c, b, f, g]      a: 24 elements, a vector of 16 and a half
//
//     for f, e, dr, c, br                        the tile: rows b, columns of two d and all a: three vectors
//       for g  C.tile[b, d, a] += A.packed[e, dr, g, d, a] * B[c, b, f, g]
//       C[f, e, d, c, b, a] = C.tile[b, d, a]    for each d rows of b that follow each other: whole lines
//
// Any loop of C that the lanes' operand alone walks may lend its iterations; its operand is packed so that they follow each
// other. The tile's rows are the loop along C's last but one dimension, so many that they end with a line of the cache. Not
// where C's rows are vectors anyway, or where other statements work on the tile. (24 x 24 x 20 x 20 x 20 x 20 over 24, two
// Sapphire Rapids cores: 50 ms in vectors of 24, 14.5 by hand in this form.)
#include <algorithm>
#include <numeric>

#include "polyhedral/recipe/contraction.hpp"

namespace facet {

namespace {

constexpr std::int64_t kMostVectors = 4;  // in a row of the tile
constexpr std::int64_t kLine = 64;
constexpr double kEnough = 12;  // accumulators that hide the latency of multiply-adds

std::int64_t extent_of(const Contraction& c, const Statement& s, const Model& model, const std::string& loop) {
  const auto at = std::find(s.iterators.begin(), s.iterators.end(), loop);
  return static_cast<std::int64_t>(model.extent(c.statement, static_cast<std::size_t>(at - s.iterators.begin())));
}

// Rows of a tile of `vectors`: those that fill their tiles best, of equals the fewest. What a tile stores waits in the buffers
// of the stores while the next one is computed: 4 rows of 3 vectors took 15 ms where 8 took 17.
std::int64_t rows_of(std::int64_t extent, std::int64_t unit, std::int64_t most, std::int64_t vectors) {
  std::int64_t best = 0;
  double used = 0;
  for (std::int64_t rows = unit; rows <= most && rows <= extent; rows += unit) {
    const double tiles = static_cast<double>((extent + rows - 1) / rows * rows);
    const double share = static_cast<double>(extent) / tiles * std::min(1.0, static_cast<double>(rows * vectors) / kEnough);
    if (share <= used) continue;
    used = share;
    best = rows;
  }
  return best;
}

}  // namespace

std::optional<JoinedLanes> joined_lanes(const Contraction& c, const Statement& s, const Model& model, const CpuMachine& cpu,
                                        const ContractionTile& alone) {
  const std::size_t rank = s.subscripts.size();
  const std::int64_t bytes = size_bytes(s.value->type), width = std::max<std::int64_t>(1, cpu.vector_bytes / bytes);
  const auto loop_of = [&](std::size_t d) { return s.subscripts[d]->op == Op::kIndex ? s.subscripts[d]->name : std::string(); };
  if (c.across || rank < 3 || loop_of(rank - 1) != c.j || !is_box(s.domain) || !is_float(s.value->type)) return std::nullopt;
  if (!walks_dimension(*c.b, c.j) || c.b->pad || c.a->pad || 2 * alone.lanes < width) return std::nullopt;
  const std::int64_t row = extent_of(c, s, model, c.j);
  const std::int64_t count = width / std::gcd(row, width), vectors = count * row / width;
  const std::string i = loop_of(rank - 2);
  if (width < 4 || count != 2 || vectors > kMostVectors || !std::count(c.m.begin(), c.m.end(), i)) return std::nullopt;
  JoinedLanes made;
  for (std::size_t d = 0; d + 2 < rank; ++d) {
    const std::string loop = loop_of(d);
    const bool lends = std::count(c.n.begin(), c.n.end(), loop) > 0 && walks_dimension(*c.b, loop);
    if (lends && extent_of(c, s, model, loop) % count == 0) made.loop = loop;
  }
  const std::int64_t unit = std::max<std::int64_t>(1, kLine / std::gcd(row * bytes, kLine));
  const std::int64_t rows = rows_of(extent_of(c, s, model, i), unit, (cpu.vector_registers - 2 - vectors) / vectors, vectors);
  if (made.loop.empty() || rows == 0) return std::nullopt;
  made.count = count;
  made.i = i;
  const double filled = static_cast<double>(row) / static_cast<double>((row + alone.lanes - 1) / alone.lanes * alone.lanes);
  made.tile = {width, vectors, rows, count * row, alone.rate / filled};
  return made;
}

}  // namespace facet
