// Small loop programs, and running them through an outside compiler.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "codegen/openmp/print.hpp"
#include "codegen/openmp/runner.hpp"
#include "codegen/toolchain.hpp"

namespace facet::test {

inline Buffer buffer(const std::string& name, DType dtype, std::vector<ExprPtr> extents, BufferRole role) {
  Buffer b;
  b.name = name;
  b.dtype = dtype;
  b.extents = std::move(extents);
  b.role = role;
  return b;
}

inline LoopPtr store(const std::string& buffer, std::vector<ExprPtr> subscripts, ExprPtr value, int lanes = 1) {
  Store s;
  s.statement = buffer;
  s.buffer = buffer;
  s.subscripts = std::move(subscripts);
  s.value = std::move(value);
  s.lanes = lanes;
  return make_loop(s);
}

inline LoopPtr loop(const std::string& i, ExprPtr lower, ExprPtr upper, LoopList body, std::int64_t step = 1,
                    LoopKind kind = LoopKind::kSerial) {
  For f;
  f.iterator = i;
  f.lower = std::move(lower);
  f.upper = std::move(upper);
  f.step = step;
  f.kind = kind;
  f.body = std::move(body);
  return make_loop(f);
}

inline ExprPtr with_lanes(const ExprPtr& e, int lanes) {
  Expr copy = *e;
  copy.lanes = lanes;
  return std::make_shared<const Expr>(copy);
}

inline ExprPtr lanes_op(Op op, DType type, int lanes, ExprPtr arg) {
  Expr e;
  e.op = op;
  e.type = type;
  e.lanes = lanes;
  e.args = {std::move(arg)};
  return std::make_shared<const Expr>(e);
}

// A program of one kernel over its buffers; inputs and outputs by role.
inline LoopProgram program(const std::string& name, std::vector<Buffer> buffers, LoopList body,
                           std::vector<Symbol> symbols = {}) {
  LoopProgram p;
  p.name = name;
  p.symbols = std::move(symbols);
  for (const Buffer& b : buffers) {
    if (b.role == BufferRole::kInput) p.inputs.push_back(b.name);
    if (b.role == BufferRole::kOutput) p.outputs.push_back(b.name);
    if (b.role == BufferRole::kWeight) p.weights.push_back(b.name);
  }
  p.buffers = std::move(buffers);
  Kernel k;
  k.name = "k0";
  k.body = std::move(body);
  p.kernels.push_back(k);
  return p;
}

// Both compilers the project promises, with every warning an error.
inline std::vector<std::string> compilers() { return {"g++", "clang++-19"}; }

inline std::vector<std::string> strict_flags(const Numerics& numerics, const std::string& march) {
  std::vector<std::string> flags = host_flags(openmp_flags(numerics), march);
  for (std::string& f : flags)
    if (f == "-w") f = "-Wall";
  // On processors with AVX10 Clang 19 warns of what -march=native means there, in every file.
  flags.insert(flags.end(), {"-Wextra", "-Werror", "-Wno-unknown-warning-option", "-Wno-invalid-feature-combination"});
  return flags;
}

// Prints, compiles without a warning, runs; the outputs are added to `tensors`. Skips nothing: a missing compiler fails the
// test.
inline void run(const LoopProgram& p, const std::string& compiler, HostTensors* tensors, const SymbolValues& symbols = {},
                const PrintOptions& options = {}, const std::string& march = "native") {
  const Result<Module> module = print_openmp(p, options);
  ASSERT_TRUE(module) << to_text(module.errors());
  CompileOptions compile;
  compile.compiler = compiler;
  compile.flags = strict_flags(p.numerics, march);
  compile.cache_folder = testing::TempDir() + "facet_codegen_test_cache";
  const Result<CompiledModule> compiled = compile_module(*module, compile);
  ASSERT_TRUE(compiled) << to_text(compiled.errors()) << module->source.text;
  Result<OpenmpRunner> runner = OpenmpRunner::load(*module, compiled->path);
  ASSERT_TRUE(runner) << to_text(runner.errors());
  const Result<Done> bound = runner->bind(symbols, tensors);
  ASSERT_TRUE(bound) << to_text(bound.errors());
  const Result<Done> done = runner->run();
  ASSERT_TRUE(done) << to_text(done.errors());
}

inline HostTensor tensor(DType dtype, std::vector<std::int64_t> shape, const std::vector<double>& values) {
  HostTensor t = make_host_tensor(dtype, std::move(shape));
  for (std::int64_t i = 0; i < t.element_count(); ++i) t.set(i, values[static_cast<std::size_t>(i) % values.size()]);
  return t;
}

}  // namespace facet::test
