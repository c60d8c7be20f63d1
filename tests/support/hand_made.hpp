// Elaborated programs made by hand for tests of the layers below the front end.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "facet/host_tensor.hpp"
#include "facet/program.hpp"

namespace facet::test {

// Adds a tensor whose shape is constant. An input if `input`.
inline Tensor& add_tensor(Program& p, const std::string& name, DType dtype, std::vector<ExprPtr> shape, bool input = false) {
  Tensor t;
  t.name = name;
  t.dtype = dtype;
  t.shape = std::move(shape);
  t.inferred = true;
  p.tensor_order.push_back(name);
  if (input) p.inputs.push_back(name);
  return p.tensors[name] = std::move(t);
}

inline Range range(const std::string& name, ExprPtr upper) { return {name, idx(0), std::move(upper)}; }
inline Range range(const std::string& name, std::int64_t upper) { return {name, idx(0), idx(upper)}; }

inline Equation equation(const std::string& tensor, std::vector<Range> indices, ExprPtr value,
                         std::vector<ExprPtr> conditions = {}) {
  Equation q;
  q.tensor = tensor;
  q.indices = std::move(indices);
  q.value = std::move(value);
  q.conditions = std::move(conditions);
  return q;
}

inline void add_equation(Program& p, Equation q) {
  Node n;
  n.op = "compute";
  n.out = {q.tensor};
  n.equations.push_back(std::move(q));
  p.nodes.push_back(std::move(n));
}

inline ExprPtr reduction(ReduceKind kind, DType type, std::vector<Range> ranges, ExprPtr body,
                         std::vector<ExprPtr> conditions = {}) {
  Reduction r;
  r.kind = kind;
  r.ranges = std::move(ranges);
  r.body = std::move(body);
  r.conditions = std::move(conditions);
  return reduce(type, std::move(r));
}

inline HostTensor host(DType dtype, std::vector<std::int64_t> shape, const std::vector<double>& values) {
  HostTensor t = make_host_tensor(dtype, std::move(shape));
  for (std::size_t i = 0; i < values.size(); ++i) t.set(static_cast<std::int64_t>(i), values[i]);
  return t;
}

// c[i, j] = sum[k](a[i, k] * b[k, j]) for symbols M, N, K.
inline Program matmul_program(DType dtype = DType::kF32) {
  Program p;
  p.name = "mm";
  p.symbols = {{"M", 0, 4096, 8, {}}, {"N", 0, 4096, 8, {}}, {"K", 0, 4096, 8, {}}};
  add_tensor(p, "a", dtype, {index("M"), index("K")}, true);
  add_tensor(p, "b", dtype, {index("K"), index("N")}, true);
  add_tensor(p, "c", dtype, {index("M"), index("N")});
  const ExprPtr product =
      binary(Op::kMul, read("a", dtype, {index("i"), index("k")}), read("b", dtype, {index("k"), index("j")}));
  add_equation(p, equation("c", {range("i", index("M")), range("j", index("N"))},
                           reduction(ReduceKind::kSum, dtype, {range("k", index("K"))}, product)));
  p.outputs = {"c"};
  return p;
}

inline LoopStatement for_loop(const std::string& name, ExprPtr first, ExprPtr bound, LoopBody body, std::int64_t step = 1) {
  LoopStatement s;
  s.kind = LoopStatement::Kind::kFor;
  s.name = name;
  s.first = std::move(first);
  s.bound = std::move(bound);
  s.step = step;
  s.body = std::move(body);
  return s;
}

inline LoopStatement assign(const std::string& target, std::vector<ExprPtr> subscripts, ExprPtr value) {
  LoopStatement s;
  s.target = target;
  s.subscripts = std::move(subscripts);
  s.value = std::move(value);
  return s;
}

// target[subscripts] += operand
inline LoopStatement sum_update(const std::string& target, DType dtype, std::vector<ExprPtr> subscripts, ExprPtr operand) {
  LoopStatement s = assign(target, subscripts, binary(Op::kAdd, read(target, dtype, subscripts), operand));
  s.update = ReduceKind::kSum;
  s.operand = std::move(operand);
  return s;
}

inline void add_loops(Program& p, std::vector<std::string> in, std::vector<std::string> inout, std::vector<std::string> out,
                      LoopBody body) {
  Node n;
  n.op = "loops";
  n.in = std::move(in);
  n.inout = std::move(inout);
  n.out = std::move(out);
  n.loops = std::move(body);
  p.nodes.push_back(std::move(n));
}

}  // namespace facet::test
