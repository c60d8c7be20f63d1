// One case at a time, every stage's complaint being the case's reason.
#include "src/driver/gpu_selftest.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "codegen/cuda/map.hpp"
#include "polyhedral/facet_polyhedral.hpp"
#include "src/driver/gpu_case.hpp"
#include "src/frontend/json.hpp"
#include "src/graph/elaborate.hpp"
#include "src/ops/samples.hpp"
#include "src/run/inputs.hpp"
#include "src/run/interpret/interpret.hpp"
#include "src/run/reference.hpp"
#include "src/run/verify.hpp"

namespace facet {

namespace {

constexpr std::int64_t kMostSteps = 400'000'000;  // of the interpreter: some seconds

constexpr double kMostOperations = 3e6;

// The scheduled loop tree, planned for CUDA and these typical sizes.
Result<LoopProgram> scheduled(const Program& program, const SymbolValues& symbols, Recipe partial) {
  ScheduleOptions options;
  options.target = "cuda";
  options.sizes = symbols;
  partial.target = "cuda";
  Ledger ledger;
  const Result<Recipe> recipe = plan(program, partial, options, ledger);
  if (!recipe) return recipe.errors();
  Result<Scheduled> done = schedule_program(program, *recipe, options);
  if (!done) return done.errors();
  return std::move(done->loops);
}

Result<HostTensors> interpreted(const LoopProgram& loops, const SymbolValues& symbols, HostTensors tensors, std::uint64_t seed,
                                std::string* findings) {
  InterpretOptions options;
  options.seed = seed;
  options.max_steps = kMostSteps;
  const Result<InterpretReport> report = interpret(loops, symbols, tensors, options);
  if (!report) return report.errors();
  if (!report->clean()) *findings = to_text(*report);
  return tensors;
}

// The values of the scheduled program's inputs; one that the program updates in place is read from its ".given" copy.
HostTensors arguments_of(const LoopProgram& loops, HostTensors tensors) {
  static const std::string kGiven = ".given";
  for (const std::string& name : loops.inputs) {
    if (tensors.count(name) || name.size() <= kGiven.size() ||
        name.compare(name.size() - kGiven.size(), kGiven.size(), kGiven) != 0)
      continue;
    tensors[name] = tensors.at(name.substr(0, name.size() - kGiven.size()));
  }
  return tensors;
}

}  // namespace

std::vector<GpuCase> operator_cases() {
  std::vector<GpuCase> cases;
  for (const OpDef* op : all_ops())
    for (std::size_t n = 0; n < op->samples.size(); ++n) {
      const Result<Program> program = sample_program(*op, op->samples[n]);
      if (!program) continue;  // the table's own tests report it
      std::string operands;
      for (const std::string& o : op->samples[n].operands) operands += (operands.empty() ? ": " : ", ") + o;
      cases.push_back({op->name + ", sample " + std::to_string(n) + operands, *program, {}});
    }
  return cases;
}

Result<GpuCase> file_case(const std::string& path, std::int64_t largest) {
  std::ifstream file(path);
  if (!file) return diagnose(Code::kFileUnreadable, Place{path}, {path, "it cannot be opened"});
  std::stringstream text;
  text << file.rdbuf();
  Result<Program> program = read_program(text.str(), path);
  if (!program) return program.errors();
  GpuCase test{path, std::move(*program), {}};
  const Result<Program> elaborated = elaborate(test.program);
  if (!elaborated) return elaborated.errors();
  // Smaller still where the program is of a high degree in its sizes.
  for (;; largest = largest * 2 / 3) {
    for (const Symbol& s : test.program.symbols) test.symbols[s.name] = std::clamp(std::min(s.value, largest), s.min, s.max);
    if (largest < 4 || predicted_operations(*elaborated, test.symbols) < kMostOperations) return test;
  }
}

Result<PreparedCase> prepare_case(const GpuCase& test, std::uint64_t seed) {
  PreparedCase made;
  made.symbols = test.symbols;
  Result<Program> program = elaborate(test.program);
  if (!program) return program.errors();
  made.program = std::move(*program);
  const Result<HostTensors> inputs = make_inputs(made.program, test.symbols, seed, {});
  if (!inputs) return inputs.errors();
  SymbolValues typical = test.planned_for;
  typical.insert(test.symbols.begin(), test.symbols.end());
  Result<LoopProgram> loops = scheduled(made.program, typical, test.recipe);
  if (!loops) return loops.errors();
  made.arguments = arguments_of(*loops, *inputs);
  made.loops = map_to_gpu(*loops, GpuMachine{}, nullptr);
  Result<ReferenceRun> reference = run_reference(made.program, test.symbols, *inputs);
  if (!reference) return reference.errors();
  made.reference = std::move(*reference);
  return made;
}

void compare_case(const PreparedCase& made, const HostTensors& outputs, GpuCaseResult* result) {
  // Only the comparison counts: a sample may well have inputs that verify would call poor (all equal, clamped gathers).
  const Verdict verdict = verify(made.program, made.reference, outputs, false);
  result->verified = !verdict.outputs.empty();
  for (const OutputVerdict& o : verdict.outputs)
    result->verified = result->verified && o.wrong == 0 && o.verified_elements + o.ambiguous == o.elements;
  if (!result->verified) result->reason = verdict.reason;
  result->max_abs_error = verdict.max_abs_error;
  result->tolerance = verdict.tolerance;
}

GpuCaseResult interpret_case(const PreparedCase& made, std::uint64_t seed) {
  GpuCaseResult result;
  const Result<HostTensors> outputs = interpreted(made.loops, made.symbols, made.arguments, seed, &result.reason);
  if (!outputs) result.reason = to_text(outputs.errors());
  if (result.reason.empty()) compare_case(made, *outputs, &result);
  return result;
}

GpuCaseResult check_in_interpreter(const GpuCase& test, std::uint64_t seed) {
  GpuCaseResult result;
  const Result<PreparedCase> made = prepare_case(test, seed);
  if (made)
    result = interpret_case(*made, seed);
  else
    result.reason = to_text(made.errors());
  result.name = test.name;
  return result;
}

}  // namespace facet
