// The sweep over the operator table: it reaches every operator, dtype and kind of shape; a seeded part of it runs here
// (`facet selftest --sweep` runs all).
#include "src/driver/sweep.hpp"

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "src/ops/op_table.hpp"
#include "src/ops/sweep.hpp"

namespace facet {
namespace {

constexpr std::int64_t kSample = 150;
constexpr std::uint64_t kSeed = 1;

// Operands of one shape, or attributes that fix the only axis: nothing broadcasts.
const std::set<std::string> kNoBroadcast = {"stack", "top_k", "triplet_margin_loss"};

TEST(Sweep, EveryOperatorHasEveryKindOfShapeAndItsDtypes) {
  for (const OpDef* op : all_ops()) {
    std::set<SweepShape> kinds;
    std::set<std::string> dtypes, shapes;
    for (const SweepCase& c : sweep_cases(*op, [](const Program&) { return false; })) {
      kinds.insert(c.shape);
      dtypes.insert(c.dtypes);
      std::string text;
      for (const std::string& o : c.sample.operands) text += o.substr(std::min(o.find('['), o.size()));
      shapes.insert(text);
    }
    std::string missing;
    for (const SweepShape k : kSweepShapes)
      if (!kinds.count(k) && !(k == SweepShape::kBroadcast && kNoBroadcast.count(op->name))) missing += " " + to_text(k);
    EXPECT_EQ(missing, "") << op->name;
    EXPECT_GE(shapes.size(), 6u) << op->name;
    if (op->operands[0].dtypes == DTypes::kFloat) { EXPECT_GE(dtypes.size(), 4u) << op->name; }
  }
}

TEST(Sweep, ASampleIsRightInTheInterpreter) {
  for (const GpuCase& c : sweep_programs(kSample, kSeed)) {
    const GpuCaseResult r = check_in_interpreter(c, kSeed);
    EXPECT_TRUE(r.verified) << c.name << "\n" << r.reason;
  }
}

TEST(Sweep, ASampleIsRightAsHostKernels) {
  const std::vector<GpuCase> cases = sweep_programs(kSample, kSeed);
  ASSERT_EQ(cases.size(), static_cast<std::size_t>(kSample));
  const auto results = check_compiled(cases, {}, [](const std::string&) {});
  if (!results && failure_of(results.errors()[0].code) == Failure::kMissing) GTEST_SKIP() << to_text(results.errors());
  ASSERT_TRUE(results) << to_text(results.errors());
  for (const GpuCaseResult& r : *results) EXPECT_TRUE(r.verified) << r.name << "\n" << r.reason;
}

// The counter's hash wraps in 64 bits: named on its way, it was plain signed arithmetic, which g++ may do with as it likes.
TEST(Sweep, HashesWrapWhicheverTheCompiler) {
  for (const char* compiler : {"g++", "clang++-19"}) {
    Options options;
    options.compiler = compiler;
    const auto results = check_compiled(sweep_programs(0, kSeed, "dropout"), options, [](const std::string&) {});
    if (!results && failure_of(results.errors()[0].code) == Failure::kMissing) GTEST_SKIP() << to_text(results.errors());
    ASSERT_TRUE(results) << to_text(results.errors());
    for (const GpuCaseResult& r : *results) EXPECT_TRUE(r.verified) << r.name << "\n" << r.reason;
  }
}

// The same seed names the same cases, another seed others.
TEST(Sweep, SamplesAreSeeded) {
  const std::vector<GpuCase> a = sweep_programs(20, 3, "conv"), b = sweep_programs(20, 3, "conv"),
                             c = sweep_programs(20, 4, "conv");
  ASSERT_EQ(a.size(), 20u);
  std::set<std::string> first, other;
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].name, b[i].name);
    first.insert(a[i].name);
    other.insert(c[i].name);
  }
  EXPECT_NE(first, other);
}

}  // namespace
}  // namespace facet
