// Cases come from the operator table (src/ops/sweep); each is judged by the reference's own bounds.
#include "src/driver/sweep.hpp"

#include <algorithm>
#include <memory>
#include <random>

#include "codegen/openmp/print.hpp"
#include "codegen/passes/passes.hpp"
#include "codegen/temporary.hpp"
#include "polyhedral/facet_polyhedral.hpp"
#include "src/driver/compiled_batch.hpp"
#include "src/driver/execute.hpp"
#include "src/driver/gpu_case.hpp"
#include "src/driver/machines.hpp"
#include "src/graph/elaborate.hpp"
#include "src/ops/samples.hpp"
#include "src/ops/sweep.hpp"
#include "src/run/inputs.hpp"
#include "src/run/verify.hpp"

namespace facet {

namespace {

constexpr double kMostOperations = 3e5;  // a case is interpreted in about a second
constexpr std::size_t kBatch = 100;      // modules in one compile
constexpr std::size_t kProgressStep = 500;

bool too_large(const Program& program) {
  const Result<Program> elaborated = elaborate(program);
  return !elaborated || predicted_operations(*elaborated, {}) > kMostOperations;
}

struct CpuCase {
  std::size_t index = 0;
  Loaded loaded;
  std::vector<std::string> inputs;
  HostTensors tensors;
  Module module;
  ReferenceRun reference;
};

Result<CpuCase> prepare(const GpuCase& test, std::size_t index, std::uint64_t seed, const Machine& machine) {
  CpuCase made;
  made.index = index;
  Result<Program> program = elaborate(test.program);
  if (!program) return program.errors();
  made.loaded.program = std::move(*program);
  made.loaded.sizes = test.symbols;
  Result<HostTensors> tensors = make_inputs(made.loaded.program, test.symbols, seed, {});
  if (!tensors) return tensors.errors();
  made.tensors = std::move(*tensors);
  ScheduleOptions options;
  options.machine = machine;
  options.sizes = test.symbols;
  Ledger ledger;
  const Result<Recipe> recipe = plan(made.loaded.program, {}, options, ledger);
  if (!recipe) return recipe.errors();
  Result<Scheduled> scheduled = schedule_program(made.loaded.program, *recipe, options);
  if (!scheduled) return scheduled.errors();
  LoopProgram loops = lower_for_cpu(scheduled->loops, machine.cpu, nullptr);
  loops.name = "case_" + std::to_string(index);
  made.inputs = loops.inputs;
  Result<Module> module = print_openmp(loops);
  if (!module) return module.errors();
  made.module = std::move(*module);
  Result<ReferenceRun> reference = run_reference(made.loaded.program, test.symbols, made.tensors);
  if (!reference) return reference.errors();
  made.reference = std::move(*reference);
  return made;
}

void run_case(const CpuCase& made, const CompiledBatch& code, GpuCaseResult* result) {
  for (const int threads : {1, 2}) {
    Result<OpenmpRunner> runner = code.runner(made.module);
    if (!runner) {
      result->reason = to_text(runner.errors());
      return;
    }
    HostTensors values = argument_values(made.loaded, made.inputs, made.tensors);
    runner->set_threads(threads);
    Result<Done> done = runner->bind(made.loaded.sizes, &values);
    if (done) done = runner->run();
    result->verified = done.ok();
    if (done) {
      PreparedCase compared;
      compared.program = made.loaded.program;
      compared.reference = made.reference;
      compare_case(compared, values, result);
    } else {
      result->reason = to_text(done.errors());
    }
    if (!result->verified) {
      result->reason = "on " + std::to_string(threads) + " threads: " + result->reason;
      return;
    }
  }
}

Result<Done> run_batch(const std::vector<CpuCase>& cases, const Options& options, const Machine& machine,
                       std::vector<GpuCaseResult>* results) {
  const TemporaryFolder folder;
  std::vector<const Module*> modules;
  for (const CpuCase& c : cases) modules.push_back(&c.module);
  const Result<CompiledBatch> code = CompiledBatch::compile(modules, options, machine, folder.path());
  if (!code && failure_of(code.errors()[0].code) != Failure::kInternal) return code.errors();
  for (const CpuCase& c : cases) {
    // One source that is not accepted must not hide the others.
    const Result<CompiledBatch> alone = code ? code : CompiledBatch::compile({&c.module}, options, machine, folder.path());
    if (alone)
      run_case(c, *alone, &(*results)[c.index]);
    else
      (*results)[c.index].reason = to_text(alone.errors());
  }
  return Done{};
}

}  // namespace

std::vector<GpuCase> sweep_programs(std::int64_t sample, std::uint64_t seed, const std::string& name) {
  std::vector<GpuCase> all;
  for (const OpDef* op : all_ops()) {
    if (!name.empty() && op->name != name) continue;
    for (const SweepCase& c : sweep_cases(*op, too_large)) {
      std::string text = op->name + ", " + to_text(c.shape) + ", " + c.dtypes;
      for (std::size_t k = 0; k < c.sample.operands.size(); ++k) text += (k ? ", " : ": ") + c.sample.operands[k];
      for (const auto& [key, value] : c.sample.attrs) text += "; " + key + " " + to_text(value);
      all.push_back({text, *sample_program(*op, c.sample), {}});
    }
  }
  if (sample <= 0 || sample >= static_cast<std::int64_t>(all.size())) return all;
  std::vector<GpuCase> chosen;
  std::mt19937_64 random(seed);
  std::sample(all.begin(), all.end(), std::back_inserter(chosen), sample, random);
  return chosen;
}

Result<std::vector<GpuCaseResult>> check_compiled(const std::vector<GpuCase>& cases, const Options& options,
                                                  const std::function<void(const std::string&)>& progress) {
  const Result<Machine> machine = described_machine(options);
  if (!machine) return machine.errors();
  std::vector<GpuCaseResult> results(cases.size());
  std::vector<CpuCase> batch;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (i % kProgressStep == 0) progress("compiled " + std::to_string(i) + " of " + std::to_string(cases.size()) + " cases");
    results[i].name = cases[i].name;
    Result<CpuCase> made = prepare(cases[i], i, options.seed, *machine);
    if (made)
      batch.push_back(std::move(*made));
    else
      results[i].reason = to_text(made.errors());
    if (batch.size() < kBatch && i + 1 < cases.size()) continue;
    if (const Result<Done> done = run_batch(batch, options, *machine, &results); !done) return done.errors();
    batch.clear();
  }
  return results;
}

}  // namespace facet
