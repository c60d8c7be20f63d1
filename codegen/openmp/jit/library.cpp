// The plugin's functions: compile in memory, link with ORC, hand out addresses.
//
// libomp is opened globally once, so that ORC's process-wide symbol search finds __kmpc_*; it stays open, since its worker
// threads outlive every kernel.
#include "codegen/openmp/jit/jit.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "codegen/openmp/jit/compile.hpp"
#include "llvm/Config/llvm-config.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"

namespace {

using facet::jit::ObjectCode;

struct LinkedLibrary {
  std::string session_errors;  // what ORC reports beside the result; outlives the session
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

void give_text(const std::string& text, char** out) {
  if (out) *out = ::strdup(text.c_str());
}

#ifdef FACET_SANITIZE
// Ends libomp's threads before the leak check at exit: g++'s leak checker crashes on the thread-local data of live ones.
void end_openmp_threads() {
  using Pause = int (*)(int);
  if (auto pause = reinterpret_cast<Pause>(::dlsym(RTLD_DEFAULT, "omp_pause_resource_all"))) pause(/*omp_pause_hard=*/2);
}
#endif

// Empty, or why libomp cannot be opened.
std::string open_openmp() {
  static const std::string problem = [] {
    if (!::dlopen("libomp.so.5", RTLD_NOW | RTLD_GLOBAL)) {
      const char* reason = ::dlerror();
      return std::string(reason ? reason : "libomp.so.5 not found");
    }
#ifdef FACET_SANITIZE
    std::atexit(end_openmp_threads);
#endif
    return std::string();
  }();
  return problem;
}

// A global symbol that the object defines; asking for it makes ORC link everything. Empty: there is none.
std::string any_defined_symbol(const llvm::MemoryBuffer& object) {
  llvm::Expected<std::unique_ptr<llvm::object::ObjectFile>> file = llvm::object::ObjectFile::createObjectFile(object);
  if (!file) {
    llvm::consumeError(file.takeError());
    return "";
  }
  for (const llvm::object::SymbolRef& symbol : (*file)->symbols()) {
    const std::uint32_t flags = llvm::cantFail(symbol.getFlags());
    if ((flags & llvm::object::SymbolRef::SF_Undefined) || !(flags & llvm::object::SymbolRef::SF_Global)) continue;
    return llvm::cantFail(symbol.getName()).str();
  }
  return "";
}

llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> new_jit(std::string& session_errors) {
  llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> jit = llvm::orc::LLJITBuilder().create();
  if (!jit) return jit;
  (*jit)->getExecutionSession().setErrorReporter(
      [&session_errors](llvm::Error error) { session_errors += llvm::toString(std::move(error)) + "\n"; });
  auto process = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess((*jit)->getDataLayout().getGlobalPrefix());
  if (!process) return process.takeError();
  (*jit)->getMainJITDylib().addGenerator(std::move(*process));
  return jit;
}

// Links the object, all of it now; on failure gives null and fills `error`.
std::unique_ptr<LinkedLibrary> link(const ObjectCode& code, std::string& error) {
  auto library = std::make_unique<LinkedLibrary>();
  llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> jit = new_jit(library->session_errors);
  if (!jit) {
    error = llvm::toString(jit.takeError());
    return nullptr;
  }
  library->jit = std::move(*jit);
  std::unique_ptr<llvm::MemoryBuffer> object = llvm::MemoryBuffer::getMemBufferCopy(code.bytes, "kernel.o");
  const std::string first = any_defined_symbol(*object);
  if (llvm::Error failed = library->jit->addObjectFile(std::move(object))) {
    error = llvm::toString(std::move(failed));
    return nullptr;
  }
  if (first.empty()) return library;
  llvm::Expected<llvm::orc::ExecutorAddr> linked = library->jit->lookup(first);
  if (linked) return library;
  error = library->session_errors + llvm::toString(linked.takeError());
  return nullptr;
}

}  // namespace

extern "C" {

void* facet_jit_compile(const char* source, const char* const* flags, int flag_count, char** error) {
  if (error) *error = nullptr;
  const std::vector<std::string> all(flags, flags + flag_count);
  for (const std::string& flag : all) {
    if (flag != "-fopenmp" || open_openmp().empty()) continue;
    give_text("OpenMP runtime: " + open_openmp(), error);
    return nullptr;
  }
  const ObjectCode code = facet::jit::compile_to_object(source, all);
  if (code.bytes.empty()) {
    give_text(code.error, error);
    return nullptr;
  }
  std::string problem;
  std::unique_ptr<LinkedLibrary> library = link(code, problem);
  if (!library) give_text(problem, error);
  return library.release();
}

char* facet_jit_assembly(const char* source, const char* const* flags, int flag_count, char** error) {
  if (error) *error = nullptr;
  const ObjectCode code = facet::jit::compile_to_assembly(source, {flags, flags + flag_count});
  if (!code.bytes.empty()) return ::strdup(code.bytes.c_str());
  give_text(code.error, error);
  return nullptr;
}

void* facet_jit_symbol(void* library, const char* name) {
  llvm::Expected<llvm::orc::ExecutorAddr> address = static_cast<LinkedLibrary*>(library)->jit->lookup(name);
  if (!address) {
    llvm::consumeError(address.takeError());
    return nullptr;
  }
  return address->toPtr<void*>();
}

void facet_jit_free(void* library) { delete static_cast<LinkedLibrary*>(library); }

void facet_jit_free_text(char* text) { std::free(text); }

const char* facet_jit_version() { return "clang " LLVM_VERSION_STRING; }

}  // extern "C"
