// Every diagnostic is met by a test: in a table of tests/errors, or by its name in a test's text.
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "facet/result.hpp"
#include "support/paths.hpp"

namespace facet {
namespace {

// They need a GPU or a failing system, or guard limits no text reaches in a short time.
const std::set<std::string> kNotTriggered = {
    "json-too-large", "file-too-large", "text-too-long",    "library-unusable",     "no-gpu",           "cuda-call",
    "process-failed", "out-of-memory",  "budget-exhausted", "no-values-for-tensor", "reference-refused"};

std::string all_test_text() {
  std::ostringstream text;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::source_path("tests"))) {
    const std::string kind = entry.path().extension();
    if (entry.path().filename() != "coverage_test.cpp" && (kind == ".cpp" || kind == ".txt" || kind == ".hpp"))
      text << std::ifstream(entry.path()).rdbuf();
  }
  return text.str();
}

std::string enumerator(const std::string& name) {
  std::string out = "k";
  bool upper = true;
  for (const char c : name) {
    if (c != '-') out += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = c == '-';
  }
  return out;
}

TEST(Diagnostics, EveryCodeIsMetByATest) {
  const std::string text = all_test_text();
  for (const Code code : all_codes()) {
    const std::string name = code_name(code);
    if (failure_of(code) == Failure::kInternal || kNotTriggered.count(name)) continue;
    const bool met = text.find("case " + name + " ") != std::string::npos || text.find('"' + name + '"') != std::string::npos ||
                     text.find("Code::" + enumerator(name)) != std::string::npos;
    EXPECT_TRUE(met) << name;
  }
}

}  // namespace
}  // namespace facet
