// Compiler search, the cache and the compile itself.
#include "codegen/toolchain.hpp"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/file.h>
#include <unistd.h>

#include "codegen/process.hpp"
#include "codegen/temporary.hpp"

namespace facet {

namespace {

namespace fs = std::filesystem;

// Holds an advisory lock on a file until it goes out of scope; waits for another holder.
class FileLock {
 public:
  explicit FileLock(const std::string& path) : fd_(open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644)) {
    if (fd_ >= 0)
      while (flock(fd_, LOCK_EX) != 0 && errno == EINTR) {}
  }
  ~FileLock() {
    if (fd_ >= 0) close(fd_);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  bool held() const { return fd_ >= 0; }

 private:
  int fd_;
};

bool write_file(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  return static_cast<bool>(out);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// The first error with its place, for a message of one line.
std::string first_error(const std::string& output) {
  const std::size_t at = output.find("error:");
  if (at == std::string::npos) return first_line(output);
  const std::size_t start = output.rfind('\n', at) == std::string::npos ? 0 : output.rfind('\n', at) + 1;
  return output.substr(start, output.find('\n', at) - start);
}

Result<Done> make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || access(folder.c_str(), W_OK) != 0)
    return diagnose(Code::kCacheUnwritable, {}, {folder, error ? error.message() : std::strerror(errno)});
  return Done{};
}

std::string joined(const std::vector<std::string>& items, const char* separator) {
  std::string text;
  for (const std::string& item : items) text += item + separator;
  return text;
}

// What -march=native stands for here: a cache folder may be shared between machines.
std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  std::string line, text;
  while (std::getline(info, line) && !line.empty())
    if (line.compare(0, 10, "model name") == 0 || line.compare(0, 5, "flags") == 0) text += line;
  return text;
}

// Source and header into `folder`, then the compiler: `flags`, "-o" and `output`.
Result<Done> run_compiler(const Module& module, const Compiler& compiler, const CompileOptions& options,
                          const std::vector<std::string>& more, const std::string& folder, const std::string& output) {
  const std::string source = folder + "/" + module.source.name;
  if (!write_file(source, module.source.text) || !write_file(folder + "/" + module.header.name, module.header.text))
    return diagnose(Code::kCacheUnwritable, {}, {folder, std::strerror(errno)});
  std::vector<std::string> arguments = {compiler.command};
  arguments.insert(arguments.end(), options.flags.begin(), options.flags.end());
  arguments.insert(arguments.end(), more.begin(), more.end());
  arguments.insert(arguments.end(), {"-o", output, source});
  const ProcessResult run = run_process(arguments, options.timeout_s);
  if (!run.started) return diagnose(Code::kCompilerMissing, {}, {compiler.command});
  if (run.timed_out)
    return diagnose(Code::kCompilerTimedOut, {},
                    {compiler.command, module.source.name, std::to_string(static_cast<int>(options.timeout_s))});
  if (run.status != 0)
    return diagnose(Code::kCompilerFailed, {}, {module.source.name, compiler.version, first_error(run.output)},
                    {"command: " + joined(arguments, " "), run.output.substr(0, 4000)});
  return Done{};
}

// The compile proper, into `folder` (a fresh one), then the rename of the library to `target`.
Result<Done> compile_into(const Module& module, const Compiler& compiler, const CompileOptions& options,
                          const std::string& folder, const std::string& target) {
  if (Result<Done> made = make_folder(folder); !made) return made;
  Leftover leftover;
  leftover.folder(folder);
  const std::string library = folder + "/module.so";
  if (Result<Done> done = run_compiler(module, compiler, options, {}, folder, library); !done) return done;
  if (std::rename(library.c_str(), target.c_str()) != 0)
    return diagnose(Code::kCacheUnwritable, {}, {target, std::strerror(errno)});
  return Done{};
}

}  // namespace

std::string content_key(const std::string& text) {
  std::uint64_t a = 14695981039346656037ull, b = 0x9e3779b97f4a7c15ull;
  for (const char c : text) {
    a = (a ^ static_cast<unsigned char>(c)) * 1099511628211ull;
    b = (b ^ static_cast<unsigned char>(c)) * 0xff51afd7ed558ccdull;
    b ^= b >> 29;
  }
  char key[40];
  std::snprintf(key, sizeof key, "%016llx%016llx", static_cast<unsigned long long>(a), static_cast<unsigned long long>(b));
  return key;
}

Result<std::string> cache_folder() {
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const std::string base = xdg && *xdg == '/' ? xdg : home && *home ? std::string(home) + "/.cache" : "/tmp";
  const std::string folder = base + "/facet";
  if (Result<Done> made = make_folder(folder); !made) return made.errors();
  return folder;
}

Result<Compiler> find_compiler(const std::string& wanted) {
  std::vector<std::string> candidates;
  if (!wanted.empty()) {
    candidates = {wanted};
  } else {
    if (const char* cxx = std::getenv("CXX"); cxx && *cxx && !std::strchr(cxx, ' ')) candidates.push_back(cxx);
#if defined(FACET_SANITIZE) && !defined(__clang__)
    candidates.push_back("g++");  // the sanitizers' runtime is the tool's own
#endif
    for (const char* c : {"clang++-19", "g++", "clang++", "c++", "g++-12"}) candidates.push_back(c);
  }
  for (const std::string& c : candidates) {
    const ProcessResult run = run_process({c, "--version"}, 10);
    if (run.started && run.status == 0) return Compiler{c, first_line(run.output)};
  }
  return diagnose(Code::kCompilerMissing, {}, {wanted.empty() ? "g++ or clang++" : wanted});
}

std::vector<std::string> host_flags(const std::string& numerics_flags, const std::string& march) {
  std::vector<std::string> flags = {"-std=c++17"};
  for (std::size_t at = 0; at < numerics_flags.size();) {
    const std::size_t end = std::min(numerics_flags.find(' ', at), numerics_flags.size());
    flags.push_back(numerics_flags.substr(at, end - at));
    at = end + 1;
  }
  flags.push_back("-march=" + (march.empty() ? "native" : march));
  flags.insert(flags.end(), {"-fopenmp", "-fPIC", "-shared", "-w"});
#ifdef FACET_SANITIZE
  flags.insert(flags.end(), {"-fsanitize=" FACET_SANITIZE, "-fno-omit-frame-pointer", "-fno-sanitize-recover=all", "-g1"});
#endif
  return flags;
}

Result<CompiledModule> compile_module(const Module& module, const CompileOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  Result<Compiler> compiler = find_compiler(options.compiler);
  if (!compiler) return compiler.errors();
  std::string folder = options.cache_folder;
  if (folder.empty()) {
    Result<std::string> usual = cache_folder();
    if (!usual) return usual.errors();
    folder = *usual;
  } else if (Result<Done> made = make_folder(folder); !made) {
    return made.errors();
  }
  const std::string key =
      content_key(joined({compiler->command, compiler->version, module.header.text, module.source.text}, "\n") +
                  joined(options.flags, " ") + processor());
  CompiledModule compiled{folder + "/" + key + ".so", compiler->version, true, 0};
  const FileLock lock(folder + "/" + key + ".lock");
  if (!lock.held()) return diagnose(Code::kCacheUnwritable, {}, {folder, std::strerror(errno)});
  std::error_code ignored;
  if (!fs::exists(compiled.path, ignored)) {
    compiled.from_cache = false;
    const std::string work = folder + "/" + key + "." + std::to_string(getpid());
    const Result<Done> done = compile_into(module, *compiler, options, work, compiled.path);
    fs::remove_all(work, ignored);
    if (!done) return done.errors();
  }
  compiled.compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  return compiled;
}

Result<Assembly> compile_to_assembly(const Module& module, const CompileOptions& options) {
  const Result<Compiler> compiler = find_compiler(options.compiler);
  if (!compiler) return compiler.errors();
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/module.s";
  if (Result<Done> done = run_compiler(module, *compiler, options, {"-S"}, folder.path(), file); !done) return done.errors();
  std::ifstream in(file, std::ios::binary);
  return Assembly{std::string(std::istreambuf_iterator<char>(in), {}), compiler->version};
}

}  // namespace facet
