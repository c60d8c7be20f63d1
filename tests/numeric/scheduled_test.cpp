// Stored operator results again, through the whole tool up to the loop tree: validate, plan, schedule, processor passes,
// interpreter.
//
// One case in `kStride` is run (FACET_ALL_CASES=1: all); each file starts at another one, so that families share the work
// evenly.
#include <gtest/gtest.h>

#include <cstdlib>

#include "codegen/passes/passes.hpp"
#include "polyhedral/facet_polyhedral.hpp"
#include "src/graph/elaborate.hpp"
#include "src/run/interpret/interpret.hpp"
#include "src/run/reference.hpp"
#include "tests/numeric/cases.hpp"

namespace facet {
namespace {

using stored::Json;

constexpr int kStride = 9;

// f32 kernels: a few roundings per element and term; the reference's own bound is added.
double kernel_tolerance(DType t) { return t == DType::kF64 ? 1e-8 : std::max(1e-5, stored::tolerance_of(t)); }

std::string compare(const HostTensor& got, const ReferenceTensor& reference, const Json& want) {
  for (std::int64_t i = 0; i < got.element_count(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!is_float(got.dtype)) {
      if (got.get_int(i) != reference.ints[at])
        return "element " + std::to_string(i) + " is " + std::to_string(got.get_int(i)) + ", expected " +
               std::to_string(reference.ints[at]);
      continue;
    }
    const double bound = reference.bounds.empty() ? 0 : reference.bounds[at], y = stored::number_of(want["values"][at]);
    if (!stored::near(got.get(i), y, kernel_tolerance(got.dtype)) && !(std::abs(got.get(i) - reference.floats[at]) <= bound))
      return "element " + std::to_string(i) + " is " + std::to_string(got.get(i)) + ", expected " + std::to_string(y);
  }
  return "";
}

std::string run_case(const Json& c, bool symbolic) {
  HostTensors buffers;
  ScheduleOptions options;
  Program program = stored::program_of(c, &buffers);
  if (symbolic && !stored::make_symbolic(&program, &options.sizes)) return "";
  const Result<Program> elaborated = elaborate(program);
  if (!elaborated) return symbolic ? "" : to_text(elaborated.errors());
  const Result<Done> valid = validate(*elaborated);
  if (!valid) return "validate: " + to_text(valid.errors()) + to_text(*elaborated);
  Ledger ledger;
  const Result<Recipe> recipe = plan(*elaborated, Recipe{}, options, ledger);
  if (!recipe) return "plan: " + to_text(recipe.errors());
  const Result<Scheduled> scheduled = schedule_program(*elaborated, *recipe, options);
  if (!scheduled) return "schedule: " + to_text(scheduled.errors());
  const LoopProgram loops = lower_for_cpu(scheduled->loops, options.machine.cpu, nullptr);
  const Result<ReferenceRun> reference = run_reference(*elaborated, options.sizes, buffers);
  if (!reference) return "reference: " + to_text(reference.errors());
  const Result<InterpretReport> report = interpret(loops, options.sizes, buffers);
  if (!report) return "interpret: " + to_text(report.errors()) + to_text(loops);
  if (!report->clean()) return to_text(*report) + to_text(loops);
  for (std::size_t k = 0; k < c["out"].size(); ++k) {
    if (c["out"][k].is_null()) continue;
    const std::string name = "z" + std::to_string(k),
                      wrong = compare(buffers.at(name), reference->outputs.at(name), c["out"][k]);
    if (!wrong.empty()) return name + ": " + wrong + "\n" + to_text(*elaborated) + to_text(loops);
  }
  return "";
}

class StoredScheduled : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(StoredScheduled, LoopTreeAgreesWithNumpy) {
  const bool all = std::getenv("FACET_ALL_CASES") != nullptr;
  const Json cases = stored::read_file(GetParam());
  std::size_t number = GetParam().stem().string().size() % kStride;
  if (all) number = 0;
  for (; number < cases.size(); number += all ? 1 : kStride) {
    const Json& c = cases[number];
    EXPECT_EQ(run_case(c, false), "") << "case " << number << ": " << c["op"] << " " << c["attrs"].dump();
    if (number % 2 == 0 || all) {
      EXPECT_EQ(run_case(c, true), "") << "symbolic case " << number << ": " << c["op"] << " " << c["attrs"].dump();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Numpy, StoredScheduled, testing::ValuesIn(stored::files()),
                         [](const testing::TestParamInfo<std::filesystem::path>& p) { return p.param.stem().string(); });

}  // namespace
}  // namespace facet
