// Policy: one vector loop a statement, one parallel loop a nest.
#include <algorithm>
#include <cmath>
#include <map>

#include "polyhedral/recipe/lane_axis.hpp"
#include "polyhedral/recipe/partials.hpp"

namespace facet {

namespace {

// A piece of a lone loop: long enough for whole vectors, short enough that every thread gets several.
constexpr std::int64_t kPiece = 4096;

constexpr std::int64_t kLeastColumns = 64;  // whole lines and vectors for each thread
constexpr int kManyGathers = 1000;          // of an axis that does not serve

double work_us(const GroupPlanner& planner, const TreePtr& nest) {
  const Model model = planner.model();
  double us = 0;
  for (const int s : statements_of(nest)) us += scalar_us(planner.schedule().statement(s), model.instances(s));
  return us;
}

double needed_us(const GroupPlanner& planner) { return threads_pay_us(planner.options()); }

std::vector<TreePtr> nests_of(const TreePtr& root) {
  return root->kind == Tree::Kind::kSequence ? root->children : std::vector<TreePtr>{root};
}

// A nest of one loop cannot give it to the threads and to the lanes: pieces for the one, their iterations for the other.
void cut_lone_loops(GroupPlanner& planner) {
  if (planner.threads() < 2) return;
  for (const TreePtr& nest : nests_of(planner.schedule().tree)) {
    bool lone = nest->kind == Tree::Kind::kLoop && nest->mark.kind == LoopKind::kSerial;
    if (lone) for_each_loop(nest->children[0], [&](const Tree&) { lone = false; });
    if (!lone || work_us(planner, nest) < needed_us(planner)) continue;
    const auto [statement, name] = address_of(planner.schedule(), nest);
    if (statement < 0 || planner.model().trips(*nest, statement) < static_cast<double>(2 * kPiece)) continue;
    bool free = false;
    const Result<Done> asked = guarded("pieces for threads", planner.budget(),
                                       [&] { free = !carries_dependence(planner.schedule(), nest->id, true); });
    if (!asked || !free) continue;
    const std::string owner = planner.schedule().statement(statement).name;
    planner.attempt(make_step("tile", {{"statement", arg(owner)},
                                       {"loops", arg(std::vector<std::string>{name})},
                                       {"names", arg(std::vector<std::string>{name + "0"})},
                                       {"sizes", arg(std::vector<std::int64_t>{kPiece})}}),
                    "tile", "loop " + name + " of " + owner, "pieces for the threads, their iterations for the lanes");
  }
}

// Do the loops around decide the innermost one's value? It is a loop of one iteration then.
bool stands_still(const Schedule& schedule, const std::vector<TreePtr>& loops, int statement) {
  const Statement& s = schedule.statement(statement);
  if (loops.size() <= s.iterators.size() && loops.size() == loops_around(schedule.scop->original, statement).size())
    return false;
  isl::map pairs = all_pairs(s.domain, s.domain);
  for (const TreePtr& l : loops) {
    const isl::pw_aff& f = l->member.at(statement);
    pairs = pairs.intersect(compare_map(f, l == loops.back() ? Compare::kLess : Compare::kEqual, f));
  }
  return pairs.is_empty();
}

// One iteration for all sizes: no loop in the generated code.
bool runs_once(const Schedule& schedule, const Tree& loop, int statement) {
  const Statement& s = schedule.statement(statement);
  const std::string name = walked_iterator(schedule, loop, statement);
  for (std::size_t i = 0; i < s.ranges.size(); ++i)
    if (s.iterators[i] == name)
      return s.ranges[i].lower->op == Op::kLiteral && s.ranges[i].upper->op == Op::kLiteral &&
             s.ranges[i].upper->int_value == s.ranges[i].lower->int_value + 1;
  return false;
}

// The loops around a statement, those of a register tile (unrolled, innermost) before the one whose iterations are lanes.
std::vector<TreePtr> loops_to_lanes(const Schedule& schedule, int statement) {
  std::vector<TreePtr> loops = loops_around(schedule.tree, statement);
  while (loops.size() > 1 && loops.back()->mark.kind == LoopKind::kSerial && runs_once(schedule, *loops.back(), statement))
    loops.pop_back();
  auto lanes = loops.rbegin();
  while (lanes != loops.rend() && (*lanes)->mark.kind == LoopKind::kUnroll) ++lanes;
  if (lanes != loops.rend()) std::rotate(lanes.base() - 1, lanes.base(), loops.end());
  return loops;
}

// Is it a copy between row and column order, whose innermost loops walk a line of each side? It is printed as one: squares of
// vectors turned in registers, a quarter of what gathered vectors cost.
bool turns_squares(const GroupPlanner& planner, int statement) {
  const Schedule& schedule = planner.schedule();
  const Statement& s = schedule.statement(statement);
  if (s.update || s.value->op != Op::kRead || s.value->pad || !is_float(s.value->type) || size_bytes(s.value->type) < 4)
    return false;
  const std::vector<TreePtr> loops = loops_around(schedule.tree, statement);
  std::map<std::string, double> inner;  // trips of the loops that have this statement alone
  double rows = 0, columns = 1;
  for (auto l = loops.rbegin(); l != loops.rend(); ++l) {
    if ((*l)->mark.kind != LoopKind::kSerial || statements_of(*l).size() > 1) break;
    const std::string name = walked_iterator(schedule, **l, statement);
    if (name.empty()) break;
    inner[name] = planner.model().trips(**l, statement);
    const bool along = Model::stride(s.subscripts, name) == Model::Stride::kUnit;
    if (along && Model::stride(s.value->args, name) == Model::Stride::kOther) rows = inner[name];
  }
  // Loops that follow each other along the lines of the source are one.
  for (auto e = s.value->args.rbegin(); e != s.value->args.rend(); ++e) {
    const bool walks = (*e)->op == Op::kIndex && inner.count((*e)->name) > 0;
    if (!walks || Model::stride(s.subscripts, (*e)->name) != Model::Stride::kOther) break;
    columns *= inner[(*e)->name];
  }
  return rows >= 8 && columns >= 8;
}

void vectorize_leaf(GroupPlanner& planner, int statement) {
  const Schedule& schedule = planner.schedule();
  const std::vector<TreePtr> loops = loops_to_lanes(schedule, statement);
  if (loops.empty()) return;
  if (turns_squares(planner, statement))
    return planner.decline("vector", "loop " + loops.back()->names.at(statement) + " of " + schedule.statement(statement).name,
                           "squares of it are turned in registers");
  for (const TreePtr& l : loops)
    if (l->mark.kind == LoopKind::kVector) return;
  const TreePtr inner = loops.back();
  if (loops_around(schedule.tree, statement).size() == loops.size() && inner->children[0]->kind == Tree::Kind::kLoop &&
      inner->children[0]->mark.kind != LoopKind::kUnroll)
    return;
  const std::string subject = "loop " + inner->names.at(statement) + " of " + schedule.statement(statement).name;
  int width = 64;
  for (const int s : statements_of(inner)) {
    const Statement st = within_parts(schedule, s);
    if (loops_to_lanes(schedule, s).back() != inner) return planner.decline("vector", subject, "it contains other loops");
    const std::string name = walked_iterator(schedule, *inner, s);
    std::string why = "it does not walk an index of '" + st.name + "'";
    if (name.empty() || !good_lanes(st, name, &why)) return planner.decline("vector", subject, why);
    width = std::min(width, planner.options().machine.cpu.vector_bytes / static_cast<int>(size_bytes(widest_type(st))));
  }
  if (width < 2) return planner.decline("vector", subject, "the machine has no vectors of this type");
  bool still = false;
  const Result<Done> asked =
      guarded("vectors", planner.budget(), [&] { still = stands_still(planner.schedule(), loops, statement); });
  if (!asked || still) return planner.decline("vector", subject, "one iteration of it at a time");
  const double trips = planner.model().trips(*inner, statement);
  while (width > 2 && trips < width) width /= 2;
  if (trips < width)
    return planner.decline("vector", subject, "only " + std::to_string(static_cast<long>(trips)) + " iterations");
  planner.attempt(make_step("vectorize", {{"statement", arg(schedule.statement(statement).name)},
                                          {"loop", arg(inner->names.at(statement))},
                                          {"width", arg(std::int64_t{width})}}),
                  "vector", subject, "contiguous along the innermost loop");
}

// Sinks the best lane axis to the innermost place: the one with the fewest gathers.
void sink_unit_stride(GroupPlanner& planner, int statement) {
  const Schedule& schedule = planner.schedule();
  const Statement& s = schedule.statement(statement);
  const std::vector<TreePtr> loops = loops_around(schedule.tree, statement);
  if (loops.size() < 2 || loops.back()->mark.kind != LoopKind::kSerial) return;
  std::string why;
  const std::string inner_name = walked_iterator(schedule, *loops.back(), statement);
  const bool inner_good = !inner_name.empty() && good_lanes(s, inner_name, &why);
  int fewest = inner_good ? gathers(s, inner_name) : kManyGathers;
  for (std::size_t k = loops.size() - 1; k-- > 0 && fewest > 0;) {
    if (loops[k]->mark.kind != LoopKind::kSerial) break;
    const std::string name = walked_iterator(schedule, *loops[k], statement);
    if (name.empty() || !good_lanes(s, name, &why) || gathers(s, name) >= fewest) continue;
    if (planner.model().trips_inside(*loops[k], statement) < 2) continue;  // one iteration of it at a time
    std::vector<Step> steps;
    std::vector<std::string> order;
    for (std::size_t m = k + 1; m < loops.size(); ++m) order.push_back(loops[m]->names.at(statement));
    order.push_back(loops[k]->names.at(statement));
    if (loops[k]->children[0] != loops[k + 1] || statements_of(loops[k]).size() > 1)
      steps.push_back(make_step("distribute", {{"statement", arg(s.name)}, {"loop", arg(loops[k]->names.at(statement))}}));
    steps.push_back(make_step("interchange", {{"statement", arg(s.name)}, {"order", arg(order)}}));
    if (planner.attempt_all(steps, "vector", "loop " + name + " of " + s.name,
                            "sunk to the innermost place: contiguous along it"))
      return;
  }
}

// A reduction's loop outside keeps its nest from the threads: columns of the innermost loop, which carries nothing, for them.
//     for j { for i  x[i] += a[j, i] * y[j] }      -->      for i0 (parallel) { for j { for i in block i0  x[i] += .. } }
// `nest` is held: the planner's tree changes meanwhile.
void cut_columns(GroupPlanner& planner, TreePtr nest, double entries) {
  const Schedule& schedule = planner.schedule();
  if (nest->kind == Tree::Kind::kLoop && statements_of(nest).size() > 1) {
    const auto [s, name] = address_of(schedule, nest);
    if (s < 0 || nest->mark.kind != LoopKind::kSerial) return;
    bool shared = true;  // its iterations go to the threads as they are
    const Result<Done> asked = guarded("columns for threads", planner.budget(),
                                       [&] { shared = !carries_dependence(planner.schedule(), nest->id, true); });
    if (asked && !shared) cut_columns(planner, nest->children[0], entries * std::max(1.0, planner.model().trips(*nest, s)));
    return;
  }
  if (nest->kind == Tree::Kind::kSequence)
    for (const TreePtr& c : nest->children) cut_columns(planner, c, entries);
  if (nest->kind != Tree::Kind::kLoop || work_us(planner, nest) / entries < needed_us(planner)) return;
  const std::vector<TreePtr> chain = loop_chain(nest);
  if (chain.size() < 2) return;
  const int statement = chain.back()->children[0]->statement;
  bool blocked = true, free = false;
  for (const TreePtr& l : chain) blocked = blocked && l->mark.kind == LoopKind::kSerial;
  const Result<Done> asked = guarded("columns for threads", planner.budget(), [&] {
    for (const TreePtr& l : chain)
      if (l != chain.back()) blocked = blocked && carries_dependence(schedule, l->id, true);
    free = blocked && !carries_dependence(schedule, chain.back()->id, true);
  });
  const double trips = planner.model().trips_inside(*chain.back(), statement);
  if (!asked || !free || trips < static_cast<double>(kLeastColumns * planner.threads())) return;
  const double each = trips / planner.threads() / static_cast<double>(kLeastColumns);
  const std::int64_t columns = kLeastColumns * static_cast<std::int64_t>(std::ceil(each));
  const std::string owner = schedule.statement(statement).name, inner = chain.back()->names.at(statement);
  std::vector<std::string> order{inner + "0"};
  for (const TreePtr& l : chain)
    if (l != chain.back()) order.push_back(l->names.at(statement));
  planner.attempt_all({make_step("tile", {{"statement", arg(owner)},
                                          {"loops", arg(std::vector<std::string>{inner})},
                                          {"names", arg(std::vector<std::string>{inner + "0"})},
                                          {"sizes", arg(std::vector<std::int64_t>{columns})}}),
                       make_step("interchange", {{"statement", arg(owner)}, {"order", arg(order)}})},
                      "tile", "loop " + inner + " of " + owner,
                      "columns for the threads: the loops outside carry a dependence");
}

}  // namespace

void plan_vectors(GroupPlanner& planner) {
  plan_windows(planner);
  // Copies were given their loops and lanes by who asked for them: their buffers' layouts are not the arrays'.
  const auto copies = [&](int s) { return planner.schedule().statement(s).kind == StatementKind::kCopy; };
  for (const int s : statements_of(planner.schedule().tree))
    if (!copies(s)) sink_unit_stride(planner, s);
  cut_parts(planner);
  cut_lone_loops(planner);
  if (planner.threads() > 1) cut_columns(planner, planner.schedule().tree, 1);
  for (const int s : statements_of(planner.schedule().tree))
    if (!copies(s)) vectorize_leaf(planner, s);
}

namespace {

std::string loop_of(const GroupPlanner& planner, const TreePtr& loop) {
  const int first = statements_of(loop).front();
  return "loop " + loop->names.at(first) + " of " + planner.schedule().statement(first).name;
}

// The outermost loops that carry nothing and have work for every thread: of a chain the first, and where it ends in several
// nests the first of each. `entries`: how often the loops around start it.
void share_out(GroupPlanner& planner, const TreePtr& tree, double entries) {
  if (tree->kind == Tree::Kind::kLeaf) return;
  if (tree->kind == Tree::Kind::kSequence) {
    for (const TreePtr& c : tree->children) share_out(planner, c, entries);
    return;
  }
  if (tree->mark.kind != LoopKind::kSerial) return;
  const double work = work_us(planner, tree) / entries, needed = needed_us(planner);
  if (work < needed)
    return planner.decline("parallel", loop_of(planner, tree),
                           "about " + std::to_string(static_cast<long>(work)) +
                               " us of work each time it starts, threads pay from " +
                               std::to_string(static_cast<long>(needed)) + " us");
  const auto [statement, name] = address_of(planner.schedule(), tree);
  const double trips = planner.model().trips(*tree, statement < 0 ? statements_of(tree).front() : statement);
  if (statement >= 0 && trips >= 2) {
    const std::string owner = planner.schedule().statement(statement).name;
    if (planner.attempt(make_step("parallelize", {{"statement", arg(owner)}, {"loop", arg(name)}}), "parallel",
                        "loop " + name + " of " + owner, std::to_string(static_cast<long>(trips)) + " independent iterations"))
      return;
  }
  share_out(planner, tree->children[0], entries * std::max(1.0, trips));
}

}  // namespace

void plan_threads(GroupPlanner& planner) {
  if (planner.threads() < 2) return planner.decline("parallel", "all nests", "one thread");
  for (const TreePtr& nest : nests_of(planner.schedule().tree)) {
    bool marked = false;
    for_each_loop(nest, [&](const Tree& l) { marked = marked || l.mark.kind == LoopKind::kParallel; });
    if (!marked) share_out(planner, nest, 1);
  }
}

}  // namespace facet
