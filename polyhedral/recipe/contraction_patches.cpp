// Blocks of a convolution's points: what their windows read is copied together and stays in L2.
//
//     for p in 0..56 on threads                           for pt in 0..2 on threads
//       for mr, qr                               -->        x.tile = the 30 rows of x that 28 rows of y read, padding included
//         tile of y[m.., p, q..] from the whole x           for mr { for p in 28 rows { for qr  tile from x.tile } }
//
// The windows of neighbouring points overlap, so panels of them would hold elements several times; a block of rows holds each
// once, with the rows at its border twice. One panel of filters serves all rows of a block before the next one comes.
//
// Where the filters are the larger operand and their panels are shared out evenly, each thread takes its own filters instead,
// and copies all windows for itself: what one thread packs for another comes out of that one's cache (28^2 128 -> 128 3 x 3 on
// two Zen 4 cores: 1.093 ms in rows, 1.017 in filters; 14^2 256 -> 256 with the windows packed on all threads 1.03, on
// each 1.00).
#include <algorithm>
#include <cmath>

#include "facet/expr_facts.hpp"
#include "polyhedral/recipe/contraction.hpp"

namespace facet {

namespace {

using Names = std::vector<std::string>;

// Bytes of A that are read while the loop `cut` runs over so many iterations, those of `whole` over all and others over one;
// infinite where a subscript is not linear.
double bytes_read(const Contraction& c, const Statement& s, const Model& model, const Names& whole, const std::string& cut,
                  std::int64_t iterations) {
  double bytes = static_cast<double>(size_bytes(c.a->type));
  for (const ExprPtr& e : c.a->args) {
    double span = 1;
    for (std::size_t at = 0; at < s.iterators.size(); ++at) {
      const std::string& name = s.iterators[at];
      if (!mentions_index(e, name)) continue;
      const std::optional<std::int64_t> step = Model::step(e, name);
      if (!step) return INFINITY;
      double count = std::count(whole.begin(), whole.end(), name) > 0 ? model.extent(c.statement, at) : 1;
      if (name == cut) count = static_cast<double>(iterations);
      span += std::abs(static_cast<double>(*step)) * (count - 1);
    }
    bytes *= span;
  }
  return bytes;
}

double extent_of(const Contraction& c, const Statement& s, const Model& model, const std::string& loop) {
  const auto at = std::find(s.iterators.begin(), s.iterators.end(), loop) - s.iterators.begin();
  return model.extent(c.statement, static_cast<std::size_t>(at));
}

}  // namespace

std::int64_t filters_of_thread(const Contraction& c, const ContractionSize& size, const ContractionTile& tile,
                               const Model& model, int threads) {
  const double panels = std::ceil(size.j / static_cast<double>(tile.nr));
  const bool larger = model.array_bytes(c.a->name) <= model.array_bytes(c.b->name);
  if (threads < 2 || size.prepared || walks_dimension(*c.a, c.i) || !larger || balance(panels, threads) < 0.9) return 0;
  return static_cast<std::int64_t>(std::ceil(panels / threads)) * tile.nr;
}

std::optional<Patches> patches_of(const Contraction& c, const Statement& s, const Model& model, const std::string& first,
                                  double bytes, int threads) {
  if (walks_dimension(*c.a, c.i)) return std::nullopt;
  Patches p;
  p.inside = {first};
  for (const std::string& loop : c.m)
    if (loop != first && loop != c.i) p.inside.push_back(loop);
  const auto of = [&](std::int64_t rows) {
    Names whole(p.inside.begin() + 1, p.inside.end());
    whole.insert(whole.end(), c.k.begin(), c.k.end());
    whole.push_back(c.i);
    return bytes_read(c, s, model, whole, p.inside[0], rows);
  };
  for (; !p.inside.empty() && of(1) > bytes; p.inside.erase(p.inside.begin())) p.outside.push_back(p.inside[0]);
  if (p.inside.empty()) return std::nullopt;
  const double extent = extent_of(c, s, model, p.inside[0]);
  while (static_cast<double>(p.rows) < extent && of(p.rows + 1) <= bytes) ++p.rows;
  p.rows = shared_block(extent, p.rows, 1, p.outside.empty() ? threads : 1);
  p.points = static_cast<double>(p.rows) * extent_of(c, s, model, c.i);
  for (std::size_t k = 1; k < p.inside.size(); ++k) p.points *= extent_of(c, s, model, p.inside[k]);
  return p;
}

}  // namespace facet
