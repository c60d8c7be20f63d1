// The oracle is chosen by predicted work; every way gives the same values.
#include "src/run/oracle.hpp"

#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

#include "src/run/inputs.hpp"
#include "support/hand_made.hpp"
#include "support/naive_support.hpp"

namespace facet {
namespace {

using namespace facet::test;  // NOLINT

TEST(Oracle, WaysAgreeAndAreChosenBySize) {
  const Program p = matmul_program();
  const SymbolValues sizes = {{"M", 130}, {"N", 90}, {"K", 20}};
  const HostTensors in = *make_inputs(p, sizes, 1, {});
  OracleOptions options;
  options.cache_folder = (std::filesystem::temp_directory_path() / ("facet_oracle_" + std::to_string(getpid()))).string();
  Result<ReferenceRun> interpreted = run_oracle(p, sizes, in, options);
  ASSERT_TRUE(interpreted.ok());
  EXPECT_EQ(interpreted->method, "interpreted");
  options.interpret_limit = 1000;
  Result<ReferenceRun> compiled = run_oracle(p, sizes, in, options);
  ASSERT_TRUE(compiled.ok()) << to_text(compiled.errors());
  EXPECT_EQ(compiled->method, "compiled");
  expect_same_run(*interpreted, *compiled);
  options.compile_limit = 1000;
  Result<ReferenceRun> sampled = run_oracle(p, sizes, in, options);
  ASSERT_TRUE(sampled.ok());
  EXPECT_EQ(sampled->method, "sampled");
  std::filesystem::remove_all(options.cache_folder);
}

TEST(Oracle, AMissingCompilerIsNoEnd) {
  const Program p = matmul_program();
  const SymbolValues sizes = {{"M", 13}, {"N", 9}, {"K", 20}};
  OracleOptions options;
  options.interpret_limit = 10;
  options.compiler = "no-such-compiler";
  options.cache_folder = (std::filesystem::temp_directory_path() / ("facet_oracle_" + std::to_string(getpid()))).string();
  Result<ReferenceRun> run = run_oracle(p, sizes, *make_inputs(p, sizes, 1, {}), options);
  ASSERT_TRUE(run.ok()) << to_text(run.errors());
  EXPECT_EQ(run->method, "sampled");
}

}  // namespace
}  // namespace facet
