// docs/schema and the reader agree: what the reader takes is valid, what it refuses for its form is not.
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "src/frontend/json.hpp"
#include "tests/unit/tool/error_cases.hpp"
#include "tests/unit/tool/schema.hpp"
#include "support/paths.hpp"

namespace facet {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Schema schema(const std::string& name) {
  return Schema(nlohmann::json::parse(text_of(test::source_path("docs/schema/") + name + ".schema.json")));
}

TEST(Schema, ExamplesAreValid) {
  const Schema program = schema("program");
  int count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::source_path("examples"))) {
    if (entry.path().filename() != "program.json") continue;
    const std::string text = text_of(entry.path());
    EXPECT_TRUE(program.accepts(nlohmann::json::parse(text))) << entry.path();
    const Result<Program> read = read_program(text, entry.path());
    ASSERT_TRUE(read) << to_text(read.errors());
    EXPECT_TRUE(program.accepts(nlohmann::json::parse(to_json(*read)))) << "as written by to_json: " << entry.path();
    ++count;
  }
  EXPECT_GE(count, 10);
}

TEST(Schema, RefusesWhatTheReaderRefusesForItsForm) {
  // Codes that are about form alone; the others need names, numbers or files.
  const std::set<std::string> form = {"unknown-field", "missing-field", "wrong-type",     "bad-version",
                                      "bad-choice",    "unknown-dtype", "reserved-dtype", "bad-name",
                                      "empty-list",    "code-or-file",  "wrong-field",    "too-many-elements"};
  // Form that depends on a value elsewhere in the document, which the schema does not express.
  const std::set<std::string> elsewhere = {"/tensors/c/data/fill", "/ops/0/in/1", "/tensors/c/data/values/1"};
  const Schema program = schema("program");
  int count = 0;
  for (const ErrorCase& c : all_error_cases(test::source_path("tests/errors"))) {
    if (!form.count(c.code) || elsewhere.count(c.pointer)) continue;
    const nlohmann::json value = nlohmann::json::parse(c.text, nullptr, false);
    ASSERT_FALSE(value.is_discarded()) << c.where;
    EXPECT_FALSE(program.accepts(value)) << c.where << "\n" << c.text;
    ++count;
  }
  EXPECT_GE(count, 50);
}

TEST(Schema, Recipes) {
  const Schema recipe = schema("recipe");
  for (
      const char* text :
      {R"({"facet_recipe": 1})",
       R"({"facet_recipe": 1, "program": null, "variants": [{"groups": [{"ops": ["y"], "steps": []}]}]})",
       R"({"facet_recipe": 1, "variants": [{"when": "N < 3", "groups": [{"name": "k0", "ops": ["y"], "steps": [{"do": "tile", "sizes": ["?", 4]}]}]}]})"}) {
    EXPECT_TRUE(recipe.accepts(nlohmann::json::parse(text))) << text;
    const Result<Recipe> read = read_recipe(text, "r.json");
    ASSERT_TRUE(read) << to_text(read.errors());
    EXPECT_TRUE(recipe.accepts(nlohmann::json::parse(to_json(*read)))) << to_json(*read);
  }
  for (const char* text :
       {R"({})", R"({"facet_recipe": 2})", R"({"facet_recipe": 1, "program": "abc"})", R"({"facet_recipe": 1, "steps": []})",
        R"({"facet_recipe": 1, "variants": [{"groups": [{"steps": []}]}]})",
        R"({"facet_recipe": 1, "graph": [{"tensor": "x"}]})", R"({"facet_recipe": 1, "graph": [{"do": "x", "by": 1.5}]})",
        R"({"facet_recipe": 1, "memory": {"arena": "big"}})", R"({"facet_recipe": 1, "variants": {}})"}) {
    EXPECT_FALSE(recipe.accepts(nlohmann::json::parse(text))) << text;
    EXPECT_FALSE(read_recipe(text, "r.json")) << text;
  }
}

}  // namespace
}  // namespace facet
