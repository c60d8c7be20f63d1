// What the fuzzer tries: every step of the catalogue, mostly where it applies, refusals with a witness, a count that agrees.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "polyhedral/facet_polyhedral.hpp"
#include "src/driver/fuzz_grow.hpp"
#include "src/driver/fuzz_steps.hpp"
#include "src/driver/machines.hpp"
#include "src/driver/options.hpp"

namespace facet {
namespace {

// The steps that the reference lists.
std::vector<std::string> listed() {
  std::vector<std::string> names;
  std::istringstream text(recipe_reference());
  for (std::string line; std::getline(text, line);)
    if (line.rfind("## `", 0) == 0) names.push_back(line.substr(4, line.size() - 5));
  return names;
}

TEST(FuzzSteps, EveryStepHasAMaker) {
  std::vector<std::string> made = fuzz_verbs();
  made.insert(made.end(), {"map_gpu", "rfactor", "flatten", "split_terms", "precompute"});
  made.insert(made.end(), {"winograd"});  // its results are rounded, fuzzing's are integers: drawn in convolutions_test
  made.insert(made.end(), {"recompute", "reuse"});  // GPUs' own: chosen by the scheduler in the pairs completed for one
  const std::vector<std::string> names = listed();
  ASSERT_GT(names.size(), 20U);
  for (const std::string& name : names) EXPECT_EQ(std::count(made.begin(), made.end(), name), 1) << name;
  for (const std::string& name : made) EXPECT_EQ(std::count(names.begin(), names.end(), name), 1) << name;
}

std::int64_t refused(const FuzzTally& tally, const std::string& prefix) {
  std::int64_t sum = 0;
  for (const auto& [name, count] : tally.refused) sum += name.rfind(prefix, 0) == 0 ? count : 0;
  return sum;
}

TEST(FuzzSteps, ApplyAndAreJudgedByOrderAndStorage) {
  const Result<Machine> machine = described_machine(Options{});
  ASSERT_TRUE(machine.ok()) << to_text(machine.errors());
  FuzzTally tally;
  for (std::uint64_t seed = 7000; seed < 7150; ++seed) {
    FuzzRandom random(seed);
    Result<FuzzPair> pair = random_pair(seed, random, *machine, false);
    ASSERT_TRUE(pair.ok()) << to_text(pair.errors());
    EXPECT_EQ(grow_steps(&*pair, random, false, &tally), "") << "seed " << seed;
  }
  for (const std::string& verb : fuzz_verbs()) EXPECT_GT(tally.accepted[verb], 0) << verb;
  EXPECT_GT(tally.accepted["rfactor"], 0);
  EXPECT_GT(tally.accepted["map_gpu"], 0);
  for (const char* verb : {"fuse", "interchange", "skew", "reverse", "tile", "parallelize", "promote"}) {
    const std::int64_t accepted = tally.accepted[verb], tried = accepted + refused(tally, std::string(verb) + ":");
    EXPECT_GE(100 * accepted, 25 * tried) << verb << ": " << accepted << " of " << tried;
  }
  const std::int64_t all = refused(tally, "");
  EXPECT_LE(100 * (all - tally.witnesses), 20 * all) << tally.witnesses << " witnesses of " << all << " refusals";
  EXPECT_GT(tally.counted_acceptances, 500);
  EXPECT_GT(tally.counted_refusals, 40);
  std::int64_t doubts = 0;
  for (const auto& [what, count] : tally.doubts) doubts += count;
  EXPECT_LE(100 * doubts, 5 * tally.counted_refusals);
}

}  // namespace
}  // namespace facet
