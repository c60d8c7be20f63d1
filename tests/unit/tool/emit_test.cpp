// compile --emit: files of the CUDA compilers and the C++ compiler, the resource report, and what is missing said before
// anything is written. A test skips only where the tool that it is about is absent.
#include <regex>

#include "codegen/cuda/compile.hpp"
#include "codegen/cuda/driver_api.hpp"
#include "codegen/toolchain.hpp"
#include "unit/tool/tool.hpp"

namespace facet {
namespace {

class Emit : public Tool {
 protected:
  void SetUp() override {
    Tool::SetUp();
    write("m.json", R"({"facet": 1, "name": "m", "symbols": {"N": {"min": 1, "max": 4096, "default": 512}},
      "tensors": {"x": {"dtype": "f32", "shape": ["N", "N"]}, "w": {"dtype": "f32", "shape": ["N", "N"]}},
      "inputs": ["x", "w"], "ops": [{"op": "matmul", "in": ["x", "w"], "out": "y"}], "outputs": ["y"]})");
  }
  // --emit ptx by one compiler: the file, and the report in text and JSON.
  void ptx_by(const std::string& compiler, const std::string& arch) {
    const std::string command = "compile m.json --target cuda:" + arch + " --emit ptx --compiler " + compiler + " -o out";
    const Answer a = facet(command);
    ASSERT_EQ(a.status, 0) << a.out;
    const std::string ptx = read("out/m.ptx");
    EXPECT_NE(ptx.find(".target " + arch), std::string::npos);
    EXPECT_NE(ptx.find(".entry facet_m_k0"), std::string::npos);
    const Json j = Json::parse(facet(command + " --json").out);
    EXPECT_EQ(j["emitted"]["arch"], arch);
    EXPECT_TRUE(std::find(j["files"].begin(), j["files"].end(), "m.ptx") != j["files"].end());
    if (find_cuda_tool("ptxas").empty()) {
      EXPECT_TRUE(j["emitted"]["resources"].is_null());
      EXPECT_NE(a.out.find("no resource report: no CUDA compiler: ptxas is not found"), std::string::npos) << a.out;
      return;
    }
    ASSERT_FALSE(j["emitted"]["resources"].empty());
    for (const Json& r : j["emitted"]["resources"]) {
      EXPECT_GT(r["registers"], 8) << r;
      EXPECT_LE(r["registers"], 255) << r;
      EXPECT_EQ(r["spill_store_bytes"], 0) << r;
      EXPECT_GT(r["shared_bytes"], 0) << r;  // staged tiles
      // NVRTC's registers differ by one or two from call to call, whatever it is given: its optimiser follows addresses.
      EXPECT_TRUE(std::regex_search(
          a.out, std::regex(r["kernel"].get<std::string>() + ": [0-9]+ registers, " +
                            std::to_string(r["shared_bytes"].get<int>()) + " bytes of shared memory, no spills")))
          << a.out;
    }
  }
};

TEST_F(Emit, PtxByNvrtc) {
  if (!nvrtc_api()) GTEST_SKIP() << "NVRTC is not installed";
  ptx_by("nvrtc", "sm_80");
  ptx_by("nvrtc", "sm_90");
}

TEST_F(Emit, PtxByNvcc) {
  if (find_cuda_tool("nvcc").empty()) GTEST_SKIP() << "nvcc is not installed";
  ptx_by("nvcc", "sm_90");
}

TEST_F(Emit, PtxByClang) {
  if (!find_compiler("clang++-19")) GTEST_SKIP() << "clang++-19 is not installed";
  ptx_by("clang++-19", "sm_80");
  ptx_by("clang++-19", "sm_90");
}

TEST_F(Emit, SassOrTheWayOut) {
  if (!nvrtc_api() && find_cuda_tool("nvcc").empty()) GTEST_SKIP() << "no CUDA compiler is installed";
  if (find_cuda_tool("nvdisasm").empty()) {
    EXPECT_EQ(error_code("compile m.json --target cuda --emit ptx,sass -o out"), "no-cuda-compiler");
    EXPECT_EQ(facet("compile m.json --target cuda --emit ptx,sass -o out").status, 3);
    EXPECT_TRUE(std::filesystem::is_empty(path("out")));  // nothing of a folder that would lack a part
    return;
  }
  ASSERT_EQ(facet("compile m.json --target cuda --emit ptx,sass -o out").status, 0);
  EXPECT_NE(read("out/m.sass").find("facet_m_k0"), std::string::npos);
  EXPECT_NE(read("out/m.ptx").find(".entry facet_m_k0"), std::string::npos);
}

TEST_F(Emit, AMissingCompilerIsNamed) {
  for (const char* compiler : {"/nowhere/nvcc", "/nowhere/clang++-19"}) {
    const std::string command = std::string("compile m.json --target cuda --emit ptx -o out --compiler ") + compiler;
    EXPECT_EQ(error_code(command), "no-cuda-compiler");
    EXPECT_EQ(facet(command).status, 3);
    EXPECT_NE(Json::parse(facet(command + " --json").out)["error"]["message"].get<std::string>().find(compiler),
              std::string::npos);
  }
  EXPECT_TRUE(std::filesystem::is_empty(path("out")));
}

TEST_F(Emit, AsmOfTheProcessor) {
  if (!find_compiler("")) GTEST_SKIP() << "no C++ compiler is installed";
  const Answer a = facet("compile m.json --emit asm -o out");
  ASSERT_EQ(a.status, 0);
  EXPECT_NE(a.out.find("compiled by "), std::string::npos);
  EXPECT_NE(read("out/m.s").find("facet_m_run"), std::string::npos);
}

TEST_F(Emit, WrongKindsAreInputErrors) {
  for (const char* wrong : {"--target cuda --emit asm", "--target cuda --emit ptx,", "--target cuda --emit pxt",
                            "--target cuda --emit ptx --compiler g++", "--emit ptx", "--emit sass,asm"})
    EXPECT_EQ(error_code(std::string("compile m.json -o out ") + wrong), "bad-command-line") << wrong;
  EXPECT_FALSE(std::filesystem::exists(path("out/m.cu")));
}

}  // namespace
}  // namespace facet
