// run: inputs in, outputs out, and on request the verdict and the times (contract, `run --json`, F2).
#include "src/driver/build.hpp"
#include "src/driver/execute.hpp"
#include "src/driver/machines.hpp"
#include "src/driver/notices.hpp"
#include "src/driver/run_report.hpp"
#include "src/driver/settings.hpp"
#include "src/driver/verbs.hpp"
#include "src/frontend/files.hpp"
#include "src/frontend/npy.hpp"
#include "src/run/inputs.hpp"
#include "src/run/oracle.hpp"

namespace facet {

namespace {

Result<HostTensors> given_inputs(const Options& options) {
  HostTensors given;
  for (const std::string& text : options.inputs) {
    const auto parts = split_assignment("--input", "NAME=FILE.npy", text);
    if (!parts) return parts.errors();
    Place place;
    place.file = parts->second;
    Result<HostTensor> tensor = read_npy(parts->second, place);
    if (!tensor) return tensor.errors();
    given[parts->first] = std::move(*tensor);
  }
  return given;
}

Result<Done> write_outputs(const std::string& folder, const Program& program, const HostTensors& outputs) {
  const Result<Done> made = make_folder(folder);
  if (!made) return made;
  for (const std::string& name : program.outputs) {
    const Result<Done> written = write_npy(folder + "/" + name + ".npy", outputs.at(name));
    if (!written) return written;
  }
  return Done{};
}

Result<Execution> execute(const Loaded& loaded, const Options& options, const Machine& machine, const HostTensors& tensors) {
  const std::string base = options.target.substr(0, options.target.find(':'));
  if (options.interpret) return execute_interpreted(loaded, options, machine, tensors);
  if (base == "reference") return execute_reference(loaded, tensors);
  if (base == "cuda") return execute_cuda(loaded, options, machine, tensors);
  return execute_openmp(loaded, options, machine, tensors);
}

// What --interpret does not go with.
Result<Done> check_interpret(const Options& options) {
  if (!options.interpret) return Done{};
  if (options.time)
    return diagnose(Code::kBadCommandLine, {}, {"--interpret runs nothing that --time could measure"},
                    {"leave one of them out"});
  if (options.target == "reference")
    return diagnose(
        Code::kBadCommandLine, {}, {"--interpret takes what is made for openmp or cuda; the reference is interpreted anyway"},
        {"--target cuda --interpret runs the blocks and threads of a GPU, leave --interpret out for the reference"});
  return Done{};
}

}  // namespace

Result<Outcome> verb_run(const Options& options) {
  const Result<Done> sensible = check_interpret(options);
  if (!sensible) return sensible.errors();
  const Result<Loaded> loaded = load_program(options);
  if (!loaded) return loaded.errors();
  const Result<Machine> machine = planning_machine(options, options.time);
  if (!machine) return machine.errors();
  const Result<Done> fits = check_memory(*loaded);
  if (!fits) return fits.errors();
  const Result<HostTensors> given = given_inputs(options);
  if (!given) return given.errors();
  const Result<HostTensors> tensors = make_inputs(loaded->program, loaded->sizes, options.seed, *given);
  if (!tensors) return tensors.errors();
  if (options.time && target_base(options) == "openmp") tell_ceilings(options, *machine);
  const Result<Execution> run = execute(*loaded, options, *machine, *tensors);
  if (!run) return run.errors();
  if (!options.output.empty()) {
    const Result<Done> written = write_outputs(options.output, loaded->program, run->outputs);
    if (!written) return written.errors();
  }
  Outcome outcome;
  if (!options.verify) {
    report_run(*loaded, options, *run, nullptr, &outcome);
    return outcome;
  }
  OracleOptions oracle;
  oracle.compiler = options.compiler;
  const Result<ReferenceRun> expected = run_oracle(loaded->program, loaded->sizes, *tensors, oracle);
  if (!expected) return expected.errors();
  const bool sampled = given->size() < loaded->program.inputs.size();
  const Verdict verdict = verify(loaded->program, *expected, run->outputs, sampled);
  report_run(*loaded, options, *run, &verdict, &outcome);
  return outcome;
}

}  // namespace facet
