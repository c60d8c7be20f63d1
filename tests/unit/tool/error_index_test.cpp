// docs/errors.md is written from the registry and from the tables of tests/errors: each code with its pattern, its exit status
// and, where a table has one, a mistake and the whole answer. FACET_BLESS=1 writes it anew.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "src/driver/pipeline.hpp"
#include "tests/unit/tool/error_cases.hpp"
#include "support/paths.hpp"

namespace facet {
namespace {

constexpr const char* kIntroduction =
    "# Errors\n"
    "\n"
    "This page is written from the registry of diagnostics and the tables of tests/errors; a test compares them (`FACET_BLESS=1` writes it\n"
    "anew).\n"
    "\n"
    "A message reads `FILE:LINE:COLUMN: error[CODE]: what is wrong (at /json/pointer)`, then the line with a caret, then notes: the nearest\n"
    "valid name, what is expected, a way out. With `--json` the same stands on stdout as `{\"error\": {\"code\", \"message\", \"file\", \"line\", \"column\",\n"
    "\"pointer\", \"notes\", \"more\"}}`; `more` holds the complaints after the first.\n"
    "\n"
    "| exit status | meaning |\n"
    "| --- | --- |\n"
    "| 0 | done |\n"
    "| 1 | the answer is no: a verification failed, a recipe is illegal |\n"
    "| 2 | the input is wrong; the message says where and what was expected |\n"
    "| 3 | an outside part is missing: a compiler, a GPU, memory, a folder that can be written |\n"
    "| 4 | a bug in facet |\n"
    "| 130 | interrupted |\n"
    "\n"
    "In the patterns below `...` stands for what the message quotes.\n";

// "'{0}' is not {1}" -> "'...' is not ..."
std::string pattern_text(Code code) {
  std::string text = diagnose(code, {}, std::vector<std::string>(10, "...")).message;
  return text;
}

std::string answer_of(const ErrorCase& c) {
  const Result<Program> program = check_text(c.text, test::source_path("tests/errors/program.json"));
  if (program) return "";
  for (Diagnostic d : program.errors()) {
    if (code_name(d.code) != c.code) continue;
    std::string text = to_text(d);
    const std::string folder = test::source_path("tests/errors/");
    for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder)) text.erase(at, folder.size());
    return text;
  }
  return "";
}

// The shortest mistake of each code that fits a page.
std::map<std::string, ErrorCase> examples() {
  constexpr std::size_t kLongest = 300;
  std::map<std::string, ErrorCase> shortest;
  for (const ErrorCase& c : all_error_cases(test::source_path("tests/errors"))) {
    if (c.body.size() > kLongest) continue;
    const auto [it, fresh] = shortest.emplace(c.code, c);
    if (!fresh && c.body.size() < it->second.body.size()) it->second = c;
  }
  return shortest;
}

std::string error_index() {
  std::map<std::string, Code> sorted;
  for (const Code code : all_codes()) sorted.emplace(code_name(code), code);
  const std::map<std::string, ErrorCase> cases = examples();
  std::string text = kIntroduction;
  for (const auto& [name, code] : sorted) {
    text +=
        "\n## `" + name + "`\n\nExit " + std::to_string(static_cast<int>(failure_of(code))) + ": " + pattern_text(code) + "\n";
    const auto it = cases.find(name);
    if (it == cases.end()) continue;
    text += "\n```\n" + it->second.body + "\n```\n\nanswers\n\n```\n" + answer_of(it->second) + "```\n";
  }
  return text;
}

TEST(ErrorIndex, PageIsUpToDate) {
  const std::string path = test::source_path("docs/errors.md"), expected = error_index();
  if (std::getenv("FACET_BLESS")) std::ofstream(path) << expected;
  std::ostringstream found;
  found << std::ifstream(path).rdbuf();
  EXPECT_EQ(found.str(), expected);
}

}  // namespace
}  // namespace facet
