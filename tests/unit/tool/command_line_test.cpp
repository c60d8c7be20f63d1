// The tool as a user meets it: exit status, stdout and stderr, JSON documents, files written, hostile input.
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "src/driver/options.hpp"
#include "src/driver/settings.hpp"

namespace facet {
namespace {

using Json = nlohmann::json;

struct Answer {
  int status = -1;
  std::string out;
};

class Tool : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("facet_tool_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    write("p.json",
          R"({"facet": 1, "name": "class", "symbols": {"N": {"min": 1, "max": 100, "default": 8}}, "assume": ["N % 2 == 0"],
      "tensors": {"float": {"dtype": "f32", "shape": ["N"]}}, "inputs": ["float"],
      "ops": [{"op": "mul", "in": ["float", 2.0], "out": "blockIdx"}], "outputs": ["blockIdx"]})");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ / name; }
  void write(const std::string& name, const std::string& text) { std::ofstream(path(name), std::ios::binary) << text; }

  // stdout only; stderr is dropped.
  Answer facet(const std::string& arguments) {
    const std::string command = "cd " + folder_.string() + " && " FACET_TOOL " " + arguments + " 2>/dev/null";
    std::FILE* pipe = ::popen(command.c_str(), "r");
    Answer answer;
    std::array<char, 4096> buffer;
    for (std::size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) answer.out.append(buffer.data(), n);
    const int status = ::pclose(pipe);
    answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    return answer;
  }
  std::string error_code(const std::string& arguments) {
    const Answer a = facet(arguments + " --json");
    EXPECT_NE(a.status, 0) << arguments;
    const Json j = Json::parse(a.out, nullptr, false);
    EXPECT_FALSE(j.is_discarded()) << a.out;
    for (const char* field : {"code", "message", "file", "line", "column", "pointer"})
      EXPECT_TRUE(j["error"].contains(field)) << field;
    return j["error"]["code"];
  }
  std::filesystem::path folder_;
};

TEST_F(Tool, CheckAnswersInJson) {
  const Answer a = facet("check p.json --json");
  EXPECT_EQ(a.status, 0);
  const Json j = Json::parse(a.out);
  EXPECT_EQ(j["ok"], true);
  EXPECT_EQ(j["tensors"], 2);
  EXPECT_EQ(j["ops"], 1);
  EXPECT_EQ(j["statements"], 1);
}

TEST_F(Tool, WrongCommandLinesAreInputErrors) {
  EXPECT_EQ(error_code("chekc p.json"), "bad-command-line");
  EXPECT_EQ(error_code("check"), "bad-command-line");
  EXPECT_EQ(error_code("check p.json --jsno"), "bad-command-line");
  EXPECT_EQ(error_code("show p.json --stage grpah"), "bad-command-line");
  EXPECT_EQ(error_code("run p.json --threads 0"), "bad-command-line");
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

TEST_F(Tool, HelpTeaches) {
  for (const char* verb : {"", "check", "show", "schedule", "legal", "compile", "run", "explain", "diff", "fuzz", "doctor"}) {
    const Answer a = facet(std::string(verb) + " --help");
    EXPECT_EQ(a.status, 0) << verb;
    EXPECT_NE(a.out.find("facet " + std::string(verb)), std::string::npos) << a.out;
  }
  EXPECT_EQ(facet("--version").out, "facet " FACET_VERSION "\n");
}

}  // namespace
}  // namespace facet
