// Short spellings for loop trees written by hand in tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "facet/loop_ast.hpp"

namespace facet::testing {

inline ExprPtr ix(const std::string& name) { return index(name); }

inline LoopPtr loop(const std::string& iterator, ExprPtr upper, LoopList body, LoopKind kind = LoopKind::kSerial,
                    std::int64_t step = 1) {
  For f;
  f.iterator = iterator;
  f.lower = idx(0);
  f.upper = std::move(upper);
  f.step = step;
  f.kind = kind;
  f.body = std::move(body);
  return make_loop(std::move(f));
}

inline LoopPtr loop_from(const std::string& iterator, ExprPtr lower, ExprPtr upper, LoopList body) {
  For f;
  f.iterator = iterator;
  f.lower = std::move(lower);
  f.upper = std::move(upper);
  f.body = std::move(body);
  return make_loop(std::move(f));
}

inline LoopPtr put(const std::string& buffer, std::vector<ExprPtr> subscripts, ExprPtr value,
                   const std::string& statement = "") {
  Store s;
  s.statement = statement.empty() ? buffer : statement;
  s.buffer = buffer;
  s.subscripts = std::move(subscripts);
  s.value = std::move(value);
  return make_loop(std::move(s));
}

inline LoopPtr update(const std::string& buffer, std::vector<ExprPtr> subscripts, ExprPtr value,
                      ReduceKind kind = ReduceKind::kSum, bool atomic = false) {
  Store s;
  s.statement = buffer;
  s.buffer = buffer;
  s.subscripts = std::move(subscripts);
  s.value = std::move(value);
  s.update = kind;
  s.atomic = atomic;
  return make_loop(std::move(s));
}

inline LoopPtr when(ExprPtr condition, LoopList then) {
  If i;
  i.condition = std::move(condition);
  i.then = std::move(then);
  return make_loop(std::move(i));
}

inline LoopPtr barrier(const std::string& reason) { return make_loop(Barrier{Scope::kBlock, reason}); }

inline ExprPtr get(const std::string& buffer, std::vector<ExprPtr> subscripts, DType type = DType::kF32) {
  return read(buffer, type, std::move(subscripts));
}

inline Buffer buffer(const std::string& name, std::vector<ExprPtr> extents, BufferRole role, DType dtype = DType::kF32) {
  Buffer b;
  b.name = name;
  b.dtype = dtype;
  b.extents = std::move(extents);
  b.role = role;
  return b;
}

inline LoopPtr local(const std::string& name, std::vector<ExprPtr> extents, MemorySpace space, DType dtype = DType::kF32) {
  Buffer b = buffer(name, std::move(extents), BufferRole::kLocal, dtype);
  b.space = space;
  return make_loop(Allocate{std::move(b)});
}

// A program of one kernel "k0"; buffers' roles fill the argument lists.
inline LoopProgram program_of(std::vector<Buffer> buffers, LoopList body, std::vector<Symbol> symbols = {}) {
  LoopProgram p;
  p.name = "test";
  p.symbols = std::move(symbols);
  for (const Buffer& b : buffers) {
    if (b.role == BufferRole::kInput || b.role == BufferRole::kInOut) p.inputs.push_back(b.name);
    if (b.role == BufferRole::kOutput || b.role == BufferRole::kInOut) p.outputs.push_back(b.name);
    if (b.role == BufferRole::kWeight) p.weights.push_back(b.name);
  }
  Kernel k;
  k.name = "k0";
  for (const Buffer& b : buffers) k.buffers.push_back(b.name);
  k.body = std::move(body);
  p.buffers = std::move(buffers);
  p.kernels.push_back(std::move(k));
  return p;
}

inline Symbol symbol(const std::string& name, std::int64_t min, std::int64_t max, std::int64_t value) {
  Symbol s;
  s.name = name;
  s.min = min;
  s.max = max;
  s.value = value;
  return s;
}

}  // namespace facet::testing
