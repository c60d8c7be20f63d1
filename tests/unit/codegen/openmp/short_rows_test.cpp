// Which sources keep GCC's if-conversion out, and that a row's condition then reaches all of its elements.
#include "codegen/openmp/short_rows.hpp"

#include "tests/unit/codegen/support.hpp"

namespace facet::test {
namespace {

constexpr const char* kPragma = "no-tree-loop-if-convert";

// t[i, j, k] = i + 2 < 6 && j > 0 ? x[i + 2, j - 1, k] : 0, rows of `width`.
LoopProgram rows(std::int64_t width, bool conditional, LoopKind kind = LoopKind::kSerial) {
  const auto buffer_of = [&](const std::string& name, BufferRole role) {
    return buffer(name, DType::kI32, {idx(6), idx(8), idx(width)}, role);
  };
  const ExprPtr j = index("j"), k = index("k");
  const ExprPtr value =
      conditional ? read("x", DType::kI32, {idx_add(index("i"), idx(2)), idx_sub(j, idx(1)), k}, int_literal(DType::kI32, 0))
                  : read("x", DType::kI32, {index("i"), j, k});
  return program(
      "rows", {buffer_of("x", BufferRole::kInput), buffer_of("t", BufferRole::kOutput)},
      {loop("i", idx(0), idx(6),
            {loop("j", idx(0), idx(8), {loop("k", idx(0), idx(width), {store("t", {index("i"), j, k}, value)}, 1, kind)})})});
}

TEST(ShortRows, AreFoundByTheirConditions) {
  EXPECT_TRUE(has_conditional_rows(rows(5, true)));
  EXPECT_FALSE(has_conditional_rows(rows(5, false)));
  EXPECT_FALSE(has_conditional_rows(rows(40, true))) << "GCC does not unroll such rows";
  const Result<Module> with = print_openmp(rows(5, true)), without = print_openmp(rows(5, false));
  ASSERT_TRUE(with && without);
  EXPECT_NE(with->source.text.find(kPragma), std::string::npos);
  EXPECT_EQ(without->source.text.find(kPragma), std::string::npos);
}

// Stores side by side are such a row already.
TEST(ShortRows, MayBeUnrolledAlready) {
  const auto conditional = [](std::int64_t k) {
    const ExprPtr first = binary(Op::kGt, index("j"), idx(0));
    return store("t", {index("j"), idx(k)},
                 select(first, read("x", DType::kI32, {index("j"), idx(k)}), int_literal(DType::kI32, 0)));
  };
  const auto program_of = [&](LoopList body) {
    return program("rows",
                   {buffer("x", DType::kI32, {idx(8), idx(3)}, BufferRole::kInput),
                    buffer("t", DType::kI32, {idx(8), idx(3)}, BufferRole::kOutput)},
                   {loop("j", idx(0), idx(8), std::move(body))});
  };
  EXPECT_TRUE(has_conditional_rows(program_of({conditional(0), conditional(1), conditional(2)})));
  EXPECT_FALSE(has_conditional_rows(program_of({conditional(0)})));
}

// GCC 12 goes wrong without the pragma when its jumps are not threaded, GCC 13.3 in any case.
TEST(ShortRows, AreFilledRight) {
  for (const std::int64_t width : {2, 3, 5, 6, 7, 8}) {
    const LoopProgram p = rows(width, true);
    const Result<Module> module = print_openmp(p);
    ASSERT_TRUE(module) << to_text(module.errors());
    CompileOptions compile;
    compile.compiler = "g++";
    compile.flags = strict_flags(p.numerics, "native");
    compile.flags.push_back("-fno-thread-jumps");
    compile.cache_folder = testing::TempDir() + "facet_codegen_test_cache";
    const Result<CompiledModule> compiled = compile_module(*module, compile);
    ASSERT_TRUE(compiled) << to_text(compiled.errors());
    Result<OpenmpRunner> runner = OpenmpRunner::load(*module, compiled->path);
    ASSERT_TRUE(runner) << to_text(runner.errors());
    HostTensors t{{"x", tensor(DType::kI32, {6, 8, width}, {3, 1, 4, 15, 9, 2, 6})},
                  {"t", make_host_tensor(DType::kI32, {6, 8, width})}};
    ASSERT_TRUE(runner->bind({}, &t));
    ASSERT_TRUE(runner->run());
    for (std::int64_t i = 0; i < 6; ++i)
      for (std::int64_t j = 0; j < 8; ++j)
        for (std::int64_t k = 0; k < width; ++k)
          ASSERT_EQ(t["t"].get((i * 8 + j) * width + k), i < 4 && j > 0 ? t["x"].get(((i + 2) * 8 + j - 1) * width + k) : 0)
              << width << ": " << i << " " << j << " " << k;
  }
}

}  // namespace
}  // namespace facet::test
