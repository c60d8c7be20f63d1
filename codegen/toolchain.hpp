// Compiles a Module with an outside C++ compiler into a shared library, once: results are kept under a key of their content.
#pragma once

#include <string>
#include <vector>

#include "facet/module.hpp"
#include "facet/result.hpp"

namespace facet {

struct CompileOptions {
  std::string compiler;            // "" tries $CXX, then clang++, g++ and c++ with usual version suffixes
  std::vector<std::string> flags;  // "-O3", ...; the source's own folder is searched for its header
  double timeout_s = 300;
  std::string cache_folder;  // "" is ${XDG_CACHE_HOME:-~/.cache}/facet
};

struct CompiledModule {
  std::string path;      // the shared library
  std::string compiler;  // "g++ (Debian 12.2.0-14) 12.2.0"
  bool from_cache = false;
  double compile_ms = 0;
};

struct Compiler {
  std::string command;
  std::string version;  // first line of --version
};

// Which compiler a request means. Fails with kCompilerMissing.
Result<Compiler> find_compiler(const std::string& wanted);

// Flags for running on this machine: those of the module's numerics, shared library, OpenMP, and in a sanitizer build of the
// tool the same sanitizers.
std::vector<std::string> host_flags(const std::string& numerics_flags, const std::string& march);

// Safe against concurrent runs: a lock file for each key, the library is renamed into place when it is whole.
Result<CompiledModule> compile_module(const Module& module, const CompileOptions& options);

struct Assembly {
  std::string text, compiler;
};

// The module as the compiler's assembly text; nothing is kept.
Result<Assembly> compile_to_assembly(const Module& module, const CompileOptions& options);

// ${XDG_CACHE_HOME:-~/.cache}/facet, created. Fails with kCacheUnwritable.
Result<std::string> cache_folder();

// 128-bit content key as 32 hexadecimal digits: two FNV-1a sums with different offsets. A cache key, not a signature.
std::string content_key(const std::string& text);

}  // namespace facet
