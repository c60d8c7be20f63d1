// docs/recipe.md is what the transforms' records say. FACET_BLESS=1 writes it anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "polyhedral/facet_polyhedral.hpp"
#include "polyhedral/rewrite/rewrite.hpp"
#include "polyhedral/transform/pages.hpp"
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

TEST(RecipeReference, EveryStepHasAPage) {
  for (const Transform* t : all_transforms()) EXPECT_NE(page_of(t->name), "") << t->name;
  for (const Rewrite* r : all_rewrites()) EXPECT_NE(page_of(r->name), "") << r->name;
}

}  // namespace
}  // namespace facet
