// How a contraction's nest walks its register tiles: what threads share out, which blocks stay in which cache, in what order.
//
//     for jt (threads)                        columns for threads: each packs its own panels of B
//       for it                                rows of A that half of L2 holds while the columns pass
//         for jr, ir  |  for ir, jr           the panel of B meets all rows; or tiles follow each other along C's rows
//           for k
//
// Columns for threads unless the rows' tiles are shared out better, by more than what both threads fetch then costs: all of B
// instead of all of A, and B's way into panels and back (20 x 2577 x 2125 took 2.3 ms in rows, 1.1 in columns). Panels of B are
// packed by the thread that uses them, just before, and A is only read. Tiles go along C's rows where a thread's part of B
// stays in L2, its part of C does not, and C has more rows than half the tables of addresses: each is then met once (4096
// x 4096 x 64 took a third longer down the columns). With fewer rows panels in L1 are worth more (a 1 x 1 layer of 256 rows: 10
// %).
//
// Where rows are shared out and L1 does not hold all panels of B, a block is what half of L2 holds of A: each panel passes it
// from there (96 x 592704 over 96 f32: 109 ms in one block a thread, 83 in blocks).
//
// The reduction is cut where a panel of B and one of A do not fit into L2; where rows of B lie on pages of their own, more
// than the tables of addresses hold, so that every panel would look up each of them again; and where few row tiles read B in
// place, which find its rows in L1 then: unless C's way from and to its cache for every block of k takes longer than that (64 x
// 4096 x 4096: 20 % faster in blocks of 256, 16 x 512 x 4096 25 %). Where all threads' panels are more than L3 holds, it is cut
// as well if that moves fewer bytes: shorter rows of A make taller blocks, which pass the panels less often, and C comes and
// goes once for each block (2048 cubed f64 on two Zen 4 cores: 239 ms whole, 200, 187 and 195 in blocks of 256, 512 and 1024;
// f32, whose panels L3 holds, equal). Blocks divide the reduction where they can: the last of others needs masks in the copy
// (64 x 4096 x 4096 f64: 58 ms in blocks of 448, 40 of 512).
#include <algorithm>
#include <cmath>
#include <numeric>

#include "polyhedral/recipe/contraction.hpp"

namespace facet {

namespace {

constexpr double kL2GbS = 100, kL3GbS = 20;  // of one core, where the machine does not say
constexpr double kNearlyAsGood = 1.02;       // columns for threads, against rows
constexpr double kThirdShare = 0.6;          // of L3, for panels: others use it too
constexpr double kFewerBytes = 0.75;         // to and from memory, that pay for cutting the reduction
constexpr double kFromMemory = 0.1;          // of the arithmetic's time: less is hidden behind it
constexpr double kNearBlock = 4.0 / 3;       // of a block's size, up to which one that divides the reduction is taken instead
constexpr double kWorthPacking = 0.5;        // of L3's rate, wanted by rows that L2's sets do not hold
constexpr double kTall = 4;                  // rows to columns: from there on A is what threads share out
constexpr double kFewTiles = 6;              // of rows, for which columns of B need no panels (8 x 32 tiles: equal at 64 rows)
constexpr int kTriangleBlocks = 3;           // a thread: sizes 1 to 6 for two make equal halves but for a 21st
constexpr double kRunOfReduction = 64;       // iterations of its innermost loop in a block that several fill: lines of A
constexpr double kLongReduction = 16;        // iterations of a loop that compilers leave a loop
constexpr std::int64_t kRunBytes = 2048;     // of a row, for processors to fetch it ahead
constexpr std::int64_t kWideBlock = 8;       // panels that pay for A's way from L3

double read_bytes_per_us(const CpuMachine& cpu, std::size_t level, double otherwise) {
  const bool known = cpu.caches.size() > level && cpu.caches[level].read_gb_s > 0;
  return 1000 * (known ? cpu.caches[level].read_gb_s : otherwise);
}

double tiles(double extent, std::int64_t size) { return std::ceil(extent / static_cast<double>(size)); }

// One block a thread.
std::int64_t share_of(double extent, std::int64_t unit, int threads) {
  return static_cast<std::int64_t>(std::ceil(tiles(extent, unit) / threads)) * unit;
}

class Walking {
 public:
  Walking(const CpuMachine& cpu, std::int64_t bytes, const ContractionSize& size, const ContractionTile& tile, double row_bytes,
          int threads)
      : cpu_(cpu),
        bytes_(static_cast<double>(bytes)),
        size_(size),
        tile_(tile),
        row_bytes_(row_bytes),
        threads_(threads),
        l2_(static_cast<double>(second_cache_bytes(cpu))) {}

  ContractionWalk run() {
    if (!size_.even) return in_blocks();
    share();
    cut_reduction();
    const double k = walk_.k_block > 0 ? static_cast<double>(walk_.k_block) : size_.k;
    follow_rows(k);
    const std::int64_t most = rows_in_cache(cpu_, static_cast<std::int64_t>(bytes_), k, tile_.mr);
    if (walk_.columns || !size_.plain()) {
      if (!walk_.along_rows && size_.i > 1.5 * static_cast<double>(most)) walk_.rows = most;
    } else if (k * size_.n * bytes_ > 0.5 * l2_ || (k * size_.n * bytes_ > first_cache() && rows_ * k * bytes_ > l2_)) {
      walk_.thread_block = shared_block(size_.i, most, tile_.mr, threads_);
    } else if (k * size_.n * bytes_ <= first_cache()) {
      // All panels of B stay there: rows of A, if they do not stay in L2, are met by all of them at once.
      walk_.along_rows = walk_.k_block == 0 && rows_ * k * bytes_ > l2_;
    }
    return walk_;
  }

 private:
  const CpuMachine& cpu_;
  double bytes_;
  const ContractionSize& size_;
  const ContractionTile& tile_;
  double row_bytes_;
  int threads_;
  double l2_;
  ContractionWalk walk_;
  double rows_ = 0, columns_ = 0;  // of one thread

  void share() {
    const double by_columns = std::ceil(tiles(size_.j, tile_.nr) / threads_) * tiles(size_.i, tile_.mr);
    const double by_rows = std::ceil(tiles(size_.i, tile_.mr) / threads_) * tiles(size_.j, tile_.nr);
    const double columns_us = by_columns * tile_us() + fetch_us(size_.i, size_.j, 0);
    const double rows_us = by_rows * tile_us() + fetch_us(size_.j, size_.i, size_.prepared ? 0 : size_.j);
    // Both threads read all of A, or all of B.
    const bool tall = size_.i > kTall * size_.j && rows_us <= columns_us * kNearlyAsGood;
    walk_.columns = !tall && columns_us <= rows_us * kNearlyAsGood;
    walk_.thread_block = walk_.columns ? share_of(size_.j, tile_.nr, threads_) : share_of(size_.i, tile_.mr, threads_);
    rows_ = walk_.columns || !size_.plain() ? size_.m : static_cast<double>(walk_.thread_block);
    columns_ = walk_.columns && size_.plain() ? static_cast<double>(walk_.thread_block) : size_.n;
  }

  // The arithmetic of one register tile.
  double tile_us() const {
    return 2 * static_cast<double>(tile_.mr * tile_.nr) * size_.k / (1000 * peak_gflop_s(cpu_, bytes_));
  }

  // What one thread fetches from L3 beside it: one operand whole, its share of the other, and twice its share of what is packed
  // for all threads.
  double fetch_us(double whole, double part, double packed) const {
    if (size_.k * std::max(whole, part) * bytes_ <= 0.5 * l2_) return 0;  // near at once
    const double elements = size_.k * (whole + (part + 2 * packed) / threads_);
    return elements * bytes_ / read_bytes_per_us(cpu_, 2, kL3GbS);
  }

  // Triangles: blocks of the larger side that L2 holds, which the threads take as they come, the longest first: with a few of
  // them a thread the shortest evens out the rest. Each block walks the other operand again.
  ContractionWalk in_blocks() {
    cut_deep();
    const double k = walk_.k_block > 0 ? static_cast<double>(walk_.k_block) : size_.k;
    walk_.columns = size_.n > size_.m;
    const std::int64_t unit = walk_.columns ? tile_.nr : tile_.mr;
    const std::int64_t most = rows_in_cache(cpu_, static_cast<std::int64_t>(bytes_), k, unit);
    // Its columns of B stay in L2: A passes by once, not for every panel (symm: 26 ms, 23 so).
    walk_.along_rows = walk_.columns;
    const double extent = walk_.columns ? size_.j : size_.i;
    walk_.thread_block = threads_ > 1 ? std::min(most, share_of(extent, unit, kTriangleBlocks * threads_)) : most;
    return walk_;
  }

  // Blocks of columns whose rows of B stay in L2, where they are wide enough for A to pass by. Further loops come between
  // tiles.
  void follow_rows(double k) {
    const bool pages =
        rows_ > 0.5 * static_cast<double>(cpu_.tlb_pages) && size_.n * bytes_ >= static_cast<double>(cpu_.page_bytes);
    if (!size_.plain() || walk_.k_block > 0 || !pages || rows_ * columns_ * bytes_ <= 0.5 * l2_) return;
    const std::int64_t most = static_cast<std::int64_t>(0.5 * l2_ / (k * bytes_)) / tile_.nr * tile_.nr;
    const bool all = columns_ <= static_cast<double>(most);
    walk_.along_rows = all || (walk_.columns && most >= kWideBlock * tile_.nr);
    if (walk_.along_rows && !all) walk_.thread_block = shared_block(size_.j, most, tile_.nr, threads_);
  }

  void cut_deep() {
    const double row = static_cast<double>(tile_.mr + tile_.nr) * bytes_;
    if (size_.k * row > 0.75 * l2_) walk_.k_block = static_cast<std::int64_t>(0.5 * l2_ / row);
  }

  void cut_reduction() {
    cut_deep();
    const std::int64_t block = in_first_cache();
    if (!size_.plain() || !walk_.columns || size_.k < 2.0 * block) return;
    const double part = rows_ * columns_ * bytes_;
    const double rate = part <= 0.6 * l2_ ? read_bytes_per_us(cpu_, 1, kL2GbS) : read_bytes_per_us(cpu_, 2, kL3GbS);
    const double passes = size_.k / static_cast<double>(block);
    if (2 * size_.m * size_.n * bytes_ * passes / rate < pages_us() + again_us()) walk_.k_block = dividing(block);
    if (walk_.k_block == 0) cut_for_memory();
  }

  // A size near the block's that divides the reduction; the block where there is none.
  std::int64_t dividing(std::int64_t block) const {
    for (std::int64_t size = static_cast<std::int64_t>(kNearBlock * static_cast<double>(block)); 2 * size >= block; --size)
      if (std::fmod(size_.k, static_cast<double>(size)) == 0) return size;
    return block;
  }

  // Panels beyond L3: halves of the reduction, and halves of these, while fewer bytes pass.
  void cut_for_memory() {
    const double l3 = cpu_.caches.size() > 2 ? static_cast<double>(cpu_.caches[2].size_bytes) : 0;
    if (l3 == 0 || size_.prepared || size_.k * size_.n * bytes_ <= kThirdShare * l3) return;
    const double rate = 1000 * copied_gb_s(cpu_), whole = bytes_moved(size_.k);
    const double arithmetic_us = tile_us() * tiles(size_.i, tile_.mr) * tiles(size_.j, tile_.nr) / threads_;
    if (whole / rate < kFromMemory * arithmetic_us) return;
    double least = kFewerBytes * whole;
    for (double block = std::ceil(size_.k / 2); block >= static_cast<double>(in_first_cache()); block = std::ceil(block / 2)) {
      const std::int64_t size = dividing(static_cast<std::int64_t>(block));
      if (bytes_moved(static_cast<double>(size)) >= least) continue;
      least = bytes_moved(static_cast<double>(size));
      walk_.k_block = size;
    }
  }

  // B once for every block of rows, C there and back once for every block of the reduction but one.
  double bytes_moved(double block) const {
    const std::int64_t rows = rows_in_cache(cpu_, static_cast<std::int64_t>(bytes_), block, tile_.mr);
    return bytes_ * (tiles(size_.m, rows) * size_.k * size_.n + 2 * size_.m * size_.n * (std::ceil(size_.k / block) - 1));
  }

  // Looking up each row of B for every panel, where they are more than the tables hold.
  double pages_us() const {
    if (row_bytes_ < static_cast<double>(cpu_.page_bytes) || size_.k <= cpu_.tlb_pages || size_.prepared) return 0;
    return size_.k * tiles(size_.j, tile_.nr) * cpu_.page_walk_ns * 1e-3;
  }

  // Fetching columns that are read in place from L2 again for every row tile but the first.
  double again_us() const {
    if (!few_row_tiles(size_, tile_) || size_.prepared || size_.across) return 0;
    return (tiles(size_.m, tile_.mr) - 1) * size_.k * size_.n * bytes_ / read_bytes_per_us(cpu_, 1, kL2GbS);
  }

  double first_cache() const { return static_cast<double>(cpu_.caches.empty() ? 32768 : cpu_.caches[0].size_bytes); }

  // Rows of a panel of B that fill L1: the row tiles that meet them follow at once.
  std::int64_t in_first_cache() const {
    const double l1 = first_cache();
    return std::max<std::int64_t>(64,
                                  static_cast<std::int64_t>(4 * l1 / 3 / (static_cast<double>(tile_.nr) * bytes_)) / 64 * 64);
  }
};

}  // namespace

ContractionWalk choose_walk(const CpuMachine& cpu, std::int64_t element_bytes, const ContractionSize& size,
                            const ContractionTile& tile, double row_bytes, int threads) {
  return Walking(cpu, element_bytes, size, tile, row_bytes, threads).run();
}

void order_reduction(Contraction& c, const std::function<double(const std::string& loop)>& extent) {
  auto last = std::find_if(c.k.begin(), c.k.end(), [&](const std::string& k) {
    return extent(k) >= kLongReduction && Model::stride(c.a->args, k) == Model::Stride::kUnit && walks_dimension(*c.a, k);
  });
  if (last == c.k.end() && extent(c.k.back()) < kLongReduction)
    last = std::max_element(c.k.begin(), c.k.end(),
                            [&](const std::string& a, const std::string& b) { return extent(a) < extent(b); });
  if (last != c.k.end()) std::rotate(last, last + 1, c.k.end());
}

std::int64_t gathered_columns(const CpuMachine& cpu, std::int64_t element_bytes, const ContractionSize& size,
                              const ContractionTile& tile, double row_bytes) {
  if (size.prepared || row_bytes < static_cast<double>(cpu.page_bytes)) return 0;
  const double panel_bytes = size.k * static_cast<double>(tile.nr * element_bytes);
  const std::int64_t near = static_cast<std::int64_t>(static_cast<double>(second_cache_bytes(cpu)) / 4 / panel_bytes);
  const std::int64_t panels = std::min(kRunBytes / (tile.nr * element_bytes), near);
  return panels < 2 || size.j < static_cast<double>(2 * panels * tile.nr) ? 0 : panels * tile.nr;
}

std::vector<std::int64_t> reduction_blocks(const std::vector<double>& extents, std::int64_t block) {
  std::vector<std::int64_t> sizes(extents.size(), 0);
  double rest = static_cast<double>(block);
  for (std::size_t k = extents.size(); block > 0 && k-- > 0;) {
    bool more = false;
    for (std::size_t outer = 0; outer < k; ++outer) more = more || extents[outer] > 1;
    const double size = std::min(extents[k], std::max(std::ceil(more ? std::min(rest, kRunOfReduction) : rest), 1.0));
    rest = std::max(rest / size, 1.0);
    if (size < extents[k]) sizes[k] = static_cast<std::int64_t>(size);
  }
  return sizes;
}

void cut_reduction(std::vector<Step>& steps, const std::string& statement, std::vector<std::string> order,
                   const std::vector<std::string>& reduction, const std::vector<std::int64_t>& sizes,
                   const std::vector<std::string>& tile) {
  std::vector<std::string> blocks, whole;
  for (std::size_t k = 0; k < reduction.size(); ++k) {
    if (sizes[k] != 1) whole.push_back(reduction[k]);
    if (sizes[k] > 0) blocks.push_back(sizes[k] > 1 ? reduction[k] + "t" : reduction[k]);
    if (sizes[k] > 1) steps.push_back(tile_loop(statement, reduction[k], sizes[k], reduction[k] + "t"));
  }
  order.insert(order.begin() + 1, blocks.begin(), blocks.end());
  order.insert(order.end(), whole.begin(), whole.end());
  order.insert(order.end(), tile.begin(), tile.end());
  steps.push_back(make_step("interchange", {{"statement", arg(statement)}, {"order", arg(order)}}));
}

bool few_row_tiles(const ContractionSize& size, const ContractionTile& tile) {
  return size.m <= kFewTiles * static_cast<double>(tile.mr);
}

double balance(double trips, int threads) { return trips / (std::ceil(trips / threads) * threads); }

std::int64_t shared_block(double extent, std::int64_t most, std::int64_t unit, int threads) {
  const double units = std::ceil(extent / static_cast<double>(unit));
  const double largest = std::max(1.0, std::min(units, static_cast<double>(most / unit)));
  double best = largest, least = units * 2;
  // Down to a quarter: shorter blocks would walk the other operand too often. A static share gets ceil(blocks / threads).
  for (double block = largest; block >= 1 && block >= largest / 4; --block) {
    const double each = std::min(units, std::ceil(std::ceil(units / block) / threads) * block);
    if (each >= least) continue;
    least = each;
    best = block;
  }
  return static_cast<std::int64_t>(best) * unit;
}

std::vector<std::vector<Step>> ways_apart(const Schedule& schedule, int statement) {
  const std::string loop = loops_around(schedule.tree, statement).front()->names.at(statement);
  const Step out = make_step("distribute", {{"statement", arg(schedule.statement(statement).name)}, {"loop", arg(loop)}});
  std::vector<std::vector<Step>> ways;
  for (const std::vector<Step>& expansion : expansions(schedule, statement))
    for (const char* where : {"", "last", "first"}) {
      ways.push_back(expansion);
      ways.back().push_back(out);
      if (*where) ways.back().back().arguments[where] = {true};
    }
  ways.push_back({out});
  return ways;
}

double rows_passed(const ContractionSize& size, const ContractionWalk& walk) {
  if (!size.plain() || walk.along_rows) return 0;
  if (walk.rows > 0) return static_cast<double>(walk.rows);
  return walk.columns ? size.m : static_cast<double>(walk.thread_block);
}

bool refetches_rows(const CpuMachine& cpu, std::int64_t element_bytes, const ContractionTile& tile, double rows, double depth,
                    double row_bytes) {
  const CacheLevel l2 = cpu.caches.size() > 1 ? cpu.caches[1] : CacheLevel{second_cache_bytes(cpu)};
  const std::int64_t way = l2.size_bytes / std::max(1, l2.associativity), apart = static_cast<std::int64_t>(row_bytes);
  if (way == 0 || apart == 0) return false;
  const std::int64_t step = std::gcd(apart, way), places = way / step;
  const double bytes = static_cast<double>(element_bytes), over = std::max(1.0, depth * bytes / static_cast<double>(step));
  if (rows / static_cast<double>(places) * over <= l2.associativity) return false;
  // An element serves 2 nr operations of a panel.
  const double wanted = 1000 * peak_gflop_s(cpu, bytes) * bytes / (2 * static_cast<double>(tile.nr));
  return wanted > kWorthPacking * read_bytes_per_us(cpu, 2, kL3GbS);
}

std::int64_t rows_in_cache(const CpuMachine& cpu, std::int64_t element_bytes, double k, std::int64_t mr) {
  const std::int64_t rows =
      static_cast<std::int64_t>(static_cast<double>(second_cache_bytes(cpu) / 2 / element_bytes) / std::max(k, 1.0));
  return std::max(mr, rows / mr * mr);
}

double stride_bytes(const Expr& read, const std::string& loop, const Scop& scop, const Model& model) {
  const std::vector<ExprPtr>& extents = scop.arrays.at(read.name).extents;
  double bytes = static_cast<double>(size_bytes(read.type));
  for (std::size_t d = read.args.size(); d-- > 0;) {
    const std::int64_t step = Model::step(read.args[d], loop).value_or(0);
    if (step != 0) return bytes * std::abs(static_cast<double>(step));
    bytes *= static_cast<double>(evaluate_index(extents[d], model.sizes()));
  }
  return static_cast<double>(size_bytes(read.type));
}

bool has_plain_nest(const Schedule& schedule, int statement) {
  const Statement& s = schedule.statement(statement);
  TreePtr t = loops_around(schedule.tree, statement).front();
  std::size_t depth = 0;
  for (; t->kind == Tree::Kind::kLoop; t = t->children[0]) ++depth;
  if (depth != s.subscripts.size() || t->kind != Tree::Kind::kSequence || t->children.size() != 2) return false;
  const TreePtr& first = t->children[0];
  return first->kind == Tree::Kind::kLeaf && schedule.statement(first->statement).target == s.target &&
         !schedule.statement(first->statement).update && contains(t->children[1], statement);
}

}  // namespace facet
