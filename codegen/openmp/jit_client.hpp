// Compiles a Module in process through the plugin libfacet_jit.so (codegen/openmp/jit), where it is installed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "facet/module.hpp"
#include "facet/result.hpp"

namespace facet {

// A module's code in memory. It is unmapped when the last copy goes, so keep one while a runner uses it.
struct JitModule {
  std::shared_ptr<void> library;
  double compile_ms = 0;
  std::string compiler;  // "clang 19.1.7, in process"

  // An exported function, or one of the OpenMP runtime; null when there is none.
  void* lookup(const std::string& name) const;
};

// Why there is no in-process compiler, or an empty text. The plugin is looked for beside the tool, in the folder above it and
// in
// ../lib.
std::string jit_problem();

// "clang 19.1.7, in process"; only where there is no problem.
std::string jit_compiler_name();

// Another function that the plugin exports; null when there is no plugin or it lacks the function.
void* jit_plugin_function(const char* name);

// Compiles the module's source with `flags` (as for an outside compiler; what only concerns linking is passed over). Fails with
// kJitMissing when there is no plugin, kJitRefused with the compiler's text when it does not accept the source.
Result<JitModule> jit_module(const Module& module, const std::vector<std::string>& flags);

// The assembly text of what jit_module makes of the same source and flags: compiled once more, nothing is linked.
Result<std::string> jit_assembly(const Module& module, const std::vector<std::string>& flags);

}  // namespace facet
