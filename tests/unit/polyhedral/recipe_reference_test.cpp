// docs/recipe.md is what the transforms' records say. FACET_BLESS=1 writes it anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "polyhedral/facet_polyhedral.hpp"
#include "polyhedral/rewrite/rewrite.hpp"
#include "polyhedral/transform/transform.hpp"
#include "support/paths.hpp"

namespace facet {
namespace {

TEST(RecipeReference, IsUpToDate) {
  const std::string file = test::source_path("docs/recipe.md");
  if (std::getenv("FACET_BLESS")) std::ofstream(file) << recipe_reference();
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  EXPECT_EQ(text.str(), recipe_reference()) << "run with FACET_BLESS=1 and read the difference";
}

template <class Record>
void has_a_page(const Record& record) {
  for (const char* text : {record.page.before, record.page.after, record.page.elsewhere, record.page.refuses})
    EXPECT_TRUE(text && *text) << record.name;
  EXPECT_STRNE(record.page.before, record.page.after) << record.name;
}

TEST(RecipeReference, EveryStepHasAPage) {
  for (const Transform* t : all_transforms()) has_a_page(*t);
  for (const Rewrite* r : all_rewrites()) has_a_page(*r);
}

}  // namespace
}  // namespace facet
