// Clang in memory: the driver's flags to one frontend job, its object written to a string.
//
// The driver is asked too (not only cc1), since it knows what -march=native and -fopenmp mean. The source is a remapped
// buffer; nothing is written to disk. -nostdlibinc keeps Clang's own headers (stdint.h, immintrin.h) and drops the system's:
// a kernel without headers compiles in some 25 ms, with <math.h> in 170.
// No unwind tables, since kernels throw nothing: ORC need not register frames.
#include "codegen/openmp/jit/compile.hpp"

#include "codegen/openmp/jit/spare.hpp"

#include "clang/Basic/DiagnosticOptions.h"
#include "clang/CodeGen/CodeGenAction.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "clang/Frontend/Utils.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

namespace facet::jit {
namespace {

constexpr const char* kFileName = "kernel.cpp";  // what messages call the text

std::vector<const char*> driver_line(const std::vector<std::string>& flags) {
  // FACET_JIT_CLANG fixes where the driver looks for its resource folder.
  std::vector<const char*> line = {FACET_JIT_CLANG,   "-x",        "c++",
                                   "-std=c++17",      "-fPIC",     "-nostdlibinc",
                                   "-fno-exceptions", "-fno-rtti", "-fno-asynchronous-unwind-tables"};
  for (const std::string& flag : flags) line.push_back(flag.c_str());
  line.push_back(kFileName);
  return line;
}

void initialize_target_once() {
  static const bool done = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
    return true;
  }();
  static_cast<void>(done);
}

ObjectCode compile(const std::string& source, const std::vector<std::string>& flags, clang::frontend::ActionKind kind) {
  initialize_target_once();
  ObjectCode result;
  llvm::raw_string_ostream messages(result.error);
  llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> options = new clang::DiagnosticOptions();
  clang::TextDiagnosticPrinter printer(messages, options.get());
  llvm::IntrusiveRefCntPtr<clang::DiagnosticsEngine> diagnostics =
      clang::CompilerInstance::createDiagnostics(options.get(), &printer, /*ShouldOwnClient=*/false);

  clang::CreateInvocationOptions how;
  how.Diags = diagnostics;
  std::shared_ptr<clang::CompilerInvocation> invocation = clang::createInvocation(driver_line(flags), how);
  if (!invocation) {
    if (messages.str().empty()) messages << "clang accepts no such flags";
    return result;
  }
  invocation->getFrontendOpts().DisableFree = false;
  invocation->getCodeGenOpts().DisableFree = false;
  spare_vector_code(invocation->getCodeGenOpts());
  invocation->getFrontendOpts().ProgramAction = kind;
  invocation->getPreprocessorOpts().addRemappedFile(kFileName,
                                                    llvm::MemoryBuffer::getMemBufferCopy(source, kFileName).release());

  clang::CompilerInstance instance;
  instance.setInvocation(std::move(invocation));
  instance.setDiagnostics(diagnostics.get());
  instance.setVerboseOutputStream(llvm::nulls());  // "2 errors generated." would go to stderr
  llvm::SmallVector<char, 0> object;
  instance.setOutputStream(std::make_unique<llvm::raw_svector_ostream>(object));
  clang::EmitObjAction object_action;
  clang::EmitAssemblyAction assembly_action;
  const bool compiled =
      kind == clang::frontend::EmitObj ? instance.ExecuteAction(object_action) : instance.ExecuteAction(assembly_action);
  if (!compiled || diagnostics->hasErrorOccurred() || object.empty()) {
    if (messages.str().empty()) messages << "clang failed without a message";
    return result;
  }
  result.bytes.assign(object.begin(), object.end());
  result.error.clear();  // warnings alone are no failure
  return result;
}

}  // namespace

ObjectCode compile_to_object(const std::string& source, const std::vector<std::string>& flags) {
  return compile(source, flags, clang::frontend::EmitObj);
}

ObjectCode compile_to_assembly(const std::string& source, const std::vector<std::string>& flags) {
  return compile(source, flags, clang::frontend::EmitAssembly);
}

}  // namespace facet::jit
