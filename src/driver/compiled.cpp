// Build, print, then compile in process, or by an outside compiler where one is asked for or there is no other.
#include "src/driver/compiled.hpp"

#include "codegen/openmp/print.hpp"

namespace facet {

namespace {

bool in_process(const Options& options) { return options.compiler.empty() && jit_problem().empty(); }

std::vector<std::string> flags_of(const Loaded& loaded, const Machine& machine) {
  return host_flags(openmp_flags(loaded.program.numerics), machine.cpu.march);
}

}  // namespace

Result<Compiled> compile_for_host(const Loaded& loaded, const Options& options, const Machine& machine) {
  Result<Built> built = build_loops(loaded, options, machine);
  if (!built) return built.errors();
  PrintOptions print;
  Result<HostTensors> constants = embedded_constants(loaded);
  if (!constants) return constants.errors();
  print.constants = std::move(*constants);
  const Result<Module> module = print_openmp(built->loops, print);
  if (!module) return module.errors();
  const std::vector<std::string> flags = flags_of(loaded, machine);
  const double analysis_ms = built->analysis_ms;
  if (in_process(options)) {
    Result<JitModule> jit = jit_module(*module, flags);
    if (!jit) return jit.errors();
    Result<OpenmpRunner> runner =
        OpenmpRunner::from_lookup(*module, [code = *jit](const std::string& name) { return code.lookup(name); });
    if (!runner) return runner.errors();
    const double compile_ms = analysis_ms + jit->compile_ms;
    std::string compiler = jit->compiler;
    return Compiled{std::move(*built), *module, std::move(compiler), compile_ms, std::move(*jit), std::move(*runner)};
  }
  CompileOptions how;
  how.compiler = options.compiler;
  how.flags = flags;
  const Result<CompiledModule> library = compile_module(*module, how);
  if (!library) return library.errors();
  Result<OpenmpRunner> runner = OpenmpRunner::load(*module, library->path);
  if (!runner) return runner.errors();
  return Compiled{std::move(*built), *module,           library->compiler, analysis_ms + library->compile_ms,
                  JitModule{},       std::move(*runner)};
}

Result<Assembly> assembly_for_host(const Loaded& loaded, const Options& options, const Machine& machine, const Module& module) {
  const std::vector<std::string> flags = flags_of(loaded, machine);
  if (in_process(options)) {
    Result<std::string> text = jit_assembly(module, flags);
    if (!text) return text.errors();
    return Assembly{std::move(*text), jit_compiler_name()};
  }
  CompileOptions how;
  how.compiler = options.compiler;
  how.flags = flags;
  return compile_to_assembly(module, how);
}

}  // namespace facet
