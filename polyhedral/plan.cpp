// plan: the only stage that chooses. Variant by variant, one group at a time; a budget that ends in a correct recipe at every
// point.
//
// A recipe whose last variant has a condition would leave sizes to nobody: a variant of the scheduler's own is added for them.
#include <algorithm>
#include <set>

#include "facet/nearest.hpp"
#include "polyhedral/analyse.hpp"
#include "polyhedral/copies.hpp"
#include "polyhedral/recipe/gpu_tiles.hpp"
#include "polyhedral/recipe/holes.hpp"
#include "polyhedral/recipe/partials.hpp"
#include "polyhedral/recipe/planner.hpp"
#include "polyhedral/recipe/winograd.hpp"
#include "polyhedral/schedule_memo.hpp"
#include "polyhedral/variants.hpp"

namespace facet {

namespace {

// What planning may take of the time: the accepted steps are applied once more when the program is scheduled, and that, with
// the scan, must fit what is left.
constexpr double kPlanningShare = 0.45;

void plan_group(GroupPlanner& planner) {
  if (planner.options().for_gpu()) {
    plan_fusion(planner);
    plan_gpu_time_tiles(planner);
    plan_gpu_order(planner);
    plan_gpu_nests(planner);
    const std::vector<GpuTiles> tiles = plan_gpu_tiles(planner);
    plan_contraction_of_arrays(planner);
    plan_gpu(planner, tiles);
    plan_gpu_memory(planner);
    return;
  }
  plan_winograd(planner);
  plan_expansions(planner);
  plan_contractions(planner);
  plan_parts(planner);
  plan_fusion(planner);
  plan_overlaps(planner);
  plan_contraction_of_arrays(planner);
  plan_time_tiles(planner);
  plan_pivots(planner);
  plan_bands(planner);
  plan_recurrences(planner);
  plan_vectors(planner);
  plan_row_blocks(planner);
  plan_threads(planner);
  plan_streams(planner);
}

std::string variant_name(const Recipe& recipe, std::size_t v) {
  const std::string& when = recipe.variants[v].when;
  return "variant " + std::to_string(v) + (when.empty() ? "" : " (" + when + ")");
}

// Steps of one group; what the budget cut short stands in the ledger.
Result<std::vector<Step>> steps_of(const Program& program, const ReaderIndex& readers, const NodeGroup& nodes, int variant,
                                   const std::vector<Step>& rewrites, const ScheduleOptions& options, const Budget& share,
                                   Ledger& ledger) {
  const Result<Schedule> schedule = analyse(program, readers, nodes, share, rewrites);
  if (schedule) {
    GroupPlanner planner(*schedule, options, share, ledger);
    plan_group(planner);
    if (!options.for_gpu())
      if (std::optional<std::vector<Step>> plain = better_original_order(*schedule, planner)) return std::move(*plain);
    if (options.memo) options.memo->entries.push_back({variant, nodes.nodes, planner.steps(), *schedule, planner.schedule()});
    return planner.steps();
  }
  if (schedule.errors()[0].code != Code::kBudgetExhausted) return schedule.errors();
  ledger.push_back({"budget", "group " + nodes.name, false, schedule.errors()[0].message + ": original order", nodes.name, 0});
  return std::vector<Step>{};
}

// None where the budget ends before they are chosen.
Result<std::vector<Step>> rewrites_of(const Schedule& plain, const NodeGroup& nodes, const ScheduleOptions& options,
                                      const Budget& share, Ledger& ledger) {
  std::vector<Step> rewrites;
  const Result<Done> ran =
      guarded("rewrites of " + nodes.name, share, [&] { rewrites = plan_rewrites(plain, options, share, ledger); });
  if (ran) return rewrites;
  if (ran.errors()[0].code != Code::kBudgetExhausted) return ran.errors();
  ledger.push_back({"budget", "group " + nodes.name, false, ran.errors()[0].message + ": no rewrites", nodes.name, 0});
  return std::vector<Step>{};
}

bool leaves_holes(const Group& group) { return std::any_of(group.steps.begin(), group.steps.end(), leaves_hole); }

// The steps of a group that fixes some and leaves arguments or the rest open.
Result<std::vector<Step>> completed(const Group& group, const Program& program, const ReaderIndex& readers,
                                    const NodeGroup& nodes, const ScheduleOptions& options, const Budget& share,
                                    Ledger& ledger) {
  const Result<Schedule> schedule = analyse(program, readers, nodes, share, group.rewrites);
  if (!schedule) return schedule.errors();
  return complete_steps(*schedule, group.steps, options, share, plan_group, ledger);
}

// A group whose time ended has the steps that were decided by then: told once, whoever noticed.
void tell_end_of_time(const std::string& group, const Budget& share, std::size_t first, Ledger& ledger) {
  const std::string subject = "group " + group;
  const bool told = std::any_of(ledger.begin() + static_cast<std::ptrdiff_t>(first), ledger.end(),
                                [&](const LedgerEntry& e) { return e.kind == "budget" && e.subject == subject; });
  if (share.expired() && !told)
    ledger.push_back(
        {"budget", subject, false, "the time for it ended: what was not decided by then stays as it was", group, 0});
}

// Completes the holes of one variant.
Result<Done> complete(Variant& v, int index, const Program& program, const ReaderIndex& readers, const ScheduleOptions& options,
                      const Budget& budget, Ledger& ledger) {
  std::vector<NodeGroup> groups;
  if (v.groups_hole) {
    groups = partition(program, options, ledger);
    const std::vector<std::string> names = node_names(program);
    for (const NodeGroup& g : groups) {
      Group made;
      made.name = g.name;
      for (const int n : g.nodes) made.ops.push_back(names[static_cast<std::size_t>(n)]);
      v.groups.push_back(std::move(made));
    }
    v.groups_hole = false;
  } else {
    Result<std::vector<NodeGroup>> given = groups_of_recipe(program, v);
    if (!given) return given.errors();
    groups = std::move(*given);
    for (std::size_t g = 0; g < groups.size(); ++g) v.groups[g].name = groups[g].name;
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    Group& group = v.groups[g];
    group.rewrites_hole = false;
    const bool open = !group.steps_hole && leaves_holes(group);
    if (!group.steps_hole && !open) continue;
    // Each group may use its share of what is left, so that an expensive one cannot starve the rest.
    const Budget share = budget.part(2.0 / static_cast<double>(groups.size() - g + 1));
    const std::size_t first = ledger.size();
    if (group.steps_hole && group.rewrites.empty()) {
      const Result<Schedule> plain = lower_group(program, readers, groups[g]);
      if (!plain) return plain.errors();
      Result<std::vector<Step>> rewrites = rewrites_of(*plain, groups[g], options, share, ledger);
      if (!rewrites) return rewrites.errors();
      group.rewrites = std::move(*rewrites);
    }
    group.steps_hole = false;
    Result<std::vector<Step>> steps =
        open ? completed(group, program, readers, groups[g], options, share, ledger)
             : steps_of(program, readers, groups[g], index, group.rewrites, options, share, ledger);
    if (!steps) return steps.errors();
    group.steps = std::move(*steps);
    tell_end_of_time(groups[g].name, share, first, ledger);
  }
  return Done{};
}

// Memory is planned for the groups as they run, one variant after the other: an order that a recipe names says the same, of
// all or of some of them, or it is refused.
Result<Done> complete_memory_order(Recipe* recipe) {
  std::vector<std::string> running;
  for (const Variant& v : recipe->variants)
    for (const Group& g : v.groups)
      if (std::count(running.begin(), running.end(), g.name) == 0) running.push_back(g.name);
  std::string all;
  for (const std::string& name : running) all += (all.empty() ? "" : ", ") + name;
  auto next = running.begin();
  for (std::size_t i = 0; i < recipe->memory_order.size(); ++i) {
    const std::string& name = recipe->memory_order[i];
    const auto at = std::find(next, running.end(), name);
    if (at != running.end()) {
      next = at + 1;
      continue;
    }
    const bool known = std::count(running.begin(), running.end(), name) > 0;
    std::vector<std::string> notes = known ? std::vector<std::string>{} : did_you_mean(name, running);
    notes.push_back("leave \"order\" out, or write the groups as they run: " + all);
    return diagnose(Code::kBadMemoryOrder, i < recipe->order_places.size() ? recipe->order_places[i] : recipe->place,
                    {known ? "'" + name + "' does not run after '" + recipe->memory_order[i - 1] + "'"
                           : "no group is called '" + name + "'"},
                    std::move(notes));
  }
  recipe->memory_order = std::move(running);
  return Done{};
}

}  // namespace

Result<Recipe> plan(const Program& given, const Recipe& partial, const ScheduleOptions& options, Ledger& ledger) {
  const Program program = with_copies(given);
  if (options.memo) *options.memo = {&given, {}};
  const Budget budget = budget_of(options).part(kPlanningShare);
  Recipe recipe = partial;
  if (recipe.variants_hole || recipe.variants.empty()) recipe.variants = {Variant{}};
  recipe.variants_hole = false;
  if (recipe.variants.back().condition) {
    recipe.variants.push_back(Variant{});
    ledger.push_back({"variant", variant_name(recipe, recipe.variants.size() - 1), true,
                      "added for the sizes that no variant serves", "", 0});
  }
  add_copy_groups(program, true, &recipe);
  std::vector<VariantCase> cases;
  const Result<Done> told =
      guarded("conditions of variants", Budget{0, {}}, [&] { cases = cases_of(program, recipe, options.sizes); });
  if (!told) return told.errors();
  const ReaderIndex readers = readers_of(program);
  for (std::size_t v = 0; v < recipe.variants.size(); ++v) {
    if (!cases[v].never.empty())
      ledger.push_back({"variant", variant_name(recipe, v), false, "never taken: " + cases[v].never, "", 0});
    ScheduleOptions own = options;
    own.sizes = cases[v].sizes;
    const Budget share = budget.part(1.0 / static_cast<double>(recipe.variants.size() - v));
    const std::size_t first = ledger.size();
    const Result<Done> done = complete(recipe.variants[v], static_cast<int>(v), *cases[v].program, readers, own, share, ledger);
    if (!done) return done.errors();
    if (recipe.variants.size() > 1)
      for (std::size_t e = first; e < ledger.size(); ++e) ledger[e].group = variant_name(recipe, v) + ", " + ledger[e].group;
  }
  const Result<Done> ordered = complete_memory_order(&recipe);
  if (!ordered) return ordered.errors();
  return recipe;
}

}  // namespace facet
