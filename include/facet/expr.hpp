// The scalar expression language: element types, literals, indices, array reads and arithmetic.
//
// One language from an equation or a loop body to printed code. The front ends produce fully typed trees; the reference
// interpreter, the lowering and the printers read them. Trees are immutable and shared, so substitution is cheap.
//
// Integer semantics: kAdd, kSub, kMul, kNeg wrap in `type`; kFloorDiv/kFloorMod floor (the remainder is never negative for a
// positive divisor); kTruncDiv/kTruncMod are C's; division by zero gives 0, remainder by zero gives 0, INT_MIN/-1 gives
// INT_MIN; shift counts are taken modulo the width; a float -> integer cast saturates and NaN gives 0. kMin/kMax propagate NaN;
// kCFMin/kCFMax are C's fmin/fmax. kSelect is a choice: the operand not chosen has no effect.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace facet {

enum class DType : std::uint8_t { kBool, kI8, kU8, kI16, kI32, kI64, kF16, kBF16, kF32, kF64, kU16, kU32, kU64 };

std::string to_text(DType dtype);  // "f32"
bool dtype_from_text(const std::string& text, DType* dtype);
std::int64_t size_bytes(DType dtype);
bool is_float(DType dtype);
bool is_integer(DType dtype);  // not bool
bool is_signed(DType dtype);

enum class Op : std::uint8_t {
  // Leaves.
  kLiteral,  // int_value (integers, bool) or float_value, by `type`
  kIndex,    // `name`: an index, loop variable or symbol; type kI64
  kRead,     // `name`: a tensor (or buffer); args: subscripts (kI64); `pad`: value when any subscript is outside
  kValue,    // `name`: a named value of the loop tree (kLet); never in a Program
  // One argument.
  kNeg,
  kNot,
  kBitNot,
  kAbs,
  kExp,
  kLog,
  kSqrt,
  kRsqrt,
  kTanh,
  kErf,
  kSigmoid,
  kFloor,
  kCeil,
  kRound,
  kTrunc,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kAsinh,
  kAcosh,
  kAtanh,
  kLog1p,
  kExpm1,
  kSign,
  kIsNan,
  kIsInf,
  kCast,  // to `type`
  // Two arguments. kRound is half-to-even. kDiv is floating point only.
  kAdd,
  kSub,
  kMul,
  kDiv,
  kFloorDiv,
  kFloorMod,
  kTruncDiv,
  kTruncMod,
  kFMod,
  kPow,
  kMin,
  kMax,
  kCFMin,
  kCFMax,
  kLt,
  kLe,
  kGt,
  kGe,
  kEq,
  kNe,  // type kBool, operands of one type
  kAnd,
  kOr,
  kXor,  // logical, on kBool
  kBitAnd,
  kBitOr,
  kBitXor,
  kShl,
  kShr,  // integers
  // Three arguments: condition, then, else.
  kSelect,
  // `reduction`; args empty.
  kReduce,
  // Loop tree only (lanes > 1 on the result unless said).
  kSplat,       // scalar -> every lane
  kIota,        // int vector base + {0, 1, ..., lanes-1}; args: base (scalar)
  kLaneReduce,  // horizontal reduction of a vector by reduce_kind -> scalar, in a fixed tree order
  kExtract,     // lane int_value of args[0] -> scalar; lanes > 1: so many from there on, of args[0] and args[1] side by side
  kFma,         // args a, b, c: a*b + c with one rounding
};

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

enum class ReduceKind : std::uint8_t { kSum, kProd, kMax, kMin, kAny, kAll, kArgMax, kArgMin };
std::string to_text(ReduceKind kind);  // "sum"

// lower <= name < upper; bounds are affine (kI64 expressions) in symbols and, for a reduction or nested range, outer indices.
struct Range {
  std::string name;
  ExprPtr lower;
  ExprPtr upper;
};

// The reduction of `body` over the integer points of `ranges` (in lexicographic order) that satisfy all `conditions`.
// type of the kReduce node = accumulator type; kArgMax/kArgMin: exactly one range, result kI64, body's type free.
struct Reduction {
  ReduceKind kind = ReduceKind::kSum;
  std::vector<Range> ranges;
  std::vector<ExprPtr> conditions;  // affine, kBool
  ExprPtr body;
};

struct Expr {
  Op op = Op::kLiteral;
  DType type = DType::kF32;
  int lanes = 1;  // loop tree only
  std::vector<ExprPtr> args;
  std::string name;
  std::int64_t int_value = 0;
  double float_value = 0;
  ExprPtr pad;                                 // kRead: constant of `type`, or null
  std::shared_ptr<const Reduction> reduction;  // kReduce
  ReduceKind reduce_kind = ReduceKind::kSum;   // kLaneReduce
  ExprPtr mask;                                // kRead with lanes > 1: kBool lanes that are read (others give 0), or null
  bool wrap_gather = false;  // kRead: data-dependent subscripts wrap once when negative (ONNX) before being clamped
  int offset = -1;           // byte offset in the source text, for diagnostics; -1 unknown
};

// Constructors. None of them simplifies, except the index arithmetic helpers below.
ExprPtr literal(DType type, double value);
ExprPtr int_literal(DType type, std::int64_t value);
ExprPtr index(const std::string& name);  // kI64
ExprPtr read(const std::string& tensor, DType type, std::vector<ExprPtr> subscripts, ExprPtr pad = nullptr);
ExprPtr value_of(const std::string& name, DType type, int lanes = 1);
ExprPtr unary(Op op, ExprPtr a);              // type of a, except kNot/kIsNan/kIsInf: kBool
ExprPtr binary(Op op, ExprPtr a, ExprPtr b);  // type of a, comparisons kBool
ExprPtr select(ExprPtr condition, ExprPtr then, ExprPtr otherwise);
ExprPtr cast(DType to, ExprPtr a);  // a itself when it has that type
ExprPtr reduce(DType accumulator, Reduction reduction);

// Index arithmetic on kI64 with constant folding: 0 + x is x, 2*3 is 6. Division floors.
ExprPtr idx(std::int64_t value);
ExprPtr idx_add(ExprPtr a, ExprPtr b);
ExprPtr idx_sub(ExprPtr a, ExprPtr b);
ExprPtr idx_mul(ExprPtr a, ExprPtr b);
ExprPtr idx_floordiv(ExprPtr a, std::int64_t b);
ExprPtr idx_mod(ExprPtr a, std::int64_t b);
ExprPtr idx_min(ExprPtr a, ExprPtr b);
ExprPtr idx_max(ExprPtr a, ExprPtr b);

// Structural equality, ignoring `offset`.
bool same(const ExprPtr& a, const ExprPtr& b);

// Rebuilds the tree bottom-up: `visit` gets each node with its children already rewritten and returns its replacement.
// Reads' pads, reductions' ranges, conditions and bodies, and masks are walked too.
template <class F>
ExprPtr rewrite(const ExprPtr& e, const F& visit);

// Calls `visit(const Expr&)` on every node, parents first, including subscripts, pads, masks, reduction parts.
template <class F>
void walk(const ExprPtr& e, const F& visit);

// Replaces kIndex nodes by name.
ExprPtr substitute(const ExprPtr& e, const std::vector<std::pair<std::string, ExprPtr>>& by);

// Index-notation text: "(a[i, k] * b[k, j])". Deterministic, readable back by the equation parser when no loop-tree node is
// used.
std::string to_text(const ExprPtr& e);

}  // namespace facet

#include "facet/expr_walk.hpp"
