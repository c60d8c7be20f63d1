// What is a contraction, and the register tile for it.
//
// The tile of mr rows by `columns` vectors keeps mr * columns accumulators in registers beside one row of B vectors and one
// broadcast of A; one register is left to compilers. Its rate is the product of
//   the share of its lanes and rows that the extents fill,
//   the multiply-adds a cycle, which vectors of half the width reach on machines that split whole ones,
//   the accumulators over those that the latency of the unit needs (4 cycles on Zen 4 and Intel cores),
//   what its loads cost beside the arithmetic although they fit: power, and with it clock (`load_cost`; a Sapphire Rapids core
//   at 230 GFLOP/s on registers alone reaches 195 with 16 loads for 28 multiply-adds and 207 with 11 for 24, all in L1),
//   the cycles of the arithmetic over those of its loads (two a cycle, gathers an element a cycle), of its panels' way from L2
//   (32 bytes a cycle) and of its result's stores, an element a cycle where the lanes do not walk C's last dimension.
//
// Rows that are left over take the cycles of a smaller tile where their number is known (7 rows as 4 and 3, not as 8).
//
// Any loop of C that one operand alone walks may be the lanes: a convolution of short rows fills its vectors with filters.
// Source: Low, Igual, Smith and Quintana-Orti, Analytical modeling is enough for high-performance BLIS, TOMS 2016; load and
// multiply-add rates from the vendors' optimization guides.
#include <algorithm>
#include <cmath>

#include "facet/expr_facts.hpp"
#include "polyhedral/recipe/contraction.hpp"

namespace facet {

namespace {

constexpr double kFmaLatency = 4.5;  // of 4, for chains that never follow each other at once (4 x 2 took 7 % longer than 6 x 2)
constexpr double kLoadsPerCycle = 2;
constexpr double kL2BytesPerCycle = 32;
constexpr std::int64_t kMaxColumns = 4;
constexpr std::int64_t kLineBytes = 64;
constexpr double kGatherCycles = 1;  // an element
constexpr double kAcrossCycles = 1;  // an element that is stored across the lanes
constexpr double kWide = 4;          // columns to rows: from there on columns are what threads share out
constexpr int kSpareShare = 32;      // of the registers, beside windows: g++ 12 spilled some of 28 sums there
constexpr double kRestCost = 0.03;   // of the time, where rows are left over: a second loop, entered for each row of points
constexpr double kLeastRows = 4;     // of a tile that is stored along its rows

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

// What the threads' shares of the tiles are used for: the rest waits for the largest one. Where other loops are there, those
// are shared out, but those of the smaller side are not, nor rows where both threads would fetch a much larger B; triangles are
// shared out in many blocks.
double shared(const ContractionSize& size, std::int64_t rows, std::int64_t columns, int threads) {
  const double across = filled(size.i, rows), along = filled(size.j, columns);
  const bool columns_alone = size.n > size.m && size.n == size.j && size.batch == 1;
  if (!size.even) return across * along;
  if (!size.plain() || (size.j > kWide * size.i && !size.across))
    return columns_alone ? across * filled(size.j, columns * threads) : across * along;
  return std::max(filled(size.i, rows * threads) * along, across * filled(size.j, columns * threads));
}

// By how much faster all tiles of rows are when those that are left over have a tile of their own.
double rest_gain(const ContractionSize& size, std::int64_t rows, const std::function<double(double rows)>& cycles) {
  const double whole = static_cast<double>(rows), full = std::floor(size.i / whole), rest = size.i - full * whole;
  if (!size.exact || rest == 0) return 1;
  return (1 - kRestCost) * (full + 1) * cycles(whole) / (full * cycles(whole) + cycles(rest));
}

// i of the loops that only A walks: the one along C's last dimension where j is not, so that the tile is stored along it; else
// the longest.
std::string rows_of(const Contraction& c, const Statement& s, int number, const Model& model) {
  std::string best;
  double widest = 0;
  for (std::size_t at = 0; at < s.iterators.size(); ++at) {
    const std::string& name = s.iterators[at];
    if (!std::count(c.m.begin(), c.m.end(), name)) continue;
    if (c.across && Model::stride(s.subscripts, name) == Model::Stride::kUnit && model.extent(number, at) >= kLeastRows)
      return name;
    if (model.extent(number, at) <= widest) continue;
    widest = model.extent(number, at);
    best = name;
  }
  return best;
}

// Is the extent of i, the tile's rows, a number?
bool exact_rows(const Contraction& c, const Statement& s, const Scop& scop) {
  for (std::size_t d = 0; d < s.subscripts.size(); ++d)
    if (s.subscripts[d]->op == Op::kIndex && s.subscripts[d]->name == c.i)
      return scop.arrays.at(s.target).extents[d]->op == Op::kLiteral;
  return false;
}

}  // namespace

bool walks_dimension(const Expr& read, const std::string& name) {
  int mentions = 0, plain = 0;
  for (const ExprPtr& e : read.args) {
    mentions += mentions_index(e, name);
    plain += e->op == Op::kIndex && e->name == name;
  }
  return mentions == 1 && plain == 1;
}

std::vector<Contraction> recognise_contractions(const Statement& s, int number, const Model& model) {
  std::vector<const Expr*> reads;
  if (!s.update || *s.update != ReduceKind::kSum || !product_of_reads(s.value, &reads) || reads.size() != 2) return {};
  std::vector<Contraction> all;
  for (const std::string& lanes : s.iterators) {
    const bool first = mentions_index(reads[0]->args, lanes);
    if (!mentions_index(s.subscripts, lanes) || first == mentions_index(reads[1]->args, lanes)) continue;
    Contraction c;
    c.statement = number;
    c.j = lanes;
    c.across = Model::stride(s.subscripts, lanes) != Model::Stride::kUnit;
    c.b = reads[first ? 0 : 1];
    c.a = reads[first ? 1 : 0];
    if (c.across && !(walks_dimension(*c.b, lanes) && is_float(s.value->type))) continue;
    for (const std::string& name : s.iterators) {
      const bool in_a = mentions_index(c.a->args, name), in_b = mentions_index(c.b->args, name);
      (!mentions_index(s.subscripts, name) ? c.k : in_a == in_b ? c.batch : in_b ? c.n : c.m).push_back(name);
    }
    c.i = rows_of(c, s, number, model);
    if (!c.k.empty() && !c.i.empty()) all.push_back(std::move(c));
  }
  return all;
}

ContractionSize size_of(const Contraction& c, const Statement& s, const Scop& scop, const Model& model) {
  const auto product = [&](const std::vector<std::string>& names) {
    double n = 1;
    for (std::size_t at = 0; at < s.iterators.size(); ++at)
      if (std::count(names.begin(), names.end(), s.iterators[at])) n *= model.extent(c.statement, at);
    return n;
  };
  ContractionSize size{product({c.i}), product({c.j}),   product(c.m),     product(c.n),
                       product(c.k),   product(c.batch), is_box(s.domain), c.across};
  size.prepared = scop.arrays.at(c.b->name).constant;
  size.exact = !size.plain() && exact_rows(c, s, scop);
  return size;
}

TileAccess access_of(const Contraction& c) {
  const bool packed = walks_dimension(*c.b, c.j);
  return {Model::stride(c.b->args, c.j) != Model::Stride::kUnit && !packed, c.across, !packed, false,
          !walks_dimension(*c.a, c.i)};
}

std::string line_loop(const Contraction& c) {
  const ExprPtr& last = c.b->args.back();
  const bool apart = Model::stride(c.b->args, c.j) == Model::Stride::kOther && walks_dimension(*c.b, c.j) && !c.b->pad;
  if (!apart || last->op != Op::kIndex || last->name == c.j || !walks_dimension(*c.b, last->name)) return "";
  return std::count(c.n.begin(), c.n.end(), last->name) ? last->name : "";
}

ContractionTile choose_tile(const CpuMachine& cpu, std::int64_t element_bytes, const ContractionSize& size,
                            const TileAccess& access, int threads) {
  const std::int64_t whole = std::max<std::int64_t>(1, cpu.vector_bytes / element_bytes);
  const std::int64_t registers = cpu.vector_registers - (access.windows ? cpu.vector_registers / kSpareShare : 0);
  ContractionTile best;
  for (std::int64_t lanes = whole; lanes >= std::max<std::int64_t>(1, std::min<std::int64_t>(4, whole)); lanes /= 2) {
    const double fma = lanes == whole ? cpu.fma_per_cycle : std::max(2, cpu.fma_per_cycle);
    for (std::int64_t columns = 1; columns <= kMaxColumns; ++columns) {
      for (std::int64_t rows = 1; rows * columns + columns + 1 < registers; ++rows) {
        if (size.exact && static_cast<double>(rows) > size.i) break;
        if (access.divides && (std::fmod(size.i, rows) != 0 || std::fmod(size.j, lanes * columns) != 0)) continue;
        const double accumulators = static_cast<double>(rows * columns), width = static_cast<double>(lanes);
        const double arithmetic = std::max(accumulators / fma, kFmaLatency);
        const double lines = access.split && lanes * element_bytes >= kLineBytes ? 2 : 1;
        const double panels = static_cast<double>((rows + lanes * columns) * element_bytes) / kL2BytesPerCycle;
        const double stored = (access.across ? kAcrossCycles * width : 1) / std::max(size.k, 1.0);
        const auto cycles = [&](double r) {
          const double sums = r * static_cast<double>(columns);
          const double loads = r / kLoadsPerCycle +
                               static_cast<double>(columns) * (access.gathers ? kGatherCycles * width : lines / kLoadsPerCycle);
          return std::max({sums / fma, kFmaLatency, loads, panels}) + sums * stored;
        };
        const double used = shared(size, rows, lanes * columns, threads) * rest_gain(size, rows, cycles);
        // What is hidden behind the arithmetic is not free: fewer loads for the cycles of it and, among near equals, bytes.
        const double loads = static_cast<double>(rows) + lines * static_cast<double>(columns);
        const double slack = 1 - cpu.load_cost * loads / (kLoadsPerCycle * accumulators / fma) - 0.03 * panels / arithmetic;
        const double rate = used * slack * accumulators * width / cycles(static_cast<double>(rows));
        if (rate <= best.rate) continue;
        best = {lanes, columns, rows, lanes * columns, rate};
      }
    }
    if (lanes == 1 || access.divides) break;  // unpacked operands: half vectors fetch their lines twice (lu: 114 ms, 102)
  }
  return best;
}

}  // namespace facet
