// POSIX file access. O_NONBLOCK keeps the open of a pipe or device from hanging before its kind is known.
#include "src/frontend/files.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace facet {

namespace {

std::string kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  if (S_ISSOCK(mode)) return "a socket";
  return "something else";
}

Diagnostic unwritable(const std::string& path, int error) {
  return diagnose(Code::kFileUnwritable, {}, {path, std::strerror(error)});
}

bool write_all(int fd, const Bytes& part) {
  const char* at = static_cast<const char*>(part.data);
  std::int64_t left = part.count;
  while (left > 0) {
    const ssize_t n = ::write(fd, at, static_cast<std::size_t>(left));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    left -= n;
  }
  return true;
}

}  // namespace

Result<std::string> path_inside(const std::string& folder, const std::string& relative, Place place) {
  if (relative.empty()) return diagnose(Code::kPathBad, place, {relative, "it is empty"});
  if (relative.find('\0') != std::string::npos) return diagnose(Code::kPathBad, place, {relative, "it contains a zero byte"});
  if (relative[0] == '/') return diagnose(Code::kPathAbsolute, place, {relative});
  std::vector<std::string> parts;
  for (const std::filesystem::path& part : std::filesystem::path(relative)) {
    const std::string text = part.string();
    if (text == "." || text.empty()) continue;
    if (text != "..") {
      parts.push_back(text);
    } else if (parts.empty()) {
      return diagnose(Code::kPathEscapes, place, {relative}, {"put the file beside the program or in a folder below it"});
    } else {
      parts.pop_back();
    }
  }
  std::string path = folder.empty() ? "." : folder;
  for (const std::string& part : parts) path += "/" + part;
  return path;
}

Result<InputFile> InputFile::open(const std::string& path, Place place) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return diagnose(Code::kFileUnreadable, place, {path, std::strerror(errno)});
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    return diagnose(Code::kNotRegularFile, place, {path, kind_of(info.st_mode)});
  }
  return InputFile(fd, path, static_cast<std::int64_t>(info.st_size));
}

InputFile::InputFile(InputFile&& other) noexcept
    : fd_(other.fd_), path_(std::move(other.path_)), size_bytes_(other.size_bytes_) {
  other.fd_ = -1;
}

InputFile::~InputFile() {
  if (fd_ >= 0) ::close(fd_);
}

bool InputFile::read(std::int64_t offset, void* out, std::int64_t count) const {
  char* at = static_cast<char*>(out);
  while (count > 0) {
    const ssize_t n = ::pread(fd_, at, static_cast<std::size_t>(count), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    offset += n;
    count -= n;
  }
  return true;
}

Result<std::string> read_text_file(const std::string& path, Place place) {
  Result<InputFile> file = InputFile::open(path, place);
  if (!file) return file.errors();
  if (file->size_bytes() > kMaxTextBytes)
    return diagnose(Code::kFileTooLarge, place,
                    {path, std::to_string(file->size_bytes()) + " bytes; the limit is " + std::to_string(kMaxTextBytes)});
  std::string text(static_cast<std::size_t>(file->size_bytes()), '\0');
  if (!file->read(0, text.data(), file->size_bytes())) return diagnose(Code::kFileUnreadable, place, {path, "it ended early"});
  return text;
}

Result<Done> write_file(const std::string& path, const std::vector<Bytes>& parts) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    return diagnose(Code::kFileUnwritable, {}, {path, "it is not a regular file but " + kind_of(info.st_mode)});
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const std::string name = path + ".tmp." + std::to_string(::getpid());
  // Unnamed until complete where the file system can do that; a killed process then leaves nothing behind.
  int fd = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  const bool unnamed = fd >= 0;
  if (!unnamed) fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return unwritable(path, errno);
  int error = 0;
  for (const Bytes& part : parts)
    if (error == 0 && !write_all(fd, part)) error = errno != 0 ? errno : EIO;
  if (error == 0 && unnamed) {
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    if (::linkat(AT_FDCWD, link.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0) error = errno;
  }
  if (::close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(name.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return Done{};
  ::unlink(name.c_str());
  return unwritable(path, error);
}

Result<Done> write_file(const std::string& path, const std::string& text) {
  return write_file(path, std::vector<Bytes>{{text.data(), static_cast<std::int64_t>(text.size())}});
}

Result<Done> make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return diagnose(Code::kFileUnwritable, {}, {path, error.message()});
  if (!std::filesystem::is_directory(path, error)) return diagnose(Code::kFileUnwritable, {}, {path, "it is not a folder"});
  return Done{};
}

}  // namespace facet
