// The computations of PolyBench as the planner maps them to a GPU, planned for their default sizes and for small ones, executed
// at small ragged sizes by the GPU-mode interpreter. And what the plan is for: no loop runs in a single thread.
#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "codegen/cuda/map_internal.hpp"
#include "src/driver/gpu_case.hpp"
#include "support/paths.hpp"

namespace facet {
namespace {

std::vector<std::string> names() {
  std::vector<std::string> list;
  for (const auto& file : std::filesystem::directory_iterator(test::source_path("bench/polybench")))
    if (file.path().extension() == ".json" && file.path().stem() != "sizes") list.push_back(file.path().stem());
  std::sort(list.begin(), list.end());
  return list;
}

class GpuPolybench : public testing::TestWithParam<std::string> {
 protected:
  GpuCase at(std::int64_t largest) const {
    Result<GpuCase> made = file_case(test::source_path("bench/polybench/" + GetParam() + ".json"), largest);
    EXPECT_TRUE(made.ok());
    return made ? std::move(*made) : GpuCase{};
  }
  static GpuCase planned_for_default(GpuCase test) {
    for (const Symbol& s : test.program.symbols) test.planned_for[s.name] = s.value;
    return test;
  }
};

bool is_agent(const For& f) { return f.kind >= LoopKind::kBlockX; }
bool is_one(const For& f) { return f.upper->op == Op::kLiteral && f.upper->int_value == 1; }

// A kernel of one thread does a single instance of something.
void expect_threads(const PreparedCase& made) {
  for (const Kernel& k : made.loops.kernels) {
    const bool agents = gpu::holds(k.body, [](const For& f) { return is_agent(f) && !is_one(f); });
    const bool loops = gpu::holds(k.body, [](const For& f) { return !is_agent(f); });
    EXPECT_TRUE(agents || !loops) << to_text(made.loops);
  }
}

TEST_P(GpuPolybench, PlannedForItsDefaultSizes) {
  for (const std::int64_t largest : {17, 5}) {
    const Result<PreparedCase> made = prepare_case(planned_for_default(at(largest)), 3);
    ASSERT_TRUE(made.ok()) << to_text(made.errors());
    expect_threads(*made);
    const GpuCaseResult r = interpret_case(*made, 3);
    EXPECT_TRUE(r.verified) << r.reason;
  }
}

TEST_P(GpuPolybench, PlannedForSmallSizes) {
  const GpuCaseResult r = check_in_interpreter(at(12), 3);
  EXPECT_TRUE(r.verified) << r.reason;
}

TEST(GpuPolybenchFiles, AreThirty) { EXPECT_EQ(names().size(), 30u); }

INSTANTIATE_TEST_SUITE_P(All, GpuPolybench, testing::ValuesIn(names()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace facet
