// map_to_gpu: the mapped program computes what the original does, is clean in the interpreter, and is mapped as it should be.
#include "codegen/cuda/map.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "codegen/cuda/compile.hpp"
#include "codegen/cuda/print.hpp"
#include "codegen/passes/tree.hpp"
#include "src/run/interpret/interpret.hpp"
#include "support/placed_trees.hpp"

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

TEST(MapToGpu, UnmappedLoopsAreOneThread) {
  const Mapped m = check(plain_matmul());
  EXPECT_TRUE(noted(m, "one thread: no loop of it is mapped"));
  EXPECT_EQ(m.report.barriers, 0);
  check(prefix_sum());
}

TEST(MapToGpu, MatmulIsOnePointAThread) {
  EXPECT_TRUE(noted(check(point_matmul()), "points a thread"));
  for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{{1, 1, 1}, {64, 64, 3}, {5, 100, 0}, {0, 4, 4}})
    check(point_matmul(), {{"M", m}, {"N", n}, {"K", k}});
}

TEST(MapToGpu, StagedMatmulIsTiledWithTwoBarriersAStep) {
  for (const std::int64_t each : {2, 4, 8})
    for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{{1, 1, 1}, {33, 40, 9}})
      EXPECT_TRUE(noted(check(tiled_matmul(each), {{"M", m}, {"N", n}, {"K", k}}), "in registers"));
  EXPECT_EQ(check(tiled_matmul(8), {{"M", 12}, {"N", 128}, {"K", 33}}).report.barriers, 10);
}

TEST(MapToGpu, ConvolutionIsTiledAsAProduct) { EXPECT_TRUE(noted(check(tiled_conv()), "in registers")); }

TEST(MapToGpu, SoftmaxIsABlockARowWithNoBarrierButTheCollectives) {
  const Mapped m = check(softmax_rows());
  EXPECT_TRUE(noted(m, "one block an iteration"));
  EXPECT_EQ(m.report.collectives, 10);
  EXPECT_EQ(m.report.barriers, 0);
  for (const std::int64_t n : {1, 31, 32, 33, 1000})
    for (const std::int64_t threads : {8, 32, 256}) check(softmax_rows(threads), {{"M", 3}, {"N", n}});
}

TEST(MapToGpu, RowSumsAreCollectivesAndColumnSumsShareAPoint) {
  const Mapped rows = check(row_sums());
  EXPECT_TRUE(noted(rows, "one block an iteration"));
  EXPECT_EQ(rows.report.collectives, 40);
  check(row_sums(), {{"M", 0}, {"N", 5}});
  check(row_sums(), {{"M", 5}, {"N", 0}});
  for (const auto& [m, n] : std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1}, {100, 33}, {0, 5}, {64, 64}})
    EXPECT_TRUE(noted(check(column_sums(), {{"M", m}, {"N", n}}), "columns"));
}

TEST(MapToGpu, SplitReductionsAreTwoKernels) {
  const Mapped total = check(split_total(), {{"M", 1030}, {"N", 2}});
  EXPECT_TRUE(noted(total, "two kernels"));
  EXPECT_EQ(total.program.kernels.size(), 4u);
  for (const auto& [m, n] : std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1}, {100, 33}, {0, 5}}) {
    const Mapped columns = check(split_columns(), {{"M", m}, {"N", n}});
    EXPECT_TRUE(noted(columns, "two kernels"));
    EXPECT_EQ(columns.program.kernels.size(), 2u);
  }
}

TEST(MapToGpu, LoopsAroundTheGridAreTheProcessors) {
  const Mapped m = check(launched_jacobi());
  ASSERT_EQ(m.program.kernels.size(), 2u);
  ASSERT_EQ(m.program.kernels[0].host.size(), 1u);
  EXPECT_EQ(m.program.kernels[0].host[0].iterator, m.program.kernels[1].host[0].iterator);
  EXPECT_EQ(m.report.barriers, 0);
}

// s = 0 is a part of the block that sums; the nest after it has a kernel of its own, as it had before.
TEST(MapToGpu, SingleInstancesShareALaunch) {
  const Mapped m = check(placed(total_then_use(), {{"j", strided(32)}}));
  EXPECT_EQ(m.program.kernels.size(), 2u);
  EXPECT_EQ(check(placed(total_then_use(), {{"i", strided(32)}})).program.kernels.size(), 2u);
}

TEST(MapToGpu, AnIntermediateDiesIntoTheOutput) {
  // p[i,j] = f(x[i,j]); s = sum_j p; y[i,j] = p[i,j] / (s + 1): p lives in y, unless y[i,j] reads another element of p.
  const auto program = [](const ExprPtr& read_at, bool cheap = false) {
    const ExprPtr x = get("x", {ix("i"), ix("j")});
    const ExprPtr value = cheap ? mul(x, f32(2)) : unary(Op::kTanh, unary(Op::kTanh, x));
    const LoopList row = {
        local("s", {}, MemorySpace::kStack), loop("j", ix("N"), {put("p", {ix("i"), ix("j")}, value)}), put("s", {}, f32(0)),
        loop("j", ix("N"), {update("s", {}, get("p", {ix("i"), ix("j")}))}),
        loop("j", ix("N"),
             {put("y", {ix("i"), ix("j")}, binary(Op::kDiv, get("p", {ix("i"), read_at}), add(get("s", {}), f32(1000))))})};
    return program_of(
        {buffer("x", {ix("M"), ix("N")}, BufferRole::kInput), buffer("p", {ix("M"), ix("N")}, BufferRole::kWorkspace),
         buffer("y", {ix("M"), ix("N")}, BufferRole::kOutput)},
        {loop("i", ix("M"), row)}, two_symbols(4, 70));
  };
  const Places rows{{"i", on_grid(0)}, {"j", strided(32)}};
  const ExprPtr backwards = idx_sub(idx_sub(ix("N"), idx(1)), ix("j"));
  const auto asked = [&](LoopProgram p, bool recompute) {
    if (recompute)
      p.kernels[0].recomputed = {"p"};
    else
      p.kernels[0].reused = {{"p", "y"}};
    return check(placed(std::move(p), rows));
  };
  EXPECT_TRUE(noted(asked(program(ix("j")), false), "in the memory of y"));
  EXPECT_FALSE(noted(asked(program(backwards), false), "in the memory of y"));
  // Computed where it is read, wherever that is in the row.
  for (const ExprPtr& at : {ix("j"), backwards}) {
    const Mapped m = asked(program(at, true), true);
    EXPECT_TRUE(noted(m, "computed where it is read"));
    EXPECT_EQ(m.program.find_buffer("p"), nullptr);
    // Nobody asked: it stays in memory.
    EXPECT_NE(check(placed(program(at, true), rows)).program.find_buffer("p"), nullptr);
  }
}

TEST(MapToGpu, TimeLoopRunsInOneBlockWithBarriers) {
  const Mapped m = check(one_block_jacobi());
  EXPECT_TRUE(noted(m, "one block"));
  EXPECT_GE(m.report.barriers, 5);
}

TEST(MapToGpu, NestsOfAKernelBecomeKernelsAndTheirArrayWorkspace) {
  const Mapped m = check(total_then_use());
  EXPECT_GE(m.program.kernels.size(), 2u);
  const Buffer* s = m.program.find_buffer("s");
  ASSERT_NE(s, nullptr);
  EXPECT_EQ(s->role, BufferRole::kWorkspace);
}

TEST(MapToGpu, TriangleFiveAxesAndReversedRow) {
  check(mapped_triangle());
  check(mapped_axes());
  const Mapped m = check(mapped_reversed_row());
  EXPECT_TRUE(noted(m, "shared memory"));
  EXPECT_GE(m.report.barriers, 1);
}

TEST(MapToGpu, TriangularGridLoopsTakeTheirHull) {
  // y[i,j] = x[i,j] + 1 for i <= j < N: j's bound moves with i, both are on the grid.
  const LoopProgram plain = program_of(
      {buffer("x", {ix("N"), ix("N")}, BufferRole::kInput), buffer("y", {ix("N"), ix("N")}, BufferRole::kInOut)},
      {loop("i", ix("N"),
            {loop_from("j", ix("i"), ix("N"), {put("y", {ix("i"), ix("j")}, add(get("x", {ix("i"), ix("j")}), f32(1)))})})},
      two_symbols(1, 37));
  const LoopProgram p = placed(plain, {{"i", on_grid(1)}, {"j", pieces(0, 0, 32)}});
  EXPECT_EQ(check(p).log.notes.size(), 1u);
  check(p, {{"M", 1}, {"N", 1}});
}

// Nodes of all expressions, written out.
long nodes_of(const LoopList& body) {
  long n = 0;
  passes::walk_expressions(body, [&](const ExprPtr& e) { walk(e, [&](const Expr&) { ++n; }); });
  return n;
}

// Five loops on the grid share one axis, and the bounds of each name those around it several times, as tiles over time do.
TEST(MapToGpu, ManyGridLoopsWithLongBoundsKeepTheirNames) {
  const std::vector<std::string> names = {"a", "b", "c", "d", "e", "f"};
  std::vector<ExprPtr> at;
  for (const std::string& n : names) at.push_back(ix(n));
  LoopList body = {put("y", at, literal(DType::kF32, 40))};
  Places places;
  for (std::size_t k = names.size(); k-- > 0;) {
    const ExprPtr one = k > 0 ? ix(names[k - 1]) : idx(0), two = k > 1 ? ix(names[k - 2]) : idx(0);
    const ExprPtr low = idx_max(idx_sub(one, idx(2)), idx_floordiv(idx_add(one, two), 3));
    const ExprPtr up =
        idx_min(idx_min(idx_add(one, idx(3)), ix("N")), idx_add(idx_floordiv(idx_add(idx_add(one, two), ix("N")), 2), idx(1)));
    body = {loop_from(names[k], idx_max(low, idx(0)), up, body)};
    places[names[k]] = on_grid(static_cast<int>(k));
  }
  const std::vector<ExprPtr> extents(names.size(), ix("N"));
  const Mapped m =
      check(placed(program_of({buffer("y", extents, BufferRole::kInOut)}, body, {symbol("N", 1, 9, 4)}), places), {{"N", 3}});
  EXPECT_LT(nodes_of(m.program.kernels.at(0).body), 6000) << to_text(m.program);
}

TEST(MapToGpu, LongElementwiseDoesFourElementsAThread) {
  for (const std::int64_t n : {0, 1, 1023, 1024, 5000}) check(mapped_chain(4), {{"N", n}});
  const Mapped m = check(mapped_chain(4), {{"N", 2048}});
  EXPECT_NE(to_text(m.program).find("u in 0..4"), std::string::npos) << to_text(m.program);
}

TEST(MapToGpu, EachRemovedBarrierIsARace) {
  // The same mapping with one barrier less, for every barrier.
  for (const LoopProgram& p : {one_block_jacobi(), mapped_reversed_row(), tiled_conv(), tiled_matmul(2), column_sums()}) {
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
          out.push_back(passes::rebuild(
              n, [](const ExprPtr& e) { return e; }, without));
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
  for (const LoopProgram& p : {plain_matmul(), point_matmul(), tiled_matmul(8), tiled_conv(), softmax_rows(), row_sums(),
                               column_sums(), split_columns(), one_block_jacobi(), launched_jacobi(), split_total(),
                               mapped_triangle(), mapped_axes(), mapped_chain(4), mapped_reversed_row()}) {
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
