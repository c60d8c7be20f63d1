// Every example program is read and elaborated without a complaint, and survives printing and reading back.
#include <gtest/gtest.h>

#include "src/frontend/json.hpp"
#include "src/graph/elaborate.hpp"
#include "support/examples.hpp"

namespace facet {
namespace {

class Example : public testing::TestWithParam<std::string> {};

TEST_P(Example, IsReadAndSurvivesTheRoundTrip) {
  const Result<Program> program = read_program(test::text_of_file(GetParam()), GetParam());
  ASSERT_TRUE(program.ok()) << to_text(program.errors());
  const Result<Program> again = read_program(to_json(*program), GetParam());
  ASSERT_TRUE(again.ok()) << to_text(again.errors());
  EXPECT_EQ(program_hash(*program), program_hash(*again));
}

TEST_P(Example, Elaborates) {
  const Result<Program> program = read_program(test::text_of_file(GetParam()), GetParam());
  ASSERT_TRUE(program.ok()) << to_text(program.errors());
  const Result<Program> elaborated = elaborate(*program);
  ASSERT_TRUE(elaborated.ok()) << to_text(elaborated.errors());
  for (const std::string& name : elaborated->outputs) EXPECT_TRUE(elaborated->tensor(name).inferred) << name;
}

INSTANTIATE_TEST_SUITE_P(All, Example, testing::ValuesIn(test::example_files()),
                         [](const auto& instance) { return test::example_name(instance.param); });

}  // namespace
}  // namespace facet
