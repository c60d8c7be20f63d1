// The tool as a user meets it: exit status, stdout and stderr, JSON documents, files written, hostile input.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "src/driver/help.hpp"
#include "src/driver/options.hpp"
#include "src/driver/settings.hpp"
#include "unit/tool/tool.hpp"

namespace facet {
namespace {

TEST_F(Tool, CheckAnswersInJson) {
  const Answer a = facet("check p.json --json");
  EXPECT_EQ(a.status, 0);
  const Json j = Json::parse(a.out);
  EXPECT_EQ(j["ok"], true);
  EXPECT_EQ(j["tensors"], 2);
  EXPECT_EQ(j["ops"], 1);
  EXPECT_EQ(j["statements"], 1);
}

TEST_F(Tool, AValueWithoutItsOptionIsNamed) {
  const Json j = Json::parse(facet("run p.json --set N=8 M=4 --json").out, nullptr, false);
  EXPECT_NE(j.dump().find("stands alone: each value has its option before it, --set M=4"), std::string::npos) << j.dump();
}

TEST_F(Tool, WrongCommandLinesAreInputErrors) {
  EXPECT_EQ(error_code("chekc p.json"), "bad-command-line");
  EXPECT_EQ(error_code("check"), "bad-command-line");
  EXPECT_EQ(error_code("check p.json --jsno"), "bad-command-line");
  EXPECT_EQ(error_code("show p.json --stage grpah"), "bad-command-line");
  EXPECT_EQ(error_code("run p.json --threads 0"), "bad-command-line");
  EXPECT_EQ(error_code("selftest --part 4/3"), "bad-command-line");
  EXPECT_EQ(error_code("selftest --time --family convolutions"), "bad-command-line");
  EXPECT_EQ(error_code("run p.json --target opencl"), "bad-target");
  EXPECT_EQ(error_code("run p.json --target openmp:vax"), "bad-target");
  EXPECT_EQ(error_code("check p.json --set N"), "bad-assignment");
  EXPECT_EQ(error_code("check p.json --set N=3.5"), "bad-assignment");
  EXPECT_EQ(error_code("check p.json --set M=4"), "unknown-symbol");
  EXPECT_EQ(error_code("check p.json --set N=102"), "symbol-outside-range");
  EXPECT_EQ(error_code("check p.json --set N=7"), "assumption-broken");
  EXPECT_EQ(error_code("check p.json --numerics fast=true"), "bad-assignment");
  EXPECT_EQ(error_code("run p.json --target reference --input y=p.json"), "npy-format");
  EXPECT_EQ(error_code("tune p.json"), "not-in-this-version");
  EXPECT_EQ(error_code("legal p.json"), "bad-command-line");
  EXPECT_EQ(error_code("check absent.json"), "file-unreadable");
  EXPECT_EQ(error_code("check /dev/zero"), "not-regular-file");
  EXPECT_EQ(error_code("check ."), "not-regular-file");
  EXPECT_EQ(facet("check p.json --set M=4").status, 2);
}

TEST_F(Tool, RunWritesOutputsWhole) {
  const Answer a = facet("run p.json --target reference --verify --output out --json");
  EXPECT_EQ(a.status, 0) << a.out;
  const Json j = Json::parse(a.out);
  EXPECT_EQ(j["verified"], true);
  EXPECT_EQ(j["target"], "reference");
  EXPECT_EQ(j["symbols"]["N"], 8);
  for (const char* field : {"program", "max_abs_error", "max_rel_error", "tolerance", "verified_elements", "sampled",
                            "ambiguous", "kernels", "compile_ms", "time_ms"})
    EXPECT_TRUE(j.contains(field)) << field;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path("out")))
    files += entry.path().filename() == "blockIdx.npy" ? 1 : 100;
  EXPECT_EQ(files, 1);
  // What was written is an input again, by name and shape.
  EXPECT_EQ(facet("run p.json --target reference --input float=out/blockIdx.npy").status, 0);
  EXPECT_EQ(error_code("run p.json --target reference --set N=10 --input float=out/blockIdx.npy"), "input-shape");
  EXPECT_EQ(error_code("run p.json --target reference --output /proc/none"), "file-unwritable");
}

TEST_F(Tool, ScheduleIsAFixedPoint) {
  ASSERT_EQ(facet("schedule p.json -o r.json").status, 0);
  ASSERT_EQ(facet("schedule p.json --schedule r.json -o r2.json").status, 0);
  std::ifstream a(path("r.json")), b(path("r2.json"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(a), {}), std::string(std::istreambuf_iterator<char>(b), {}));
  EXPECT_EQ(facet("show p.json --stage source").out, facet("show p.json --stage source --schedule r.json").out);
  EXPECT_EQ(facet("legal p.json --schedule r.json").status, 0);
  EXPECT_EQ(facet("diff r.json r2.json").out, "the recipes do the same\n");
  write("q.json", R"({"facet": 1, "name": "q", "tensors": {"x": {"dtype": "f32", "shape": [3]}}, "inputs": ["x"],
    "ops": [{"op": "neg", "in": "x", "out": "y"}], "outputs": ["y"]})");
  EXPECT_EQ(error_code("legal q.json --schedule r.json"), "recipe-for-other-program");
}

TEST_F(Tool, HostileTextsAreAnswered) {
  write("deep.json", std::string(3000000, '['));
  EXPECT_EQ(error_code("check deep.json"), "json-too-deep");
  write("long.json", "{\"facet\": \"" + std::string(10 << 20, 'x') + "\"}");
  EXPECT_EQ(error_code("check long.json"), "missing-field");
  write("bytes.json", std::string("{\"facet\": \"\xff\xfe\"}"));
  EXPECT_EQ(error_code("check bytes.json"), "json-encoding");
  write("empty.json", "");
  EXPECT_EQ(error_code("check empty.json"), "json-syntax");
  write("zero.json", std::string(100, '\0'));
  EXPECT_EQ(error_code("check zero.json"), "json-syntax");
}

// Every exit status, each failure with its document.
TEST_F(Tool, ExitStatus) {
  EXPECT_EQ(facet("check p.json").status, 0);
  write("illegal.json", R"({"facet": 1, "name": "s", "tensors": {"A": {"dtype": "f32", "shape": [50]}}, "inputs": ["A"],
    "ops": [{"op": "loops", "inout": "A", "code": "for (int i = 1; i < 50; i++) A[i] = A[i] + A[i-1];"}], "outputs": ["A"]})");
  write("r.json", R"({"facet_recipe": 1, "variants": [{"groups": [{"ops": ["A"], "steps":
    [{"do": "parallelize", "statement": "A", "loop": "i"}]}]}]})");
  const Answer illegal = facet("legal illegal.json --schedule r.json --json");
  EXPECT_EQ(illegal.status, 1);
  const Json report = Json::parse(illegal.out);
  EXPECT_EQ(report["legal"], false);
  EXPECT_EQ(report["reason"], "dependence");
  EXPECT_EQ(report["violation"]["array"], "A");
  EXPECT_EQ(facet("run illegal.json --schedule r.json").status, 1);
  EXPECT_EQ(error_code("run illegal.json --schedule r.json"), "illegal-step");
  EXPECT_EQ(facet("check").status, 2);
  EXPECT_EQ(facet("run p.json --compiler /none/such").status, 3);
  EXPECT_EQ(error_code("run p.json --compiler /none/such"), "compiler-missing");
  EXPECT_EQ(error_code("run p.json --measure"), "not-in-this-version");
}

// Ctrl-C ends with 130 and leaves no file, whole or half.
TEST_F(Tool, InterruptLeavesNothing) {
  write("slow.json", R"({"facet": 1, "name": "slow", "tensors": {"x": {"dtype": "f64", "shape": [900, 900]}}, "inputs": ["x"],
    "ops": [{"op": "matmul", "in": ["x", "x"], "out": "y"}], "outputs": ["y"]})");
  const std::string command = "cd " + folder_.string() + "; " + test::tool_path() +
                              " run slow.json --target reference --output out >/dev/null 2>&1 & " +
                              "pid=$!; sleep 0.7; kill -INT $pid; wait $pid; exit $?";
  const int status = std::system(("bash -mc '" + command + "'").c_str());
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_FALSE(std::filesystem::exists(path("out/y.npy")));
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) files += entry.is_regular_file();
  EXPECT_EQ(files, 2) << "p.json and slow.json";
}

// A file that cannot be written whole is not there at all: the limit stands for a full disk.
TEST_F(Tool, FullDiskIsAnErrorWithoutAFile) {
  write("big.json", R"({"facet": 1, "name": "big", "tensors": {"x": {"dtype": "f64", "shape": [4000]}}, "inputs": ["x"],
    "ops": [{"op": "neg", "in": "x", "out": "y"}], "outputs": ["y"]})");
  const std::string big = "cd " + folder_.string() + " && ulimit -f 8; " + test::tool_path() +
                          " run big.json --target reference --output out 2>err";
  const int status = std::system(("bash -c '" + big + "'").c_str());
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 2);
  EXPECT_FALSE(std::filesystem::exists(path("out/y.npy")));
  std::ifstream err(path("err"));
  const std::string text(std::istreambuf_iterator<char>(err), {});
  EXPECT_NE(text.find("error[file-unwritable]"), std::string::npos) << text;
}

// A workspace that does not fit is told with its size before anything is touched.
TEST_F(Tool, WorkspaceThatDoesNotFit) {
  write("big.json", R"({"facet": 1, "name": "big", "tensors": {"x": {"dtype": "f32", "shape": [2, 3]}}, "inputs": ["x"],
    "ops": [{"op": "compute", "in": "x", "out": "y", "def": ["t[i, j, k] = x[i, j] * 2.0 for k in 0..2000000000000", "y[i, j] = t[i, j, 7] + t[1 - i, j, 1999999999999]"]}],
    "outputs": ["y"]})");
  write("steps.json", R"({"facet_recipe": 1, "variants": [{"groups": [{"ops": ["y"], "steps": []}]}]})");
  const Answer b = facet("run big.json --schedule steps.json --json");
  EXPECT_EQ(b.status, 3) << b.out;
  const Json j = Json::parse(b.out, nullptr, false);
  ASSERT_FALSE(j.is_discarded()) << b.out;
  EXPECT_EQ(j["error"]["code"], "out-of-memory") << b.out;
  EXPECT_NE(j["error"]["message"].get<std::string>().find("workspace"), std::string::npos) << b.out;
}

// A compiler that refuses what the tool wrote is the tool's bug: status 4, and the message says so.
TEST_F(Tool, ABugIsStatusFour) {
  write(
      "cxx",
      "#!/bin/sh\nfor a in \"$@\"; do [ \"$a\" = --version ] && echo 'g++ 99' && exit 0; done\necho 'x.cpp:1:1: error: no' >&2\nexit 1\n");
  std::filesystem::permissions(path("cxx"), std::filesystem::perms::owner_all);
  const std::string own_cache = "env XDG_CACHE_HOME=" + path("cache4") + " ";
  std::FILE* pipe = ::popen(("cd " + folder_.string() + " && " + own_cache + test::tool_path() +
                             " run p.json --json --compiler " + path("cxx") + " 2>err4")
                                .c_str(),
                            "r");
  std::string out;
  std::array<char, 4096> buffer;
  for (std::size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) out.append(buffer.data(), n);
  const int status = ::pclose(pipe);
  EXPECT_EQ(WEXITSTATUS(status), 4) << out;
  EXPECT_EQ(Json::parse(out, nullptr, false)["error"]["code"], "compiler-failed") << out;
}

// Conditions of generated sources read like those of the program.
TEST_F(Tool, ConditionsAreReadable) {
  const std::string source = facet("show p.json --stage source").out;
  EXPECT_NE(source.find("N % 2 == 0"), std::string::npos);
}

// Two runs that want the same kernel at once share one compilation and both succeed.
TEST_F(Tool, CacheIsSharedByConcurrentRuns) {
  const std::string one =
      "XDG_CACHE_HOME=" + path("cache") + " " + test::tool_path() + " run p.json --compiler g++ >/dev/null 2>&1";
  const std::string command =
      "cd " + folder_.string() + "; " + one + " & a=$!; " + one + " & b=$!; wait $a; x=$?; wait $b; y=$?; exit $((x + y))";
  const int status = std::system(("bash -c '" + command + "'").c_str());
  if (WEXITSTATUS(status) == 6) GTEST_SKIP() << "no g++ here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
  int libraries = 0, others = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path("cache/facet")))
    (entry.path().extension() == ".so" ? libraries : others) += entry.path().extension() != ".lock";
  EXPECT_EQ(libraries, 1);
  EXPECT_EQ(others, 0) << "work folders are removed";
}

TEST_F(Tool, Completion) {
  write("ask.sh", "source <(" + test::tool_path() +
                      " completion bash)\nCOMP_WORDS=(\"$@\")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_facet\n"
                      "echo \"${COMPREPLY[@]}\"\n");
  const auto ask = [&](const std::string& words) {
    const std::string command = "cd " + folder_.string() + " && bash ask.sh facet " + words;
    std::FILE* pipe = ::popen(command.c_str(), "r");
    std::array<char, 4096> buffer{};
    const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe);
    ::pclose(pipe);
    return std::string(buffer.data(), n);
  };
  EXPECT_EQ(ask("exp"), "explain\n");
  EXPECT_EQ(ask("show p.json --sta"), "--stage\n");
  EXPECT_EQ(ask("show p.json --stage s"), "statements schedule source\n");
  EXPECT_EQ(ask("check p.j"), "p.json\n");
  EXPECT_EQ(ask("run p.json --target c"), "cuda\n");
  const std::string zsh = facet("completion zsh").out;
  EXPECT_EQ(zsh.rfind("#compdef facet\n", 0), 0u);
  for (const VerbHelp& verb : command_help()) EXPECT_NE(zsh.find("    " + verb.name + ") _arguments"), std::string::npos);
  EXPECT_EQ(error_code("completion fish"), "bad-command-line");
}

TEST(Commands, PageIsUpToDate) {
  const std::string file = test::source_path("docs/commands.md"), expected = commands_markdown(command_help());
  if (std::getenv("FACET_BLESS")) std::ofstream(file) << expected;
  std::ifstream in(file);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), expected);
}

TEST_F(Tool, HelpTeaches) {
  EXPECT_EQ(facet("--help").status, 0);
  for (const VerbHelp& verb : command_help()) {
    const Answer a = facet(verb.name + " --help");
    EXPECT_EQ(a.status, 0) << verb.name;
    EXPECT_NE(a.out.find("Usage: facet " + verb.name), std::string::npos) << a.out;
    EXPECT_NE(a.out.find("Examples:\n"), std::string::npos) << a.out;
    EXPECT_NE(a.out.find("facet " + verb.name, a.out.find("Examples:\n")), std::string::npos) << a.out;
    for (const OptionHelp& o : verb.options) EXPECT_FALSE(o.text.empty()) << verb.name << " " << o.names;
  }
  EXPECT_EQ(facet("--version").out, "facet " FACET_VERSION "\n");
}

}  // namespace
}  // namespace facet
