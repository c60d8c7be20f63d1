// Every mistake of tests/errors is answered with its code at its place, in a message that is fit to print.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "src/driver/pipeline.hpp"
#include "tests/unit/tool/error_cases.hpp"
#include "support/paths.hpp"

namespace facet {
namespace {

class Errors : public testing::TestWithParam<ErrorCase> {};

TEST_P(Errors, AreAnsweredWithCodeAndPlace) {
  const ErrorCase& c = GetParam();
  const Result<Program> program = check_text(c.text, test::source_path("tests/errors/case.json"));
  ASSERT_FALSE(program) << c.where << " is accepted:\n" << c.text;
  std::string found;
  for (const Diagnostic& d : program.errors()) {
    found += code_name(d.code) + " at " + d.place.pointer + "\n";
    EXPECT_EQ(failure_of(d.code), Failure::kInput) << to_text(d);
    EXPECT_FALSE(d.message.empty());
    EXPECT_LT(d.message.size(), 900u) << d.message;
    EXPECT_EQ(d.message.find("{0}"), std::string::npos) << d.message;
    EXPECT_GT(d.place.line, 0) << to_text(d);
    EXPECT_GT(d.place.column, 0) << to_text(d);
    EXPECT_LE(d.place.excerpt.size(), 200u);
  }
  const auto hit = std::find_if(program.errors().begin(), program.errors().end(), [&](const Diagnostic& d) {
    return code_name(d.code) == c.code && (c.pointer == "-" || d.place.pointer == c.pointer);
  });
  EXPECT_NE(hit, program.errors().end()) << c.where << ": expected " << c.code << " at " << c.pointer << ", found\n" << found;
}

INSTANTIATE_TEST_SUITE_P(Table, Errors, testing::ValuesIn(all_error_cases(test::source_path("tests/errors"))),
                         [](const testing::TestParamInfo<ErrorCase>& info) {
                           std::string name = info.param.where + "_" + info.param.code;
                           std::replace_if(
                               name.begin(), name.end(), [](char ch) { return !std::isalnum(static_cast<unsigned char>(ch)); },
                               '_');
                           return name;
                         });

// At least 250 mistakes, no two alike.
TEST(ErrorTable, IsLargeAndDistinct) {
  std::map<std::string, std::string> first;  // text -> where
  for (const ErrorCase& c : all_error_cases(test::source_path("tests/errors"))) {
    const auto [it, fresh] = first.emplace(c.text, c.where);
    EXPECT_TRUE(fresh) << c.where << " repeats " << it->second;
  }
  EXPECT_GE(first.size(), 350u);
}

}  // namespace
}  // namespace facet
