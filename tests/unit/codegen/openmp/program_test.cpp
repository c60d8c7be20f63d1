// Whole programs: several kernels, workspace, packed and embedded constants, arrays updated in place, policies.
#include <gmock/gmock.h>

#include "unit/codegen/support.hpp"

namespace facet {
namespace {

using namespace facet::test;
using testing::HasSubstr;
using testing::Not;

const Symbol kN{"N", 1, 1000, 8, {}};

// prepare: p[j] = 2 w[j]; k0: t[i] = x[i] + p[i % 4]; k1: y[i] = t[i] * c[i % 4].
LoopProgram packed() {
  const ExprPtr i = index("i"), j = index("j"), r = binary(Op::kFloorMod, index("i"), idx(4));
  LoopProgram p = program(
      "packed",
      {buffer("x", DType::kF32, {index("N")}, BufferRole::kInput), buffer("w", DType::kF32, {idx(4)}, BufferRole::kWeight),
       buffer("c", DType::kF32, {idx(4)}, BufferRole::kWeight), buffer("y", DType::kF32, {index("N")}, BufferRole::kOutput),
       buffer("w.packed", DType::kF32, {idx(4)}, BufferRole::kWorkspace),
       buffer("t", DType::kF32, {index("N")}, BufferRole::kWorkspace)},
      {loop("i", idx(0), index("N"),
            {store("t", {i}, binary(Op::kAdd, read("x", DType::kF32, {i}), read("w.packed", DType::kF32, {r})))})},
      {kN});
  p.kernels[0].ops = {"t"};
  Kernel second;
  second.name = "k1";
  second.ops = {"y"};
  second.body = {loop("i", idx(0), index("N"),
                      {store("y", {i}, binary(Op::kMul, read("t", DType::kF32, {i}), read("c", DType::kF32, {r})))})};
  p.kernels.push_back(second);
  Kernel pack;
  pack.name = "pack";
  pack.body = {loop("j", idx(0), idx(4),
                    {store("w.packed", {j}, binary(Op::kMul, literal(DType::kF32, 2), read("w", DType::kF32, {j})))})};
  p.prepare = {pack};
  return p;
}

TEST(Programs, PrepareWorkspaceAndEmbeddedConstants) {
  PrintOptions options;
  options.constants["c"] = tensor(DType::kF32, {4}, {1, 10, -0.5, 1e-3});
  const Result<Module> m = print_openmp(packed(), options);
  ASSERT_TRUE(m) << to_text(m.errors());
  ASSERT_EQ(m->arguments.size(), 3u) << "c is embedded, w stays an argument";
  EXPECT_EQ(m->arguments[2].kind, ArgumentInfo::Kind::kWeight);
  EXPECT_THAT(m->source.text, HasSubstr("void k0_t("));
  EXPECT_THAT(m->source.text, HasSubstr("x[i] + w_packed[i % 4]"));
  EXPECT_THAT(m->source.text, HasSubstr("1.0f, 10.0f, -0.5f, 0.001f,"));
  for (const std::string& compiler : compilers()) {
    HostTensors t = {{"x", tensor(DType::kF32, {6}, {1, 2, 3, 4, 5, 6})}, {"w", tensor(DType::kF32, {4}, {1, 2, 3, 4})}};
    run(packed(), compiler, &t, {{"N", 6}}, options);
    EXPECT_EQ(t["y"].get(0), 3);
    EXPECT_EQ(t["y"].get(1), 60);
    EXPECT_EQ(t["y"].get(2), -4.5);
    EXPECT_EQ(t["y"].get(5), 100);
  }
}

// h[b[i]] += 1 from many threads, and a maximum, which has no atomic instruction.
TEST(Programs, AtomicUpdates) {
  const ExprPtr i = index("i");
  Store count;
  count.buffer = "h";
  count.subscripts = {read("b", DType::kI64, {i})};
  count.value = int_literal(DType::kI32, 1);
  count.update = ReduceKind::kSum;
  count.atomic = true;
  Store most = count;
  most.buffer = "m";
  most.value = cast(DType::kI32, i);
  most.update = ReduceKind::kMax;
  const LoopProgram p = program(
      "atomics",
      {buffer("b", DType::kI64, {idx(1000)}, BufferRole::kInput), buffer("h", DType::kI32, {idx(3)}, BufferRole::kOutput),
       buffer("m", DType::kI32, {idx(3)}, BufferRole::kOutput)},
      {loop("z", idx(0), idx(3),
            {store("h", {index("z")}, int_literal(DType::kI32, 0)), store("m", {index("z")}, int_literal(DType::kI32, -1))}),
       loop("i", idx(0), idx(1000), {make_loop(count), make_loop(most)}, 1, LoopKind::kParallel)});
  for (const std::string& compiler : compilers()) {
    HostTensors t = {{"b", tensor(DType::kI64, {1000}, {0, 1, 1, 2})}};
    run(p, compiler, &t);
    EXPECT_EQ(t["h"].get(1), 500);
    EXPECT_EQ(t["m"].get(2), 999);
    EXPECT_EQ(t["m"].get(0), 996);
  }
}

// An array that is input and output is one field, and is updated in place.
TEST(Programs, InPlaceArraysAreOneField) {
  const ExprPtr i = index("i");
  LoopProgram p = program(
      "inplace", {buffer("a", DType::kF64, {index("N")}, BufferRole::kInOut)},
      {loop("i", idx(1), index("N"),
            {store("a", {i}, binary(Op::kAdd, read("a", DType::kF64, {i}), read("a", DType::kF64, {idx_sub(i, idx(1))})))})},
      {kN});
  p.inputs = {"a"};
  p.outputs = {"a"};
  const Result<Module> m = print_openmp(p);
  ASSERT_TRUE(m);
  ASSERT_EQ(m->arguments.size(), 1u);
  EXPECT_TRUE(m->arguments[0].in_out);
  EXPECT_THAT(m->header.text, HasSubstr("  double* a;"));
  HostTensors t = {{"a", tensor(DType::kF64, {4}, {1, 2, 3, 4})}};
  run(p, "g++", &t, {{"N", 4}});
  EXPECT_EQ(t["a"].get(3), 10);
}

// x * x - y with contraction off rounds the product.
TEST(Programs, ContractionIsAPolicy) {
  const ExprPtr x = read("x", DType::kF32, {index("i")});
  LoopProgram p =
      program("contract",
              {buffer("x", DType::kF32, {idx(4)}, BufferRole::kInput), buffer("y", DType::kF32, {idx(4)}, BufferRole::kOutput)},
              {loop("i", idx(0), idx(4),
                    {store("y", {index("i")}, binary(Op::kSub, binary(Op::kMul, x, x), literal(DType::kF32, 1)))})});
  p.numerics.contract = false;
  const float a = 1 + 0x1p-12f;
  const float rounded = static_cast<float>(static_cast<double>(a) * static_cast<double>(a)) - 1;
  for (const std::string& compiler : compilers()) {
    HostTensors t = {{"x", tensor(DType::kF32, {4}, {static_cast<double>(a)})}};
    run(p, compiler, &t);
    EXPECT_EQ(t["y"].get(0), static_cast<double>(rounded)) << compiler;
  }
  const Result<Module> m = print_openmp(p);
  ASSERT_TRUE(m);
  EXPECT_THAT(m->source.text, HasSubstr("FP_CONTRACT OFF"));
  EXPECT_THAT(openmp_flags(p.numerics), HasSubstr("-ffp-contract=off"));
}

// A triangle gets a dynamic schedule, a collapsed rectangle a static one; a triangle is never collapsed.
TEST(Programs, ParallelLoops) {
  const auto nest = [](ExprPtr inner_upper) {
    For outer;
    outer.iterator = "i";
    outer.lower = idx(0);
    outer.upper = idx(8);
    outer.kind = LoopKind::kParallel;
    outer.collapse = 2;
    outer.body = {loop("j", idx(0), std::move(inner_upper), {store("y", {index("i"), index("j")}, literal(DType::kF32, 1))})};
    return program("par", {buffer("y", DType::kF32, {idx(8), idx(8)}, BufferRole::kOutput)}, {make_loop(outer)});
  };
  const Result<Module> rectangle = print_openmp(nest(idx(8)));
  const Result<Module> triangle = print_openmp(nest(index("i")));
  ASSERT_TRUE(rectangle && triangle);
  EXPECT_THAT(rectangle->source.text, HasSubstr("#pragma omp parallel for collapse(2) schedule(static)"));
  EXPECT_THAT(triangle->source.text, HasSubstr("#pragma omp parallel for schedule(dynamic)"));
  // The longest iterations first: the last ones.
  EXPECT_THAT(triangle->source.text, HasSubstr("for (int64_t i = 8 - 1; i >= 0; --i)"));
  const auto text = [&](ExprPtr upper) {
    const Result<Module> made = print_openmp(nest(std::move(upper)));
    return made ? made->source.text : "";
  };
  EXPECT_THAT(text(idx_sub(idx(8), index("i"))), HasSubstr("dynamic) firstprivate(y)\n#endif\n  for (int64_t i = 0;"));
  // A triangle of tiles is cut by the array's end; a tile is as long as any but the last.
  EXPECT_THAT(text(idx_min(idx_add(index("i"), idx_floordiv(index("i"), 2)), index("N"))), HasSubstr("schedule(dynamic)"));
  const Result<Module> tiles = print_openmp(
      program("par", {buffer("y", DType::kF32, {idx(64)}, BufferRole::kOutput)},
              {loop("it", idx(0), idx(8),
                    {loop("i", idx_mul(idx(8), index("it")), idx_min(idx_add(idx_mul(idx(8), index("it")), idx(8)), idx(61)),
                          {store("y", {index("i")}, literal(DType::kF32, 1))})},
                    1, LoopKind::kParallel)}));
  ASSERT_TRUE(tiles);
  EXPECT_THAT(tiles->source.text, HasSubstr("schedule(static)"));
}

// What must not reach a printer is an error, not text.
TEST(Programs, RefusesWhatIsNotLowered) {
  const LoopProgram vector_loop =
      program("v", {buffer("y", DType::kF32, {idx(8)}, BufferRole::kOutput)},
              {loop("i", idx(0), idx(8), {store("y", {index("i")}, literal(DType::kF32, 1))}, 1, LoopKind::kVector)});
  EXPECT_FALSE(print_openmp(vector_loop));
  const LoopProgram barrier = program("b", {buffer("y", DType::kF32, {idx(8)}, BufferRole::kOutput)}, {make_loop(Barrier{})});
  EXPECT_FALSE(print_openmp(barrier));
  const LoopProgram unknown = program("u", {}, {store("nowhere", {idx(0)}, literal(DType::kF32, 1))});
  const Result<Module> refused = print_openmp(unknown);
  ASSERT_FALSE(refused);
  EXPECT_THAT(to_text(refused.errors()), HasSubstr("nowhere"));
}

}  // namespace
}  // namespace facet
