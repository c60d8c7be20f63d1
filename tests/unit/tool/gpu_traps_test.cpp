// Programs that GPU compilers have got wrong, planned for CUDA and run in the GPU-mode interpreter: right, and without a
// finding.
#include <gtest/gtest.h>

#include "src/driver/gpu_selftest.hpp"
#include "src/frontend/json.hpp"

namespace facet {
namespace {

void expect_right(const std::string& text, const std::vector<SymbolValues>& sizes) {
  for (const SymbolValues& symbols : sizes) {
    Result<Program> program = read_program(text, "trap.json");
    ASSERT_TRUE(program.ok()) << to_text(program.errors());
    const GpuCaseResult r = check_in_interpreter({"trap", std::move(*program), symbols}, 3);
    EXPECT_TRUE(r.verified) << text << "\n" << r.reason;
  }
}

std::string program_text(const std::string& symbols, const std::string& tensors, const std::string& inputs,
                         const std::string& outputs, const std::string& lines) {
  return R"({"facet": 1, "name": "trap", "symbols": {)" + symbols + R"(}, "tensors": {)" + tensors + R"(}, "inputs": [)" +
         inputs + R"(], "ops": [{"op": "compute", "in": [)" + inputs + R"(], "out": [)" + outputs + R"(], "def": [)" + lines +
         R"(]}], "outputs": [)" + outputs + "]}";
}

// Sums over crossing axes of one array: neither write-back may be guarded by the other's axis.
TEST(GpuTraps, ReductionsOverCrossingAxes) {
  const std::string text =
      program_text(R"("M": {"min": 1, "max": 4096, "default": 216}, "N": {"min": 1, "max": 4096, "default": 1024})",
                   R"("x": {"dtype": "f32", "shape": ["M", "N"]})", "\"x\"", "\"p\", \"q\"",
                   R"x("p[i] = sum[j](x[i, j])", "q[j] = sum[i](x[i, j])")x");
  expect_right(text, {{{"M", 216}, {"N", 1024}}, {{"M", 5}, {"N", 1024}}, {{"M", 216}, {"N", 33}}, {{"M", 1}, {"N", 1}}});
}

// A sum of products whose length is known at run time only: the staged copies stay inside it.
TEST(GpuTraps, StagedTileOfRunTimeLength) {
  const std::string text =
      program_text(R"("n": {"min": 0, "max": 128, "default": 40})",
                   R"("a": {"dtype": "f32", "shape": [64, 128]}, "b": {"dtype": "f32", "shape": [128, 64]})", "\"a\", \"b\"",
                   "\"c\"", R"x("c[i, k] = sum[j](a[i, j] * b[j, k]) for i in 0..64, k in 0..64, j in 0..n")x");
  expect_right(text, {{{"n", 0}}, {{"n", 1}}, {{"n", 31}}, {{"n", 32}}, {{"n", 33}}, {{"n", 40}}});
}

// A column sum whose points end inside a block: the bound is that of the result's own axis.
TEST(GpuTraps, GuardOfTheRightAxis) {
  const std::string text =
      program_text(R"("M": {"min": 1, "max": 8192, "default": 4}, "N": {"min": 1, "max": 8192, "default": 6})",
                   R"("x": {"dtype": "f32", "shape": ["M", "N"]})", "\"x\"", "\"y\"", R"x("y[j] = sum[i](x[i, j])")x");
  expect_right(text, {{{"M", 4}, {"N", 6}}, {{"M", 300}, {"N", 33}}, {{"M", 2100}, {"N", 40}}});
}

// Lanes that a condition leaves out keep their value.
TEST(GpuTraps, MaskedElementsStay) {
  const std::string text = program_text("", R"("x": {"dtype": "f32", "shape": [64]})", "\"x\"", "\"y\"",
                                        R"x("y[i] = cast(f16, select(i >= 8 and i % 3 != 0, x[i], 7.0))")x");
  expect_right(text, {{}});
}

// Temporaries that live shortly: whatever memory they share, a value is read before the next is written.
TEST(GpuTraps, TemporariesThatCouldShareMemory) {
  const std::string text =
      program_text(R"("N": {"min": 1, "max": 5000, "default": 4099})", R"("x": {"dtype": "f32", "shape": ["N"]})", "\"x\"",
                   "\"y\"", R"x("a[i] = x[i] + 1.0", "b[i] = a[i] + 1.0", "y[i] = b[i] + 1.0")x");
  expect_right(text, {{{"N", 4099}}, {{"N", 1}}});
}

// A row that is written forwards and read backwards needs a barrier, and gets one.
TEST(GpuTraps, ReversedRow) {
  const std::string text = program_text(
      R"("M": {"min": 1, "max": 100, "default": 5})", R"("x": {"dtype": "f32", "shape": ["M", 300]})", "\"x\"", "\"y\"",
      R"x("t[i, j] = tanh(tanh(x[i, j]))", "s[i] = sum[j](t[i, j])", "y[i, j] = t[i, 299 - j] + s[i] for j in 0..300")x");
  expect_right(text, {{{"M", 5}}, {{"M", 1}}});
}

}  // namespace
}  // namespace facet
