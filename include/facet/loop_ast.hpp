// The loop tree: what the schedule became, and what code generation and the loop-tree interpreter share. No isl types.
//
// polyhedral/ast/build makes a scalar tree (loops, ifs, stores). The loop-tree passes then peel, unroll, vectorise and keep
// register tiles in named values; the printers only spell. Addresses stay multi-dimensional: kRead{buffer, subscripts} and
// Store{buffer, subscripts} index a Buffer, whose `strides` (in elements) linearise them.
//
// Semantics
//   For        lower <= i < upper by a positive step. Serial order, except: kParallel iterations may run in any order on
//   threads;
//              kVector and kUnroll are requests to the loop-tree passes and do not survive them, nor does kMapped: its place on
//              the GPU is `gpu`, and the mapping makes of it kBlock/kWarp/kThread loops, grid and thread axes of which each
//              instance is one agent.
//   Store      buffer[subscripts] = value, or with `update`: buffer[subscripts] = buffer[subscripts] OP value (a reorderable
//              reduction fact). With lanes > 1 the value is a vector, the subscripts are those of lane 0, lane l goes to
//              innermost subscript + l * lane_stride; `mask` (kBool vector) selects lanes. `atomic`: the update is one action.
//              When a subscript itself is a vector (lanes > 1) the store is a scatter: lane l uses lane l of every vector
//              subscript and the scalar ones as they are; `lane_stride` is then ignored, and two active lanes never hit one
//              element.
//   kRead      with lanes > 1 and scalar subscripts: lane l reads innermost subscript + l (a contiguous load when the innermost
//   stride
//              is 1). With a vector subscript: a gather, lane l uses lane l of it; write kIota(base) in the subscript that runs
//              along the lanes: printers find the constant distance between lanes and print a load, a broadcast or a strided
//              gather. Lanes off in `mask` are not read and give 0. With `pad`, elements outside the extents give the pad. A
//              subscript that contains a kRead (data-dependent) is wrapped once when `wrap_gather`, then clamped into the
//              extents, by the printers and the interpreter alike; one kept in a Let must already be clamped.
//   Vectors    A scalar operand beside vector operands is the same in every lane (kSplat may be left out). kBool vectors are
//   masks.
//              kLaneReduce folds halves: lane l with lane l + lanes/2, until one is left. kIndex is 64-bit and never overflows:
//              index arithmetic (subscripts, bounds, conditions) is printed plainly, other integer arithmetic wraps.
//   f16, bf16  values are computed and kept as f32; only kCast to them and a Store round.
//   Let        introduces a named value (register) for the rest of its block; Set assigns it (only if `is_mutable`).
//   Allocate   a buffer local to the rest of its block (stack, or shared memory in a kernel).
//   Barrier    all agents of `scope` arrive; earlier writes of each are visible to all afterwards.
//   AsyncCopy / AsyncWait, Collective, Role, TileOp: reserved words with semantics in docs/pipeline.md.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "facet/expr.hpp"
#include "facet/program.hpp"

namespace facet {

enum class MemorySpace : std::uint8_t { kGlobal, kStack, kShared, kRegister };
enum class BufferRole : std::uint8_t { kInput, kOutput, kInOut, kWeight, kWorkspace, kLocal };

// Storage of an array. Row-major unless `strides` says otherwise; extents and strides are kI64 expressions of symbols.
struct Buffer {
  std::string name;  // the array's name; printers make it an identifier
  DType dtype = DType::kF32;
  std::vector<ExprPtr> extents;
  std::vector<ExprPtr> strides;  // elements; empty: row-major
  MemorySpace space = MemorySpace::kGlobal;
  BufferRole role = BufferRole::kLocal;
  std::int64_t alignment_bytes = 64;  // of the base address
  std::string comment;                // e.g. "packed tile of w1: [j/32][k][32]"
};

struct LoopNode;
using LoopPtr = std::shared_ptr<const LoopNode>;
using LoopList = std::vector<LoopPtr>;

enum class LoopKind : std::uint8_t {
  kSerial,
  kParallel,
  kVector,
  kUnroll,
  kMapped,
  kBlockX,
  kBlockY,
  kBlockZ,
  kWarp,
  kThreadX,
  kThreadY,
  kThreadZ
};

// Where a GPU runs the iterations of a kMapped loop. A loop on both levels is cut into pieces, one a block. Axes count from the
// innermost: 0 is x, 1 is y, the grid's others share z. Block loops inside the grid's make nests of their own shapes: there a
// thread is the digits of its linear number, the last axis running fastest.
struct GpuPlace {
  int grid = -1, block = -1;  // axis; -1: not on this level
  std::int64_t threads = 1;   // of the block along its axis
  std::int64_t points = 1;    // iterations of one thread
  std::int64_t adjacent = 1;  // how many of them are neighbours; groups of neighbours are threads * adjacent apart
  std::int64_t lanes = 0;     // how many of the threads along the axis are of one warp: warps * lanes; 0: as they come
  bool warp = false;          // `threads` counts warps: each has iterations of its own, its lanes share the nests inside
  std::int64_t stage = 0;     // iterations whose operands go through shared memory at a time; 0: none do
  std::int64_t parts = 0;     // blocks that share a reduction; a second kernel combines their results
  bool reduces = false;       // the iterations update one place: in a block partial results are combined, on the grid each
                              // update is atomic
};

struct For {
  std::string iterator;  // meaningful name, unique along a path: "i", "it", "kt"
  ExprPtr lower, upper;  // half-open
  std::int64_t step = 1;
  LoopKind kind = LoopKind::kSerial;
  int width = 0;     // kVector: lanes; kUnroll: factor, 0 is full
  int collapse = 1;  // kParallel: this and the next collapse-1 perfectly nested loops
  GpuPlace gpu;      // kMapped
  LoopList body;
  std::string comment;          // schedule band, e.g. "tile of i, 64"
  std::string statement_loops;  // "h0.it h1.it": which named loops this is
  int asked_by = -1;            // position of the group's step that asked for `kind`; -1: none did
};

struct If {
  ExprPtr condition;  // kBool
  LoopList then, otherwise;
  bool is_tail_guard = false;  // comes from a partial tile, for comments and tests
};

struct Store {
  std::string statement;  // "h0", "h0.init"
  std::string buffer;
  std::vector<ExprPtr> subscripts;
  ExprPtr value;  // type = buffer's dtype
  std::optional<ReduceKind> update;
  int lanes = 1;
  std::int64_t lane_stride = 1;
  ExprPtr mask;
  bool atomic = false;
  bool stream = false;   // nobody reads it soon: whole vectors may go past the caches
  bool runs_on = false;  // lanes past the end of a row are the next row's first elements
};

struct Let {
  std::string name;
  DType type = DType::kF32;
  int lanes = 1;
  ExprPtr value;  // null: uninitialised, is_mutable
  bool is_mutable = false;
};
struct Set {
  std::string name;
  ExprPtr value;
};
struct Allocate {
  Buffer buffer;
};
enum class Scope : std::uint8_t { kWarp, kBlock, kGrid };
struct Barrier {
  Scope scope = Scope::kBlock;
  std::string reason;  // the pair it protects: "copy of A -> h0"
};
struct Comment {
  std::string text;
};
struct AsyncCopy {  // reserved: group of element copies completing asynchronously
  Store copy;
  std::string group;
};
struct AsyncWait {
  std::string group;
  int pending = 0;
};
struct Collective {  // target = OP over the agents of `scope` of value; deterministic tree order
  Scope scope = Scope::kWarp;
  ReduceKind kind = ReduceKind::kSum;
  std::string target;  // a named mutable value
  ExprPtr value;
  int width = 32;
};
struct Role {  // reserved: warp specialisation
  ExprPtr condition;
  LoopList body;
};
struct TileOp {  // reserved: matrix multiply-accumulate on fragments
  std::string op;
  std::vector<std::string> operands;
};
struct Prefetch {
  std::string buffer;
  std::vector<ExprPtr> subscripts;
};
struct Sequence {  // a braced scope
  LoopList body;
};

struct LoopNode {
  std::variant<For, If, Store, Let, Set, Allocate, Barrier, Comment, AsyncCopy, AsyncWait, Collective, Role, TileOp, Prefetch,
               Sequence>
      node;
};

template <class T>
LoopPtr make_loop(T node) {
  return std::make_shared<const LoopNode>(LoopNode{std::move(node)});
}

// One kernel: one group of the recipe. On a GPU `body` starts with the block and thread loops, and the processor launches it
// once for each iteration of its `host` loops. Neighbouring kernels whose first host loops have the same iterators share these
// loops: for t { k0; k1 }. Iterators of host loops are like symbols to the kernel.
struct Kernel {
  std::string name;                  // "k0"
  std::vector<std::string> ops;      // tensors defined
  std::vector<std::string> buffers;  // global buffers used, in order of first use
  std::vector<For> host;             // outermost first, bodies empty
  // Buffers with dimensions that every access (without a pad) walks as one: bit d says that dimension d - 1 is 0 and d counts
  // on through the rows, [.., 0, position].
  std::map<std::string, std::uint64_t> joined;
  LoopList body;
  std::string comment;
  std::vector<std::string> recomputed;                      // arrays that are computed again where they are read
  std::vector<std::pair<std::string, std::string>> reused;  // array, and the output whose memory it lives in
  ExprPtr when;                                             // kBool of symbols: the sizes it runs for; null: all
  ExprPtr flops;                                            // kI64 expressions of symbols; null unknown
  ExprPtr bytes;                                            // least bytes moved: inputs once, outputs once
  int variant = 0;                                          // of the recipe, and its group there
  std::string group;
};

// A whole program as loop trees: what a code generator prints.
struct LoopProgram {
  std::string name;
  std::vector<Symbol> symbols;
  std::vector<ExprPtr> assumptions;                   // kBool of symbols: hold whenever the kernels run
  std::vector<Buffer> buffers;                        // global ones: inputs, outputs, weights, workspace
  std::vector<std::string> inputs, outputs, weights;  // argument order: as in the program
  std::vector<Kernel> prepare;                        // run once: packing of constants
  std::vector<Kernel> kernels;                        // in execution order
  Numerics numerics;

  const Buffer* find_buffer(const std::string& name) const;
};

// Indented pseudo-code, deterministic:  for it in 0..ceil(M/32) / h0[i, j] += ... (stage "ast").
std::string to_text(const GpuPlace& place);  // "grid x, block x 256, 4 a thread"
std::string to_text(const LoopList& body, int indent = 0);
std::string to_text(const Kernel& kernel);
std::string to_text(const LoopProgram& program);

}  // namespace facet
