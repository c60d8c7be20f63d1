// Files as the contract allows them (F1): regular files only, paths inside the program's folder, writes that appear whole or
// not at all.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "facet/result.hpp"

namespace facet {

// "folder/relative" after removing "." and "..", or a complaint if the path is absolute, empty or leaves the folder.
// Symbolic links are followed by the system; ".." is resolved in the text, so "link/.." stays inside.
Result<std::string> path_inside(const std::string& folder, const std::string& relative, Place place);

// An open regular file, closed at the end of its life.
class InputFile {
 public:
  static Result<InputFile> open(const std::string& path, Place place);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  const std::string& path() const { return path_; }
  std::int64_t size_bytes() const { return size_bytes_; }
  // Reads exactly `count` bytes from `offset`; false if the file is shorter or cannot be read.
  bool read(std::int64_t offset, void* out, std::int64_t count) const;

 private:
  InputFile(int fd, std::string path, std::int64_t size_bytes) : fd_(fd), path_(std::move(path)), size_bytes_(size_bytes) {}
  int fd_;
  std::string path_;
  std::int64_t size_bytes_;
};

constexpr std::int64_t kMaxTextBytes = std::int64_t{256} << 20;

// The whole text of a regular file of at most kMaxTextBytes.
Result<std::string> read_text_file(const std::string& path, Place place = {});

// Writes parts in order to an unnamed file beside `path` and puts it in place of `path` when complete.
struct Bytes {
  const void* data;
  std::int64_t count;
};
Result<Done> write_file(const std::string& path, const std::vector<Bytes>& parts);
Result<Done> write_file(const std::string& path, const std::string& text);

// Creates a folder and its parents; existing folders are fine.
Result<Done> make_folder(const std::string& path);

}  // namespace facet
