// selftest: every operator's samples and the given programs on the GPU, or in the GPU-mode interpreter, in one process; or
// every operator's time.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>

#include "codegen/cuda/runner.hpp"
#include "src/driver/gpu_selftest.hpp"
#include "src/driver/in_threads.hpp"
#include "src/driver/operator_bench.hpp"
#include "src/driver/sweep.hpp"
#include "src/driver/verbs.hpp"
#include "src/ops/op_table.hpp"

namespace facet {

namespace {

constexpr std::int64_t kLargest = 37;  // sizes of programs with symbols: ragged for every tile

struct Summary {
  std::int64_t cases = 0, verified = 0;
  JsonValue failures = JsonValue::array();
  std::string text;
};

void add(Summary* s, const GpuCaseResult& r) {
  ++s->cases;
  if (r.verified) {
    ++s->verified;
    return;
  }
  s->text += "wrong: " + r.name + "\n  " + r.reason + "\n";
  s->failures.items.push_back(JsonValue::object().add("name", JsonValue::of(r.name)).add("reason", JsonValue::of(r.reason)));
}

void tell(const std::string& progress) { std::fprintf(stderr, "selftest: %s\n", progress.c_str()); }

// The samples of the table, or the sweep, of all operators or of one.
Result<std::vector<GpuCase>> all_cases_of(const Options& options) {
  const OpDef* op = options.op.empty() ? nullptr : find_op(options.op);
  if (!options.op.empty() && !op) return unknown_op(options.op, {});
  const std::string name = op ? op->name : "";
  if (options.sweep) return sweep_programs(options.sample, options.seed, name);
  std::vector<GpuCase> cases = operator_cases();
  const auto others = [&](const GpuCase& c) { return op && c.program.nodes[0].op != name; };
  cases.erase(std::remove_if(cases.begin(), cases.end(), others), cases.end());
  return cases;
}

Result<std::vector<GpuCase>> cases_of(const Options& options) {
  Result<std::vector<GpuCase>> all = all_cases_of(options);
  std::int64_t k = 1, n = 1;
  if (!all || options.part.empty() || !part_of(options.part, &k, &n)) return all;
  std::vector<GpuCase> part;
  for (std::size_t i = static_cast<std::size_t>(k - 1); i < all->size(); i += static_cast<std::size_t>(n))
    part.push_back(std::move((*all)[i]));
  return part;
}

std::vector<GpuCaseResult> interpreted(const std::vector<GpuCase>& cases, std::uint64_t seed) {
  std::vector<GpuCaseResult> results(cases.size());
  std::atomic<std::size_t> done{0};
  in_threads(cases.size(), [&](std::size_t i) {
    const std::size_t number = done++;
    if (number % 100 == 0) tell("interpreted " + std::to_string(number) + " of " + std::to_string(cases.size()) + " cases");
    results[i] = check_in_interpreter(cases[i], seed);
  });
  return results;
}

Result<Outcome> times_of(Options options) {
  if (!options.op.empty()) {
    const OpDef* op = find_op(options.op);
    if (!op) return unknown_op(options.op, {});
    options.op = op->name;
  }
  const Result<std::vector<OperatorTime>> times = time_operators(options, tell);
  if (!times) return times.errors();
  Outcome outcome;
  outcome.text = to_text(*times);
  JsonValue rows = JsonValue::array();
  for (const OperatorTime& t : *times) {
    JsonValue row = JsonValue::object();
    row.add("operator", JsonValue::of(t.name))
        .add("family", JsonValue::of(t.family))
        .add("operands", JsonValue::of(t.operands));
    if (t.problem.empty())
      row.add("time_ms", JsonValue::of(t.time_ms))
          .add("gflops", JsonValue::of(t.gflops))
          .add("gbps", JsonValue::of(t.gbps))
          .add("fraction_of_bound", JsonValue::of(t.share));
    else
      row.add("reason", JsonValue::of(t.problem));
    rows.items.push_back(std::move(row));
    outcome.status = t.problem.empty() ? outcome.status : 1;
  }
  outcome.json = JsonValue::object();
  outcome.json.add("operators", std::move(rows));
  return outcome;
}

}  // namespace

Result<Outcome> verb_selftest(const Options& options) {
  if (options.time) return times_of(options);
  const auto start = std::chrono::steady_clock::now();
  const bool on_device = options.target.rfind("cuda", 0) == 0;
  std::string where = "the GPU-mode interpreter", target = "interpreter";
  if (on_device) {
    const Result<CudaDevice> device = cuda_device();
    if (!device) {
      Diagnostics told = device.errors();
      told[0].notes.push_back("without --target the cases run in the GPU-mode interpreter");
      return told;
    }
    where = device->name + " (" + device->arch + ", driver " + device->driver + ")";
    target = "cuda:" + device->arch;
  }
  const Result<std::vector<GpuCase>> chosen = cases_of(options);
  if (!chosen) return chosen.errors();
  std::vector<GpuCase> cases = *chosen;
  for (const std::string& file : options.files) {
    Result<GpuCase> one = file_case(file, kLargest);
    if (!one) return one.errors();
    cases.push_back(std::move(*one));
  }
  Summary summary;
  std::string compiled;
  if (on_device) {
    const Result<GpuRunReport> report = check_on_device(cases, options.seed, tell);
    if (!report) return report.errors();
    for (const GpuCaseResult& r : report->results) add(&summary, r);
    compiled = ", " + std::to_string(report->compilations) + " compilations in " +
               std::to_string(static_cast<long>(report->compile_s)) + " s";
  } else {
    for (const GpuCaseResult& r : interpreted(cases, options.seed)) add(&summary, r);
    if (options.sweep) {
      const Result<std::vector<GpuCaseResult>> results = check_compiled(cases, options, tell);
      if (!results) return results.errors();
      for (const GpuCaseResult& r : *results) add(&summary, r);
      where += " and as host kernels";
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::string line = std::to_string(summary.verified) + " of " + std::to_string(summary.cases) + " cases verified in " +
                           std::to_string(static_cast<long>(seconds)) + " s" + compiled + " on ";
  Outcome outcome;
  outcome.text = summary.text + line + where + "\n";
  outcome.json = JsonValue::object();
  outcome.json.add("target", JsonValue::of(target))
      .add("device", JsonValue::of(where))
      .add("cases", JsonValue::of(summary.cases));
  outcome.json.add("verified", JsonValue::of(summary.verified)).add("failures", std::move(summary.failures));
  outcome.status = summary.verified == summary.cases ? 0 : 1;
  return outcome;
}

}  // namespace facet
