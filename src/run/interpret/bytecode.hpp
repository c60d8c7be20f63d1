// Bytecode of the loop-tree interpreter: what compile makes of a kernel and the machine executes.
//
// Registers are slots numbered from 0; a vector of n lanes takes n consecutive ones. Constants have negative numbers
// (-1 - k is constant k), so an operand needs no tag.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "facet/loop_ast.hpp"
#include "src/run/interpret/slot.hpp"

namespace facet::agents {

inline constexpr int kNoRegister = std::numeric_limits<int>::min();

// The first registers of an agent of a GPU kernel: its block's and its own coordinates, x y z.
inline constexpr int kAgentRegisters = 6;

enum class Bc : std::uint8_t {
  kMove,
  kUnary,
  kBinary,
  kCast,
  kSelect,
  kFma,
  kIota,
  kLaneReduce,
  kAddI64,
  kSubI64,
  kMulI64,
  kLtI64,
  kAddF32,
  kSubF32,
  kMulF32,  // scalar fast forms of kBinary
  kLoad,
  kStore,
  kJump,           // to imm
  kJumpIfZero,     // a == 0: to imm; scalar: of a choice between operands
  kChosen,         // dst was chosen by a (op): for undefined values only
  kLoopTest,       // a >= b: to imm
  kLoopNext,       // a += c's constant step; a < b: to imm
  kParallelBegin,  // a lower, b upper, extra: ParallelLoop
  kParallelNext,
  kAllocate,    // extra: BufferDecl
  kBarrier,     // extra: Scope
  kCollective,  // dst, a value; extra: CollectiveInfo
  kHalt,
};

struct Instr {
  Bc code = Bc::kHalt;
  DType type = DType::kF32;  // of the operands
  Op op = Op::kAdd;          // kUnary, kBinary
  std::uint8_t scalar = 0;   // bit k: operand k is one slot for all lanes
  std::int16_t lanes = 1;
  ReduceKind reduce = ReduceKind::kSum;
  DType to = DType::kF32;  // kCast
  int dst = kNoRegister, a = kNoRegister, b = kNoRegister, c = kNoRegister;
  int extra = 0;
  int site = 0;          // index into Bytecode::sites
  std::int64_t imm = 0;  // jump target
};

// One read or write of a buffer.
constexpr std::size_t kMaxRank = 64;  // bits of AccessInfo's sets; a tensor's 32 dimensions and those of a layout

struct AccessInfo {
  int buffer = 0;
  int arguments = 0;  // first subscript's place in Code::operands
  int rank = 0;
  std::uint64_t vector_subscripts = 0;  // bit d: subscript d has one value per lane
  std::uint64_t runs_on = 0;            // bit d: subscript d may name an element of a later row
  std::uint64_t gather = 0;             // bit d: subscript d is data-dependent and is clamped into the buffer
  bool wrap = false;                    // gathers: negative subscripts wrap once first
  std::int64_t lane_stride = 1;         // on the innermost subscript, when no subscript is a vector
  int pad = kNoRegister;                // value when outside
  int mask = kNoRegister;               // lanes taking part
  bool scalar_mask = false;
  bool tracked = false;  // other agents may touch the same element: check for races
  bool update = false;   // store: buffer = buffer OP value
  bool atomic = false;
};

struct BufferDecl {
  enum class Home { kGlobal, kShared, kLocal };
  const Buffer* buffer = nullptr;
  Home home = Home::kGlobal;
  int index = 0;             // into the home's instances
  std::vector<int> extents;  // kShared, kLocal: registers holding extents and strides (empty: row-major)
  std::vector<int> strides;
  bool written = false;
};

struct ParallelLoop {
  enum class Kind { kOutermost, kCollapsed, kNested };
  Kind kind = Kind::kOutermost;
  std::int64_t step = 1;
  int frame = 0;
};

struct CollectiveInfo {
  Scope scope = Scope::kWarp;
  int width = 32;
};

struct Bytecode {
  std::string kernel;
  std::vector<Instr> instrs;
  std::vector<int> operands;
  std::vector<Slot> constants;
  std::vector<AccessInfo> accesses;
  std::vector<BufferDecl> buffers;
  std::vector<ParallelLoop> parallel_loops;
  std::vector<CollectiveInfo> collectives;
  std::vector<std::string> sites;          // statement names, barrier reasons
  std::vector<std::string> parallel_sets;  // values assigned by iterations that share them: races seen at compile time
  int registers = 0;
  int frames = 0;
  int shared_count = 0, local_count = 0;
};

}  // namespace facet::agents
