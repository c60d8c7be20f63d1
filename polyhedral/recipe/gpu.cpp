// Policy: loops of a GPU program's nests go to the grid, to blocks and threads.
//
// Each nest gets one of the forms of `map_gpu`, by its parallel outer loops (the chain) and what lies inside:
//   tiles    sums of products over enough points
//   columns  long reductions for each of few points along memory: threads share a point
//   rows     memory runs along an inner loop, or the points are too few to fill the device: a block an iteration of the chain
//   points   otherwise: a point a thread, several where the body is plain and the points many
// A nest whose outer loop carries dependences is one block, or, where its inner loops have work for many blocks, launched once
// an iteration.
#include <algorithm>
#include <cmath>

#include "polyhedral/recipe/gpu_tiles.hpp"
#include "polyhedral/recipe/gpu_time.hpp"

namespace facet {

namespace {

constexpr std::int64_t kBlockThreads = 256;  // eight warps: full occupancy up to 32 registers, no tail effects worth naming
constexpr std::int64_t kColumnSide = 32;
constexpr double kFewColumns = 200000;  // below one full set of threads of a large device (132 x 2048)
constexpr double kLongSum = 256;
constexpr double kLongPart = 1024;               // iterations of a part: 32 for each of the threads that share it
constexpr std::int64_t kMostThreads = 1024;      // of a block
constexpr double kFirstLevelBytes = 192 * 1024;  // what of L1 and shared memory is left for rows
constexpr double kFewPoints = 2048;              // too few to fill the device: the inner loops must help
constexpr std::int64_t kRowWarps = 8;            // rows of a block with a warp each
constexpr std::int64_t kFewestWarps = 4;         // smaller blocks do not fill a multiprocessor
constexpr double kRowBytes = 16 * 1024;          // of a block's rows in shared memory: 2048 threads have room for theirs
constexpr std::int64_t kShortRow = 64;           // threads: of up to 256 elements
constexpr double kManyRows = 2048;               // fewer leave multiprocessors without a block
constexpr double kManyPoints = 1 << 20;          // below, more threads are worth more than longer ones
constexpr double kLongTotal = 1 << 17;           // shorter reductions are faster in one block than in two launches
constexpr std::int64_t kTotalParts = 1024;

std::int64_t power_at_least(double n) {
  std::int64_t p = 1;
  while (static_cast<double>(p) < n) p *= 2;
  return p;
}

std::string count_text(double n) { return std::to_string(static_cast<long long>(n)); }

class Mapper {
 public:
  Mapper(GroupPlanner& planner, const std::vector<GpuTiles>& tiles) : planner_(planner), tiles_(tiles) {}

  void run() {
    const TreePtr root = planner_.schedule().tree;
    if (root->kind == Tree::Kind::kSequence) {
      for (const TreePtr& nest : root->children) map(nest);
    } else {
      map(root);
    }
  }

 private:
  void map(const TreePtr& node) {
    if (node->kind == Tree::Kind::kLeaf)
      return planner_.decline("gpu", "statement " + planner_.schedule().statement(node->statement).name,
                              "one thread: a single instance");
    if (node->kind == Tree::Kind::kSequence) {
      for (const TreePtr& c : node->children) map(c);
      return;
    }
    for (const GpuTiles& t : tiles_)
      if (find_loop(planner_.schedule().tree, t.statement, t.root)->id == node->id) {
        planner_.attempt_all(t.steps, "gpu", t.subject, t.why);
        return;
      }
    if (is_mapped(node)) return;
    GpuNest nest(planner_, node);
    if (!nest.known()) return planner_.decline("gpu", nest.subject(), "the budget is used up: one thread");
    if (nest.chain().empty()) {
      if (total(nest)) return;
      if (launches_pay(nest, node)) {
        planner_.decline("gpu", nest.subject(),
                         "it carries dependences: launched once an iteration, with " +
                             count_text(nest.parallel_points(node->children[0])) + " points inside");
        return map(node->children[0]);
      }
      return rows(nest);
    }
    if (tiles(nest) || columns(nest)) return;
    if (nest.prefers_rows(kFewPoints) && !nest.spreads().empty()) return rows(nest);
    points(nest);
  }

  bool step(const GpuNest& nest, int statement, ArgumentMap arguments, const std::string& why) {
    arguments["statement"] = arg(planner_.schedule().statement(statement).name);
    return planner_.attempt(make_step("map_gpu", std::move(arguments)), "gpu", nest.subject(), why);
  }

  bool tiles(const GpuNest& nest) {
    const std::optional<GpuProduct> p = nest.product();
    if (!p || !p->worthwhile()) return false;
    const std::int64_t each = points_of_product(*p);
    return step(nest, p->statement,
                {{"grid", arg(p->grid)},
                 {"block", arg(p->block)},
                 {"threads", arg(std::vector<std::int64_t>{kGpuTileSide, kGpuTileSide})},
                 {"points", arg(std::vector<std::int64_t>{each, each})},
                 {"stage", arg(p->sum)},
                 {"depth", arg(kGpuTileDepth)}},
                "tiles of " + std::to_string(kGpuTileSide * each) + " squared points a block, " + std::to_string(each) + " x " +
                    std::to_string(each) + " a thread, operands through shared memory");
  }

  // The loop of the reduction that threads share: the longest.
  static const TreePtr& longest(const GpuNest& nest, const std::vector<TreePtr>& loops, int statement) {
    return *std::max_element(loops.begin(), loops.end(), [&](const TreePtr& a, const TreePtr& b) {
      return nest.trips(*a, statement) < nest.trips(*b, statement);
    });
  }

  bool columns(const GpuNest& nest) {
    const std::optional<GpuReduction> r = nest.single_reduction();
    if (!r) return false;
    const TreePtr& x = nest.chain().back();
    double length = 1, inner = 0;
    for (const TreePtr& l : r->loops) {
      length *= nest.trips(*l, r->statement);
      inner = std::max(inner, nest.coalesced(*l));
    }
    if (nest.coalesced(*x) <= inner || nest.points() >= kFewColumns || length < kLongSum ||
        nest.trips(*x, r->statement) < kColumnSide)
      return false;
    const std::optional<std::vector<std::string>> grid = nest.names(nest.chain(), r->statement);
    const std::optional<std::vector<std::string>> block = nest.names({longest(nest, r->loops, r->statement), x}, r->statement);
    if (!grid || !block) return false;
    return step(
        nest, r->statement,
        {{"grid", arg(*grid)}, {"block", arg(*block)}, {"threads", arg(std::vector<std::int64_t>{kColumnSide, kColumnSide})}},
        "columns: 32 threads share each point's reduction of " + count_text(length));
  }

  // A long reduction to one place: parts by many blocks, then one block.
  bool total(const GpuNest& nest) {
    const std::optional<GpuReduction> r = nest.single_reduction();
    if (!r) return false;
    double length = 1;
    for (const TreePtr& l : r->loops) length *= nest.trips(*l, r->statement);
    if (length < kLongTotal) return false;
    const TreePtr& cut = longest(nest, r->loops, r->statement);
    const TreePtr& shared = nest.best_along_memory(r->loops, r->statement);
    const std::optional<std::vector<std::string>> split = nest.names({cut}, r->statement),
                                                  block = nest.names({shared}, r->statement);
    if (!split || !block) return false;
    const double each =
        cut == shared ? nest.trips(*cut, r->statement) / static_cast<double>(kTotalParts) : nest.trips(*shared, r->statement);
    return step(nest, r->statement,
                {{"split", arg(*split)},
                 {"parts", arg(kTotalParts)},
                 {"block", arg(*block)},
                 {"threads", arg(std::vector<std::int64_t>{row_threads(each, kBlockThreads)})}},
                "two kernels: " + std::to_string(kTotalParts) + " partial results, then their combination");
  }

  // About four iterations a thread.
  static std::int64_t row_threads(double trips, std::int64_t most) {
    std::int64_t threads = 32;
    while (threads < most && static_cast<double>(threads * 4) < trips) threads *= 2;
    return threads;
  }

  // Rows are read again by the loops that follow, and fewer, wider blocks keep the rows of all blocks of a multiprocessor in
  // its first-level cache (rows of 32 KiB on an H200: 256 threads 0.41 ms, 512 threads 0.30 ms for a layer norm of 16384 rows).
  static std::int64_t widened(std::int64_t threads, double row_bytes) {
    while (threads < kMostThreads && kResident / static_cast<double>(threads) * row_bytes > kFirstLevelBytes) threads *= 2;
    return threads;
  }

  // Arrays that live in an iteration of the nest's outer loops.
  double local_bytes(const GpuNest& nest) const {
    const Schedule& now = planner_.schedule();
    double bytes = 0;
    for (const StorageMap& m : now.storage) {
      if (m.kind != StorageMap::Kind::kContract || m.at < 0 || !find_loop(nest.chain().front(), m.at)) continue;
      double elements = 1;
      for (const ExprPtr& e : m.sizes) elements *= e->op == Op::kLiteral ? static_cast<double>(e->int_value) : kRowBytes;
      if (elements > 1) bytes += elements * static_cast<double>(size_bytes(now.scop->arrays.at(m.array).dtype));
    }
    return bytes;
  }

  // Short rows: a warp each, several a block, so that blocks are large enough to fill a multiprocessor and nothing waits for
  // more than its warp.
  bool rows_of_warps(const GpuNest& nest, const std::vector<GpuSpread>& spreads, std::int64_t threads) {
    if (threads > kShortRow || spreads.empty() || nest.chain().empty()) return false;
    const std::optional<std::pair<int, std::vector<std::string>>> grid = nest.addressed(nest.chain());
    const double last = grid ? nest.trips(*nest.chain().back(), grid->first) : 0;
    std::int64_t warps = kRowWarps;
    while (warps > 1 && static_cast<double>(warps) * local_bytes(nest) > kRowBytes) warps /= 2;
    if (warps < kFewestWarps || last < static_cast<double>(warps) || nest.points() < kManyRows) return false;
    const std::string& statement = planner_.schedule().statement(grid->first).name;
    std::vector<std::string> names = grid->second;
    const std::string row = names.back();
    names.back() += "w";
    using Numbers = std::vector<std::int64_t>;
    const auto nest_step = [](const std::string& s, const std::string& loop, std::int64_t warps, std::int64_t lanes) {
      return make_step("map_gpu", {{"statement", arg(s)},
                                   {"block", arg(std::vector<std::string>{loop})},
                                   {"warps", arg(Numbers{warps})},
                                   {"lanes", arg(Numbers{lanes})}});
    };
    std::vector<Step> steps{make_step("tile", {{"statement", arg(statement)},
                                               {"loops", arg(std::vector<std::string>{row})},
                                               {"sizes", arg(Numbers{warps})},
                                               {"names", arg(std::vector<std::string>{names.back()})}}),
                            make_step("map_gpu", {{"statement", arg(statement)}, {"grid", arg(names)}}),
                            nest_step(statement, row, warps, 1)};
    for (const GpuSpread& s : spreads)
      steps.push_back(nest_step(planner_.schedule().statement(s.statement).name, s.name, 1, 32));
    return planner_.attempt_all(steps, "gpu", nest.subject(),
                                "rows: a warp each, " + std::to_string(warps) + " a block, its lanes along memory");
  }

  void rows(const GpuNest& nest) {
    const std::vector<GpuSpread> spreads = nest.spreads();
    double trips = 1;
    for (const GpuSpread& s : spreads) trips = std::max(trips, nest.trips(*s.loop, s.statement));
    std::int64_t threads = row_threads(trips, nest.chain().empty() ? kMostThreads : kBlockThreads);
    if (rows_of_warps(nest, spreads, threads)) return;
    if (threads == kBlockThreads) threads = widened(threads, trips * 16.0 / static_cast<double>(nest.elements_a_thread()));
    if (!nest.chain().empty()) {
      const std::optional<std::pair<int, std::vector<std::string>>> grid = nest.addressed(nest.chain());
      if (!grid) return planner_.decline("gpu", nest.subject(), "no statement names its loops uniquely");
      if (!step(nest, grid->first, {{"grid", arg(grid->second)}}, "one block an iteration: memory runs along an inner loop"))
        return;
    } else if (spreads.empty()) {
      return planner_.decline("gpu", nest.subject(), "one thread: nothing is parallel");
    }
    for (const GpuSpread& s : spreads)
      step(nest, s.statement,
           {{"block", arg(std::vector<std::string>{s.name})}, {"threads", arg(std::vector<std::int64_t>{threads})}},
           std::string(s.reduces ? "a reduction shared by the threads of a block: loop " : "strided over the threads: loop ") +
               s.name + " of " + planner_.schedule().statement(s.statement).name);
  }

  void points(const GpuNest& nest) {
    // x is the loop along memory, the innermost when none is; y the innermost of the others.
    std::vector<TreePtr> order = nest.chain();
    std::size_t x = order.size() - 1;
    for (std::size_t k = order.size() - 1; k-- > 0;)
      if (nest.coalesced(*order[k]) > nest.coalesced(*order[x])) x = k;
    std::rotate(order.begin() + static_cast<std::ptrdiff_t>(x), order.begin() + static_cast<std::ptrdiff_t>(x) + 1,
                order.end());
    const std::optional<std::pair<int, std::vector<std::string>>> grid = nest.addressed(order);
    if (!grid) return planner_.decline("gpu", nest.subject(), "no statement names its loops uniquely");
    const double along = nest.trips(*order.back(), grid->first);
    const bool has_y = order.size() > 1;
    std::int64_t most = kBlockThreads;
    while (most > 32 && nest.points() < static_cast<double>(most * planner_.options().machine.gpu.multiprocessors)) most /= 2;
    const std::int64_t tx = std::min(most, std::max<std::int64_t>(power_at_least(along), has_y ? 1 : 32));
    const std::int64_t ty =
        has_y ? std::min<std::int64_t>(most / tx, power_at_least(nest.trips(*order[order.size() - 2], grid->first))) : 1;
    const std::int64_t each = nest.elements_a_thread();
    const bool several = each > 1 && !nest.has_inner_loops() && nest.points() >= kManyPoints && ty == 1 &&
                         along >= static_cast<double>(each * tx);
    std::vector<std::string> block(grid->second.end() - (ty > 1 ? 2 : 1), grid->second.end());
    std::vector<std::int64_t> threads{tx};
    if (ty > 1) threads.insert(threads.begin(), ty);
    ArgumentMap arguments{{"grid", arg(grid->second)}, {"block", arg(block)}, {"threads", arg(threads)}};
    if (several) arguments["points"] = arg(std::vector<std::int64_t>{each});
    step(nest, grid->first, std::move(arguments),
         several ? std::to_string(each) + " points a thread" : std::string("one point a thread"));
  }

  GroupPlanner& planner_;
  const std::vector<GpuTiles>& tiles_;
};

}  // namespace

void plan_gpu(GroupPlanner& planner, const std::vector<GpuTiles>& tiles) { Mapper(planner, tiles).run(); }

}  // namespace facet
