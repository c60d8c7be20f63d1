// map_to_gpu: the mapped program computes what the original does, is clean in the interpreter, and is mapped as it should be.
#include "codegen/cuda/map.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "codegen/cuda/compile.hpp"
#include "codegen/cuda/print.hpp"
#include "codegen/passes/tree.hpp"
#include "src/run/interpret/interpret.hpp"
#include "support/cpu_trees.hpp"

namespace facet::testing {
namespace {

HostTensors inputs_of(const LoopProgram& p, const SymbolValues& symbols) {
  HostTensors tensors;
  for (const Buffer& b : p.buffers) {
    if (b.role != BufferRole::kInput && b.role != BufferRole::kInOut) continue;
    std::vector<std::int64_t> shape;
    for (const ExprPtr& e : b.extents) shape.push_back(evaluate_index(e, symbols));
    HostTensor t = make_host_tensor(b.dtype, shape);
    for (std::int64_t i = 0; i < t.element_count(); ++i) t.set(i, static_cast<double>((i * 7) % 23 - 11));
    tensors[b.name] = std::move(t);
  }
  return tensors;
}

struct Mapped {
  LoopProgram program;
  PassLog log;
  InterpretReport report;
};

SymbolValues defaults(const LoopProgram& p) {
  SymbolValues values;
  for (const Symbol& s : p.symbols) values[s.name] = s.value;
  return values;
}

// Maps, interprets original and mapped program, compares every output.
Mapped check(const LoopProgram& original, const SymbolValues& symbols) {
  Mapped m;
  m.program = map_to_gpu(original, GpuMachine{}, &m.log);
  HostTensors want = inputs_of(original, symbols), got = want;
  const Result<InterpretReport> plain = interpret(original, symbols, want);
  EXPECT_TRUE(plain.ok()) << (plain.ok() ? "" : to_text(plain.errors()));
  EXPECT_TRUE(plain.ok() && plain->clean()) << to_text(*plain);
  const Result<InterpretReport> mapped = interpret(m.program, symbols, got);
  EXPECT_TRUE(mapped.ok()) << (mapped.ok() ? "" : to_text(mapped.errors())) << to_text(m.program);
  if (!plain.ok() || !mapped.ok()) return m;
  m.report = *mapped;
  EXPECT_TRUE(mapped->clean()) << to_text(*mapped) << to_text(m.program);
  for (const std::string& name : original.outputs)
    for (std::int64_t i = 0; i < want[name].element_count(); ++i) {
      const double w = want[name].get(i);
      if (std::fabs(got[name].get(i) - w) <= 1e-5 * std::fabs(w)) continue;
      ADD_FAILURE() << name << "[" << i << "] is " << got[name].get(i) << ", not " << w << "\n" << to_text(m.program);
      return m;
    }
  return m;
}
Mapped check(const LoopProgram& original) { return check(original, defaults(original)); }

bool noted(const Mapped& m, const std::string& reason) {
  for (const PassNote& n : m.log.notes)
    if (n.reason.find(reason) != std::string::npos) return true;
  return false;
}

TEST(MapToGpu, MatmulIsOnePointAThread) {
  EXPECT_TRUE(noted(check(plain_matmul()), "one point a thread"));
  for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{{1, 1, 1}, {64, 64, 3}, {5, 100, 0}, {0, 4, 4}})
    check(plain_matmul(), {{"M", m}, {"N", n}, {"K", k}});
}

TEST(MapToGpu, LargeMatmulIsTiledWithTwoBarriersAStep) {
  for (const std::int64_t typical : {64, 1024, 4096}) {
    const LoopProgram p = plain_matmul(typical, typical, typical);
    for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{{1, 1, 1}, {33, 40, 9}}) {
      const Mapped r = check(p, {{"M", m}, {"N", n}, {"K", k}});
      EXPECT_TRUE(noted(r, "in registers"));
    }
  }
  EXPECT_EQ(check(plain_matmul(4096, 4096, 4096), {{"M", 12}, {"N", 128}, {"K", 33}}).report.barriers, 10);
}

TEST(MapToGpu, ConvolutionIsTiledAsAProduct) {
  const Mapped m = check(padded_conv(2, 9));
  EXPECT_TRUE(noted(m, "in registers"));
}

TEST(MapToGpu, SoftmaxIsABlockARowWithNoBarrierButTheCollectives) {
  const Mapped m = check(row_softmax());
  EXPECT_TRUE(noted(m, "one block an iteration"));
  EXPECT_EQ(m.report.collectives, 10);
  EXPECT_EQ(m.report.barriers, 0);
  for (const std::int64_t n : {1, 31, 32, 33, 1000}) check(row_softmax(), {{"M", 3}, {"N", n}});
}

TEST(MapToGpu, RowSumsReduceAndColumnSumsDoNot) {
  const Mapped rows = check(sums(true)), columns = check(sums(false));
  EXPECT_TRUE(noted(rows, "one block an iteration"));
  EXPECT_EQ(rows.report.collectives, 40);
  EXPECT_TRUE(noted(columns, "one point a thread"));
  check(sums(true), {{"M", 0}, {"N", 5}});
  check(sums(true), {{"M", 5}, {"N", 0}});
}

TEST(MapToGpu, NestsThatShareOuterLoopsAreDistributed) {
  // for b: t[i,j] = x[b,i,j] + 1; m[i] = max_j t[i,j]; y[b,i,j] = t[i,j] - m[i], with t and m local to b.
  const ExprPtr x = get("x", {ix("b"), ix("i"), ix("j")});
  const LoopList body = {local("t", {idx(6), idx(7)}, MemorySpace::kStack), local("m", {idx(6)}, MemorySpace::kStack),
                         loop("i", idx(6), {loop("j", idx(7), {put("t", {ix("i"), ix("j")}, add(x, f32(1)))})}),
                         loop("i", idx(6),
                              {put("m", {ix("i")}, f32(-1e9)),
                               loop("j", idx(7), {update("m", {ix("i")}, get("t", {ix("i"), ix("j")}), ReduceKind::kMax)})}),
                         loop("i", idx(6),
                              {loop("j", idx(7),
                                    {put("y", {ix("b"), ix("i"), ix("j")},
                                         binary(Op::kSub, get("t", {ix("i"), ix("j")}), get("m", {ix("i")})))})})};
  const LoopProgram p = program_of(
      {buffer("x", {ix("M"), idx(6), idx(7)}, BufferRole::kInput), buffer("y", {ix("M"), idx(6), idx(7)}, BufferRole::kOutput)},
      {loop("b", ix("M"), body)}, two_symbols(3, 1));
  const Mapped m = check(p);
  EXPECT_TRUE(noted(m, "3 nests shared it"));
  EXPECT_EQ(m.program.kernels.size(), 3u);
  check(p, {{"M", 0}, {"N", 1}});
}

TEST(MapToGpu, AnIntermediateDiesIntoTheOutput) {
  // p[i,j] = x[i,j] * 2; s = sum_j p; y[i,j] = p[i,j] / (s + 1): p lives in y, unless y[i,j] reads another element of p.
  const auto program = [](const ExprPtr& read_at) {
    const LoopList row = {
        local("s", {}, MemorySpace::kStack),
        loop("j", ix("N"), {put("p", {ix("i"), ix("j")}, mul(get("x", {ix("i"), ix("j")}), f32(2)))}), put("s", {}, f32(0)),
        loop("j", ix("N"), {update("s", {}, get("p", {ix("i"), ix("j")}))}),
        loop("j", ix("N"),
             {put("y", {ix("i"), ix("j")}, binary(Op::kDiv, get("p", {ix("i"), read_at}), add(get("s", {}), f32(1000))))})};
    return program_of(
        {buffer("x", {ix("M"), ix("N")}, BufferRole::kInput), buffer("p", {ix("M"), ix("N")}, BufferRole::kWorkspace),
         buffer("y", {ix("M"), ix("N")}, BufferRole::kOutput)},
        {loop("i", ix("M"), row)}, two_symbols(4, 70));
  };
  EXPECT_TRUE(noted(check(program(ix("j"))), "in the memory of y"));
  EXPECT_FALSE(noted(check(program(idx_sub(idx_sub(ix("N"), idx(1)), ix("j")))), "in the memory of y"));
}

TEST(MapToGpu, LongColumnsShareAPoint) {
  const LoopProgram p = sums(false, 16384, 4096);
  for (const auto& [m, n] : std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1}, {100, 33}, {0, 5}, {64, 64}})
    EXPECT_TRUE(noted(check(p, {{"M", m}, {"N", n}}), "columns"));
}

TEST(MapToGpu, LongTotalIsTwoKernels) {
  const LoopProgram p = total_then_use(4096, 4096);
  for (const auto& [m, n] : std::vector<std::pair<std::int64_t, std::int64_t>>{{1030, 2}}) {
    const Mapped r = check(p, {{"M", m}, {"N", n}});
    EXPECT_TRUE(noted(r, "two kernels"));
    EXPECT_EQ(r.program.kernels.size(), 4u);
  }
}

TEST(MapToGpu, TimeLoopRunsInOneBlockWithBarriers) {
  const Mapped m = check(jacobi());
  EXPECT_TRUE(noted(m, "one block"));
  EXPECT_GE(m.report.barriers, 5);
}

TEST(MapToGpu, RecurrenceRunsInOneThread) {
  const Mapped m = check(prefix_sum());
  EXPECT_EQ(m.report.barriers, 0);
}

TEST(MapToGpu, NestsOfAKernelBecomeKernelsAndTheirArrayWorkspace) {
  const Mapped m = check(total_then_use());
  EXPECT_GE(m.program.kernels.size(), 2u);
  const Buffer* s = m.program.find_buffer("s");
  ASSERT_NE(s, nullptr);
  EXPECT_EQ(s->role, BufferRole::kWorkspace);
}

TEST(MapToGpu, TriangleFiveAxesAndReversedRow) {
  check(triangle());
  check(five_axes());
  const Mapped m = check(reversed_row());
  EXPECT_TRUE(noted(m, "shared memory"));
  EXPECT_GE(m.report.barriers, 1);
}

TEST(MapToGpu, LongElementwiseDoesFourElementsAThread) {
  const LoopProgram p = long_chain(1 << 22);
  for (const std::int64_t n : {0, 1, 1023, 1024, 5000}) check(p, {{"N", n}});
  const Mapped m = check(p, {{"N", 2048}});
  EXPECT_NE(to_text(m.program).find("u in 0..4"), std::string::npos) << to_text(m.program);
}

TEST(MapToGpu, EachRemovedBarrierIsARace) {
  // The same mapping with one barrier less, for every barrier.
  for (const LoopProgram& p : {jacobi(), reversed_row(), padded_conv(2, 9)}) {
    const LoopProgram mapped = map_to_gpu(p, GpuMachine{}, nullptr);
    int barriers = 0;
    passes::walk_nodes(mapped.kernels[0].body, [&](const LoopPtr& n) { barriers += passes::as<Barrier>(n) != nullptr; });
    ASSERT_GE(barriers, 1);
    for (int skip = 0; skip < barriers; ++skip) {
      int seen = 0;
      const std::function<LoopList(const LoopList&)> without = [&](const LoopList& body) {
        LoopList out;
        for (const LoopPtr& n : body) {
          if (passes::as<Barrier>(n) && seen++ == skip) continue;
          out.push_back(passes::rebuild(n, [](const ExprPtr& e) { return e; }, without));
        }
        return out;
      };
      LoopProgram broken = mapped;
      broken.kernels[0].body = without(mapped.kernels[0].body);
      HostTensors t = inputs_of(p, defaults(p));
      const Result<InterpretReport> r = interpret(broken, defaults(p), t);
      ASSERT_TRUE(r.ok());
      bool race = false;
      for (const Finding& f : r->findings) race = race || f.kind == Finding::Kind::kRace;
      EXPECT_TRUE(race) << "barrier " << skip << " of\n" << to_text(mapped);
    }
  }
}

TEST(MapToGpu, PrintedProgramsCompile) {
  for (const LoopProgram& p : {plain_matmul(), plain_matmul(4096, 4096, 4096), padded_conv(2, 9), row_softmax(), sums(true),
                               jacobi(), total_then_use(), triangle(), five_axes(), long_chain(1 << 22), reversed_row()}) {
    const Result<CudaModule> m = print_cuda(map_to_gpu(p, GpuMachine{}, nullptr));
    ASSERT_TRUE(m.ok()) << to_text(m.errors());
    CudaCompileOptions o;
    o.compiler = CudaCompiler::kNvrtc;
    const Result<CudaBinary> b = compile_cuda(m->module.source.text, m->module.source.name, o);
    if (!b && b.errors()[0].code == Code::kNoCudaCompiler) GTEST_SKIP() << "NVRTC is not installed";
    ASSERT_TRUE(b.ok()) << to_text(b.errors()) << m->module.source.text;
    EXPECT_EQ(b->log, "") << m->module.source.text;
  }
}

}  // namespace
}  // namespace facet::testing
