// What is a contraction, and the register tile for it.
//
// The tile of mr rows by `columns` vectors keeps mr * columns accumulators in registers beside one row of B vectors and one
// broadcast of A. Its rate is the product of
//   the share of its lanes and rows that the extents fill,
//   the multiply-adds a cycle, which vectors of half the width reach on machines that split whole ones,
//   the accumulators over those that the latency of the unit needs (4 cycles on Zen 4 and Intel cores),
//   the cycles of the arithmetic over those of its loads (two a cycle) and of its panels' way from L2 (32 bytes a cycle).
// Source: Low, Igual, Smith and Quintana-Orti, Analytical modeling is enough for high-performance BLIS, TOMS 2016; load and
// multiply-add rates from the vendors' optimization guides.
#include <algorithm>
#include <cmath>

#include "facet/expr_facts.hpp"
#include "polyhedral/recipe/contraction.hpp"

namespace facet {

namespace {

constexpr double kFmaLatency = 4;
constexpr double kLoadsPerCycle = 2;
constexpr double kL2BytesPerCycle = 32;
constexpr std::int64_t kMaxColumns = 4;

// The product's two reads when the value is read * read (conversions, signs and scalar factors allowed around them).
bool product_of_reads(const ExprPtr& value, std::vector<const Expr*>* reads) {
  if (value->op == Op::kCast || value->op == Op::kNeg) return product_of_reads(value->args[0], reads);
  if (value->op == Op::kMul) return product_of_reads(value->args[0], reads) && product_of_reads(value->args[1], reads);
  if (value->op == Op::kLiteral || (value->op == Op::kRead && value->args.empty())) return true;
  if (value->op != Op::kRead) return false;
  reads->push_back(value.get());
  return true;
}

// How much of `size` full tiles of `tile` are used for.
double filled(double size, std::int64_t tile) {
  return size <= 0 ? 0 : size / (std::ceil(size / static_cast<double>(tile)) * static_cast<double>(tile));
}

}  // namespace

std::optional<Contraction> recognise_contraction(const Statement& s, int number, const Model& model) {
  std::vector<const Expr*> reads;
  if (!s.update || *s.update != ReduceKind::kSum || !product_of_reads(s.value, &reads) || reads.size() != 2)
    return std::nullopt;
  Contraction c;
  c.statement = number;
  for (const std::string& name : s.iterators)
    if (Model::stride(s.subscripts, name) == Model::Stride::kUnit &&
        mentions_index(reads[0]->args, name) != mentions_index(reads[1]->args, name))
      c.j = name;
  if (c.j.empty()) return std::nullopt;
  const bool first = mentions_index(reads[0]->args, c.j);
  c.b = reads[first ? 0 : 1];
  c.a = reads[first ? 1 : 0];
  double widest = 0;
  for (std::size_t at = 0; at < s.iterators.size(); ++at) {
    const std::string& name = s.iterators[at];
    const bool in_a = mentions_index(c.a->args, name), in_b = mentions_index(c.b->args, name);
    if (!mentions_index(s.subscripts, name)) {
      c.k.push_back(name);
    } else if (in_a == in_b) {
      c.batch.push_back(name);
    } else if (in_b) {
      c.n.push_back(name);
    } else {
      c.m.push_back(name);
      if (model.extent(number, at) <= widest) continue;
      widest = model.extent(number, at);
      c.i = name;
    }
  }
  return c.k.empty() || c.i.empty() ? std::nullopt : std::optional<Contraction>(c);
}

ContractionTile choose_tile(const CpuMachine& cpu, std::int64_t element_bytes, const ContractionSize& size) {
  const std::int64_t whole = std::max<std::int64_t>(1, cpu.vector_bytes / element_bytes);
  ContractionTile best;
  double highest = 0;
  for (std::int64_t lanes = whole; lanes >= std::max<std::int64_t>(1, std::min<std::int64_t>(4, whole)); lanes /= 2) {
    const double fma = lanes == whole ? cpu.fma_per_cycle : std::max(2, cpu.fma_per_cycle);
    for (std::int64_t columns = 1; columns <= kMaxColumns; ++columns) {
      for (std::int64_t rows = 1; rows * columns + columns + 1 <= cpu.vector_registers; ++rows) {
        const double accumulators = static_cast<double>(rows * columns);
        const double arithmetic = std::max(accumulators / fma, kFmaLatency);
        const double loads = static_cast<double>(rows + columns) / kLoadsPerCycle;
        const double used = filled(size.i, rows) * filled(size.j, lanes * columns);
        const double panels = static_cast<double>((rows + lanes * columns) * element_bytes) / kL2BytesPerCycle;
        // What is hidden behind the arithmetic is not free: among near equals, fewer loads and bytes.
        const double slack = 1 - 0.05 * loads / arithmetic - 0.1 * panels / arithmetic;
        const double rate = used * slack * accumulators * static_cast<double>(lanes) / std::max({arithmetic, loads, panels});
        if (rate <= highest) continue;
        highest = rate;
        best = {lanes, columns, rows, lanes * columns};
      }
    }
    if (lanes == 1) break;
  }
  return best;
}

std::int64_t rows_in_cache(const CpuMachine& cpu, std::int64_t element_bytes, double k, std::int64_t mr) {
  const std::int64_t l2 = cpu.caches.size() > 1 ? cpu.caches[1].size_bytes : 1 << 20;
  const std::int64_t rows = static_cast<std::int64_t>(static_cast<double>(l2 / 2 / element_bytes) / std::max(k, 1.0));
  return std::max(mr, rows / mr * mr);
}

}  // namespace facet
