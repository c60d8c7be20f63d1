// TemporaryFolder: a fresh folder under $TMPDIR or /tmp, removed with its files when the value goes, or when the tool is
// interrupted.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "codegen/leftovers.hpp"

namespace facet {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    const char* base = std::getenv("TMPDIR");
    std::string pattern = std::string(base && *base ? base : "/tmp") + "/facet-XXXXXX";
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
    leftover_.folder(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }  // "" when it could not be made

 private:
  std::string path_;
  Leftover leftover_;
};

}  // namespace facet
