// GPU trees in the interpreter: barriers, shared memory, collectives, launches - with planted faults of each kind.
#include <gtest/gtest.h>

#include "src/run/interpret/interpret.hpp"
#include "unit/run/interpret/tree_support.hpp"

namespace facet::testing {
namespace {

HostTensor ramp(std::vector<std::int64_t> shape) {
  HostTensor t = make_host_tensor(DType::kF32, std::move(shape));
  for (std::int64_t i = 0; i < t.element_count(); ++i) t.set(i, static_cast<double>(i % 17));
  return t;
}

InterpretReport run(const LoopProgram& p, HostTensors* tensors, const SymbolValues& symbols = {}, std::uint64_t seed = 1) {
  InterpretOptions o;
  o.seed = seed;
  const Result<InterpretReport> r = interpret(p, symbols, *tensors, o);
  EXPECT_TRUE(r.ok()) << (r.ok() ? "" : to_text(r.errors()));
  return r.ok() ? *r : InterpretReport{};
}

int count(const InterpretReport& r, Finding::Kind kind) {
  int n = 0;
  for (const Finding& f : r.findings) n += f.kind == kind;
  return n;
}

// y[j,i] = x[i,j] through a shared tile of 8x8, ragged sizes guarded; `barriers`: which of the two barriers are there.
LoopProgram transpose(bool first_barrier, bool second_barrier, bool guarded = true, bool initialised = true) {
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
  // Each block does two tile rows, so the second barrier matters.
  const LoopList threads = {local("tile", {idx(8), idx(8)}, MemorySpace::kShared),
                            loop("a", idx(8), {loop("b", idx(8), {loop_from("it", idx_mul(idx(2), ix("bt")), idx_add(idx_mul(idx(2), ix("bt")), idx(2)), steps)}, LoopKind::kThreadX)}, LoopKind::kThreadY)};
  const LoopList body = {loop("bt", idx_floordiv(idx_add(ix("M"), idx(15)), 16), {loop("jt", idx_floordiv(idx_add(ix("N"), idx(7)), 8), threads, LoopKind::kBlockX)}, LoopKind::kBlockY)};
  return program_of({buffer("x", {ix("M"), ix("N")}, BufferRole::kInput), buffer("y", {ix("N"), ix("M")}, BufferRole::kOutput)}, body,
                    {symbol("M", 1, 4096, 20), symbol("N", 1, 4096, 13)});
}

TEST(InterpretGpu, TransposeThroughSharedMemory) {
  for (const std::uint64_t seed : {1, 2, 3})
    for (const auto& [m, n] : std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1}, {8, 8}, {20, 13}, {33, 40}}) {
      HostTensors t{{"x", ramp({m, n})}};
      const InterpretReport r = run(transpose(true, true), &t, {{"M", m}, {"N", n}}, seed);
      EXPECT_TRUE(r.clean()) << to_text(r);
      EXPECT_EQ(r.shared_bytes, 256);
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) ASSERT_EQ(t["y"].get(j * m + i), t["x"].get(i * n + j));
    }
}

TEST(InterpretGpu, EachBarrierIsNeeded) {
  for (const bool first : {true, false}) {
    HostTensors t{{"x", ramp({20, 13})}};
    const InterpretReport r = run(transpose(first, !first), &t, {{"M", 20}, {"N", 13}});
    ASSERT_GE(count(r, Finding::Kind::kRace), 1) << to_text(r);
    EXPECT_EQ(r.findings[0].buffer, "tile");
  }
}

TEST(InterpretGpu, UnguardedTailAndUninitialisedTile) {
  HostTensors t{{"x", ramp({20, 13})}};
  EXPECT_GE(count(run(transpose(true, true, false), &t, {{"M", 20}, {"N", 13}}), Finding::Kind::kOutOfBounds), 2);
  const InterpretReport r = run(transpose(true, true, true, false), &t, {{"M", 20}, {"N", 13}});
  ASSERT_GE(count(r, Finding::Kind::kUninitialised), 1);
  EXPECT_EQ(r.findings[0].buffer, "tile");
}

LoopProgram in_block(LoopList body, std::int64_t threads = 64, std::int64_t blocks = 2) {
  return program_of({buffer("x", {idx(128)}, BufferRole::kInput), buffer("y", {idx(128)}, BufferRole::kOutput)},
                    {loop("b", idx(blocks), {loop("t", idx(threads), std::move(body), LoopKind::kThreadX)}, LoopKind::kBlockX)});
}

const ExprPtr kGlobalIndex = idx_add(idx_mul(idx(64), ix("b")), ix("t"));

TEST(InterpretGpu, DivergentBarrier) {
  const LoopPtr store = put("y", {kGlobalIndex}, get("x", {kGlobalIndex}));
  HostTensors t{{"x", ramp({128})}};
  const InterpretReport bad = run(in_block({when(binary(Op::kLt, ix("t"), idx(32)), {barrier("inside")}), store}), &t);
  ASSERT_EQ(count(bad, Finding::Kind::kDivergence), 1) << to_text(bad);
  EXPECT_NE(bad.findings[0].text.find("32 threads"), std::string::npos);
  // A condition that all threads of the block share is no divergence.
  EXPECT_TRUE(run(in_block({when(binary(Op::kLt, ix("b"), idx(1)), {barrier("inside")}), store}), &t).clean());
}

TEST(InterpretGpu, BlocksOfOneLaunchAreNotOrdered) {
  HostTensors t{{"x", ramp({128})}};
  EXPECT_GE(count(run(in_block({put("y", {ix("t")}, get("x", {ix("t")}))}), &t), Finding::Kind::kRace), 1);
  // Two kernels are ordered.
  LoopProgram p = in_block({put("y", {kGlobalIndex}, get("x", {kGlobalIndex}))});
  p.kernels.push_back(p.kernels[0]);
  EXPECT_TRUE(run(p, &t).clean());
}

LoopPtr accumulate(Scope scope, int width, ReduceKind kind = ReduceKind::kSum) {
  Collective c;
  c.scope = scope;
  c.kind = kind;
  c.target = "s";
  c.value = get("x", {kGlobalIndex});
  c.width = width;
  return make_loop(std::move(c));
}

LoopPtr mutable_value(const std::string& name) {
  Let l;
  l.name = name;
  l.is_mutable = true;
  return make_loop(std::move(l));
}

TEST(InterpretGpu, WarpAndBlockCollectives) {
  for (const int width : {1, 8, 32}) {
    HostTensors t{{"x", ramp({128})}};
    const InterpretReport r = run(in_block({mutable_value("s"), accumulate(Scope::kWarp, width), put("y", {kGlobalIndex}, value_of("s", DType::kF32))}), &t);
    EXPECT_TRUE(r.clean()) << to_text(r);
    for (int i = 0; i < 128; ++i) {
      double want = 0;
      for (int k = i / width * width; k < i / width * width + width; ++k) want += k % 17;
      ASSERT_EQ(t["y"].get(i), want);
    }
  }
  HostTensors t{{"x", ramp({128})}};
  EXPECT_TRUE(run(in_block({mutable_value("s"), accumulate(Scope::kBlock, 32, ReduceKind::kMax), put("y", {kGlobalIndex}, value_of("s", DType::kF32))}), &t).clean());
  EXPECT_EQ(t["y"].get(0), 16);
}

TEST(InterpretGpu, CollectiveThatHalfAWarpSkips) {
  HostTensors t{{"x", ramp({128})}};
  const LoopList body = {mutable_value("s"), when(binary(Op::kLt, ix("t"), idx(40)), {accumulate(Scope::kWarp, 32)}), put("y", {kGlobalIndex}, literal(DType::kF32, 0))};
  EXPECT_GE(count(run(in_block(body), &t), Finding::Kind::kDivergence), 1);
}

TEST(InterpretGpu, ThreadLoopsAreGuardedOrStrided) {
  // 100 of 128 elements by 64 threads, then 10 more by a narrow loop, in one block.
  const LoopList body = {loop("b", idx(1), {loop("t", ix("N"), {put("y", {ix("t")}, get("x", {ix("t")}))}, LoopKind::kThreadX),
                                            loop("t", idx(10), {put("z", {ix("t")}, literal(DType::kF32, 3))}, LoopKind::kThreadX)}, LoopKind::kBlockX)};
  const LoopProgram p = program_of({buffer("x", {ix("N")}, BufferRole::kInput), buffer("y", {ix("N")}, BufferRole::kOutput), buffer("z", {idx(10)}, BufferRole::kOutput)}, body,
                                   {symbol("N", 0, 100000, 100)});
  for (const std::int64_t n : {0, 1, 100, 3000}) {
    HostTensors t{{"x", ramp({n})}};
    const InterpretReport r = run(p, &t, {{"N", n}});
    EXPECT_TRUE(r.clean()) << n << "\n" << to_text(r);
    EXPECT_EQ(t["z"].get(9), 3);
  }
}

TEST(InterpretGpu, LaunchLimits) {
  const auto code = [](const LoopProgram& p) {
    HostTensors t{{"x", ramp({128})}};
    const Result<InterpretReport> r = interpret(p, {}, t);
    return r.ok() ? Code::kInternalError : r.errors()[0].code;
  };
  const LoopPtr store = put("y", {idx(0)}, literal(DType::kF32, 0));
  const auto program = [](LoopList body) { return program_of({buffer("y", {idx(1)}, BufferRole::kOutput)}, std::move(body)); };
  // 64 x 32 threads; a barrier in a narrower thread loop; two loops on one grid axis.
  EXPECT_EQ(code(program({loop("t", idx(64), {loop("u", idx(32), {store}, LoopKind::kThreadY)}, LoopKind::kThreadX)})), Code::kGpuLaunch);
  EXPECT_EQ(code(program({loop("t", idx(64), {store}, LoopKind::kThreadX), loop("t", idx(32), {barrier("x")}, LoopKind::kThreadX)})), Code::kGpuLaunch);
  EXPECT_EQ(code(program({loop("a", idx(2), {loop("b", idx(2), {store}, LoopKind::kBlockX)}, LoopKind::kBlockX)})), Code::kGpuLaunch);
}

TEST(InterpretGpu, GridAxesPastTheirLimitAreStrided) {
  const LoopProgram p = program_of({buffer("y", {idx(70000)}, BufferRole::kOutput)}, {loop("b", idx(70000), {put("y", {ix("b")}, literal(DType::kF32, 1))}, LoopKind::kBlockY)});
  HostTensors t;
  const InterpretReport r = run(p, &t);
  EXPECT_TRUE(r.clean()) << to_text(r);
  EXPECT_EQ(t["y"].get(69999), 1);
}

}  // namespace
}  // namespace facet::testing
