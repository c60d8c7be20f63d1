// An exported folder builds with both compilers and checks itself; a kernel changed by hand is caught.
#include "codegen/export.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "codegen/process.hpp"
#include "unit/codegen/support.hpp"

namespace facet {
namespace {

using namespace facet::test;

// y[i] = x[i] * w[i] + 2, w a constant of three values, x drawn by its sample rule.
struct Example {
  Program program;
  LoopProgram loops;
};

Example example(const std::string& name) {
  Example e;
  e.program.name = name;
  e.program.symbols = {Symbol{"N", 1, 100, 7, {}}};
  Tensor x;
  x.name = "x";
  x.shape = {index("N"), idx(3)};
  x.sample = {Sample::Kind::kUniform, 1, 2};
  Tensor w;
  w.name = "w";
  w.shape = {idx(3)};
  w.data = TensorData{};
  w.data->kind = TensorData::Kind::kValues;
  w.data->values = {0.5, -3, 1e-3};
  Tensor y = x;
  y.name = "y";
  e.program.tensors = {{"x", x}, {"w", w}, {"y", y}};
  e.program.tensor_order = {"x", "w", "y"};
  e.program.inputs = {"x"};
  e.program.outputs = {"y"};
  const ExprPtr i = index("i"), j = index("j");
  const ExprPtr value =
      binary(Op::kAdd, binary(Op::kMul, read("x", DType::kF32, {i, j}), read("w", DType::kF32, {j})), literal(DType::kF32, 2));
  e.loops =
      program(name,
              {buffer("x", DType::kF32, x.shape, BufferRole::kInput), buffer("w", DType::kF32, w.shape, BufferRole::kWeight),
               buffer("y", DType::kF32, y.shape, BufferRole::kOutput)},
              {loop("i", idx(0), index("N"), {loop("j", idx(0), idx(3), {store("y", {i, j}, value)})}, 1, LoopKind::kParallel)},
              e.program.symbols);
  return e;
}

std::string naive_text(const std::string& name) {
  return "#include <cstdint>\nextern \"C\" std::int64_t naive_" + name +
         "(const std::int64_t* symbols, const void* const* inputs, void* const* outputs, float* const* bounds) {\n"
         "  const float* x = static_cast<const float*>(inputs[0]);\n  const float* w = static_cast<const float*>(inputs[1]);\n"
         "  for (std::int64_t k = 0; k < symbols[0] * 3; ++k) {\n"
         "    static_cast<double*>(outputs[0])[k] = static_cast<double>(x[k]) * static_cast<double>(w[k % 3]) + 2;\n    bounds[0][k] = 1e-6f;\n  }\n  return 0;\n}\n";
}

// Writes the files, with `from` replaced by `to` in the kernels, builds and runs the check: its exit status.
int build_and_check(const std::string& name, const std::string& compiler, bool embed, const std::string& from = "",
                    const std::string& to = "", const std::vector<std::string>& arguments = {"N=5", "--repeat", "2"}) {
  const Example e = example(name);
  PrintOptions options;
  if (embed) options.constants["w"] = tensor(DType::kF32, {3}, {0.5, -3, 1e-3});
  const Result<Module> module = print_openmp(e.loops, options);
  EXPECT_TRUE(module) << to_text(module.errors());
  const std::string folder = testing::TempDir() + "facet_export_" + name;
  std::filesystem::create_directories(folder);
  for (SourceFile file : export_files({&e.program, &*module, naive_text(name), openmp_flags({}), {}})) {
    const std::size_t at = from.empty() || file.name != module->source.name ? std::string::npos : file.text.find(from);
    if (at != std::string::npos) file.text.replace(at, from.size(), to);
    std::ofstream(folder + "/" + file.name) << file.text;
  }
  const ProcessResult built = run_process({compiler, "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-fopenmp", "-o",
                                           folder + "/check", folder + "/" + module->source.name, folder + "/main.cpp"},
                                          120);
  EXPECT_EQ(built.status, 0) << built.output;
  std::vector<std::string> command = {folder + "/check"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const ProcessResult ran = run_process(command, 60);
  if (ran.status == 0) { EXPECT_THAT(ran.output, testing::HasSubstr("y: 15 elements")); }
  return ran.status;
}

TEST(Export, ChecksItself) {
  for (const std::string& compiler : compilers()) {
    EXPECT_EQ(build_and_check("scale", compiler, true), 0) << compiler;
    EXPECT_EQ(build_and_check("class", compiler, false), 0) << compiler;
  }
  EXPECT_EQ(build_and_check("main", "g++", false), 0);
}

TEST(Export, CatchesAChangedOperator) { EXPECT_EQ(build_and_check("changed", "g++", true, "] + 2", "] - 2"), 1); }

TEST(Export, RefusesAnUnknownSymbol) { EXPECT_EQ(build_and_check("unknown", "g++", true, "", "", {"M=5"}), 2); }

TEST(Export, CmakeNamesTheProgramWithAPrefix) {
  const Example e = example("test");
  const Result<Module> module = print_openmp(e.loops, {});
  const std::string text = export_cmake_text({&e.program, &*module, "", openmp_flags({}), {}});
  EXPECT_THAT(text, testing::HasSubstr("add_library(facet_test STATIC test.cpp test.h)"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("fast-math")));
}

}  // namespace
}  // namespace facet
