// Scheduled loop trees in original order, as scanning makes them: what the GPU mapping starts from.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "support/trees.hpp"

namespace facet::testing {

inline ExprPtr f32(double v) { return literal(DType::kF32, v); }
inline ExprPtr add(ExprPtr a, ExprPtr b) { return binary(Op::kAdd, std::move(a), std::move(b)); }
inline ExprPtr mul(ExprPtr a, ExprPtr b) { return binary(Op::kMul, std::move(a), std::move(b)); }

inline std::vector<Symbol> two_symbols(std::int64_t m, std::int64_t n) {
  return {symbol("M", 0, 100000, m), symbol("N", 0, 100000, n)};
}

// C[i,j] = sum_k A[i,k] * B[k,j]; the default sizes decide how it is mapped.
inline LoopProgram plain_matmul(std::int64_t m = 33, std::int64_t n = 20, std::int64_t k = 17) {
  const LoopList inner = {
      put("C", {ix("i"), ix("j")}, f32(0), "C.init"),
      loop("k", ix("K"), {update("C", {ix("i"), ix("j")}, mul(get("A", {ix("i"), ix("k")}), get("B", {ix("k"), ix("j")})))})};
  std::vector<Symbol> symbols = two_symbols(m, n);
  symbols.push_back(symbol("K", 0, 100000, k));
  return program_of({buffer("A", {ix("M"), ix("K")}, BufferRole::kInput), buffer("B", {ix("K"), ix("N")}, BufferRole::kInput),
                     buffer("C", {ix("M"), ix("N")}, BufferRole::kOutput)},
                    {loop("i", ix("M"), {loop("j", ix("N"), inner)})}, symbols);
}

// y[n,f,p,q] = max(sum_{c,r,s} w[f,c,r,s] * x[n,c,p+r-1,q+s-1 ? 0] + b[f], 0), the sum in a local scalar.
inline LoopProgram padded_conv(std::int64_t channels, std::int64_t size) {
  const ExprPtr x =
      read("x", DType::kF32,
           {ix("n"), ix("c"), idx_sub(idx_add(ix("p"), ix("r")), idx(1)), idx_sub(idx_add(ix("q"), ix("s")), idx(1))}, f32(0));
  LoopList sum = {update("t", {}, mul(get("w", {ix("f"), ix("c"), ix("r"), ix("s")}), x))};
  sum = {loop("c", idx(channels), {loop("r", idx(3), {loop("s", idx(3), std::move(sum))})})};
  LoopList point = {
      local("t", {}, MemorySpace::kStack), put("t", {}, f32(0)), sum[0],
      put("y", {ix("n"), ix("f"), ix("p"), ix("q")}, binary(Op::kMax, add(get("t", {}), get("b", {ix("f")})), f32(0)))};
  LoopList nest = {loop("n", ix("M"), {loop("f", idx(40), {loop("p", idx(size), {loop("q", idx(size), std::move(point))})})})};
  return program_of(
      {buffer("x", {ix("M"), idx(channels), idx(size), idx(size)}, BufferRole::kInput),
       buffer("w", {idx(40), idx(channels), idx(3), idx(3)}, BufferRole::kInput), buffer("b", {idx(40)}, BufferRole::kInput),
       buffer("y", {ix("M"), idx(40), idx(size), idx(size)}, BufferRole::kOutput)},
      std::move(nest), two_symbols(2, 1));
}

// Row softmax with a local maximum and sum for each row.
inline LoopProgram row_softmax() {
  const auto x = [] { return get("x", {ix("i"), ix("j")}); };
  const auto y = [] { return get("y", {ix("i"), ix("j")}); };
  const LoopList row = {
      local("m", {}, MemorySpace::kStack),
      local("s", {}, MemorySpace::kStack),
      put("m", {}, f32(-1e30)),
      loop("j", ix("N"), {update("m", {}, x(), ReduceKind::kMax)}),
      loop("j", ix("N"), {put("y", {ix("i"), ix("j")}, unary(Op::kAbs, binary(Op::kSub, x(), get("m", {}))))}),
      put("s", {}, f32(0)),
      loop("j", ix("N"), {update("s", {}, y())}),
      loop("j", ix("N"), {put("y", {ix("i"), ix("j")}, binary(Op::kDiv, y(), add(get("s", {}), f32(1))))})};
  return program_of({buffer("x", {ix("M"), ix("N")}, BufferRole::kInput), buffer("y", {ix("M"), ix("N")}, BufferRole::kOutput)},
                    {loop("i", ix("M"), row)}, two_symbols(5, 300));
}

// s[i] = sum_j x[i,j]; by columns: s[j] = sum_i x[i,j].
inline LoopProgram sums(bool rows, std::int64_t m = 40, std::int64_t n = 130) {
  const std::string outer = rows ? "i" : "j", inner = rows ? "j" : "i", size = rows ? "M" : "N", length = rows ? "N" : "M";
  return program_of({buffer("x", {ix("M"), ix("N")}, BufferRole::kInput), buffer("s", {ix(size)}, BufferRole::kOutput)},
                    {loop(outer, ix(size),
                          {put("s", {ix(outer)}, f32(0), "s.init"),
                           loop(inner, ix(length), {update("s", {ix(outer)}, get("x", {ix("i"), ix("j")}))})})},
                    two_symbols(m, n));
}

// Jacobi in place of time: two sweeps a step, nothing parallel outside.
inline LoopProgram jacobi() {
  const auto third = [](const std::string& a) {
    return mul(f32(0.25), add(add(get(a, {idx_sub(ix("i"), idx(1))}), get(a, {ix("i")})), get(a, {idx_add(ix("i"), idx(1))})));
  };
  const LoopList step = {loop_from("i", idx(1), idx_sub(ix("N"), idx(1)), {put("b", {ix("i")}, third("a"))}),
                         loop_from("i", idx(1), idx_sub(ix("N"), idx(1)), {put("a", {ix("i")}, third("b"))})};
  return program_of({buffer("a", {ix("N")}, BufferRole::kInOut), buffer("b", {ix("N")}, BufferRole::kInOut)},
                    {loop("t", idx(3), step)}, two_symbols(1, 200));
}

// p[i] = x[0] + ... + x[i]: a recurrence.
inline LoopProgram prefix_sum() {
  return program_of({buffer("x", {ix("N")}, BufferRole::kInput), buffer("p", {ix("N")}, BufferRole::kOutput)},
                    {loop("i", ix("N"),
                          {put("p", {ix("i")},
                               add(get("x", {ix("i")}),
                                   select(binary(Op::kGt, ix("i"), idx(0)), get("p", {idx_sub(ix("i"), idx(1))}), f32(0))))})},
                    two_symbols(1, 50));
}

// All elements to one number, then an elementwise use of it in a second nest.
inline LoopProgram total_then_use(std::int64_t m = 7, std::int64_t n = 9) {
  return program_of(
      {buffer("x", {ix("M"), ix("N")}, BufferRole::kInput), buffer("y", {ix("M"), ix("N")}, BufferRole::kOutput)},
      {local("s", {}, MemorySpace::kStack), put("s", {}, f32(0)),
       loop("i", ix("M"), {loop("j", ix("N"), {update("s", {}, get("x", {ix("i"), ix("j")}))})}),
       loop("i", ix("M"),
            {loop("j", ix("N"), {put("y", {ix("i"), ix("j")}, mul(get("x", {ix("i"), ix("j")}), get("s", {})))})})},
      two_symbols(m, n));
}

// Triangle: y[i,j] = x[i,j] for j <= i, else 0, with an inner bound that moves.
inline LoopProgram triangle() {
  return program_of({buffer("x", {ix("N"), ix("N")}, BufferRole::kInput), buffer("y", {ix("N"), ix("N")}, BufferRole::kOutput)},
                    {loop("i", ix("N"),
                          {loop("j", idx_add(ix("i"), idx(1)), {put("y", {ix("i"), ix("j")}, get("x", {ix("i"), ix("j")}))}),
                           loop_from("j", idx_add(ix("i"), idx(1)), ix("N"), {put("y", {ix("i"), ix("j")}, f32(0), "y.1")})})},
                    two_symbols(1, 37));
}

// Five loops: a permutation of axes.
inline LoopProgram five_axes() {
  LoopList body = {
      put("y", {ix("e"), ix("d"), ix("c"), ix("b"), ix("a")}, get("x", {ix("a"), ix("b"), ix("c"), ix("d"), ix("e")}))};
  const std::int64_t extents[] = {2, 3, 4, 5, 6};
  const char* names[] = {"a", "b", "c", "d", "e"};
  for (int k = 4; k >= 0; --k) body = {loop(names[k], idx(extents[k]), std::move(body))};
  return program_of({buffer("x", {idx(2), idx(3), idx(4), idx(5), idx(6)}, BufferRole::kInput),
                     buffer("y", {idx(6), idx(5), idx(4), idx(3), idx(2)}, BufferRole::kOutput)},
                    std::move(body));
}

// y = relu(x) + 1 over one long axis.
inline LoopProgram long_chain(std::int64_t n) {
  return program_of({buffer("x", {ix("N")}, BufferRole::kInput), buffer("y", {ix("N")}, BufferRole::kOutput)},
                    {loop("i", ix("N"), {put("y", {ix("i")}, add(binary(Op::kMax, get("x", {ix("i")}), f32(0)), f32(1)))})},
                    {symbol("N", 0, std::int64_t{1} << 31, n)});
}

// A local row, written in one order and read in the other: it must be shared by the block's threads.
inline LoopProgram reversed_row() {
  return program_of({buffer("x", {ix("M"), idx(96)}, BufferRole::kInput), buffer("y", {ix("M"), idx(96)}, BufferRole::kOutput)},
                    {loop("i", ix("M"),
                          {local("t", {idx(96)}, MemorySpace::kStack),
                           loop("j", idx(96), {put("t", {ix("j")}, mul(get("x", {ix("i"), ix("j")}), f32(2)))}),
                           loop("j", idx(96), {put("y", {ix("i"), ix("j")}, get("t", {idx_sub(idx(95), ix("j"))}))})})},
                    two_symbols(6, 96));
}

}  // namespace facet::testing
