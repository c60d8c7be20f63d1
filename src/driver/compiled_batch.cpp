// Each module's text stands in a namespace of its own: helpers and kernels do not meet, and the exported functions, which are
// C, keep their names. The two headers that a module includes come first, so that nothing of theirs lands in a namespace.
#include "src/driver/compiled_batch.hpp"

#include "codegen/toolchain.hpp"
#include "codegen/openmp/print.hpp"

namespace facet {

namespace {

// The kernels with their own header put in.
std::string text_of(const Module& module) {
  const std::string line = "#include \"" + module.header.name + "\"";
  std::string text = module.source.text;
  if (const std::size_t at = text.find(line); at != std::string::npos) text.replace(at, line.size(), module.header.text);
  return "namespace unit_" + module.name + " {\n" + text + "\n}  // namespace\n\n";
}

}  // namespace

Result<CompiledBatch> CompiledBatch::compile(const std::vector<const Module*>& modules, const Options& options,
                                             const Machine& machine, const std::string& folder) {
  Module all;
  all.name = "batch";
  all.source = {"batch.cpp", "#include <stddef.h>\n#include <stdint.h>\n\n"};
  all.header = {"batch.h", ""};
  for (const Module* m : modules) all.source.text += text_of(*m);
  const std::vector<std::string> flags = host_flags(openmp_flags({}), machine.cpu.march);
  CompiledBatch code;
  if (options.compiler.empty() && jit_problem().empty()) {
    Result<JitModule> jit = jit_module(all, flags);
    if (!jit) return jit.errors();
    code.jit_ = std::move(*jit);
    return code;
  }
  CompileOptions how;
  how.compiler = options.compiler;
  how.flags = flags;
  how.cache_folder = folder;  // these modules are not compiled twice
  const Result<CompiledModule> library = compile_module(all, how);
  if (!library) return library.errors();
  code.library_ = library->path;
  return code;
}

Result<OpenmpRunner> CompiledBatch::runner(const Module& module) const {
  if (!library_.empty()) return OpenmpRunner::load(module, library_);
  return OpenmpRunner::from_lookup(module, [this](const std::string& name) { return jit_.lookup(name); });
}

}  // namespace facet
