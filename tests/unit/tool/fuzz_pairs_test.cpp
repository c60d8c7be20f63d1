// Programs and recipes that the fuzzer once found wrong: legal, and right as scanned, after the loop passes and mapped to a GPU
// (tests/fuzz/pairs); or refused, since no code of theirs can be right (tests/fuzz/refused).
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "src/driver/fuzz_try.hpp"
#include "src/driver/machines.hpp"
#include "src/driver/options.hpp"
#include "src/driver/replay.hpp"
#include "src/frontend/json.hpp"
#include "support/paths.hpp"

namespace facet {
namespace {

// What was wrong, the program and the recipe, parted by lines of ===.
std::vector<std::string> parts_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  std::vector<std::string> parts;
  std::string rest = text.str();
  const std::string line = "\n===\n";
  for (std::size_t at; (at = rest.find(line)) != std::string::npos; rest = rest.substr(at + line.size()))
    parts.push_back(rest.substr(0, at));
  parts.push_back(rest);
  return parts;
}

std::vector<std::filesystem::path> files_of(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_path(folder))) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

class FuzzPairs : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(FuzzPairs, AreRight) {
  const std::vector<std::string> parts = parts_of(GetParam());
  ASSERT_EQ(parts.size(), 3U) << "what was wrong === program === recipe";
  SCOPED_TRACE(parts[0]);
  const Result<Machine> machine = described_machine(Options{});
  ASSERT_TRUE(machine.ok()) << to_text(machine.errors());
  for (const char* target : {"openmp", "cuda"}) {
    Result<Recipe> recipe = read_recipe(parts[2], "recipe");
    ASSERT_TRUE(recipe.ok()) << to_text(recipe.errors());
    Result<FuzzPair> pair = fuzz_pair(parts[1], std::move(*recipe), {}, 1, *machine);
    ASSERT_TRUE(pair.ok()) << to_text(pair.errors());
    pair->options.target = target;
    const Result<LegalReport> legal = check_recipe(pair->loaded.program, pair->recipe, pair->options);
    ASSERT_TRUE(legal.ok()) << to_text(legal.errors());
    ASSERT_TRUE(legal->legal) << legal->message;
    const Result<FuzzTrees> trees = fuzz_trees(*pair);
    ASSERT_TRUE(trees.ok()) << to_text(trees.errors());
    EXPECT_EQ(interpret_trees(*pair, *trees), "") << target;
  }
}

INSTANTIATE_TEST_SUITE_P(Found, FuzzPairs, testing::ValuesIn(files_of("tests/fuzz/pairs")),
                         [](const auto& info) { return "seed" + info.param.stem().string(); });

class FuzzRefused : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(FuzzRefused, NamesTheStep) {
  const std::vector<std::string> parts = parts_of(GetParam());
  ASSERT_EQ(parts.size(), 3U) << "what was wrong === program === recipe";
  SCOPED_TRACE(parts[0]);
  const Result<Machine> machine = described_machine(Options{});
  ASSERT_TRUE(machine.ok()) << to_text(machine.errors());
  Result<Recipe> recipe = read_recipe(parts[2], "recipe");
  ASSERT_TRUE(recipe.ok()) << to_text(recipe.errors());
  const Result<FuzzPair> pair = fuzz_pair(parts[1], std::move(*recipe), {}, 1, *machine);
  ASSERT_TRUE(pair.ok()) << to_text(pair.errors());
  ScheduleOptions options = pair->options;
  options.replay = true;
  const Result<LegalReport> legal = check_recipe(pair->loaded.program, pair->recipe, options);
  ASSERT_TRUE(legal.ok()) << to_text(legal.errors());
  EXPECT_FALSE(legal->legal);
  EXPECT_NE(legal->message.find("step '"), std::string::npos) << legal->message;
  if (!legal->replay) return;
  const ReplayReport replay = run_replay(pair->loaded.program, *legal, 1, 2000000);
  EXPECT_TRUE(replay.real || !replay.ran) << legal->message << "\n" << to_text(replay, *legal);
}

INSTANTIATE_TEST_SUITE_P(Found, FuzzRefused, testing::ValuesIn(files_of("tests/fuzz/refused")),
                         [](const auto& info) { return "seed" + info.param.stem().string(); });

}  // namespace
}  // namespace facet
