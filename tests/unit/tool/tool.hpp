// The tool started as a process in a folder of its own.
#pragma once

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "support/paths.hpp"

namespace facet {

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
  std::string read(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& name, const std::string& text) { std::ofstream(path(name), std::ios::binary) << text; }

  // stdout only; stderr is dropped.
  Answer facet(const std::string& arguments) {
    const std::string command = "cd " + folder_.string() + " && " + test::tool_path() + " " + arguments + " 2>/dev/null";
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

}  // namespace facet
