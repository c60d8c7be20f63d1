// GPU trees in the interpreter: barriers, shared memory, collectives, launches - with planted faults of each kind.
#include <gtest/gtest.h>

#include "src/run/interpret/interpret.hpp"
#include "support/gpu_trees.hpp"

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

TEST(InterpretGpu, DivergentBarrier) {
  const LoopPtr store = put("y", {global_index()}, get("x", {global_index()}));
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
  LoopProgram p = in_block({put("y", {global_index()}, get("x", {global_index()}))});
  p.kernels.push_back(p.kernels[0]);
  EXPECT_TRUE(run(p, &t).clean());
}

LoopPtr accumulate(Scope scope, int width, ReduceKind kind = ReduceKind::kSum) {
  return collective("s", get("x", {global_index()}), scope, width, kind);
}

TEST(InterpretGpu, WarpAndBlockCollectives) {
  for (const int width : {1, 8, 32}) {
    HostTensors t{{"x", ramp({128})}};
    const InterpretReport r = run(
        in_block({mutable_value("s"), accumulate(Scope::kWarp, width), put("y", {global_index()}, value_of("s", DType::kF32))}),
        &t);
    EXPECT_TRUE(r.clean()) << to_text(r);
    for (int i = 0; i < 128; ++i) {
      double want = 0;
      for (int k = i / width * width; k < i / width * width + width; ++k) want += k % 17;
      ASSERT_EQ(t["y"].get(i), want);
    }
  }
  HostTensors t{{"x", ramp({128})}};
  EXPECT_TRUE(run(in_block({mutable_value("s"), accumulate(Scope::kBlock, 32, ReduceKind::kMax),
                            put("y", {global_index()}, value_of("s", DType::kF32))}),
                  &t)
                  .clean());
  EXPECT_EQ(t["y"].get(0), 16);
}

// One thread's part was never written: then no thread has the sum.
TEST(InterpretGpu, CollectiveOfWhatNothingHasWritten) {
  const LoopPtr part = local("part", {idx(1)}, MemorySpace::kStack);
  const LoopPtr sum = collective("s", get("part", {idx(0)}), Scope::kWarp, 32, ReduceKind::kSum);
  const auto program = [&](const LoopPtr& written, const LoopPtr& last) {
    return in_block({mutable_value("s"), part, written, sum, put("y", {global_index()}, literal(DType::kF32, 0)), last});
  };
  const LoopPtr all = put("part", {idx(0)}, get("x", {global_index()}));
  const LoopPtr some = when(binary(Op::kNe, ix("t"), idx(3)), {all});
  const LoopPtr used = when(binary(Op::kEq, ix("t"), idx(5)), {put("y", {global_index()}, value_of("s", DType::kF32))});
  const LoopPtr unused = barrier("none");
  HostTensors t{{"x", ramp({128})}};
  EXPECT_TRUE(run(program(all, used), &t).clean());
  EXPECT_TRUE(run(program(some, unused), &t).clean());
  const InterpretReport r = run(program(some, used), &t);
  ASSERT_GE(count(r, Finding::Kind::kUninitialised), 1) << to_text(r);
  EXPECT_EQ(r.findings[0].buffer, "part");
}

TEST(InterpretGpu, CollectiveThatHalfAWarpSkips) {
  HostTensors t{{"x", ramp({128})}};
  const LoopList body = {mutable_value("s"), when(binary(Op::kLt, ix("t"), idx(40)), {accumulate(Scope::kWarp, 32)}),
                         put("y", {global_index()}, literal(DType::kF32, 0))};
  EXPECT_GE(count(run(in_block(body), &t), Finding::Kind::kDivergence), 1);
}

TEST(InterpretGpu, ThreadLoopsAreGuardedOrStrided) {
  // 100 of 128 elements by 64 threads, then 10 more by a narrow loop, in one block.
  const LoopList body = {loop("b", idx(1),
                              {loop("t", ix("N"), {put("y", {ix("t")}, get("x", {ix("t")}))}, LoopKind::kThreadX),
                               loop("t", idx(10), {put("z", {ix("t")}, literal(DType::kF32, 3))}, LoopKind::kThreadX)},
                              LoopKind::kBlockX)};
  const LoopProgram p = program_of({buffer("x", {ix("N")}, BufferRole::kInput), buffer("y", {ix("N")}, BufferRole::kOutput),
                                    buffer("z", {idx(10)}, BufferRole::kOutput)},
                                   body, {symbol("N", 0, 100000, 100)});
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
  EXPECT_EQ(code(program({loop("t", idx(64), {loop("u", idx(32), {store}, LoopKind::kThreadY)}, LoopKind::kThreadX)})),
            Code::kGpuLaunch);
  EXPECT_EQ(
      code(program({loop("t", idx(64), {store}, LoopKind::kThreadX), loop("t", idx(32), {barrier("x")}, LoopKind::kThreadX)})),
      Code::kGpuLaunch);
  EXPECT_EQ(code(program({loop("a", idx(2), {loop("b", idx(2), {store}, LoopKind::kBlockX)}, LoopKind::kBlockX)})),
            Code::kGpuLaunch);
}

TEST(InterpretGpu, GridAxesPastTheirLimitAreStrided) {
  const LoopProgram p = program_of({buffer("y", {idx(70000)}, BufferRole::kOutput)},
                                   {loop("b", idx(70000), {put("y", {ix("b")}, literal(DType::kF32, 1))}, LoopKind::kBlockY)});
  HostTensors t;
  const InterpretReport r = run(p, &t);
  EXPECT_TRUE(r.clean()) << to_text(r);
  EXPECT_EQ(t["y"].get(69999), 1);
}

}  // namespace
}  // namespace facet::testing
