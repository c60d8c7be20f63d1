// The example programs, for tests that go over all of them.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "support/paths.hpp"

namespace facet::test {

// examples/*/program.json, sorted.
inline std::vector<std::string> example_files() {
  std::vector<std::string> files;
  for (const auto& folder : std::filesystem::directory_iterator(test::source_path("examples"))) {
    const std::filesystem::path file = folder.path() / "program.json";
    if (std::filesystem::exists(file)) files.push_back(file.string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

inline std::string text_of_file(const std::string& file) {
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

// "02_attention" of ".../02_attention/program.json".
inline std::string example_name(const std::string& file) {
  return std::filesystem::path(file).parent_path().filename().string();
}

}  // namespace facet::test
