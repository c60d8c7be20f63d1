// Opens the plugin once per process and calls its plain C functions.
#include "codegen/openmp/jit_client.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <set>

#include "codegen/openmp/jit/jit.hpp"

namespace facet {
namespace {

struct Plugin {
  void* library = nullptr;
  JitCompileFunction compile = nullptr;
  JitAssemblyFunction assembly = nullptr;
  JitSymbolFunction symbol = nullptr;
  JitFreeFunction release = nullptr;
  JitFreeTextFunction free_text = nullptr;
  JitVersionFunction version = nullptr;
  std::string problem;
};

std::string tool_folder() {
  char path[4096];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0) return ".";
  const std::string file(path, static_cast<std::size_t>(length));
  return file.substr(0, file.rfind('/'));
}

void* open_plugin(std::string& problem) {
  for (const char* place : {"/", "/../", "/../lib/"}) {
    const std::string path = tool_folder() + place + kJitLibraryName;
    if (::access(path.c_str(), F_OK) != 0) continue;
    // Stays open: LLVM does not like being unloaded.
    if (void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    const char* reason = ::dlerror();
    problem = reason ? reason : path + " cannot be opened";
    return nullptr;
  }
  problem = std::string(kJitLibraryName) + " is not beside the tool";
  return nullptr;
}

Plugin load_plugin() {
  Plugin p;
  void* library = p.library = open_plugin(p.problem);
  if (!library) return p;
  p.compile = reinterpret_cast<JitCompileFunction>(::dlsym(library, "facet_jit_compile"));
  p.assembly = reinterpret_cast<JitAssemblyFunction>(::dlsym(library, "facet_jit_assembly"));
  p.symbol = reinterpret_cast<JitSymbolFunction>(::dlsym(library, "facet_jit_symbol"));
  p.release = reinterpret_cast<JitFreeFunction>(::dlsym(library, "facet_jit_free"));
  p.free_text = reinterpret_cast<JitFreeTextFunction>(::dlsym(library, "facet_jit_free_text"));
  p.version = reinterpret_cast<JitVersionFunction>(::dlsym(library, "facet_jit_version"));
  if (!p.compile || !p.assembly || !p.symbol || !p.release || !p.free_text || !p.version)
    p.problem = "the plugin lacks a function";
  return p;
}

const Plugin& plugin() {
  static const Plugin loaded = load_plugin();
  return loaded;
}

// The source with its own header put in: the in-process compiler sees one text.
std::string whole_text(const Module& module) {
  const std::string line = "#include \"" + module.header.name + "\"";
  std::string text = module.source.text;
  const std::size_t at = text.find(line);
  if (at != std::string::npos) text.replace(at, line.size(), module.header.text);
  return text;
}

// Without what only concerns linking.
std::vector<const char*> compiling(const std::vector<std::string>& flags) {
  static const std::set<std::string> kLinkOnly = {"-shared", "-fPIC", "-pthread", "-c"};
  std::vector<const char*> kept;
  for (const std::string& flag : flags)
    if (!kLinkOnly.count(flag)) kept.push_back(flag.c_str());
  return kept;
}

}  // namespace

void* JitModule::lookup(const std::string& name) const {
  if (void* found = plugin().symbol(library.get(), name.c_str())) return found;
  return ::dlsym(RTLD_DEFAULT, name.c_str());
}

std::string jit_problem() { return plugin().problem; }

std::string jit_compiler_name() { return std::string(plugin().version()) + ", in process"; }

void* jit_plugin_function(const char* name) { return plugin().library ? ::dlsym(plugin().library, name) : nullptr; }

Result<JitModule> jit_module(const Module& module, const std::vector<std::string>& flags) {
  const Plugin& p = plugin();
  if (!p.problem.empty()) return diagnose(Code::kJitMissing, {}, {p.problem});
  const std::vector<const char*> kept = compiling(flags);
  const auto start = std::chrono::steady_clock::now();
  char* error = nullptr;
  void* library = p.compile(whole_text(module).c_str(), kept.data(), static_cast<int>(kept.size()), &error);
  const std::string message = error ? error : "";
  p.free_text(error);
  if (!library) return diagnose(Code::kJitRefused, {}, {module.source.name, message});
  JitModule result;
  result.library = std::shared_ptr<void>(library, p.release);
  result.compile_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  result.compiler = jit_compiler_name();
  return result;
}

Result<std::string> jit_assembly(const Module& module, const std::vector<std::string>& flags) {
  const Plugin& p = plugin();
  if (!p.problem.empty()) return diagnose(Code::kJitMissing, {}, {p.problem});
  const std::vector<const char*> kept = compiling(flags);
  char* error = nullptr;
  char* given = p.assembly(whole_text(module).c_str(), kept.data(), static_cast<int>(kept.size()), &error);
  const std::string text = given ? given : "", message = error ? error : "";
  p.free_text(given);
  p.free_text(error);
  if (text.empty()) return diagnose(Code::kJitRefused, {}, {module.source.name, message});
  return text;
}

}  // namespace facet
