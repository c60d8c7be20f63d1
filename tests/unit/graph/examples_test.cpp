// Every example program is read without a complaint and survives printing and reading back.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "src/frontend/json.hpp"

namespace facet {
namespace {

std::vector<std::string> example_files() {
  std::vector<std::string> files;
  for (const auto& folder : std::filesystem::directory_iterator(FACET_SOURCE_DIR "/examples")) {
    const std::filesystem::path file = folder.path() / "program.json";
    if (std::filesystem::exists(file)) files.push_back(file.string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class Example : public testing::TestWithParam<std::string> {};

TEST_P(Example, IsReadAndSurvivesTheRoundTrip) {
  std::ifstream stream(GetParam());
  std::stringstream text;
  text << stream.rdbuf();
  const Result<Program> program = read_program(text.str(), GetParam());
  ASSERT_TRUE(program.ok()) << to_text(program.errors());
  const Result<Program> again = read_program(to_json(*program), GetParam());
  ASSERT_TRUE(again.ok()) << to_text(again.errors());
  EXPECT_EQ(program_hash(*program), program_hash(*again));
}

INSTANTIATE_TEST_SUITE_P(All, Example, testing::ValuesIn(example_files()), [](const auto& instance) {
  return std::filesystem::path(instance.param).parent_path().filename().string();
});

}  // namespace
}  // namespace facet
