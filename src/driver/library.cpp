// The library's verbs, on top of the command line's stages.
#include "facet/facet.hpp"

#include "src/driver/compiled.hpp"
#include "src/driver/execute.hpp"
#include "src/driver/machines.hpp"
#include "src/driver/obeyed.hpp"
#include "src/frontend/files.hpp"
#include "src/run/inputs.hpp"

namespace facet {

namespace {

Options options_of(const std::string& path, const Settings& settings) {
  Options o;
  o.files = {path};
  o.target = settings.target;
  o.schedule = settings.schedule;
  o.machine = settings.machine;
  o.compiler = settings.compiler;
  o.threads = settings.threads;
  o.time_budget_s = settings.time_budget_s;
  for (const auto& [name, value] : settings.sizes) o.set.push_back(name + "=" + std::to_string(value));
  return o;
}

// Inputs as given, none missing, and the constants.
Result<HostTensors> all_tensors(const Loaded& loaded, const HostTensors& inputs) {
  for (const std::string& name : loaded.program.inputs)
    if (!inputs.count(name)) return diagnose(Code::kNoValuesForTensor, loaded.program.tensor(name).place, {name});
  return make_inputs(loaded.program, loaded.sizes, 1, inputs);
}

}  // namespace

struct CompiledProgram::State {
  Loaded loaded;
  Compiled compiled;
  int threads = 1;
};

CompiledProgram::CompiledProgram(std::unique_ptr<State> state) : state_(std::move(state)) {}
CompiledProgram::CompiledProgram(CompiledProgram&&) noexcept = default;
CompiledProgram& CompiledProgram::operator=(CompiledProgram&&) noexcept = default;
CompiledProgram::~CompiledProgram() = default;

const Program& CompiledProgram::program() const { return state_->loaded.program; }
const SymbolValues& CompiledProgram::sizes() const { return state_->loaded.sizes; }
const Recipe& CompiledProgram::recipe() const { return state_->compiled.built.plan.recipe; }
const Module& CompiledProgram::sources() const { return state_->compiled.module; }

Result<HostTensors> CompiledProgram::run(const HostTensors& inputs) {
  const Loaded& loaded = state_->loaded;
  const Result<Done> fits = check_memory(loaded);
  if (!fits) return fits.errors();
  const Result<HostTensors> tensors = all_tensors(loaded, inputs);
  if (!tensors) return tensors.errors();
  OpenmpRunner& runner = state_->compiled.runner;
  runner.set_threads(state_->threads);
  HostTensors values = argument_values(loaded, state_->compiled.built.loops.inputs, *tensors);
  const Result<Done> bound = runner.bind(loaded.sizes, &values);
  if (!bound) return bound.errors();
  const Result<Done> done = runner.run();
  if (!done) return done.errors();
  HostTensors outputs;
  for (const std::string& name : loaded.program.outputs) outputs[name] = std::move(values.at(name));
  return outputs;
}

Result<Program> check_file(const std::string& path) {
  const Result<std::string> text = read_text_file(path);
  if (!text) return text.errors();
  return check_text(*text, path);
}

Result<Recipe> choose_recipe(const std::string& path, const Settings& settings) {
  const Options options = options_of(path, settings);
  const Result<Loaded> loaded = load_program(options);
  if (!loaded) return loaded.errors();
  const Result<Machine> machine = planning_machine(options, false);
  if (!machine) return machine.errors();
  ScheduleOptions schedule = schedule_options(*loaded, options, *machine);
  schedule.memo = make_schedule_memo();
  Result<Planned> planned = make_plan(*loaded, options, schedule);
  if (!planned) return planned.errors();
  const Result<Done> settled = settle_code(*loaded, options, *machine, schedule, &planned->recipe);
  if (!settled) return settled.errors();
  return std::move(planned->recipe);
}

Result<CompiledProgram> compile_program(const std::string& path, const Settings& settings) {
  const Options options = options_of(path, settings);
  if (target_base(options) != "openmp")
    return diagnose(Code::kBadTarget, {}, {settings.target}, {"compile_program compiles for the host: openmp or openmp:ISA"});
  Result<Loaded> loaded = load_program(options);
  if (!loaded) return loaded.errors();
  const Result<Machine> machine = planning_machine(options, false);
  if (!machine) return machine.errors();
  Result<Compiled> compiled = compile_for_host(*loaded, options, *machine);
  if (!compiled) return compiled.errors();
  const int threads = options.threads > 0 ? options.threads : machine->cpu.cores;
  return CompiledProgram(
      std::unique_ptr<CompiledProgram::State>(new CompiledProgram::State{std::move(*loaded), std::move(*compiled), threads}));
}

Result<HostTensors> reference_outputs(const std::string& path, const HostTensors& inputs, const SymbolValues& sizes) {
  Settings settings;
  settings.sizes = sizes;
  const Result<Loaded> loaded = load_program(options_of(path, settings));
  if (!loaded) return loaded.errors();
  const Result<HostTensors> tensors = all_tensors(*loaded, inputs);
  if (!tensors) return tensors.errors();
  Result<Execution> run = execute_reference(*loaded, *tensors);
  if (!run) return run.errors();
  return std::move(run->outputs);
}

}  // namespace facet
