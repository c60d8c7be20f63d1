// Short constructors of loop trees, and "the passes change nothing that can be
// seen" as one check.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "codegen/passes/passes.hpp"
#include "codegen/passes/tree.hpp"
#include "unit/codegen/passes/interpreter.hpp"

namespace facet::test {

inline ExprPtr ix(const std::string& name) { return index(name); }
inline ExprPtr add(ExprPtr a, ExprPtr b) { return binary(Op::kAdd, std::move(a), std::move(b)); }
inline ExprPtr sub(ExprPtr a, ExprPtr b) { return binary(Op::kSub, std::move(a), std::move(b)); }
inline ExprPtr mul(ExprPtr a, ExprPtr b) { return binary(Op::kMul, std::move(a), std::move(b)); }
inline ExprPtr least(ExprPtr a, ExprPtr b) { return binary(Op::kMin, std::move(a), std::move(b)); }
inline ExprPtr most(ExprPtr a, ExprPtr b) { return binary(Op::kMax, std::move(a), std::move(b)); }
inline ExprPtr less(ExprPtr a, ExprPtr b) { return binary(Op::kLt, std::move(a), std::move(b)); }
inline ExprPtr ceil_div(const ExprPtr& a, std::int64_t b) { return binary(Op::kFloorDiv, add(a, idx(b - 1)), idx(b)); }
inline ExprPtr rd(const std::string& name, std::vector<ExprPtr> s, ExprPtr pad = nullptr) {
  return read(name, DType::kF32, std::move(s), std::move(pad));
}
inline ExprPtr f32(double v) { return literal(DType::kF32, v); }

inline LoopPtr loop(const std::string& name, ExprPtr lower, ExprPtr upper, LoopList body, LoopKind kind = LoopKind::kSerial,
                    int width = 0) {
  For f;
  f.iterator = name;
  f.lower = std::move(lower);
  f.upper = std::move(upper);
  f.kind = kind;
  f.width = width;
  f.body = std::move(body);
  return make_loop(std::move(f));
}
inline LoopPtr put(const std::string& buffer, std::vector<ExprPtr> s, ExprPtr value) {
  Store store;
  store.statement = buffer;
  store.buffer = buffer;
  store.subscripts = std::move(s);
  store.value = std::move(value);
  return make_loop(std::move(store));
}
inline LoopPtr update(const std::string& buffer, std::vector<ExprPtr> s, ExprPtr value, ReduceKind kind = ReduceKind::kSum) {
  Store store = *passes::as<Store>(put(buffer, std::move(s), std::move(value)));
  store.update = kind;
  return make_loop(std::move(store));
}
inline LoopPtr guard(ExprPtr condition, LoopList body, LoopList otherwise = {}) {
  return make_loop(If{std::move(condition), std::move(body), std::move(otherwise), false});
}
inline Buffer array(const std::string& name, std::vector<ExprPtr> extents, BufferRole role = BufferRole::kInput) {
  Buffer b;
  b.name = name;
  b.extents = std::move(extents);
  b.role = role;
  b.space = role == BufferRole::kLocal ? MemorySpace::kStack : MemorySpace::kGlobal;
  return b;
}
inline LoopPtr local(const std::string& name, std::vector<ExprPtr> extents) {
  return make_loop(Allocate{array(name, std::move(extents), BufferRole::kLocal)});
}

inline LoopProgram program(std::vector<std::string> symbols, std::vector<Buffer> buffers, LoopList body) {
  LoopProgram p;
  p.name = "p";
  for (const std::string& s : symbols) p.symbols.push_back(Symbol{s, 0, 100000, 0, {}});
  p.buffers = std::move(buffers);
  Kernel k;
  k.name = "k0";
  k.body = std::move(body);
  p.kernels.push_back(std::move(k));
  return p;
}

inline CpuMachine wide_machine() {
  CpuMachine m;
  m.isa = "avx512";
  m.vector_bytes = 64;
  m.vector_registers = 32;
  return m;
}

inline Memory random_memory(const LoopProgram& p, const std::map<std::string, std::int64_t>& symbols, unsigned seed) {
  Memory memory;
  Evaluator shapes(p, symbols, memory);
  std::mt19937 random(seed);
  for (const Buffer& b : p.buffers) {
    if (b.role == BufferRole::kOutput) continue;
    for (Cell& c : memory.cells[b.name]) {
      const std::int64_t v = static_cast<std::int64_t>(random() % 9) - 4;
      c = Cell{static_cast<double>(v), v, true};
    }
  }
  return memory;
}

// Runs both trees; every global element must agree. Returns the evaluator's
// access counts of the second.
inline void expect_same(const LoopProgram& before, const LoopProgram& after,
                        const std::map<std::string, std::int64_t>& symbols) {
  std::string where;
  for (const auto& [name, v] : symbols) where += name + "=" + std::to_string(v) + " ";
  SCOPED_TRACE(where);
  Memory a = random_memory(before, symbols, 7), b = a;
  Evaluator first(before, symbols, a), second(after, symbols, b);
  try {
    first.run();
  } catch (const std::exception& e) { FAIL() << "the scalar tree itself: " << e.what(); }
  try {
    second.run();
  } catch (const std::exception& e) { FAIL() << e.what(); }
  EXPECT_EQ(second.requests, 0) << "a request survived";
  for (const Buffer& buffer : before.buffers) {
    const std::vector<Cell>& x = a.cells[buffer.name];
    const std::vector<Cell>& y = b.cells[buffer.name];
    ASSERT_EQ(x.size(), y.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(x[i].defined, y[i].defined) << buffer.name << " element " << i;
      if (!x[i].defined) continue;
      ASSERT_EQ(x[i].real, y[i].real) << buffer.name << " element " << i;
    }
  }
}

inline LoopProgram lowered(const LoopProgram& p, PassLog* log = nullptr) { return lower_for_cpu(p, wide_machine(), log); }

inline bool refused(const PassLog& log, const std::string& pass) {
  for (const PassNote& n : log.notes)
    if (n.pass == pass && !n.done) return true;
  return false;
}

}  // namespace facet::test
