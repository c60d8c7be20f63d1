// Kernels for several instruction sets: the folder, the version that runs, and what a list may hold.
#include <cstdlib>

#include "codegen/toolchain.hpp"
#include "unit/tool/tool.hpp"

namespace facet {
namespace {

class Versions : public Tool {
 protected:
  void SetUp() override {
    Tool::SetUp();
    write("m.json", R"({"facet": 1, "name": "m", "symbols": {"N": {"min": 1, "max": 4096, "default": 67}},
      "tensors": {"x": {"dtype": "f32", "shape": ["N", "N"]}, "w": {"dtype": "f32", "shape": ["N", "N"]}},
      "inputs": ["x", "w"], "ops": [{"op": "matmul", "in": ["x", "w"], "out": "z"}, {"op": "exp", "in": "z", "out": "y"}],
      "outputs": ["y"]})");
  }
  int shell(const std::string& command) const { return std::system(("cd " + path("out") + " && " + command).c_str()); }
};

TEST_F(Versions, TheLargestSetThatTheProcessorHasRuns) {
  const Result<Compiler> compiler = find_compiler("");
  if (!compiler) GTEST_SKIP() << "no C++ compiler is installed";
  ASSERT_EQ(facet("compile m.json --target openmp:generic,avx2,avx512 -o out").status, 0);
  const Json manifest = Json::parse(read("out/manifest.json"));
  std::string objects;
  for (const Json& v : manifest["versions"]) {
    const std::string source = v["source"].get<std::string>();
    ASSERT_EQ(shell(compiler->command + " -std=c++17 -O1 -march=" + v["march"].get<std::string>() + " -fopenmp -c " + source),
              0);
    objects += " " + source.substr(0, source.size() - 4) + ".o";
  }
  // Not above the set of this processor: the sources of larger ones are compiled, and not called.
  ASSERT_EQ(shell(compiler->command + " -std=c++17 -O1 -fopenmp main.cpp m.cpp" + objects + " -o check"), 0);
  for (const char* isa : {"generic", "avx2", "avx512"})
    EXPECT_EQ(shell(std::string("FACET_ISA=") + isa + " ./check N=35 --repeat 1 > " + isa + ".txt"), 0) << isa;
  write("out/which.cpp", R"(#include "m.h"
    #include <stdio.h>
    int main() { puts(facet_m_isa()); })");
  ASSERT_EQ(shell(compiler->command + " -std=c++17 -fopenmp which.cpp m.cpp" + objects + " -o which"), 0);
  ASSERT_EQ(shell("FACET_ISA=generic ./which > which.txt"), 0);
  EXPECT_EQ(read("out/which.txt"), "generic\n");
  ASSERT_EQ(shell("./which > which.txt"), 0);
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  EXPECT_EQ(read("out/which.txt"), v4 ? "avx512\n" : v3 ? "avx2\n" : "generic\n");
#endif
}

// Vectors of each set's width in its source.
TEST_F(Versions, EachHasARecipeOfItsOwn) {
  ASSERT_EQ(facet("compile m.json --target openmp:all -o out").status, 0);
  EXPECT_NE(read("out/m_avx512.cpp").find("f32x16"), std::string::npos);
  EXPECT_EQ(read("out/m_avx2.cpp").find("f32x16"), std::string::npos);
  EXPECT_NE(read("out/m_avx2.cpp").find("f32x8"), std::string::npos);
  EXPECT_EQ(read("out/m_generic.cpp").find("f32x8"), std::string::npos);
  const Json manifest = Json::parse(read("out/manifest.json"));
  ASSERT_EQ(manifest["versions"].size(), 3u);
  EXPECT_NE(manifest["versions"][0]["recipe"], manifest["versions"][2]["recipe"]);
}

// Kernels for ARM's vectors are plain GNU vectors: a compiler for them reads the source.
TEST_F(Versions, NeonCompiles) {
  if (std::system("clang++-19 --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "clang++-19 is not installed";
  ASSERT_EQ(facet("compile m.json --target openmp:neon -o out").status, 0);
  EXPECT_EQ(shell("clang++-19 --target=aarch64-linux-gnu -std=c++17 -O1 -ffreestanding -Wall -Werror -fopenmp -c m.cpp"), 0);
  EXPECT_EQ(read("out/m.cpp").find("f32x8"), std::string::npos);
}

TEST_F(Versions, ListsThatMakeNoSense) {
  for (const char* wrong : {"avx2,avx512", "generic,neon", "generic,avx3", ","})
    EXPECT_EQ(error_code(std::string("compile m.json -o out --target openmp:") + wrong), "bad-target") << wrong;
  EXPECT_EQ(error_code("compile m.json -o out --target openmp:all --emit asm"), "bad-command-line");
  EXPECT_EQ(error_code("run m.json --target openmp:all"), "bad-target");
}

}  // namespace
}  // namespace facet
