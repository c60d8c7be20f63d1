// schedule_program: a complete recipe to the loop trees of all its variants.
//
// The kernels of every variant that some sizes take stand in one program, in order, each with the condition under which it
// runs; exactly one variant's conditions hold for any sizes. Tensors between kernels are shared by the variants; a buffer that
// one variant made (a tile, a contracted array) gets a name of its own and has no elements for other sizes, so that the
// workspace holds what the variant in force needs.
#include <algorithm>
#include <set>

#include "polyhedral/analyse.hpp"
#include "polyhedral/ast/build.hpp"
#include "polyhedral/ast/tell_updates.hpp"
#include "polyhedral/copies.hpp"
#include "polyhedral/counts.hpp"
#include "polyhedral/kernel_buffers.hpp"
#include "polyhedral/prepare.hpp"
#include "polyhedral/schedule_memo.hpp"
#include "polyhedral/transform/apply.hpp"
#include "polyhedral/variants.hpp"

namespace facet {

namespace {

Buffer global_buffer(const Tensor& t, BufferRole role) {
  Buffer b;
  b.name = t.name;
  b.dtype = t.dtype;
  b.extents = t.shape;
  b.role = role;
  return b;
}

BufferRole role_of(const Program& p, const std::string& name) {
  const bool input = std::count(p.inputs.begin(), p.inputs.end(), name) > 0;
  const bool output = std::count(p.outputs.begin(), p.outputs.end(), name) > 0;
  if (input && output) return BufferRole::kInOut;
  if (input) return BufferRole::kInput;
  if (output) return BufferRole::kOutput;
  return p.tensor(name).data ? BufferRole::kWeight : BufferRole::kWorkspace;
}

// Until the deadline of the whole call, but half a second at least: what was planned in time is not lost to the planning.
Budget scan_budget(const ScheduleOptions& options) {
  Budget budget = budget_of(options);
  const auto least = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  if (budget.deadline && *budget.deadline < least) budget.deadline = least;
  return budget;
}

class ProgramScheduler {
 public:
  ProgramScheduler(const Program& program, const Recipe& recipe, const ScheduleOptions& options, const ScheduleMemo* memo)
      : program_(program),
        recipe_(recipe),
        readers_(readers_of(program)),
        memo_(memo),
        for_processor_(options.target.rfind("openmp", 0) == 0),
        budget_(scan_budget(options)),
        reading_(budget_of(options).part(0.5)) {
    LoopProgram& loops = result_.loops;
    loops.name = program.name;
    loops.symbols = program.symbols;
    loops.assumptions = program.assumptions;
    loops.numerics = program.numerics;
    loops.inputs = program.inputs;
    loops.outputs = program.outputs;
  }

  Result<Scheduled> run(const std::vector<VariantCase>& cases) {
    several_ = std::count_if(cases.begin(), cases.end(), [](const VariantCase& c) { return c.never.empty(); }) > 1;
    for (const VariantCase& c : cases) {
      if (!c.never.empty()) continue;
      const Result<Done> done = variant(c);
      if (!done) return done.errors();
    }
    add_buffers();
    for (Buffer& b : workspace_)
      if (!result_.loops.find_buffer(b.name)) result_.loops.buffers.push_back(std::move(b));
    // Which variant runs is known only then.
    if (for_processor_ && !several_) move_to_prepare(result_.loops, result_.ledger);
    return std::move(result_);
  }

 private:
  Result<Done> variant(const VariantCase& c) {
    const Variant& v = recipe_.variants[static_cast<std::size_t>(c.index)];
    const Result<std::vector<NodeGroup>> groups = groups_of_recipe(program_, v);
    if (!groups) return groups.errors();
    if (several_) {
      const std::string head = "variant " + std::to_string(c.index) + (v.when.empty() ? "" : " when " + v.when) + "\n";
      for (std::string* text : {&result_.statements_text, &result_.deps_text, &result_.schedule_text}) *text += head;
    }
    for (std::size_t g = 0; g < groups->size(); ++g) {
      const Result<Done> done = kernel(c, (*groups)[g], v.groups[g]);
      if (!done) return done.errors();
    }
    return Done{};
  }

  struct Made {
    Schedule schedule;
    ScannedKernel scanned;
  };

  static Result<Made> scan(Schedule schedule, const Budget& budget) {
    Made made{std::move(schedule), {}};
    const Result<Done> ran =
        guarded("scanning of " + made.schedule.scop->name, budget, [&] { made.scanned = build_loop_tree(made.schedule); });
    if (!ran) return ran.errors();
    if (made.scanned.not_scanned.empty()) return made;
    return diagnose(Code::kNotScanned, {}, {made.schedule.scop->name, made.scanned.not_scanned});
  }

  Result<Made> by_recipe(const VariantCase& c, const NodeGroup& nodes, const Group& group) {
    if (const ScheduleMemo::Entry* planned = memo_ ? memo_->find(c.index, nodes.nodes, group.steps) : nullptr) {
      result_.deps_text += to_text(*planned->original.scop, *planned->original.dependences);
      return scan(planned->scheduled, budget_);
    }
    const Result<Schedule> schedule = analyse(*c.program, readers_, nodes, budget_, group.rewrites);
    if (!schedule) return schedule.errors();
    result_.deps_text += to_text(*schedule->scop, *schedule->dependences);
    StepOutcome outcome = apply_steps(*schedule, group.steps, budget_);
    if (outcome.refusal) return outcome.refusal->diagnostic;
    return scan(std::move(*outcome.schedule), budget_);
  }

  // By the recipe. What the scheduler planned falls back to the program's own order, which needs no dependences, when the time
  // does not suffice; steps that somebody wrote are not dropped behind his back.
  Result<Made> schedule_group(const VariantCase& c, const NodeGroup& nodes, const Group& group) {
    if (group.steps.empty() && group.rewrites.empty()) return original(*c.program, nodes);
    Result<Made> made = by_recipe(c, nodes, group);
    if (made || (made.errors()[0].code != Code::kBudgetExhausted && made.errors()[0].code != Code::kNotScanned)) return made;
    if (!memo_ || !memo_->find(c.index, nodes.nodes, group.steps)) {
      Diagnostic cut = made.errors()[0];
      const std::string more_time = cut.code == Code::kBudgetExhausted ? "raise --time-budget, or " : "";
      cut.notes.push_back(more_time + "leave out steps of group " + nodes.name);
      return cut;
    }
    result_.ledger.push_back(
        {"budget", "group " + nodes.name, false, made.errors()[0].message + ": original order", nodes.name, 0});
    return original(*c.program, nodes);
  }

  // Nothing is judged, so the dependences are for the reader alone: as long as there is time for them.
  Result<Made> original(const Program& program, const NodeGroup& nodes) {
    const Result<Schedule> analysed = analyse(program, readers_, nodes, reading_);
    if (analysed) result_.deps_text += to_text(*analysed->scop, *analysed->dependences);
    if (!analysed) result_.deps_text += "(not found: " + analysed.errors()[0].message + ")\n";
    Result<Schedule> plain = lower_group(program, readers_, nodes);
    if (!plain) return plain.errors();
    return scan(std::move(*plain), Budget{0, {}});
  }

  Result<Done> kernel(const VariantCase& c, const NodeGroup& nodes, const Group& group) {
    Result<Made> made = schedule_group(c, nodes, group);
    if (!made) return made.errors();
    const Scop& scop = *made->schedule.scop;
    const Result<Done> told =
        guarded("shared updates of " + scop.name, budget_, [&] { tell_updates(made->schedule, &result_.ledger); });
    if (!told) return told.errors();
    result_.statements_text += to_text(scop);
    result_.schedule_text += to_text(made->schedule);
    const std::string suffix = several_ ? "_v" + std::to_string(c.index) : "";
    Kernel kernel;
    kernel.name = nodes.name + suffix;
    kernel.variant = c.index;
    kernel.group = nodes.name;
    kernel.ops = group.ops;
    kernel.when = several_ ? c.when : nullptr;
    const Node& first = program_.nodes[static_cast<std::size_t>(nodes.nodes[0])];
    if (is_copy(first)) kernel.comment = "the caller's " + first.in[0] + " stays as it is: work on a copy";
    kernel.recomputed = made->schedule.recomputed;
    kernel.reused = made->schedule.reused;
    kernel.flops = count_operations(scop);
    kernel.bytes = count_bytes(scop);
    std::map<std::string, std::string> names;
    for (const std::string& b : made->scanned.part_buffers) {
      std::string own = b;
      for (int n = 2; !part_buffers_.insert(own).second; ++n) own = b + "." + std::to_string(n);
      if (own != b) names[b] = own;
    }
    if (several_) {
      const std::string version = ".v" + std::to_string(c.index);
      for (const StorageMap& m : made->schedule.storage) names[m.buffer] = m.buffer + version;
      for (Buffer& b : made->scanned.workspace) {  // what steps have made: another variant's may have another shape
        if (program_.tensors.count(b.name)) continue;
        names[b.name] = b.name + version;
        b.name += version;
        if (!b.extents.empty()) b.extents[0] = select(c.when, b.extents[0], idx(0));
      }
    }
    if (!names.empty()) made->scanned.body = rename_buffers(made->scanned.body, names);
    std::vector<Buffer> hoisted;
    kernel.body = hoist_cache_buffers(made->scanned.body, hoisted);
    for (Buffer& b : hoisted) {
      if (several_ && !b.extents.empty()) b.extents[0] = select(c.when, b.extents[0], idx(0));
      workspace_.push_back(std::move(b));
    }
    for (Buffer& b : made->scanned.workspace)
      if (!program_.tensors.count(b.name) || program_.tensor(b.name).local ||
          role_of(program_, b.name) == BufferRole::kWorkspace)
        workspace_.push_back(std::move(b));
    collect_buffers(kernel.body, kernel.buffers);
    used_.insert(kernel.buffers.begin(), kernel.buffers.end());
    result_.loops.kernels.push_back(std::move(kernel));
    return Done{};
  }

  void add_buffers() {
    for (const std::string& name : program_.tensor_order) {
      const BufferRole role = role_of(program_, name);
      if (role == BufferRole::kWorkspace || (role == BufferRole::kWeight && !used_.count(name))) continue;
      if (role == BufferRole::kWeight) result_.loops.weights.push_back(name);
      result_.loops.buffers.push_back(global_buffer(program_.tensor(name), role));
    }
  }

  const Program& program_;
  const Recipe& recipe_;
  ReaderIndex readers_;
  const ScheduleMemo* memo_;  // what planning this program left; null: nothing
  bool for_processor_;
  Budget budget_;         // half a second at least
  Budget reading_;        // of time as well: for what only people read
  bool several_ = false;  // more than one variant is ever taken
  Scheduled result_;
  std::set<std::string> used_;
  std::vector<Buffer> workspace_;
  std::set<std::string> part_buffers_;  // names of all kernels' copies
};

}  // namespace

std::shared_ptr<ScheduleMemo> make_schedule_memo() { return std::make_shared<ScheduleMemo>(); }

Result<Scheduled> schedule_program(const Program& given, const Recipe& wanted, const ScheduleOptions& options) {
  const Program program = with_copies(given);
  Recipe recipe = wanted;
  add_copy_groups(program, false, &recipe);
  if (recipe.variants.empty()) return diagnose(Code::kBadGroups, {}, {"the recipe has no variant"});
  std::vector<VariantCase> cases;
  const Result<Done> told =
      guarded("conditions of variants", Budget{0, {}}, [&] { cases = cases_of(program, recipe, options.sizes); });
  if (!told) return told.errors();
  const bool planned = options.memo && options.memo->program == &given;
  return ProgramScheduler(program, recipe, options, planned ? options.memo.get() : nullptr).run(cases);
}

}  // namespace facet
