// Printed kernels: their text for a few trees, and their numbers under both compilers.
#include "codegen/openmp/print.hpp"

#include <gmock/gmock.h>

#include "unit/codegen/support.hpp"

namespace facet {
namespace {

using namespace facet::test;
using testing::HasSubstr;
using testing::Not;

const Symbol kN = [] {
  Symbol s;
  s.name = "N";
  s.min = 1;
  s.max = 1000;
  s.value = 37;
  return s;
}();

// y[i] = sum over k of a[i, k] * x[k], rows in parallel, the accumulator in a named value.
LoopProgram matvec() {
  const ExprPtr product =
      binary(Op::kMul, read("a", DType::kF32, {index("i"), index("k")}), read("x", DType::kF32, {index("k")}));
  const LoopList row = {
      make_loop(Let{"sum", DType::kF32, 1, literal(DType::kF32, 0), true}),
      loop("k", idx(0), index("N"), {make_loop(Set{"sum", binary(Op::kAdd, value_of("sum", DType::kF32), product)})}),
      store("y", {index("i")}, value_of("sum", DType::kF32))};
  return program(
      "matvec",
      {buffer("a", DType::kF32, {idx(5), index("N")}, BufferRole::kInput),
       buffer("x", DType::kF32, {index("N")}, BufferRole::kInput), buffer("y", DType::kF32, {idx(5)}, BufferRole::kOutput)},
      {loop("i", idx(0), idx(5), row, 1, LoopKind::kParallel)}, {kN});
}

TEST(PrintOpenmp, MatvecReadsAsWritten) {
  const Result<Module> m = print_openmp(matvec());
  ASSERT_TRUE(m) << to_text(m.errors());
  EXPECT_THAT(m->source.text,
              HasSubstr("void k0(const float* __restrict a, const float* __restrict x, float* __restrict y, int64_t N) {\n"
                        "  // y\n"
                        "#if defined(_OPENMP)\n"
                        "  #pragma omp parallel for schedule(static) firstprivate(a, x, y, N)\n"
                        "#endif\n"
                        "  for (int64_t i = 0; i < 5; ++i) {\n"
                        "    float sum = 0.0f;\n"
                        "    for (int64_t k = 0; k < N; ++k) {\n"
                        "      sum = sum + a[i * N + k] * x[k];\n"
                        "    }\n"
                        "    y[i] = sum;\n"
                        "  }\n"
                        "}\n"));
  EXPECT_THAT(m->header.text, HasSubstr("int64_t N;"));
  EXPECT_THAT(m->header.text, HasSubstr("const float* a;"));
  EXPECT_THAT(m->source.text, Not(HasSubstr("math.h")));
  ASSERT_EQ(m->arguments.size(), 3u);
  EXPECT_EQ(m->arguments[2].kind, ArgumentInfo::Kind::kOutput);
}

TEST(PrintOpenmp, MatvecComputes) {
  for (const std::string& compiler : compilers()) {
    HostTensors t = {{"a", tensor(DType::kF32, {5, 9}, {1, 2, 3, 4, 5, 6, 7, 8, 9})},
                     {"x", tensor(DType::kF32, {9}, {1, 0, 1})}};
    run(matvec(), compiler, &t, {{"N", 9}});
    EXPECT_EQ(t["y"].get(0), 30) << compiler;
    EXPECT_EQ(t["y"].get(4), 30) << compiler;
  }
}

// c[j] = exp(a[j]) * 2 + c0 over 16 lanes, the last ones masked.
LoopProgram masked_lanes(int lanes, DType type) {
  const ExprPtr j = index("j");
  const ExprPtr mask = binary(Op::kLt, lanes_op(Op::kIota, DType::kI64, lanes, j), index("N"));
  Expr load = *with_lanes(read("a", type, {j}), lanes);
  load.mask = value_of("m", DType::kBool, lanes);
  const ExprPtr a = std::make_shared<const Expr>(load);
  Store s;
  s.buffer = "c";
  s.subscripts = {j};
  s.lanes = lanes;
  s.value = binary(Op::kAdd, binary(Op::kMul, a, literal(type, 2)), literal(type, 1));
  s.mask = value_of("m", DType::kBool, lanes);
  return program(
      "masked", {buffer("a", type, {index("N")}, BufferRole::kInput), buffer("c", type, {index("N")}, BufferRole::kOutput)},
      {loop("j", idx(0), index("N"), {make_loop(Let{"m", DType::kBool, lanes, mask, false}), make_loop(s)}, lanes)}, {kN});
}

TEST(PrintOpenmp, MaskedTailsOfEveryType) {
  for (const std::string& compiler : compilers())
    for (const std::string& march : {std::string("native"), std::string("x86-64-v3"), std::string("x86-64")})
      for (const auto& [type, lanes] : {std::pair{DType::kF32, 16},
                                        {DType::kF64, 8},
                                        {DType::kI32, 8},
                                        {DType::kU8, 32},
                                        {DType::kF16, 16},
                                        {DType::kI64, 4}}) {
        if (march != "native" && type != DType::kF32 && type != DType::kU8) continue;
        HostTensors t = {{"a", tensor(type, {37}, {1, 2, 3, 4, 5})}};
        run(masked_lanes(lanes, type), compiler, &t, {{"N", 37}}, {}, march);
        for (int i = 0; i < 37; ++i)
          ASSERT_EQ(t["c"].get(i), 2 * (i % 5 + 1) + 1) << compiler << " " << to_text(type) << " " << i;
      }
}

}  // namespace
}  // namespace facet
