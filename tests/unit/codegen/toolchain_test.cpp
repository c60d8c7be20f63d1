// Compiler search, the cache, and failures that name what is missing.
#include "codegen/toolchain.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include "codegen/process.hpp"
#include "unit/codegen/support.hpp"

namespace facet {
namespace {

using testing::HasSubstr;

Module tiny(const std::string& text) {
  Module m;
  m.name = "tiny";
  m.source = {"tiny.cpp", text};
  m.header = {"tiny.h", ""};
  return m;
}

CompileOptions fresh(const std::string& folder) {
  CompileOptions o;
  o.compiler = "g++";
  o.flags = {"-O0", "-fPIC", "-shared"};
  o.cache_folder = testing::TempDir() + folder;
  std::filesystem::remove_all(o.cache_folder);
  return o;
}

TEST(Toolchain, CompilesOnceAndKeeps) {
  const CompileOptions o = fresh("facet_toolchain_keep");
  const Module m = tiny("extern \"C\" int f() { return 1; }\n");
  const Result<CompiledModule> first = compile_module(m, o);
  ASSERT_TRUE(first) << to_text(first.errors());
  EXPECT_FALSE(first->from_cache);
  const Result<CompiledModule> second = compile_module(m, o);
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->from_cache);
  EXPECT_EQ(first->path, second->path);
  const Result<CompiledModule> other = compile_module(tiny("extern \"C\" int f() { return 2; }\n"), o);
  ASSERT_TRUE(other);
  EXPECT_NE(first->path, other->path);
}

TEST(Toolchain, MissingCompilerIsAMissingPart) {
  CompileOptions o = fresh("facet_toolchain_missing");
  o.compiler = "/no/such/c++";
  const Result<CompiledModule> r = compile_module(tiny(""), o);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.errors()[0].code, Code::kCompilerMissing);
  EXPECT_EQ(failure_of(r.errors()[0].code), Failure::kMissing);
  EXPECT_THAT(r.errors()[0].message, HasSubstr("/no/such/c++"));
}

TEST(Toolchain, ComplaintsAreKept) {
  const Result<CompiledModule> r = compile_module(tiny("int f( { }\n"), fresh("facet_toolchain_error"));
  ASSERT_FALSE(r);
  EXPECT_EQ(r.errors()[0].code, Code::kCompilerFailed);
  EXPECT_THAT(r.errors()[0].message, HasSubstr("error:"));
}

TEST(Toolchain, SlowCompilersAreStopped) {
  CompileOptions o = fresh("facet_toolchain_slow");
  o.timeout_s = 0.01;
  const Result<CompiledModule> r = compile_module(tiny("extern \"C\" int f() { return 3; }\n"), o);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.errors()[0].code, Code::kCompilerTimedOut);
}

TEST(Toolchain, UnwritableCache) {
  CompileOptions o = fresh("facet_toolchain_unwritable");
  o.cache_folder = "/proc/facet";
  const Result<CompiledModule> r = compile_module(tiny(""), o);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.errors()[0].code, Code::kCacheUnwritable);
}

TEST(Runner, AModuleWithoutItsFunctionsIsRefused) {
  const Module m = tiny("extern \"C\" int f() { return 1; }\n");
  const Result<CompiledModule> compiled = compile_module(m, fresh("facet_toolchain_runner"));
  ASSERT_TRUE(compiled);
  const Result<OpenmpRunner> r = OpenmpRunner::load(m, compiled->path);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.errors()[0].code, Code::kModuleUnloadable);
  EXPECT_FALSE(OpenmpRunner::load(m, "/no/such.so"));
}

TEST(Runner, SizesOutsideTheirRangeAreAStatus) {
  const LoopProgram p =
      test::program("r", {test::buffer("y", DType::kF32, {index("N")}, BufferRole::kOutput)},
                    {test::loop("i", idx(0), index("N"), {test::store("y", {index("i")}, literal(DType::kF32, 3))})},
                    {Symbol{"N", 1, 4, 2, {}}});
  const Result<Module> m = print_openmp(p);
  ASSERT_TRUE(m);
  CompileOptions o = fresh("facet_toolchain_status");
  o.flags = test::strict_flags({}, "native");
  const Result<CompiledModule> compiled = compile_module(*m, o);
  ASSERT_TRUE(compiled) << to_text(compiled.errors());
  Result<OpenmpRunner> r = OpenmpRunner::load(*m, compiled->path);
  ASSERT_TRUE(r);
  HostTensors good, bad;
  EXPECT_TRUE(r->bind({{"N", 4}}, &good));
  r->set_threads(2);
  const Result<Timing> timing = r->measure(3, 0);
  ASSERT_TRUE(timing);
  EXPECT_EQ(timing->kernel_ms.size(), 1u);
  EXPECT_GE(timing->repeats, 3);
  EXPECT_FALSE(r->run_kernel(1));
  const Result<Done> refused = r->bind({{"N", 5}}, &bad);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.errors()[0].code, Code::kKernelStatus);
}

// What a kernel's writes beside its workspace look like, without a kernel that has the fault.
std::size_t some_bytes(const void*) { return 64; }
int fine(const void*, void*) { return 0; }
int writes_behind(const void*, void* workspace) { return static_cast<char*>(workspace)[64] = 0; }
int writes_before(const void*, void* workspace, int) { return static_cast<char*>(workspace)[-8] = 0; }
int one() { return 1; }

TEST(Runner, WritesBesideTheWorkspaceAreSeen) {
  Module m;
  m.name = "r";
  const std::map<std::string, void*> functions = {
      {"facet_r_workspace_bytes", reinterpret_cast<void*>(some_bytes)}, {"facet_r_prepare", reinterpret_cast<void*>(fine)},
      {"facet_r_run", reinterpret_cast<void*>(writes_behind)},          {"facet_r_destroy", reinterpret_cast<void*>(fine)},
      {"facet_r_run_kernel", reinterpret_cast<void*>(writes_before)},   {"facet_r_kernel_count", reinterpret_cast<void*>(one)}};
  const auto lookup = [&](const std::string& name) { return functions.count(name) ? functions.at(name) : nullptr; };
  for (const bool whole : {true, false}) {
    Result<OpenmpRunner> r = OpenmpRunner::from_lookup(m, lookup);
    ASSERT_TRUE(r);
    HostTensors none;
    ASSERT_TRUE(r->bind({}, &none));
    EXPECT_EQ(r->workspace_bytes(), 64);
    const Result<Done> done = whole ? r->run() : r->run_kernel(0);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.errors()[0].code, Code::kWroteOutside);
  }
}

TEST(Process, StatusAndOutput) {
  const ProcessResult r = run_process({"sh", "-c", "echo out; echo err >&2; exit 3"}, 10);
  EXPECT_TRUE(r.started);
  EXPECT_EQ(r.status, 3);
  EXPECT_THAT(r.output, HasSubstr("out"));
  EXPECT_THAT(r.output, HasSubstr("err"));
  EXPECT_FALSE(run_process({"/no/such/program"}, 1).started);
  EXPECT_TRUE(run_process({"sleep", "5"}, 0.05).timed_out);
}

}  // namespace
}  // namespace facet
