// Each module's text stands in a namespace of its own: helpers and kernels do not meet, and the exported functions, which are
// C, keep their names. The two headers that a module includes come first, so that nothing of theirs lands in a namespace.
#include "src/driver/fuzz_compiled.hpp"

#include <functional>
#include <memory>

#include "codegen/temporary.hpp"
#include "codegen/openmp/jit_client.hpp"
#include "codegen/openmp/print.hpp"
#include "codegen/openmp/runner.hpp"
#include "codegen/toolchain.hpp"
#include "src/driver/execute.hpp"

namespace facet {

namespace {

// The kernels with their own header put in.
std::string text_of(const Module& module) {
  const std::string line = "#include \"" + module.header.name + "\"";
  std::string text = module.source.text;
  if (const std::size_t at = text.find(line); at != std::string::npos) text.replace(at, line.size(), module.header.text);
  return "namespace unit_" + module.name + " {\n" + text + "\n}  // namespace\n\n";
}

// Code in memory, whatever compiled it.
struct InMemory {
  JitModule jit;
  std::string library;

  Result<OpenmpRunner> runner(const Module& module) const {
    if (!library.empty()) return OpenmpRunner::load(module, library);
    return OpenmpRunner::from_lookup(module, [this](const std::string& name) { return jit.lookup(name); });
  }
};

Result<InMemory> compile_all(const std::vector<const Module*>& modules, const Options& options, const Machine& machine,
                             const std::string& folder) {
  Module all;
  all.name = "batch";
  all.source = {"batch.cpp", "#include <stddef.h>\n#include <stdint.h>\n\n"};
  all.header = {"batch.h", ""};
  for (const Module* m : modules) all.source.text += text_of(*m);
  const std::vector<std::string> flags = host_flags(openmp_flags({}), machine.cpu.march);
  InMemory code;
  if (options.compiler.empty() && jit_problem().empty()) {
    Result<JitModule> jit = jit_module(all, flags);
    if (!jit) return jit.errors();
    code.jit = std::move(*jit);
    return code;
  }
  CompileOptions how;
  how.compiler = options.compiler;
  how.flags = flags;
  how.cache_folder = folder;  // these modules are not compiled twice
  const Result<CompiledModule> library = compile_module(all, how);
  if (!library) return library.errors();
  code.library = library->path;
  return code;
}

std::string run_on(const FuzzPair& pair, const Module& module, const std::vector<std::string>& inputs, const InMemory& code,
                   int threads) {
  Result<OpenmpRunner> runner = code.runner(module);
  if (!runner) return to_text(runner.errors());
  HostTensors values = argument_values(pair.loaded, inputs, pair.tensors);
  runner->set_threads(threads);
  const Result<Done> bound = runner->bind(pair.loaded.sizes, &values);
  if (!bound) return to_text(bound.errors());
  const Result<Done> done = runner->run();
  if (!done) return to_text(done.errors());
  for (const std::string& name : pair.loaded.program.outputs)
    if (values.at(name).bytes != pair.expected.at(name).bytes)
      return "the compiled kernel on " + std::to_string(threads) + " threads: " + name + " is wrong";
  return "";
}

}  // namespace

std::string FuzzBatch::add(const FuzzPair& pair, const LoopProgram& cpu_tree) {
  LoopProgram named = cpu_tree;
  named.name = "pair" + std::to_string(pair.seed);
  Result<Module> module = print_openmp(named);
  if (!module) return "the kernels cannot be printed: " + to_text(module.errors());
  entries_.push_back({pair, std::move(*module), named.inputs});
  return "";
}

Result<FuzzBatch::Misses> FuzzBatch::run(const Options& options, const Machine& machine) {
  const std::vector<Entry> entries = std::move(entries_);
  entries_.clear();
  Misses misses;
  if (entries.empty()) return misses;
  const TemporaryFolder folder;
  std::vector<const Module*> modules;
  for (const Entry& e : entries) modules.push_back(&e.module);
  Result<InMemory> code = compile_all(modules, options, machine, folder.path());
  if (!code && failure_of(code.errors()[0].code) != Failure::kInternal) return code.errors();
  for (const Entry& e : entries) {
    // One source that is not accepted must not hide the others.
    const Result<InMemory> alone = code ? code : compile_all({&e.module}, options, machine, folder.path());
    std::string what = alone ? "" : to_text(alone.errors());
    for (const int threads : {1, 2})
      if (what.empty()) what = run_on(e.pair, e.module, e.inputs, *alone, threads);
    if (!what.empty()) misses.emplace_back(e.pair, what);
  }
  return misses;
}

}  // namespace facet
