// Integers only, so equality is exact.
#include "src/driver/fuzz_compiled.hpp"

#include "codegen/openmp/guard.hpp"
#include "codegen/openmp/print.hpp"
#include "codegen/temporary.hpp"
#include "src/driver/compiled_batch.hpp"
#include "src/driver/execute.hpp"

namespace facet {

namespace {

std::string run_on(const FuzzPair& pair, const Module& module, const std::vector<std::string>& inputs,
                   const CompiledBatch& code, int threads) {
  Result<OpenmpRunner> runner = code.runner(module);
  if (!runner) return to_text(runner.errors());
  HostTensors values = argument_values(pair.loaded, inputs, pair.tensors);
  for (auto& [name, tensor] : values) {
    tensor.bytes.resize(tensor.bytes.size() + kGuardBytes);
    set_guard(tensor.bytes.data() + tensor.bytes.size() - kGuardBytes);
  }
  runner->set_threads(threads);
  const Result<Done> bound = runner->bind(pair.loaded.sizes, &values);
  if (!bound) return to_text(bound.errors());
  const Result<Done> done = runner->run();
  if (!done) return to_text(done.errors());
  const std::string where = "the compiled kernel on " + std::to_string(threads) + " threads: ";
  for (auto& [name, tensor] : values) {
    const std::size_t bytes = tensor.bytes.size() - kGuardBytes;
    if (!is_guard(tensor.bytes.data() + bytes)) return where + "written behind " + name;
    tensor.bytes.resize(bytes);
  }
  for (const std::string& name : pair.loaded.program.outputs)
    if (values.at(name).bytes != pair.expected.at(name).bytes) return where + name + " is wrong";
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
  Result<CompiledBatch> code = CompiledBatch::compile(modules, options, machine, folder.path());
  if (!code && failure_of(code.errors()[0].code) != Failure::kInternal) return code.errors();
  for (const Entry& e : entries) {
    // One source that is not accepted must not hide the others.
    const Result<CompiledBatch> alone = code ? code : CompiledBatch::compile({&e.module}, options, machine, folder.path());
    std::string what = alone ? "" : to_text(alone.errors());
    for (const int threads : {1, 2})
      if (what.empty()) what = run_on(e.pair, e.module, e.inputs, *alone, threads);
    if (!what.empty()) misses.emplace_back(e.pair, what);
  }
  return misses;
}

}  // namespace facet
