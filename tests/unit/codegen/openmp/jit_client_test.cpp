// A module compiled in process: its header is found, its functions and the OpenMP runtime's are looked up.
#include "codegen/openmp/jit_client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace facet {
namespace {

Module twice_module() {
  Module m;
  m.name = "twice";
  m.header = {"twice.h", "extern \"C\" int facet_twice(int x);\n"};
  m.source = {"twice.cpp", "#include \"twice.h\"\nextern \"C\" int facet_twice(int x) { return 2 * x; }\n"};
  return m;
}

class JitClient : public testing::Test {
 protected:
  void SetUp() override {
    if (!jit_problem().empty()) GTEST_SKIP() << jit_problem();
  }
};

TEST_F(JitClient, CompilesAModuleWithItsHeader) {
  const Result<JitModule> m = jit_module(twice_module(), {"-O2", "-fopenmp", "-shared", "-fPIC"});
  ASSERT_TRUE(m.ok()) << to_text(m.errors());
  auto twice = reinterpret_cast<int (*)(int)>(m->lookup("facet_twice"));
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice(21), 42);
  EXPECT_TRUE(m->lookup("omp_set_num_threads"));
  EXPECT_FALSE(m->lookup("facet_no_such_function"));
  EXPECT_THAT(m->compiler, testing::HasSubstr("in process"));
}

TEST_F(JitClient, AWrongSourceIsADiagnostic) {
  Module m = twice_module();
  m.source.text += "int broken( {\n";
  const Result<JitModule> compiled = jit_module(m, {"-O2"});
  ASSERT_FALSE(compiled.ok());
  EXPECT_EQ(compiled.errors()[0].code, Code::kJitRefused);
  EXPECT_THAT(compiled.errors()[0].message, testing::HasSubstr("error:"));
}

TEST(JitClientWithoutPlugin, SaysWhyOrWorks) {
  const Result<JitModule> m = jit_module(twice_module(), {"-O2"});
  if (!jit_problem().empty()) {
    ASSERT_FALSE(m.ok());
    EXPECT_EQ(m.errors()[0].code, Code::kJitMissing);
  } else {
    EXPECT_TRUE(m.ok());
  }
}

}  // namespace
}  // namespace facet
