// docs/operators.md is what the operator table says. FACET_BLESS=1 writes it anew.
#include "src/ops/docs.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "src/ops/op_table.hpp"
#include "support/paths.hpp"

namespace facet {
namespace {

TEST(OperatorDocs, PageIsCurrent) {
  const std::string path = test::source_path("docs/operators.md"), want = operators_markdown();
  if (std::getenv("FACET_BLESS")) std::ofstream(path) << want;
  std::ifstream in(path);
  std::stringstream have;
  have << in.rdbuf();
  EXPECT_TRUE(have.str() == want)
      << "docs/operators.md is out of date: run test_graph --gtest_filter=OperatorDocs.* with FACET_BLESS=1";
}

TEST(OperatorDocs, EveryOperatorHasASection) {
  const std::string page = operators_markdown();
  for (const OpDef* op : all_ops()) {
    EXPECT_NE(page.find("### `" + op->name + "`"), std::string::npos) << op->name;
    EXPECT_FALSE(op->summary.empty()) << op->name;
    for (const AttrDef& a : op->attributes) EXPECT_FALSE(a.doc.empty()) << op->name << " " << a.name;
  }
}

}  // namespace
}  // namespace facet
