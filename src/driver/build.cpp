// The middle of the spine.
#include "src/driver/build.hpp"

#include <chrono>

#include "codegen/cuda/map.hpp"
#include "src/driver/machines.hpp"
#include "src/driver/obeyed.hpp"
#include "src/frontend/files.hpp"
#include "src/frontend/json.hpp"
#include "src/run/inputs.hpp"

namespace facet {

namespace {

constexpr std::int64_t kEmbeddedBytes = 16 << 10;  // a page of numbers; more makes a source nobody reads

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// -1 for symbolic extents.
std::int64_t fixed_bytes(const Tensor& t) {
  std::int64_t bytes = size_bytes(t.dtype);
  for (const ExprPtr& e : t.shape) {
    if (e->op != Op::kLiteral || __builtin_mul_overflow(bytes, e->int_value, &bytes)) return -1;
  }
  return bytes;
}

// What a recipe is made for: the reference takes none.
std::string planned_target(const Options& options) { return options.target == "reference" ? "openmp" : options.target; }

// A recipe that names a target is for it, whatever its instruction set or architecture: another one has other threads and
// memories.
Result<Done> check_named_target(const Recipe& recipe, const Options& options) {
  if (recipe.target.empty()) return Done{};
  if (!is_target(recipe.target) || recipe.target == "reference")
    return diagnose(
        Code::kBadTarget, recipe.target_place, {recipe.target},
        {"a recipe's \"target\" is openmp or cuda, or with an instruction set or architecture: openmp:avx2, cuda:sm_90"});
  const std::string named = recipe.target.substr(0, recipe.target.find(':')), base = target_base(options);
  Options alone = options;
  alone.target = recipe.target;
  if (const Result<Machine> known = described_machine(alone); !known) {
    Diagnostics told = known.errors();
    if (told[0].code == Code::kBadTarget) told[0].place = recipe.target_place;
    return told;
  }
  if (named == base) return Done{};
  return diagnose(Code::kRecipeForOtherTarget, recipe.target_place, {recipe.target, options.target},
                  {"take it with --target " + recipe.target,
                   "or leave \"target\" out: then every step must be one that the target " + base + " has"});
}

}  // namespace

std::string target_base(const Options& options) { return options.target.substr(0, options.target.find(':')); }

ScheduleOptions schedule_options(const Loaded& loaded, const Options& options, const Machine& machine) {
  ScheduleOptions o;
  o.machine = machine;
  o.target = target_base(options) == "cuda" ? "cuda" : "openmp";
  o.threads = options.threads;
  o.fusion = options.fusion != "off";
  o.time_budget_s = options.time_budget_s;
  o.deadline = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                      std::chrono::duration<double>(options.time_budget_s));
  o.sizes = loaded.sizes;
  return o;
}

Result<Recipe> wanted_recipe(const Loaded& loaded, const Options& options) {
  Recipe recipe;
  if (!options.schedule.empty()) {
    const Result<std::string> text = read_text_file(options.schedule);
    if (!text) return text.errors();
    Result<Recipe> read = read_recipe(*text, options.schedule);
    if (!read) return read.errors();
    recipe = std::move(*read);
    const Result<Done> fits = check_named_target(recipe, options);
    if (!fits) return fits.errors();
    if (!recipe.program_hash.empty() && recipe.program_hash != loaded.hash) {
      return diagnose(Code::kRecipeForOtherProgram, recipe.hash_place, {recipe.program_hash, loaded.hash},
                      {"write null for \"program\" to use the recipe with any program"});
    }
  }
  const Result<Done> bound = bind_conditions(loaded.program, &recipe);
  if (!bound) return bound.errors();
  const Result<Done> reached = check_conditions(loaded.program, recipe);
  if (!reached) return reached.errors();
  const Result<Done> obeyed = check_target(recipe, target_base(options) == "cuda" ? "cuda" : "openmp");
  if (!obeyed) return obeyed.errors();
  recipe.program_hash = loaded.hash;
  recipe.target = planned_target(options);
  return recipe;
}

Result<Planned> make_plan(const Loaded& loaded, const Options& options, const ScheduleOptions& schedule) {
  const Result<Recipe> wanted = wanted_recipe(loaded, options);
  if (!wanted) return wanted.errors();
  Planned planned;
  planned.ledger = loaded.ledger;
  Result<Recipe> recipe = plan(loaded.program, *wanted, schedule, planned.ledger);
  if (!recipe) return recipe.errors();
  planned.recipe = std::move(*recipe);
  planned.recipe.program_hash = loaded.hash;
  planned.recipe.target = planned_target(options);
  return planned;
}

LoopProgram lower_to_target(const LoopProgram& scanned, const Options& options, const Machine& machine, PassLog* passes) {
  return target_base(options) == "cuda" ? map_to_gpu(scanned, machine.gpu, passes)
                                        : lower_for_cpu(scanned, machine.cpu, passes);
}

Result<Built> build_loops(const Loaded& loaded, const Options& options, const Machine& machine) {
  const double start = now_ms();
  ScheduleOptions schedule = schedule_options(loaded, options, machine);
  schedule.memo = make_schedule_memo();
  Built built;
  // Scop x machine -> recipe. The only stage that chooses.
  Result<Planned> planned = make_plan(loaded, options, schedule);
  if (!planned) return planned.errors();
  built.plan = std::move(*planned);
  // Recipe -> schedule tree -> loop trees. From here on there are loops, no sets.
  Result<Scheduled> scheduled = schedule_program(loaded.program, built.plan.recipe, schedule);
  if (!scheduled) return scheduled.errors();
  built.scheduled = std::move(*scheduled);
  Ledger& ledger = built.plan.ledger;
  ledger.insert(ledger.end(), built.scheduled.ledger.begin(), built.scheduled.ledger.end());
  // Requests become code: vectors, unrolled tiles, named values; for a GPU, blocks, threads and tiles of the nests that the
  // recipe has not mapped. From here on the printers only spell, and every step of the recipe is obeyed.
  built.loops = lower_to_target(built.scheduled.loops, options, machine, &built.passes);
  const Result<Done> obeyed = obey_or_refuse(built.scheduled.loops, built.passes, &built.plan.recipe);
  if (!obeyed) return obeyed.errors();
  built.analysis_ms = now_ms() - start;
  return built;
}

Result<HostTensors> embedded_constants(const Loaded& loaded) {
  HostTensors constants;
  for (const auto& [name, tensor] : loaded.program.tensors) {
    const std::int64_t bytes = tensor.data ? fixed_bytes(tensor) : -1;
    if (bytes < 0 || bytes > kEmbeddedBytes) continue;
    Result<HostTensor> values = constant_tensor(tensor, loaded.sizes, loaded.program.folder);
    if (!values) return values.errors();
    constants[name] = std::move(*values);
  }
  return constants;
}

}  // namespace facet
