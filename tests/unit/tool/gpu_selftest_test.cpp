// Every operator's samples and every example in the GPU-mode interpreter: right, and without a finding.
#include "src/driver/gpu_selftest.hpp"
#include "support/paths.hpp"

#include <gtest/gtest.h>

#include <filesystem>

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

TEST(GpuSelftest, EveryPolybenchProgramAtSmallSizes) {
  int programs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_path("bench/polybench"))) {
    if (entry.path().extension() != ".json" || entry.path().filename() == "sizes.json") continue;
    const Result<GpuCase> c = file_case(entry.path().string(), 7);
    ASSERT_TRUE(c.ok()) << to_text(c.errors());
    expect_verified(*c);
    ++programs;
  }
  EXPECT_EQ(programs, 30);
}

TEST(GpuSelftest, WithoutAGpuTheReasonIsGiven) {
  const Result<GpuRunReport> r = check_on_device({operator_cases().front()}, 1, [](const std::string&) {});
  if (r.ok()) GTEST_SKIP() << "there is a GPU";
  EXPECT_EQ(failure_of(r.errors()[0].code), Failure::kMissing);
  EXPECT_NE(r.errors()[0].message.find("no usable GPU"), std::string::npos);
}

}  // namespace
}  // namespace facet
