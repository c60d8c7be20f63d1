// Every operator's samples and every example in the GPU-mode interpreter: right, and without a finding.
#include "src/driver/gpu_selftest.hpp"
#include "support/paths.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "codegen/cuda/compile.hpp"
#include "codegen/cuda/print.hpp"
#include "src/driver/gpu_case.hpp"

namespace facet {
namespace {

void expect_verified(const GpuCase& test) {
  const GpuCaseResult r = check_in_interpreter(test, 7);
  EXPECT_TRUE(r.verified) << test.name << "\n" << r.reason;
}

TEST(GpuSelftest, EveryOperatorSample) {
  const std::vector<GpuCase> cases = operator_cases();
  EXPECT_GT(cases.size(), 100u);
  for (const GpuCase& c : cases) expect_verified(c);
}

TEST(GpuSelftest, EveryExampleAtRaggedSizes) {
  for (const auto& entry : std::filesystem::directory_iterator(test::source_path("examples"))) {
    const std::string path = entry.path().string() + "/program.json";
    if (!std::filesystem::exists(path)) continue;
    const Result<GpuCase> c = file_case(path, 19);
    ASSERT_TRUE(c.ok()) << to_text(c.errors());
    expect_verified(*c);
  }
}

TEST(GpuSelftest, ManyCasesCompileAsOneFile) {
  const std::vector<GpuCase> cases = operator_cases();
  std::vector<std::unique_ptr<CudaModule>> modules;
  std::vector<std::pair<std::size_t, const CudaModule*>> batch;
  for (std::size_t i = 0; i < cases.size(); i += cases.size() / 12) {
    Result<PreparedCase> made = prepare_case(cases[i], 1);
    ASSERT_TRUE(made.ok()) << to_text(made.errors());
    made->loops.name = "case_" + std::to_string(i);
    const Result<CudaModule> printed = print_cuda(made->loops, CudaPrintOptions{});
    ASSERT_TRUE(printed.ok()) << to_text(printed.errors());
    modules.push_back(std::make_unique<CudaModule>(*printed));
    batch.emplace_back(i, modules.back().get());
  }
  CudaCompileOptions how;
  how.compiler = CudaCompiler::kNvrtc;
  const Result<CudaBinary> binary = compile_cuda(batch_source(batch), "batch.cu", how);
  if (!binary && binary.errors()[0].code == Code::kNoCudaCompiler) GTEST_SKIP() << "NVRTC is not installed";
  ASSERT_TRUE(binary.ok()) << to_text(binary.errors());
  for (const auto& module : modules)  // the driver finds kernels by these names
    for (const CudaLaunch& l : module->kernels) EXPECT_NE(binary->cubin.find(l.entry), std::string::npos) << l.entry;
}

TEST(GpuSelftest, WithoutAGpuTheReasonIsGiven) {
  const Result<GpuRunReport> r = check_on_device({operator_cases().front()}, 1, [](const std::string&) {});
  if (r.ok()) GTEST_SKIP() << "there is a GPU";
  EXPECT_EQ(failure_of(r.errors()[0].code), Failure::kMissing);
  EXPECT_NE(r.errors()[0].message.find("no usable GPU"), std::string::npos);
}

}  // namespace
}  // namespace facet
