// selftest: every operator's samples and the given programs on the GPU, or in the GPU-mode interpreter, in one process.
#include <chrono>
#include <cstdio>

#include "codegen/cuda/runner.hpp"
#include "src/driver/gpu_selftest.hpp"
#include "src/driver/verbs.hpp"

namespace facet {

namespace {

constexpr std::int64_t kLargest = 37;  // sizes of programs with symbols: ragged for every tile

struct Summary {
  std::int64_t cases = 0, verified = 0;
  double compile_ms = 0;
  JsonValue failures = JsonValue::array();
  std::string text;
};

void add(Summary* s, const GpuCaseResult& r) {
  ++s->cases;
  s->compile_ms += r.compile_ms;
  if (r.verified) {
    ++s->verified;
    return;
  }
  s->text += "wrong: " + r.name + "\n  " + r.reason + "\n";
  s->failures.items.push_back(JsonValue::object().add("name", JsonValue::of(r.name)).add("reason", JsonValue::of(r.reason)));
}

}  // namespace

Result<Outcome> verb_selftest(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  const bool on_device = options.target.rfind("cuda", 0) == 0;
  std::string where = "the GPU-mode interpreter", target = "interpreter";
  if (on_device) {
    const Result<CudaDevice> device = cuda_device();
    if (!device) return device.errors();
    where = device->name + " (" + device->arch + ", driver " + device->driver + ")";
    target = "cuda:" + device->arch;
  }
  std::vector<GpuCase> cases = operator_cases();
  for (const std::string& file : options.files) {
    Result<GpuCase> one = file_case(file, kLargest);
    if (!one) return one.errors();
    cases.push_back(std::move(*one));
  }
  Summary summary;
  for (const GpuCase& c : cases) {
    const Result<GpuCaseResult> r =
        check_on_gpu(c, on_device ? GpuExecutor::kDevice : GpuExecutor::kInterpreter, options.seed, false);
    if (!r) return r.errors();
    add(&summary, *r);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  char line[160];
  std::snprintf(line, sizeof line, "%lld of %lld cases verified in %.0f s (compiling: %.0f s) on ",
                static_cast<long long>(summary.verified), static_cast<long long>(summary.cases), seconds,
                summary.compile_ms / 1000);
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
