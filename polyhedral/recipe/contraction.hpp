// Contractions: which loops of a statement play which part, and the tile that the machine takes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "polyhedral/recipe/planner.hpp"

namespace facet {

// C[..] += A[..] * B[..]. The loops of C by where else they occur: m in A only, n in B only, batch in both or none; k are the
// reduction's. i and j are the loops of the register tile: i of m, j of n, the lanes. Where j does not walk the last dimension
// of C the tile is stored across (`across`).
struct Contraction {
  int statement = -1;
  std::vector<std::string> batch, m, n, k;
  std::string i, j;
  bool across = false;
  const Expr* a = nullptr;
  const Expr* b = nullptr;
};

// Sizes of one statement at the typical values of the symbols.
struct ContractionSize {
  double i = 1, j = 1;         // the tile's loops
  double m = 1, n = 1, k = 1;  // all loops of the kind
  double batch = 1;
  bool even = true;       // no triangle: blocks of a loop are equal work
  bool across = false;    // the result is stored across the lanes
  bool prepared = false;  // B is constant: its panels are there before the kernel runs
  bool exact = false;     // i's extent is a number: rows that are left over are a tile of their own

  bool plain() const { return m <= i && n <= j && batch <= 1; }  // i, j and the reduction only
};

struct ContractionTile {
  std::int64_t lanes = 1, columns = 1;  // of vectors: nr = lanes * columns
  std::int64_t mr = 1, nr = 1;
  double rate = 0;  // modelled multiply-adds a cycle
};

// Every choice of i and j that the statement allows, where it is a contraction.
std::vector<Contraction> recognise_contractions(const Statement& s, int number, const Model& model);

ContractionSize size_of(const Contraction& c, const Statement& s, const Scop& scop, const Model& model);

// Does the loop walk one dimension of the operand alone? Then panels of it can be packed.
bool walks_dimension(const Expr& read, const std::string& name);

// Blocks of the points of a convolution, whose windows of A are copied together: one of `outside`'s iterations each, and
// `rows` of the first loop of `inside`.
struct Patches {
  std::vector<std::string> outside, inside;
  std::int64_t rows = 1;
  double points = 0;  // of C in a block
};
// Of at most so many bytes of A, `first` outermost; nullopt: A has no windows along i, or even one row's are larger.
std::optional<Patches> patches_of(const Contraction& c, const Statement& s, const Model& model, const std::string& first,
                                  double bytes, int threads);

// How many filters are a thread's, which then copies all windows for itself; 0: points are shared out instead.
std::int64_t filters_of_thread(const Contraction& c, const ContractionSize& size, const ContractionTile& tile,
                               const Model& model, int threads);

// Blocks of the reduction's loop `loop` that all points of a panel of filters meet in turn; inside them it runs in `order`.
struct DepthBlocks {
  std::string loop;
  std::int64_t size = 0;  // 0: not cut, C in pieces of a row of points
  std::vector<std::string> order;
};
// For `points` of C on one thread; nullopt: no windows, sums that may not change their order, or nothing would be met again.
std::optional<DepthBlocks> depth_blocks(const Contraction& c, const Statement& s, Numerics::Reassociate sums,
                                        const Model& model, const CpuMachine& cpu, const ContractionSize& size,
                                        const ContractionTile& tile, double points);

// How a tile reaches its operand and its result along the lanes.
struct TileAccess {
  bool gathers = false;  // the operand's elements lie apart, and no copy can bring them together
  bool across = false;   // so do the result's
  bool split = false;    // the operand's vectors lie anywhere: those as wide as a line of the cache touch two of them
  bool divides = false;  // the tile's sides, of whole vectors, must divide those of the nest
  bool windows = false;  // the rows' operand is read in windows, which are copied with their padding
};
TileAccess access_of(const Contraction& c);

// The register tile of the highest modelled rate, the threads' shares of its rows or columns included.
ContractionTile choose_tile(const CpuMachine& cpu, std::int64_t element_bytes, const ContractionSize& size,
                            const TileAccess& access = {}, int threads = 1);

// How a nest walks its tiles.
struct ContractionWalk {
  bool columns = true;            // threads share out j, else i
  std::int64_t thread_block = 0;  // of that loop: one block a thread, or more where the cache asks for it
  std::int64_t rows = 0;          // of i that stay in cache while the columns pass; 0: all
  std::int64_t k_block = 0;       // of the reduction; 0: all of it
  bool along_rows = false;        // tiles follow each other along C's rows
};

// So few tiles of rows that B's columns are read in place, row by row a few ahead, if they are contiguous.
bool few_row_tiles(const ContractionSize& size, const ContractionTile& tile);

// C is computed in blocks of its last loop, and turned as they are stored.
struct TurnedResult {
  std::string loop;
  std::int64_t size = 0;
  std::int64_t columns = 0;  // of j in a block
};
// Of a choice that is stored across; nullopt: not so.
std::optional<TurnedResult> turned_result(const Contraction& c, const Statement& s, const Model& model,
                                          const ContractionSize& size, const ContractionTile& tile, std::int64_t cache_bytes);
// Its store: squares of lanes and the last loop, in vectors as long as a line where the machine has them.
void turn_store(GroupPlanner& planner, const std::string& copy, const Contraction& c, const TurnedResult& turned);
// The tile's rate where B is turned for it, if its lines lie along other loops than the lanes.
double rate_with_turning(double rate, const Contraction& c, const ContractionSize& size);

// Lanes that go on from row to row: iterations of `loop` around those of j, together whole vectors. C's rows of j are short,
// the tile's rows are those of C that follow each other.
struct JoinedLanes {
  std::string loop;
  std::int64_t count = 1;  // of its iterations
  std::string i;           // the loop of the tile's rows
  ContractionTile tile;
};
std::optional<JoinedLanes> joined_lanes(const Contraction& c, const Statement& s, const Model& model, const CpuMachine& cpu,
                                        const ContractionTile& alone);

// Lanes for every statement of the tile below `loop`, unrolled rows for those that keep it in registers.
struct MarkedTile {
  const Contraction& contraction;
  const ContractionTile& tile;
  int statement;
  std::string loop, joined;
  bool deep = false;  // the loop is around all points of a panel, not one register tile
};
void mark_tile(GroupPlanner& planner, const MarkedTile& marked);

// The store of a tile whose lanes are not C's last loop, `rows`: lanes and rows innermost.
void order_store(GroupPlanner& planner, const std::string& copy, const std::string& rows, const std::string& lanes);

// Consumers that follow the nest, element by element, share its loops: they run in the register tile.
void join_consumers(GroupPlanner& planner, int statement);

// C's dimensions by the loops that walk them, that of the lanes last.
std::vector<std::string> lanes_last(const Statement& s, const std::string& lanes);

// Nothing; and arrays for the scalars of the statement's nest, when there are any: what may have to come before it leaves it.
std::vector<std::vector<Step>> expansions(const Schedule& now, int statement);

// Does the nest that holds the statement have shared loops that walk exactly C: { init; for k S } and nothing else?
bool has_plain_nest(const Schedule& schedule, int statement);

// The bytes from one iteration of the loop to the next in the read's array; that of one element where nothing says more.
double stride_bytes(const Expr& read, const std::string& loop, const Scop& scop, const Model& model);

// The walk of a nest of the loops i, j and the reduction. `row_bytes`: from one k to the next in B.
ContractionWalk choose_walk(const CpuMachine& cpu, std::int64_t element_bytes, const ContractionSize& size,
                            const ContractionTile& tile, double row_bytes, int threads);

// A block of the reduction's loops, the last innermost, of `block` iterations in all: the size of each loop's blocks; 1: it
// stands outside as it is; 0: not cut.
std::vector<std::int64_t> reduction_blocks(const std::vector<double>& extents, std::int64_t block);

// The steps that put such blocks behind the first loop of `order`, the rest of the reduction and the tile's loops behind its
// last.
void cut_reduction(std::vector<Step>& steps, const std::string& statement, std::vector<std::string> order,
                   const std::vector<std::string>& reduction, const std::vector<std::int64_t>& sizes,
                   const std::vector<std::string>& tile);

// Which loop of the reduction is innermost, where sums may change their order: a long one along A's lines, so that A is read
// where it lies, else the longest where the last one is short, as compilers unroll a loop of three taps around a register tile
// and spill it.
void order_reduction(Contraction& c, const std::function<double(const std::string& loop)>& extent);

// Columns of the panels that are packed together where rows of B lie `row_bytes`, pages, apart, so that runs of a row are long
// enough to be fetched ahead; 0: one by one.
std::int64_t gathered_columns(const CpuMachine& cpu, std::int64_t element_bytes, const ContractionSize& size,
                              const ContractionTile& tile, double row_bytes);

// tile of one loop.
Step tile_loop(const std::string& statement, const std::string& loop, std::int64_t size, const std::string& name);

// The loop of B's lines where the lanes walk another dimension of it: both of C, each alone in its subscript. "": none.
std::string line_loop(const Contraction& c);

// What brings `nest`, which follows the cluster around `statement`, into its loops when it computes one element from each
// element of what the cluster computes; else empty.
std::vector<Step> joining_steps(const Schedule& schedule, int statement, const TreePtr& nest, const TreePtr& cluster);

// Steps of which one makes a nest of its own out of the one around the statement: at its place in the order, or before or after
// all others; scalars that hold the nest together are given arrays where that does not do. The plainest last, at least one.
std::vector<std::vector<Step>> ways_apart(const Schedule& schedule, int statement);

// Rows of A whose k values fill half of L2, a multiple of mr.
std::int64_t rows_in_cache(const CpuMachine& cpu, std::int64_t element_bytes, double k, std::int64_t mr);

// Rows of a plain product that all panels of a thread pass before the next ones; 0 of others.
double rows_passed(const ContractionSize& size, const ContractionWalk& walk);

// Do rows of A, so many and of `depth` elements each, `row_bytes` apart, fall on fewer sets of L2 than hold them, so that every
// panel of B fetches them again, faster than L3 gives them?
bool refetches_rows(const CpuMachine& cpu, std::int64_t element_bytes, const ContractionTile& tile, double rows, double depth,
                    double row_bytes);

// Full tiles in a nest of their own, where the reduction makes a triangle with the tile's sides: the statement of that nest,
// which is the contraction from then on.
int cut_triangle(GroupPlanner& planner, int statement, const Contraction& c, const ContractionTile& tile);

// The share of time that `threads` work when `trips` equal iterations are dealt out.
double balance(double trips, int threads);

// The size of blocks of a loop of `extent`, a multiple of `unit` and about `most`, that the threads share out best.
std::int64_t shared_block(double extent, std::int64_t most, std::int64_t unit, int threads);

// A loop of which every iteration uses a part of an operand that no other does: `size` of the operand's `axis`, `depth` of the
// reduction.
struct PackedBlock {
  std::string loop, axis;
  std::int64_t size = 0;
  double depth = 0;
  bool whole_lines = false;  // the operand's other loops are covered too: a line of it, one iteration of the others
  bool fixed = false;        // its other loops stand around the block
  std::string part;          // the loop of the reduction that it has a block of; "": none
};

// The operands of the nest that computes `statement` in tiles of `tile` move to packed buffers where that pays, block by block
// where there is one.
struct PackedNest {
  const Contraction& contraction;
  const ContractionSize& size;
  const ContractionTile& tile;
  std::string statement;
  std::vector<PackedBlock> blocks;
  double row_tiles = 1;    // that use a panel of B on one thread
  std::string patch_loop;  // blocks of A's windows, each of which fits into L2; "": none
  bool deep = false;       // A's windows are met in blocks of the reduction
  std::string joined;      // the loop whose iterations share vectors with j, `count` at a time; "": none
  std::int64_t count = 1;
  double rows = 0, depth = 0;  // of A, that the panels of B pass one after the other, and so many elements of each
};
void pack_operands(GroupPlanner& planner, const PackedNest& nest);

}  // namespace facet
