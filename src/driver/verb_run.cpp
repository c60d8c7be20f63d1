// run: inputs in, outputs out, and on request the verdict and the times (contract, `run --json`, F2).
#include <cmath>
#include <cstdio>

#include "src/driver/execute.hpp"
#include "src/driver/machines.hpp"
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
  if (base == "reference") return execute_reference(loaded, tensors);
  if (base == "cuda") return execute_cuda(loaded, options, machine, tensors);
  return execute_openmp(loaded, options, machine, tensors);
}

JsonValue number_or_null(double v, bool known) { return known && std::isfinite(v) ? JsonValue::of(v) : JsonValue::null(); }

JsonValue kernels_json(const Execution& e) {
  JsonValue list = JsonValue::array();
  for (const KernelReport& k : e.kernels) {
    const bool timed = k.time_ms > 0;
    JsonValue one = JsonValue::object();
    one.add("name", JsonValue::of(k.name))
        .add("ops", JsonValue::array_of(k.ops))
        .add("time_ms", number_or_null(k.time_ms, timed));
    one.add("flops", JsonValue::of(k.flops)).add("bytes", JsonValue::of(k.bytes));
    one.add("gflops", number_or_null(k.gflops, timed)).add("gbps", number_or_null(k.gbps, timed));
    if (k.registers >= 0)
      one.add("registers", JsonValue::of(static_cast<std::int64_t>(k.registers)))
          .add("local_bytes", JsonValue::of(static_cast<std::int64_t>(k.local_bytes)))
          .add("shared_bytes", JsonValue::of(static_cast<std::int64_t>(k.shared_bytes)));
    list.items.push_back(one.add("fraction_of_bound", number_or_null(k.fraction_of_bound, timed && k.fraction_of_bound > 0)));
  }
  return list;
}

std::string format(const char* pattern, double v) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, pattern, v);
  return buffer;
}

void report(const Loaded& loaded, const Options& options, const Execution& e, const Verdict* verdict, Outcome* out) {
  JsonValue sizes = JsonValue::object();
  std::string sizes_text;
  for (const Symbol& s : loaded.program.symbols) {
    sizes.add(s.name, JsonValue::of(loaded.sizes.at(s.name)));
    sizes_text += (sizes_text.empty() ? " with " : ", ") + s.name + " = " + std::to_string(loaded.sizes.at(s.name));
  }
  JsonValue& j = out->json;
  j.add("program", JsonValue::of(loaded.program.name)).add("target", JsonValue::of(e.target)).add("symbols", std::move(sizes));
  j.add("verified", verdict ? JsonValue::of(verdict->verified) : JsonValue::null());
  const bool known = verdict != nullptr;
  j.add("max_abs_error", number_or_null(known ? verdict->max_abs_error : 0, known));
  j.add("max_rel_error", number_or_null(known ? verdict->max_rel_error : 0, known));
  j.add("tolerance", number_or_null(known ? verdict->tolerance : 0, known));
  j.add("verified_elements", known ? JsonValue::of(verdict->verified_elements) : JsonValue::null());
  j.add("sampled", known ? JsonValue::of(verdict->sampled) : JsonValue::null());
  j.add("ambiguous", known ? JsonValue::of(verdict->ambiguous) : JsonValue::null());
  if (known && !verdict->verified) j.add("reason", JsonValue::of(verdict->reason));
  j.add("kernels", kernels_json(e)).add("compile_ms", JsonValue::of(e.compile_ms)).add("time_ms", JsonValue::of(e.time_ms));
  j.add("threads", JsonValue::of(e.threads)).add("compiler", JsonValue::of(e.compiler));
  if (!e.device.empty()) j.add("device", JsonValue::of(e.device));
  out->text = loaded.program.name + sizes_text + " on " + e.target + (e.device.empty() ? "" : " (" + e.device + ")") +
              format(": %.4g ms", e.time_ms) + (std::string(options.time ? " (median)" : "")) +
              format(", compiled in %.4g ms\n", e.compile_ms);
  if (options.time) out->text += to_text(e.kernels);
  if (!known) return;
  out->text += verdict->verified
                   ? "verified: " + std::to_string(verdict->verified_elements) + " elements" +
                         format(", largest error %.3g", verdict->max_abs_error) +
                         format(" (relative %.3g)", verdict->max_rel_error) + format(", allowed %.3g", verdict->tolerance) +
                         (verdict->ambiguous ? ", " + std::to_string(verdict->ambiguous) + " ambiguous" : "") + "\n"
                   : "NOT VERIFIED: " + verdict->reason + "\n";
  out->status = verdict->verified ? 0 : 1;
}

}  // namespace

Result<Outcome> verb_run(const Options& options) {
  const Result<Loaded> loaded = load_program(options);
  if (!loaded) return loaded.errors();
  const Result<Machine> machine = machine_in_force(options, options.time);
  if (!machine) return machine.errors();
  const Result<Done> fits = check_memory(*loaded);
  if (!fits) return fits.errors();
  const Result<HostTensors> given = given_inputs(options);
  if (!given) return given.errors();
  const Result<HostTensors> tensors = make_inputs(loaded->program, loaded->sizes, options.seed, *given);
  if (!tensors) return tensors.errors();
  const Result<Execution> run = execute(*loaded, options, *machine, *tensors);
  if (!run) return run.errors();
  if (!options.output.empty()) {
    const Result<Done> written = write_outputs(options.output, loaded->program, run->outputs);
    if (!written) return written.errors();
  }
  Outcome outcome;
  if (!options.verify) {
    report(*loaded, options, *run, nullptr, &outcome);
    return outcome;
  }
  OracleOptions oracle;
  oracle.compiler = options.compiler;
  const Result<ReferenceRun> expected = run_oracle(loaded->program, loaded->sizes, *tensors, oracle);
  if (!expected) return expected.errors();
  const bool sampled = given->size() < loaded->program.inputs.size();
  const Verdict verdict = verify(loaded->program, *expected, run->outputs, sampled);
  report(*loaded, options, *run, &verdict, &outcome);
  return outcome;
}

}  // namespace facet
