// GPU loop trees that several tests print, compile and interpret.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "support/trees.hpp"

namespace facet::testing {

// y[j,i] = x[i,j] through a shared tile of 8x8, ragged sizes guarded; each block does two tile rows, so both barriers matter.
inline LoopProgram transpose(bool first_barrier, bool second_barrier, bool guarded = true, bool initialised = true) {
  const ExprPtr i = idx_add(idx_mul(idx(8), ix("it")), ix("a")), j = idx_add(idx_mul(idx(8), ix("jt")), ix("b"));
  const ExprPtr i2 = idx_add(idx_mul(idx(8), ix("it")), ix("b")), j2 = idx_add(idx_mul(idx(8), ix("jt")), ix("a"));
  const ExprPtr in_x = binary(Op::kAnd, binary(Op::kLt, i, ix("M")), binary(Op::kLt, j, ix("N")));
  const ExprPtr in_y = binary(Op::kAnd, binary(Op::kLt, i2, ix("M")), binary(Op::kLt, j2, ix("N")));
  const LoopPtr copy_in = put("tile", {ix("a"), ix("b")}, get("x", {i, j}), "copy of x");
  const LoopPtr copy_out = put("y", {j2, i2}, get("tile", {ix("b"), ix("a")}));
  LoopList steps;
  if (initialised) steps.push_back(guarded ? when(in_x, {copy_in}) : copy_in);
  if (first_barrier) steps.push_back(barrier("copy of x -> y"));
  steps.push_back(guarded ? when(in_y, {copy_out}) : copy_out);
  if (second_barrier) steps.push_back(barrier("y -> next copy of x"));
  const LoopList threads = {
      local("tile", {idx(8), idx(8)}, MemorySpace::kShared),
      loop("a", idx(8),
           {loop("b", idx(8), {loop_from("it", idx_mul(idx(2), ix("bt")), idx_add(idx_mul(idx(2), ix("bt")), idx(2)), steps)},
                 LoopKind::kThreadX)},
           LoopKind::kThreadY)};
  const LoopList body = {loop("bt", idx_floordiv(idx_add(ix("M"), idx(15)), 16),
                              {loop("jt", idx_floordiv(idx_add(ix("N"), idx(7)), 8), threads, LoopKind::kBlockX)},
                              LoopKind::kBlockY)};
  return program_of({buffer("x", {ix("M"), ix("N")}, BufferRole::kInput), buffer("y", {ix("N"), ix("M")}, BufferRole::kOutput)},
                    body, {symbol("M", 1, 4096, 20), symbol("N", 1, 4096, 13)});
}

inline LoopPtr mutable_value(const std::string& name, DType type = DType::kF32) {
  Let l;
  l.name = name;
  l.type = type;
  l.is_mutable = true;
  return make_loop(std::move(l));
}

inline LoopPtr collective(const std::string& target, ExprPtr value, Scope scope, int width,
                          ReduceKind kind = ReduceKind::kSum) {
  Collective c;
  c.scope = scope;
  c.kind = kind;
  c.target = target;
  c.value = std::move(value);
  c.width = width;
  return make_loop(std::move(c));
}

// 128 elements by two blocks of 64 threads; `kGlobal` is the thread's element.
inline const ExprPtr& global_index() {
  static const ExprPtr i = idx_add(idx_mul(idx(64), ix("b")), ix("t"));
  return i;
}
inline LoopProgram in_block(LoopList body, std::int64_t threads = 64, std::int64_t blocks = 2) {
  return program_of(
      {buffer("x", {idx(128)}, BufferRole::kInput), buffer("y", {idx(128)}, BufferRole::kOutput)},
      {loop("b", idx(blocks), {loop("t", idx(threads), std::move(body), LoopKind::kThreadX)}, LoopKind::kBlockX)});
}

// One statement per scalar function and conversion, so that every helper of the prelude is compiled.
inline LoopProgram every_function() {
  LoopList body;
  const auto add = [&](const std::string& out, DType type, ExprPtr e) {
    body.push_back(put(out, {ix("i")}, cast(type, std::move(e))));
  };
  const auto x = [](DType t) { return get("x_" + to_text(t), {ix("i")}, t); };
  for (const DType t : {DType::kF32, DType::kF64}) {
    for (int op = static_cast<int>(Op::kNeg); op <= static_cast<int>(Op::kSign); ++op) {
      const Op o = static_cast<Op>(op);
      if (o == Op::kNot || o == Op::kBitNot) continue;
      add("y_" + to_text(t), t, unary(o, x(t)));
    }
    for (const Op o : {Op::kDiv, Op::kFMod, Op::kPow, Op::kMin, Op::kMax, Op::kCFMin, Op::kCFMax, Op::kAdd, Op::kMul})
      add("y_" + to_text(t), t, binary(o, x(t), x(t)));
    for (const DType to : {DType::kI8, DType::kU8, DType::kI16, DType::kI32, DType::kI64, DType::kF16, DType::kBF16})
      add("y_" + to_text(to), to, x(t));
  }
  for (const DType t : {DType::kI8, DType::kU8, DType::kI16, DType::kI32, DType::kI64}) {
    for (const Op o : {Op::kAdd, Op::kSub, Op::kMul, Op::kFloorDiv, Op::kFloorMod, Op::kTruncDiv, Op::kTruncMod, Op::kPow,
                       Op::kMin, Op::kMax, Op::kBitAnd, Op::kShl, Op::kShr})
      add("y_" + to_text(t), t, binary(o, x(t), x(t)));
    for (const Op o : {Op::kNeg, Op::kAbs, Op::kSign, Op::kBitNot}) add("y_" + to_text(t), t, unary(o, x(t)));
    add("y_f32", DType::kF32, x(t));
    add("y_f64", DType::kF64, x(t));
  }
  add("y_f32", DType::kF32, x(DType::kF16));
  add("y_f32", DType::kF32, x(DType::kBF16));
  add("y_bool", DType::kBool, unary(Op::kIsNan, x(DType::kF32)));
  add("y_bool", DType::kBool, unary(Op::kIsInf, x(DType::kF64)));
  std::vector<Buffer> buffers;
  for (const DType t : {DType::kBool, DType::kI8, DType::kU8, DType::kI16, DType::kI32, DType::kI64, DType::kF16, DType::kBF16,
                        DType::kF32, DType::kF64}) {
    buffers.push_back(buffer("x_" + to_text(t), {idx(64)}, BufferRole::kInput, t));
    buffers.push_back(buffer("y_" + to_text(t), {idx(64)}, BufferRole::kOutput, t));
  }
  return program_of(buffers, {loop("i", idx(64), body, LoopKind::kThreadX)});
}

}  // namespace facet::testing
