// CPU trees in the interpreter: values, parallel loops, vectors, and every kind of finding seen once and not seen once.
#include "src/run/interpret/interpret.hpp"

#include <gtest/gtest.h>

#include "src/run/interpret/bytecode.hpp"
#include "support/trees.hpp"

namespace facet::testing {
namespace {

HostTensor ramp(std::vector<std::int64_t> shape, DType dtype = DType::kF32) {
  HostTensor t = make_host_tensor(dtype, std::move(shape));
  for (std::int64_t i = 0; i < t.element_count(); ++i) t.set(i, static_cast<double>(i));
  return t;
}

InterpretReport run(const LoopProgram& p, HostTensors* tensors, const SymbolValues& symbols = {},
                    const InterpretOptions& options = {}) {
  const Result<InterpretReport> r = interpret(p, symbols, *tensors, options);
  EXPECT_TRUE(r.ok()) << (r.ok() ? "" : to_text(r.errors()));
  return r.ok() ? *r : InterpretReport{};
}

bool found(const InterpretReport& r, Finding::Kind kind) {
  for (const Finding& f : r.findings)
    if (f.kind == kind) return true;
  return false;
}

// C[i,j] += A[i,k] * B[k,j], i in parallel.
LoopProgram matmul(LoopKind outer, LoopKind reduction = LoopKind::kSerial) {
  const LoopList body = {loop(
      "i", idx(4),
      {loop(
          "j", idx(3),
          {put("C", {ix("i"), ix("j")}, literal(DType::kF32, 0), "C.init"),
           loop("k", idx(5),
                {update("C", {ix("i"), ix("j")}, binary(Op::kMul, get("A", {ix("i"), ix("k")}), get("B", {ix("k"), ix("j")})))},
                reduction)})},
      outer)};
  return program_of({buffer("A", {idx(4), idx(5)}, BufferRole::kInput), buffer("B", {idx(5), idx(3)}, BufferRole::kInput),
                     buffer("C", {idx(4), idx(3)}, BufferRole::kOutput)},
                    body);
}

TEST(Interpret, MatmulInParallelIsRightAndClean) {
  HostTensors t{{"A", ramp({4, 5})}, {"B", ramp({5, 3})}};
  const InterpretReport r = run(matmul(LoopKind::kParallel), &t);
  EXPECT_TRUE(r.clean()) << to_text(r);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 3; ++j) {
      double want = 0;
      for (int k = 0; k < 5; ++k) want += (i * 5 + k) * (k * 3 + j);
      EXPECT_EQ(t["C"].get(i * 3 + j), want);
    }
}

TEST(Interpret, ParallelReductionLoopIsARace) {
  HostTensors t{{"A", ramp({4, 5})}, {"B", ramp({5, 3})}};
  const InterpretReport r = run(matmul(LoopKind::kSerial, LoopKind::kParallel), &t);
  ASSERT_TRUE(found(r, Finding::Kind::kRace)) << to_text(r);
  EXPECT_EQ(r.findings[0].statement, "C");
  EXPECT_EQ(r.findings[0].buffer, "C");
}

TEST(Interpret, AtomicUpdatesDoNotRace) {
  const LoopProgram p =
      program_of({buffer("x", {idx(9)}, BufferRole::kInput), buffer("s", {}, BufferRole::kOutput)},
                 {put("s", {}, literal(DType::kF32, 0)),
                  loop("i", idx(9), {update("s", {}, get("x", {ix("i")}), ReduceKind::kSum, true)}, LoopKind::kParallel)});
  HostTensors t{{"x", ramp({9})}};
  EXPECT_TRUE(run(p, &t).clean());
  EXPECT_EQ(t["s"].get(0), 36);
}

TEST(Interpret, CollapsedIterationsAreAgents) {
  For outer;
  outer.iterator = "i";
  outer.lower = idx(0);
  outer.upper = idx(3);
  outer.kind = LoopKind::kParallel;
  outer.collapse = 2;
  outer.body = {loop("j", idx(3), {put("y", {ix("i")}, literal(DType::kF32, 1))})};
  HostTensors t;
  const LoopProgram p = program_of({buffer("y", {idx(3)}, BufferRole::kOutput)}, {make_loop(For(outer))});
  EXPECT_TRUE(found(run(p, &t), Finding::Kind::kRace));
  outer.collapse = 1;
  const LoopProgram q = program_of({buffer("y", {idx(3)}, BufferRole::kOutput)}, {make_loop(For(outer))});
  EXPECT_TRUE(run(q, &t).clean());
}

// The iterations of a parallel loop inside a parallel one end before what follows them: one agent runs them in its turn.
TEST(Interpret, CollapsedLoopInsideAParallelOneIsOneAgents) {
  For inner;
  inner.iterator = "j";
  inner.lower = idx(0);
  inner.upper = idx(3);
  inner.kind = LoopKind::kParallel;
  inner.collapse = 2;
  inner.body = {loop("k", idx(2), {put("t", {ix("i"), ix("j"), ix("k")}, literal(DType::kF32, 1))})};
  const LoopList body = {make_loop(std::move(inner)), put("y", {ix("i")}, get("t", {ix("i"), idx(2), idx(1)}))};
  HostTensors t;
  const InterpretReport r = run(
      program_of({buffer("t", {idx(4), idx(3), idx(2)}, BufferRole::kWorkspace), buffer("y", {idx(4)}, BufferRole::kOutput)},
                 {loop("i", idx(4), body, LoopKind::kParallel)}),
      &t);
  EXPECT_TRUE(r.clean()) << to_text(r);
}

TEST(Interpret, StackOutsideTheParallelLoopIsSharedAndInsideIsPrivate) {
  const LoopPtr tmp = local("t", {idx(1)}, MemorySpace::kStack);
  const LoopList use = {put("t", {idx(0)}, literal(DType::kF32, 2)), put("y", {ix("i")}, get("t", {idx(0)}))};
  LoopList inside = use;
  inside.insert(inside.begin(), tmp);
  HostTensors t;
  const std::vector<Buffer> buffers = {buffer("y", {idx(8)}, BufferRole::kOutput)};
  EXPECT_TRUE(run(program_of(buffers, {loop("i", idx(8), inside, LoopKind::kParallel)}), &t).clean());
  EXPECT_TRUE(found(run(program_of(buffers, {tmp, loop("i", idx(8), use, LoopKind::kParallel)}), &t), Finding::Kind::kRace));
}

TEST(Interpret, SettingASharedValueInParallelIsARace) {
  Let let;
  let.name = "acc";
  let.value = literal(DType::kF32, 0);
  let.is_mutable = true;
  const LoopList body = {
      make_loop(Let(let)),
      loop("i", idx(4), {make_loop(Set{"acc", binary(Op::kAdd, value_of("acc", DType::kF32), literal(DType::kF32, 1))})},
           LoopKind::kParallel),
      put("y", {}, value_of("acc", DType::kF32))};
  HostTensors t;
  EXPECT_TRUE(found(run(program_of({buffer("y", {}, BufferRole::kOutput)}, body), &t), Finding::Kind::kRace));
}

TEST(Interpret, UnguardedTailIsOutOfBounds) {
  const auto tiled = [](bool guarded) {
    const ExprPtr i = idx_add(idx_mul(idx(4), ix("it")), ix("ip"));
    const LoopPtr body = put("y", {i}, get("x", {i}));
    return program_of({buffer("x", {ix("N")}, BufferRole::kInput), buffer("y", {ix("N")}, BufferRole::kOutput)},
                      {loop("it", idx_floordiv(idx_add(ix("N"), idx(3)), 4),
                            {loop("ip", idx(4), {guarded ? when(binary(Op::kLt, i, ix("N")), {body}) : body})})},
                      {symbol("N", 0, 100, 10)});
  };
  for (const std::int64_t n : {0, 1, 4, 10}) {
    HostTensors t{{"x", ramp({n})}};
    EXPECT_TRUE(run(tiled(true), &t, {{"N", n}}).clean());
    const InterpretReport r = run(tiled(false), &t, {{"N", n}});
    EXPECT_EQ(found(r, Finding::Kind::kOutOfBounds), n % 4 != 0);
    if (n == 10) { EXPECT_EQ(r.findings[0].subscripts, (std::vector<std::int64_t>{10})); }
  }
}

TEST(Interpret, UninitialisedLocalAndUnwrittenOutput) {
  const LoopList body = {local("t", {idx(4)}, MemorySpace::kStack), put("t", {idx(0)}, literal(DType::kF32, 1)),
                         put("y", {idx(0)}, get("t", {idx(0)})), put("y", {idx(1)}, get("t", {idx(3)}))};
  HostTensors t;
  const InterpretReport r = run(program_of({buffer("y", {idx(3)}, BufferRole::kOutput)}, body), &t);
  ASSERT_EQ(r.finding_count, 2) << to_text(r);
  EXPECT_EQ(r.findings[0].kind, Finding::Kind::kUninitialised);
  EXPECT_EQ(r.findings[0].buffer, "t");
  EXPECT_EQ(r.findings[1].kind, Finding::Kind::kUnwritten);
}

// t[0] is 1, t[1] nothing; c is a copy of all of t.
LoopList copied_whole(LoopList rest) {
  LoopList body = {local("t", {idx(2)}, MemorySpace::kStack, DType::kI64),
                   local("c", {idx(2)}, MemorySpace::kStack, DType::kI64), put("t", {idx(0)}, int_literal(DType::kI64, 1)),
                   loop("i", idx(2), {put("c", {ix("i")}, get("t", {ix("i")}, DType::kI64), "copy")})};
  body.insert(body.end(), rest.begin(), rest.end());
  return body;
}

InterpretReport run_copied(LoopList rest) {
  HostTensors t{{"x", ramp({4}, DType::kI64)}};
  return run(
      program_of({buffer("x", {idx(4)}, BufferRole::kInput, DType::kI64), buffer("y", {}, BufferRole::kOutput, DType::kI64)},
                 copied_whole(std::move(rest))),
      &t);
}

TEST(Interpret, WhatNothingHasWrittenMayBeCopiedButNotUsed) {
  const auto c = [](std::int64_t i) { return get("c", {idx(i)}, DType::kI64); };
  const LoopPtr result = put("y", {}, c(0), "result");
  EXPECT_TRUE(run_copied({result}).clean()) << to_text(run_copied({result}));
  const ExprPtr chosen = select(binary(Op::kGt, c(0), idx(0)), c(0), c(1));
  EXPECT_TRUE(run_copied({put("y", {}, chosen)}).clean()) << "the other operand is not evaluated";
  // A choice by it is as good as it is; what another operand decides alone is known.
  const ExprPtr positive = binary(Op::kGt, c(1), idx(0));
  const LoopPtr by_it = put("c", {idx(1)}, select(positive, c(0), idx(3)));
  EXPECT_TRUE(run_copied({by_it, result}).clean());
  EXPECT_TRUE(found(run_copied({by_it, put("y", {}, c(1))}), Finding::Kind::kUninitialised));
  const auto named = [](const std::string& name, const ExprPtr& condition) {
    return make_loop(Let{name, DType::kBool, 1, condition, false});
  };
  const auto decided = [&](const ExprPtr& condition) {
    return run_copied({named("no", binary(Op::kGt, c(0), idx(1))), named("yes", binary(Op::kGt, c(0), idx(0))),
                       named("unknown", positive), when(condition, {put("c", {idx(0)}, idx(4))}), result});
  };
  const ExprPtr no = value_of("no", DType::kBool), yes = value_of("yes", DType::kBool),
                unknown = value_of("unknown", DType::kBool);
  for (const ExprPtr& e : {binary(Op::kAnd, no, unknown), binary(Op::kAnd, unknown, no), binary(Op::kOr, yes, unknown),
                           binary(Op::kOr, unknown, yes)})
    EXPECT_TRUE(decided(e).clean()) << to_text(e);
  for (const ExprPtr& e : {binary(Op::kAnd, yes, unknown), binary(Op::kOr, unknown, no), unknown})
    EXPECT_TRUE(found(decided(e), Finding::Kind::kUninitialised)) << to_text(e);
  Let value;
  value.name = "v";
  value.type = DType::kI64;
  value.value = binary(Op::kMul, c(1), c(0));
  const ExprPtr v = value_of("v", DType::kI64);
  const std::vector<std::pair<LoopPtr, std::string>> uses = {
      {put("y", {}, v, "result"), "becomes a result in y in result"},
      {put("y", {}, get("x", {v}, DType::kI64), "result"), "is a subscript in result"},
      {when(binary(Op::kGt, v, idx(5)), {put("c", {idx(1)}, idx(2))}), "decides what runs"},
      {loop("k", v, {put("c", {idx(1)}, idx(2))}), "bounds a loop"},
      {update("y", {}, v), "becomes a result"}};
  for (const auto& [use, how] : uses) {
    const InterpretReport r = run_copied({result, make_loop(Let(value)), use});
    ASSERT_EQ(r.findings.size(), 1U) << how << "\n" << to_text(r);
    EXPECT_EQ(r.findings[0].kind, Finding::Kind::kUninitialised);
    EXPECT_EQ(r.findings[0].buffer, "c");
    EXPECT_EQ(r.findings[0].subscripts, std::vector<std::int64_t>{1});
    EXPECT_NE(r.findings[0].text.find("let v: read of c[1], which nothing has written; it "), std::string::npos) << to_text(r);
    EXPECT_NE(r.findings[0].text.find(how), std::string::npos) << to_text(r);
  }
  // Written over later, the element has a value again.
  EXPECT_TRUE(run_copied({put("c", {idx(1)}, idx(7)), put("y", {}, c(1))}).clean());
}

// [0, e] goes on in the next row only where the pass that has joined the rows says so, whatever the access looks like.
TEST(Interpret, OnlyJoinedRowsRunOn) {
  LoopProgram p = program_of({buffer("x", {idx(2), idx(4)}, BufferRole::kInput), buffer("y", {idx(8)}, BufferRole::kOutput)},
                             {loop("i", idx(8), {put("y", {ix("i")}, get("x", {idx(0), ix("i")}))})});
  HostTensors t{{"x", ramp({2, 4})}};
  EXPECT_TRUE(found(run(p, &t), Finding::Kind::kOutOfBounds));
  p.kernels[0].joined["x"] = 2;
  EXPECT_TRUE(run(p, &t).clean());
  EXPECT_EQ(t["y"].get(5), 5);
}

TEST(Interpret, OnlyAVectorThatSaysSoRunsOn) {
  const auto stored = [](bool runs_on, std::int64_t from) {
    Store s;
    s.statement = s.buffer = "y";
    s.subscripts = {idx(0), idx(from)};
    Expr ones;
    ones.op = Op::kSplat;
    ones.lanes = 4;
    ones.args = {literal(DType::kF32, 1)};
    s.value = std::make_shared<const Expr>(std::move(ones));
    s.lanes = 4;
    s.runs_on = runs_on;
    HostTensors t;
    return run(program_of({buffer("y", {idx(2), idx(6)}, BufferRole::kOutput)}, {make_loop(std::move(s))}), &t);
  };
  EXPECT_TRUE(found(stored(false, 4), Finding::Kind::kOutOfBounds));
  EXPECT_FALSE(found(stored(true, 4), Finding::Kind::kOutOfBounds));
  EXPECT_TRUE(found(stored(true, 10), Finding::Kind::kOutOfBounds)) << "behind the last row";
}

TEST(Interpret, VectorsMasksAndLaneReduction) {
  // y[0..8) = x[0..8) where lane < 5, s = sum of the masked vector.
  Expr iota;
  iota.op = Op::kIota;
  iota.type = DType::kI64;
  iota.lanes = 8;
  iota.args = {idx(0)};
  const ExprPtr lane = std::make_shared<const Expr>(iota);
  const ExprPtr mask = binary(Op::kLt, lane, idx(5));
  Expr load = *get("x", {idx(0)});
  load.lanes = 8;
  load.mask = mask;
  Let v;
  v.name = "v";
  v.lanes = 8;
  v.value = std::make_shared<const Expr>(load);
  Expr total;
  total.op = Op::kLaneReduce;
  total.args = {value_of("v", DType::kF32, 8)};
  Store s;
  s.statement = s.buffer = "y";
  s.subscripts = {idx(0)};
  s.value = value_of("v", DType::kF32, 8);
  s.lanes = 8;
  s.mask = mask;
  HostTensors t{{"x", ramp({5})}};  // lanes 5..7 lie outside
  const LoopProgram p =
      program_of({buffer("x", {idx(5)}, BufferRole::kInput), buffer("y", {idx(5)}, BufferRole::kOutput),
                  buffer("s", {}, BufferRole::kOutput)},
                 {make_loop(std::move(v)), make_loop(std::move(s)), put("s", {}, std::make_shared<const Expr>(total))});
  const InterpretReport r = run(p, &t);
  EXPECT_TRUE(r.clean()) << to_text(r);
  EXPECT_EQ(t["s"].get(0), 10);
  EXPECT_EQ(t["y"].get(4), 4);
}

TEST(Interpret, PaddedReadsAndClampedGathers) {
  const ExprPtr padded = read("x", DType::kF32, {idx_sub(ix("i"), idx(1))}, literal(DType::kF32, -7));
  const ExprPtr gathered = get("x", {get("ids", {ix("i")}, DType::kI64)});
  const LoopProgram p =
      program_of({buffer("x", {idx(4)}, BufferRole::kInput), buffer("ids", {idx(4)}, BufferRole::kInput, DType::kI64),
                  buffer("y", {idx(4)}, BufferRole::kOutput), buffer("z", {idx(4)}, BufferRole::kOutput)},
                 {loop("i", idx(4), {put("y", {ix("i")}, padded), put("z", {ix("i")}, gathered)})});
  HostTensor ids = make_host_tensor(DType::kI64, {4});
  const std::int64_t values[] = {3, -5, 99, 1};
  for (int i = 0; i < 4; ++i) ids.set_int(i, values[i]);
  HostTensors t{{"x", ramp({4})}, {"ids", ids}};
  EXPECT_TRUE(run(p, &t).clean());
  EXPECT_EQ(t["y"].get(0), -7);
  EXPECT_EQ(t["y"].get(1), 0);
  EXPECT_EQ(t["z"].get(0), 3);
  EXPECT_EQ(t["z"].get(1), 0);
  EXPECT_EQ(t["z"].get(2), 3);
}

TEST(Interpret, ChosenOperandOnlyIsEvaluated) {
  // select(i > 0, x[i-1], 1): the read at i = 0 would be outside.
  const LoopProgram p = program_of(
      {buffer("x", {idx(3)}, BufferRole::kInput), buffer("y", {idx(3)}, BufferRole::kOutput)},
      {loop("i", idx(3),
            {put("y", {ix("i")},
                 select(binary(Op::kGt, ix("i"), idx(0)), get("x", {idx_sub(ix("i"), idx(1))}), literal(DType::kF32, 1)))})});
  HostTensors t{{"x", ramp({3})}};
  EXPECT_TRUE(run(p, &t).clean());
  EXPECT_EQ(t["y"].get(2), 1);
}

TEST(Interpret, StepLimitEndsAndMeaninglessTreesAreErrors) {
  InterpretOptions o;
  o.max_steps = 100;
  HostTensors t;
  const std::vector<Buffer> buffers = {buffer("y", {}, BufferRole::kOutput)};
  const LoopProgram p = program_of(buffers, {loop("i", idx(1000), {put("y", {}, literal(DType::kF32, 0))})});
  const Result<InterpretReport> r = interpret(p, {}, t, o);
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.errors()[0].code, Code::kInterpretSteps);
  const Result<InterpretReport> unknown = interpret(program_of(buffers, {put("z", {}, literal(DType::kF32, 0))}), {}, t);
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.errors()[0].code, Code::kLoopTreeMeaningless);
  HostTensors none;
  const Result<InterpretReport> missing = interpret(program_of({buffer("x", {idx(2)}, BufferRole::kInput)}, {}), {}, none);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.errors()[0].code, Code::kInterpretBuffer);
  const Result<InterpretReport> negative =
      interpret(program_of({buffer("w", {idx(3), idx(-2)}, BufferRole::kWorkspace)}, {}), {}, none);
  ASSERT_FALSE(negative.ok());
  EXPECT_EQ(negative.errors()[0].code, Code::kInterpretBuffer);
  const std::vector<ExprPtr> many(agents::kMaxRank + 1, idx(1)), zeros(agents::kMaxRank + 1, idx(0));
  const Result<InterpretReport> deep =
      interpret(program_of({buffer("w", many, BufferRole::kWorkspace)}, {put("w", zeros, literal(DType::kF32, 0))}), {}, none);
  ASSERT_FALSE(deep.ok());
  EXPECT_EQ(deep.errors()[0].code, Code::kLoopTreeMeaningless);
}

}  // namespace
}  // namespace facet::testing
