// The layer's verbs: plan, schedule, judge. One group at a time; a budget that ends in a correct program at every stage.
#include "polyhedral/facet_polyhedral.hpp"

#include <algorithm>
#include <memory>
#include <set>

#include "polyhedral/ast/build.hpp"
#include "polyhedral/counts.hpp"
#include "polyhedral/lower.hpp"
#include "polyhedral/partition.hpp"
#include "polyhedral/recipe/planner.hpp"
#include "polyhedral/transform/apply.hpp"

namespace facet {

namespace {

Budget budget_of(const ScheduleOptions& options) {
  Budget b;
  b.deadline = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                      std::chrono::duration<double>(options.time_budget_s));
  return b;
}

// The group's Scop in program order. Lowering is linear and runs without a quota, so that a program always has a schedule.
Result<Schedule> start(const Program& program, const NodeGroup& group, const Budget& budget) {
  Schedule schedule;
  const Result<Done> lowered = guarded("lowering of " + group.name, Budget{0, {}}, [&] {
    schedule = original_schedule(std::make_shared<const Scop>(lower(program, group.nodes, group.name)),
                                 std::make_shared<const Dependences>());
  });
  if (!lowered) return lowered.errors();
  const std::shared_ptr<const Scop> scop = schedule.scop;
  Dependences dependences;
  const Result<Done> analysed =
      guarded("dependences of " + group.name, budget, [&] { dependences = compute_dependences(*scop); });
  if (!analysed) return analysed.errors();
  schedule.dependences = std::make_shared<const Dependences>(std::move(dependences));
  return schedule;
}

std::vector<Step> plan_group(Schedule schedule, const ScheduleOptions& options, const Budget& budget, Ledger& ledger) {
  GroupPlanner planner(std::move(schedule), options, budget, ledger);
  if (options.target.rfind("cuda", 0) == 0) {
    // Tiles, threads and vectors of a GPU are chosen where loops go to blocks and threads (codegen/cuda/map.hpp).
    plan_fusion(planner);
    plan_contraction_of_arrays(planner);
    return planner.steps();
  }
  plan_contractions(planner);
  plan_fusion(planner);
  plan_contraction_of_arrays(planner);
  plan_vectors(planner);
  plan_threads(planner);
  return planner.steps();
}

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

void collect_buffers(const LoopList& body, std::vector<std::string>& names) {
  const auto add = [&](const std::string& n) {
    if (std::find(names.begin(), names.end(), n) == names.end()) names.push_back(n);
  };
  const auto reads = [&](const ExprPtr& e) {
    walk(e, [&](const Expr& x) {
      if (x.op == Op::kRead) add(x.name);
    });
  };
  for (const LoopPtr& l : body) {
    if (const auto* f = std::get_if<For>(&l->node)) {
      reads(f->lower);
      reads(f->upper);
      collect_buffers(f->body, names);
    } else if (const auto* i = std::get_if<If>(&l->node)) {
      reads(i->condition);
      collect_buffers(i->then, names);
      collect_buffers(i->otherwise, names);
    } else if (const auto* s = std::get_if<Store>(&l->node)) {
      add(s->buffer);
      reads(s->value);
      for (const ExprPtr& e : s->subscripts) reads(e);
    }
  }
}

// Cache buffers outside parallel loops live in the workspace: no large arrays on the stack, shared by the threads.
LoopList hoist_cache_buffers(const LoopList& body, std::vector<Buffer>& hoisted) {
  LoopList out;
  for (const LoopPtr& l : body) {
    if (const auto* a = std::get_if<Allocate>(&l->node); a && a->buffer.space == MemorySpace::kGlobal) {
      Buffer b = a->buffer;
      b.role = BufferRole::kWorkspace;
      hoisted.push_back(std::move(b));
      continue;
    }
    if (const auto* f = std::get_if<For>(&l->node); f && f->kind == LoopKind::kSerial) {
      For copy = *f;
      copy.body = hoist_cache_buffers(f->body, hoisted);
      out.push_back(make_loop(std::move(copy)));
      continue;
    }
    if (const auto* i = std::get_if<If>(&l->node)) {
      If copy = *i;
      copy.then = hoist_cache_buffers(i->then, hoisted);
      copy.otherwise = hoist_cache_buffers(i->otherwise, hoisted);
      out.push_back(make_loop(std::move(copy)));
      continue;
    }
    out.push_back(l);
  }
  return out;
}

// Where an input is also updated in place (loops inout), the caller's tensor must not change: the program works on a copy.
std::set<std::string> updated_inputs(const Program& p) {
  std::set<std::string> names;
  for (const Node& n : p.nodes)
    for (const std::string& t : n.inout)
      if (std::count(p.inputs.begin(), p.inputs.end(), t)) names.insert(t);
  return names;
}

// for i.. : target[i..] = source[i..]
Kernel copy_kernel(const std::string& name, const Tensor& t, const std::string& target, const std::string& source) {
  Store s;
  s.statement = target + ".copy";
  s.buffer = target;
  std::vector<ExprPtr> at;
  for (std::size_t d = 0; d < t.shape.size(); ++d) at.push_back(index("d" + std::to_string(d)));
  s.subscripts = at;
  s.value = read(source, t.dtype, at);
  LoopList body{make_loop(std::move(s))};
  for (std::size_t d = t.shape.size(); d-- > 0;) {
    For f;
    f.iterator = "d" + std::to_string(d);
    f.lower = idx(0);
    f.upper = t.shape[d];
    f.body = std::move(body);
    body = {make_loop(std::move(f))};
  }
  Kernel k;
  k.name = name;
  k.ops = {target};
  k.body = std::move(body);
  k.comment = "the caller's " + source + " stays as it is: work on a copy";
  collect_buffers(k.body, k.buffers);
  return k;
}

const Variant* variant_for(const Recipe& recipe) { return recipe.variants.empty() ? nullptr : &recipe.variants[0]; }

}  // namespace

Result<Recipe> plan(const Program& program, const Recipe& partial, const ScheduleOptions& options, Ledger& ledger) {
  const Budget budget = budget_of(options);
  Recipe recipe = partial;
  if (recipe.variants_hole || recipe.variants.empty()) recipe.variants = {Variant{}};
  recipe.variants_hole = false;
  for (Variant& v : recipe.variants) {
    std::vector<NodeGroup> groups;
    if (v.groups_hole) {
      groups = partition(program, options, ledger);
      for (const NodeGroup& g : groups) {
        Group made;
        made.name = g.name;
        for (const int n : g.nodes) made.ops.push_back(node_tensor(program.nodes[static_cast<std::size_t>(n)]));
        v.groups.push_back(std::move(made));
      }
      v.groups_hole = false;
    } else {
      const Result<std::vector<NodeGroup>> given = groups_of_recipe(program, v.groups);
      if (!given) return given.errors();
      groups = *given;
    }
    for (std::size_t g = 0; g < groups.size(); ++g) {
      Group& group = v.groups[g];
      group.rewrites_hole = false;
      if (!group.steps_hole) continue;
      group.steps_hole = false;
      // Each group may use its share of what is left, so that an expensive one cannot starve the rest.
      const Budget share = budget.part(2.0 / static_cast<double>(groups.size() - g + 1));
      const Result<Schedule> schedule = start(program, groups[g], share);
      if (!schedule) {
        if (schedule.errors()[0].code != Code::kBudgetExhausted) return schedule.errors();
        ledger.push_back(
            {"budget", "group " + group.name, false, schedule.errors()[0].message + ": original order", group.name, 0});
        continue;
      }
      group.steps = plan_group(*schedule, options, share, ledger);
    }
    recipe.memory_order.clear();
    for (const Group& g : v.groups) recipe.memory_order.push_back(g.name);
  }
  return recipe;
}

Result<Scheduled> schedule_program(const Program& program, const Recipe& recipe, const ScheduleOptions& options) {
  const Budget budget = budget_of(options);
  Scheduled result;
  LoopProgram& loops = result.loops;
  loops.name = program.name;
  loops.symbols = program.symbols;
  loops.numerics = program.numerics;
  loops.inputs = program.inputs;
  loops.outputs = program.outputs;
  const Variant* variant = variant_for(recipe);
  if (!variant) return diagnose(Code::kBadGroups, {}, {"the recipe has no variant"});
  const Result<std::vector<NodeGroup>> groups = groups_of_recipe(program, variant->groups);
  if (!groups) return groups.errors();
  std::set<std::string> used;
  std::vector<Buffer> workspace;
  for (std::size_t g = 0; g < groups->size(); ++g) {
    const bool plain = variant->groups[g].steps.empty();
    Result<Schedule> schedule = start(program, (*groups)[g], plain ? Budget{0, {}} : budget);
    if (!schedule) return schedule.errors();
    result.statements_text += to_text(*schedule->scop);
    result.deps_text += to_text(*schedule->scop, *schedule->dependences);
    StepOutcome outcome = apply_steps(*schedule, variant->groups[g].steps, budget);
    if (outcome.refusal) return outcome.refusal->diagnostic;
    result.schedule_text += to_text(*outcome.schedule);
    Kernel kernel;
    kernel.name = (*groups)[g].name;
    kernel.ops = variant->groups[g].ops;
    ScannedKernel scanned;
    const Result<Done> ran =
        guarded("scanning of " + kernel.name, Budget{0, {}}, [&] { scanned = build_loop_tree(*outcome.schedule); });
    if (!ran) return ran.errors();
    kernel.flops = count_operations(*schedule->scop);
    kernel.bytes = count_bytes(*schedule->scop);
    kernel.body = hoist_cache_buffers(scanned.body, workspace);
    for (Buffer& b : scanned.workspace)
      if (!program.tensors.count(b.name) || program.tensor(b.name).local || role_of(program, b.name) == BufferRole::kWorkspace)
        workspace.push_back(std::move(b));
    collect_buffers(kernel.body, kernel.buffers);
    for (const std::string& b : kernel.buffers) used.insert(b);
    loops.kernels.push_back(std::move(kernel));
  }
  const std::set<std::string> updated = updated_inputs(program);
  for (const std::string& name : program.tensor_order) {
    const Tensor& t = program.tensor(name);
    const BufferRole role = role_of(program, name);
    if (role == BufferRole::kWorkspace || (role == BufferRole::kWeight && !used.count(name))) continue;
    if (role == BufferRole::kWeight) loops.weights.push_back(name);
    loops.buffers.push_back(global_buffer(t, role));
  }
  for (const std::string& name : updated) {
    const Tensor& t = program.tensor(name);
    const std::string source = name + ".given";
    for (Buffer& b : loops.buffers)
      if (b.name == name && b.role == BufferRole::kInput) b.role = BufferRole::kWorkspace;
    for (Buffer& b : loops.buffers)
      if (b.name == name && b.role == BufferRole::kInOut) b.role = BufferRole::kOutput;
    Buffer given = global_buffer(t, BufferRole::kInput);
    given.name = source;
    loops.buffers.push_back(given);
    std::replace(loops.inputs.begin(), loops.inputs.end(), name, source);
    loops.kernels.insert(loops.kernels.begin(), copy_kernel("copy_" + name, t, name, source));
  }
  for (Buffer& b : workspace)
    if (!loops.find_buffer(b.name)) loops.buffers.push_back(std::move(b));
  return result;
}

Result<LegalReport> check_recipe(const Program& program, const Recipe& recipe, const ScheduleOptions& options) {
  const Budget budget = budget_of(options);
  LegalReport report;
  const Variant* variant = variant_for(recipe);
  if (!variant) return report;
  const Result<std::vector<NodeGroup>> groups = groups_of_recipe(program, variant->groups);
  if (!groups) return groups.errors();
  for (std::size_t g = 0; g < groups->size(); ++g) {
    const Result<Schedule> schedule = start(program, (*groups)[g], budget);
    if (!schedule) return schedule.errors();
    const std::vector<Step>& steps = variant->groups[g].steps;
    StepOutcome outcome = apply_steps(*schedule, steps, budget);
    if (!outcome.refusal) continue;
    const Diagnostic& d = outcome.refusal->diagnostic;
    if (failure_of(d.code) == Failure::kInput || failure_of(d.code) == Failure::kInternal) return d;
    report.legal = false;
    report.verb = steps[static_cast<std::size_t>(outcome.refusal->step)].verb;
    report.step = d.place.pointer.empty()
                      ? "/variants/0/groups/" + std::to_string(g) + "/steps/" + std::to_string(outcome.refusal->step)
                      : d.place.pointer;
    report.message = to_text(d);
    report.reason = outcome.refusal->violation ? "dependence" : "precondition";
    if (const std::optional<Violation>& v = outcome.refusal->violation) {
      report.has_violation = true;
      report.kind = to_text(v->kind);
      report.array = v->array;
      report.element = v->element;
      report.source = {v->source, v->source_iterators, v->source_instance};
      report.sink = {v->sink, v->sink_iterators, v->sink_instance};
      report.symbols = v->symbols;
      report.violation_text = to_text(*v);
    }
    return report;
  }
  return report;
}

}  // namespace facet
