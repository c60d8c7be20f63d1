// One program per operator, at the size of src/ops/bench_samples, planned, compiled and measured as `run --time` does.
//
// The ceiling is the roofline's: the program's arithmetic (functions count as 10) at the peak of f32 FMA, or its inputs read
// once and its outputs written once at the speed of a copy, whichever takes longer. Local arrays in memory count for nothing,
// so an operator of several passes stays below 1 by what they move.
#include "src/driver/operator_bench.hpp"

#include <algorithm>
#include <cstdio>

#include "src/driver/execute.hpp"
#include "src/driver/machines.hpp"
#include "src/graph/elaborate.hpp"
#include "src/graph/op_facts.hpp"
#include "src/ops/bench_samples.hpp"
#include "src/ops/samples.hpp"
#include "src/run/inputs.hpp"
#include "src/run/reference.hpp"

namespace facet {

namespace {

constexpr double kEnoughBytes = 16e6;  // well beyond a core's own caches
constexpr double kEnoughOperations = 2e8;

double bytes_of(const Program& program) {
  double bytes = 0;
  for (const std::vector<std::string>* names : {&program.inputs, &program.outputs})
    for (const std::string& name : *names) {
      const Tensor& t = program.tensor(name);
      double count = static_cast<double>(size_bytes(t.dtype));
      for (const ExprPtr& e : t.shape) count *= static_cast<double>(evaluate_index(e, {}));
      bytes += count;
    }
  return bytes;
}

bool enough(const Program& written) {
  const Result<Program> program = elaborate(written);
  return !program || bytes_of(*program) >= kEnoughBytes || predicted_operations(*program, {}) >= kEnoughOperations;
}

std::string operands_text(const OpSample& sample) {
  std::string text;
  for (const std::string& o : sample.operands) text += (text.empty() ? "" : ", ") + (o.empty() ? "omitted" : o);
  for (const auto& [name, value] : sample.attrs) text += "; " + name + " " + to_text(value);
  return text;
}

Result<Done> measure_one(const OpDef& op, const OpSample& sample, const Options& options, const Machine& machine,
                         const Machine& rated, OperatorTime* row) {
  const Result<Program> written = sample_program(op, sample);
  if (!written) return written.errors();
  Result<Program> program = elaborate(*written);
  if (!program) return program.errors();
  Loaded loaded;
  loaded.program = std::move(*program);
  const Result<HostTensors> tensors = make_inputs(loaded.program, {}, options.seed, {});
  if (!tensors) return tensors.errors();
  Options timed = options;
  timed.time = true;
  const bool gpu = options.target.rfind("cuda", 0) == 0;
  const Result<Execution> done =
      gpu ? execute_cuda(loaded, timed, machine, *tensors) : execute_openmp(loaded, timed, machine, *tensors);
  if (!done) return done.errors();
  const double flops = flops_of(loaded.program).total, bytes = bytes_of(loaded.program);
  const Ceilings ceilings =
      gpu ? ceilings_of(rated.gpu) : ceilings_of(rated.cpu, options.threads > 0 ? options.threads : machine.cpu.cores);
  row->time_ms = done->time_ms;
  row->gflops = flops / done->time_ms * 1e-6;
  row->gbps = bytes / done->time_ms * 1e-6;
  const double bound =
      std::max(ceilings.gflop_s > 0 ? row->gflops / ceilings.gflop_s : 0, ceilings.gb_s > 0 ? row->gbps / ceilings.gb_s : 0);
  row->share = bound;
  return Done{};
}

}  // namespace

Result<std::vector<OperatorTime>> time_operators(const Options& options,
                                                 const std::function<void(const std::string&)>& progress) {
  const Result<Machine> rated = machine_in_force(options, true);
  if (!rated) return rated.errors();
  const Result<Machine> machine = planning_machine(options, false);
  if (!machine) return machine.errors();
  std::vector<OperatorTime> rows;
  for (const OpDef* op : all_ops()) {
    if ((!options.op.empty() && op->name != options.op) || (!options.family.empty() && op->family != options.family)) continue;
    progress("timing " + op->name);
    const OpSample sample = bench_sample(*op, enough);
    OperatorTime row{op->name, op->family, operands_text(sample), "", 0, 0, 0, 0};
    if (const Result<Done> done = measure_one(*op, sample, options, *machine, *rated, &row); !done)
      row.problem = done.errors()[0].message;
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const OperatorTime& a, const OperatorTime& b) { return a.family < b.family; });
  return rows;
}

std::string to_text(const std::vector<OperatorTime>& times) {
  std::string text = "| operator | operands | ms | GFLOP/s | GB/s | of ceiling |\n| --- | --- | --: | --: | --: | --: |\n";
  for (const OperatorTime& t : times) {
    text += "| `" + t.name + "` | " + t.operands + " | ";
    char line[128];
    std::snprintf(line, sizeof line, "%.3f | %.1f | %.1f | %.0f %% |\n", t.time_ms, t.gflops, t.gbps, 100 * t.share);
    text += t.problem.empty() ? line : t.problem + " | | | |\n";
  }
  return text;
}

}  // namespace facet
