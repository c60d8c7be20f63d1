// show: the program at any stage, as text.
#include "codegen/cuda/print.hpp"
#include "codegen/openmp/print.hpp"
#include "src/driver/build.hpp"
#include "src/driver/machines.hpp"
#include "src/driver/notices.hpp"
#include "src/driver/verbs.hpp"

namespace facet {

namespace {

Result<std::string> source_text(const Loaded& loaded, const Options& options, const Machine& machine, const Built& built) {
  Result<HostTensors> constants = embedded_constants(loaded);
  if (!constants) return constants.errors();
  if (target_base(options) == "cuda") {
    CudaPrintOptions print;
    print.machine = machine.gpu;
    print.constants = std::move(*constants);
    const Result<CudaModule> module = print_cuda(built.loops, print);
    if (!module) return module.errors();
    return module->module.source.text;
  }
  PrintOptions print;
  print.constants = std::move(*constants);
  const Result<Module> module = print_openmp(built.loops, print);
  if (!module) return module.errors();
  return module->source.text;
}

Result<std::string> stage_text(const Loaded& loaded, const Options& options) {
  if (options.stage == "graph") return to_text(loaded.program);
  const Result<Machine> machine = planning_machine(options, false);
  if (!machine) return machine.errors();
  const Result<Built> built = build_loops(loaded, options, *machine);
  if (!built) return built.errors();
  warn_of_budget(built->plan.ledger, options);
  if (options.stage == "statements") return built->scheduled.statements_text;
  if (options.stage == "deps") return built->scheduled.deps_text;
  if (options.stage == "schedule") return built->scheduled.schedule_text;
  if (options.stage == "ast") return to_text(built->loops);
  return source_text(loaded, options, *machine, *built);
}

}  // namespace

Result<Outcome> verb_show(const Options& options) {
  const Result<Loaded> loaded = load_program(options);
  if (!loaded) return loaded.errors();
  const Result<std::string> text = stage_text(*loaded, options);
  if (!text) return text.errors();
  Outcome outcome;
  outcome.text = *text;
  outcome.json.add("stage", JsonValue::of(options.stage)).add("text", JsonValue::of(*text));
  return outcome;
}

}  // namespace facet
