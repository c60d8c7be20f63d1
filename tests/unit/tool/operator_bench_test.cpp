// Bench rows of the operator table: every operator has a size, and a time.
#include "src/driver/operator_bench.hpp"

#include <gtest/gtest.h>

#include "src/graph/elaborate.hpp"
#include "src/ops/bench_samples.hpp"
#include "src/ops/samples.hpp"

namespace facet {
namespace {

TEST(OperatorBench, RowsAreAccepted) { EXPECT_EQ(unfit_bench_rows(), std::vector<std::string>{}); }

TEST(OperatorBench, EveryOperatorGrowsUntilItIsLargeEnough) {
  const auto elements = [](const Program& p) {
    double most = 0;
    for (const std::string& name : p.tensor_order) {
      double n = 1;
      for (const ExprPtr& e : p.tensor(name).shape) n *= static_cast<double>(evaluate_index(e, {}));
      most = std::max(most, n);
    }
    return most;
  };
  for (const OpDef* op : all_ops()) {
    const OpSample sample = bench_sample(*op, [&](const Program& written) {
      const Result<Program> program = elaborate(written);
      return !program || elements(*program) >= 20000;
    });
    const Result<Program> program = elaborate(*sample_program(*op, sample));
    ASSERT_TRUE(program) << op->name << to_text(program.errors());
    EXPECT_GE(elements(*program), 10000) << op->name;
  }
}

TEST(OperatorBench, AFamilyIsTimed) {
  Options options;
  options.family = "scan";
  const Result<std::vector<OperatorTime>> times = time_operators(options, [](const std::string&) {});
  ASSERT_TRUE(times) << to_text(times.errors());
  ASSERT_EQ(times->size(), 2u);
  for (const OperatorTime& t : *times) {
    EXPECT_EQ(t.problem, "") << t.name;
    EXPECT_GT(t.time_ms, 0) << t.name;
    EXPECT_GT(t.gbps, 0) << t.name;
    EXPECT_GT(t.share, 0) << t.name;
  }
  EXPECT_NE(to_text(*times).find("| `cum_sum` | f32["), std::string::npos);
}

TEST(OperatorBench, PartsOfTheCasesAreWritten) {
  std::int64_t k = 0, n = 0;
  EXPECT_TRUE(part_of("2/3", &k, &n));
  EXPECT_EQ(k, 2);
  EXPECT_EQ(n, 3);
  for (const char* wrong : {"", "3", "0/3", "4/3", "1/0", "1/2x", "a/b", "1/1001", "-1/2"})
    EXPECT_FALSE(part_of(wrong, &k, &n)) << wrong;
}

}  // namespace
}  // namespace facet
