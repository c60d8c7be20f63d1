// Policy: fuse neighbouring nests along their data flow, then shrink the arrays between them.
//
// Nests are visited in order. A nest joins the cluster before it when a statement of it reads a result of the cluster index by
// index: the read T[i, j] against the write T[i, j] pairs the loops. The deepest legal depth is taken (a whole row that is
// needed first makes the inner loop's fusion illegal, so softmax fuses at the row by itself). Neighbours that only read the
// same array, element by element, join as well, and a sum in parts joins whoever walks its matrix row by row. The outer loop
// stays parallel unless one thread is predicted to take less time for both than the threads for each. Nests that only start
// sums do not keep a reduction from its producer: they go before both.
#include <algorithm>

#include "polyhedral/recipe/gpu_nest.hpp"
#include "polyhedral/recipe/partials.hpp"

namespace facet {

namespace {

// Of a thread's stack (8 MiB, 4 of OpenMP's helpers), for a box that is this large at the largest sizes only.
constexpr double kMostStack = 1 << 20;
constexpr double kTrialShare = 0.1;  // of what is left of the time, for a prediction

// The loops of a nest above its first sequence or leaf, as named by `statement`.
std::vector<std::string> outer_loops(const TreePtr& nest, int statement) {
  std::vector<std::string> names;
  for (const TreePtr& l : loop_chain(nest)) names.push_back(l->names.at(statement));
  return names;
}

// Pairs the loops of writer and reader through one array: reader's loop name for each of the writer's loops, "" when unpaired.
std::vector<std::string> pair_loops(const Statement& writer, const Statement& reader, const std::vector<std::string>& loops) {
  std::vector<std::string> paired(loops.size());
  walk(reader.value, [&](const Expr& e) {
    if (e.op != Op::kRead || e.name != writer.target || e.args.size() != writer.subscripts.size()) return;
    for (std::size_t l = 0; l < loops.size(); ++l)
      for (std::size_t d = 0; d < e.args.size(); ++d)
        if (writer.subscripts[d]->op == Op::kIndex && writer.subscripts[d]->name == loops[l] && e.args[d]->op == Op::kIndex &&
            paired[l].empty())
          paired[l] = e.args[d]->name;
  });
  return paired;
}

// Pairs the loops of two statements that only share a read: both walk T[i, j], element by element and nothing else.
std::vector<std::string> pair_siblings(const Statement& a, const Statement& b, const std::vector<std::string>& loops) {
  std::vector<std::string> paired(loops.size());
  walk(a.value, [&](const Expr& x) {
    if (x.op != Op::kRead) return;
    walk(b.value, [&](const Expr& y) {
      if (y.op != Op::kRead || y.name != x.name || x.args.size() != y.args.size()) return;
      for (std::size_t l = 0; l < loops.size(); ++l)
        for (std::size_t d = 0; d < x.args.size(); ++d)
          if (x.args[d]->op == Op::kIndex && x.args[d]->name == loops[l] && y.args[d]->op == Op::kIndex && paired[l].empty())
            paired[l] = y.args[d]->name;
    });
  });
  return paired;
}

struct Pairing {
  int writer = -1, reader = -1;
  std::vector<std::string> writer_loops, reader_loops;
  bool siblings = false;
};

// The deepest pairing of the two nests' outer loops.
std::optional<Pairing> best_pairing(const Schedule& schedule, const TreePtr& cluster, const TreePtr& nest) {
  std::optional<Pairing> best;
  for (const int w : statements_of(cluster))
    for (const int r : statements_of(nest)) {
      const std::vector<std::string> loops = outer_loops(cluster, w);
      const std::vector<std::string> mine = outer_loops(nest, r);
      const std::vector<std::string> paired = pair_loops(schedule.statement(w), schedule.statement(r), loops);
      std::size_t depth = 0;
      while (depth < loops.size() && depth < mine.size() && paired[depth] == mine[depth]) ++depth;
      if (depth == 0 || (best && best->writer_loops.size() >= depth)) continue;
      best = Pairing{w,
                     r,
                     {loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(depth)},
                     {mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(depth)},
                     false};
    }
  return best;
}

// Nests without data flow between them that walk one array in all their loops: one pass over memory instead of two. Reductions
// are left alone, since sharing a loop with them decides how they may be done.
std::optional<Pairing> sibling_pairing(const Schedule& schedule, const TreePtr& cluster, const TreePtr& nest) {
  for (const TreePtr& part : {cluster, nest})
    for (const int s : statements_of(part))
      if (schedule.statement(s).update || loops_around(schedule.tree, s).size() != outer_loops(part, s).size())
        return std::nullopt;
  for (const int a : statements_of(cluster))
    for (const int b : statements_of(nest)) {
      const std::vector<std::string> loops = outer_loops(cluster, a), mine = outer_loops(nest, b);
      if (!mine.empty() && pair_siblings(schedule.statement(a), schedule.statement(b), loops) == mine)
        return Pairing{a, b, loops, mine, true};
    }
  return std::nullopt;
}

// A sum in parts and another statement that walk one matrix row by row: the parts were made for this.
std::optional<Pairing> pairing_of_parts(const Schedule& schedule, const TreePtr& cluster, const TreePtr& nest) {
  const std::vector<int> sums = statements_of(nest);
  if (sums.size() != 1 || !has_parts(schedule.statement(sums[0]))) return std::nullopt;
  for (const int a : statements_of(cluster)) {
    std::vector<std::string> loops = outer_loops(cluster, a), mine = outer_loops(nest, sums[0]);
    const std::vector<std::string> paired = pair_siblings(schedule.statement(a), schedule.statement(sums[0]), loops);
    std::size_t depth = 0;
    while (depth < paired.size() && depth < mine.size() && paired[depth] == mine[depth]) ++depth;
    loops.resize(depth);
    mine.resize(depth);
    if (depth > 0) return Pairing{a, sums[0], loops, mine, true};
  }
  return std::nullopt;
}

Step fuse_step(const Schedule& schedule, const Pairing& p, std::size_t depth) {
  const std::string& a = schedule.statement(p.writer).name;
  const std::string& b = schedule.statement(p.reader).name;
  const std::vector<std::string> x(p.writer_loops.begin(), p.writer_loops.begin() + static_cast<std::ptrdiff_t>(depth));
  const std::vector<std::string> y(p.reader_loops.begin(), p.reader_loops.begin() + static_cast<std::ptrdiff_t>(depth));
  return make_step("fuse", {{"statements", arg(std::vector<std::string>{a, b})},
                            {"loops", x == y ? arg(x) : arg(ArgumentMap{{a, arg(x)}, {b, arg(y)}})}});
}

bool outer_parallel(const Schedule& schedule, const TreePtr& nest) {
  return nest->kind == Tree::Kind::kLoop && !carries_dependence(schedule, nest->id, true);
}

bool is_outer_parallel(const GroupPlanner& planner, const TreePtr& nest) {
  bool parallel = false;
  const Result<Done> asked =
      guarded("fusion policy", planner.budget(), [&] { parallel = outer_parallel(planner.schedule(), nest); });
  return asked && parallel;
}

// Would the cluster's loop be worth more to the threads than to a reduction over it, which has no parts for them?
bool needs_threads(const GroupPlanner& planner, const TreePtr& cluster, const TreePtr& nest) {
  for (const int s : statements_of(nest))
    if (has_parts(planner.schedule().statement(s))) return false;
  const Model model = planner.model();
  double us = 0;
  for (const int s : statements_of(cluster)) us += scalar_us(planner.schedule().statement(s), model.instances(s));
  return planner.threads() > 1 && us >= threads_pay_us(planner.options());
}

// Only values that depend on no array: where sums begin.
bool only_starts(const Schedule& schedule, const TreePtr& nest) {
  const std::vector<int> all = statements_of(nest);
  return std::all_of(all.begin(), all.end(), [&](int s) {
    const Statement& st = schedule.statement(s);
    return !st.update && st.reads.empty();
  });
}

// The nest that number `i` of the sequence may join: its neighbour, or the next before it with nothing but starts between.
std::size_t partner(const Schedule& schedule, const std::vector<TreePtr>& nests, std::size_t i) {
  std::size_t at = i - 1;
  if (!only_starts(schedule, nests[i]))
    while (at > 0 && only_starts(schedule, nests[at]) && !best_pairing(schedule, nests[at], nests[i])) --at;
  return at;
}

// Of the deepest statement.
std::size_t depth_of(const TreePtr& tree) {
  std::size_t below = 0;
  for (const TreePtr& c : tree->children) below = std::max(below, depth_of(c));
  return below + (tree->kind == Tree::Kind::kLoop ? 1 : 0);
}

// Must the loop that both share stay parallel?
bool keeps_parallel(const GroupPlanner& planner, const TreePtr& cluster, const TreePtr& nest) {
  const bool for_gpu = planner.options().for_gpu();
  bool keep = false;
  const Result<Done> asked = guarded("fusion policy", planner.budget(), [&] {
    keep = outer_parallel(planner.schedule(), cluster) &&
           (outer_parallel(planner.schedule(), nest) || (!for_gpu && needs_threads(planner, cluster, nest)));
  });
  return asked && keep;
}

// What the fused schedule would lose; "": nothing.
std::string fusion_loss(const GroupPlanner& planner, const Schedule& fused, int loop, bool keep_parallel) {
  const bool for_gpu = planner.options().for_gpu();
  bool lost = false;
  const Result<Done> asked =
      guarded("fusion policy", planner.budget(), [&] { lost = keep_parallel && carries_dependence(fused, loop, true); });
  if (!asked || lost) {
    std::string loss = "the outer loop would no longer be parallel";
    if (for_gpu) return loss;
    const std::optional<double> together = predicted_us(planner, fused, kTrialShare),
                                apart = predicted_us(planner, planner.schedule(), kTrialShare);
    if (!together || !apart) return loss + " (not predicted: no time left)";
    if (*together >= *apart)
      return loss + ": the kernel is predicted at " + time_text(*together) + " fused, at " + time_text(*apart) + " apart";
  }
  return for_gpu ? gpu_fusion_loss(planner, fused, loop) : "";
}

// Shares as many loops as the dependences and the model allow.
bool fuse_nests(GroupPlanner& planner, const TreePtr& cluster, const TreePtr& nest) {
  if (is_planned(cluster) || is_planned(nest)) return false;
  const std::string subject = planner.schedule().statement(statements_of(cluster).back()).name + " -> " +
                              planner.schedule().statement(statements_of(nest).front()).name;
  std::optional<Pairing> p = best_pairing(planner.schedule(), cluster, nest);
  if (!p) p = sibling_pairing(planner.schedule(), cluster, nest);
  if (!p) p = pairing_of_parts(planner.schedule(), cluster, nest);
  if (!p) {
    planner.decline("fusion", subject, "no loops that walk the shared array together");
    return false;
  }
  if (!planner.options().for_gpu() && depth_of(cluster) >= 3 && depth_of(nest) < depth_of(cluster) &&
      !is_outer_parallel(planner, cluster)) {
    planner.decline("fusion", subject, "the nest before it is sequential and deeper: tiles of its own serve it better");
    return false;
  }
  const bool keep = keeps_parallel(planner, cluster, nest);
  const std::string gain = p->siblings ? "what both read is read once" : "the array between stays in cache or registers";
  for (std::size_t depth = p->writer_loops.size(); depth > 0; --depth) {
    const Step step = fuse_step(planner.schedule(), *p, depth);
    const StepOutcome trial = apply_step(planner.schedule(), step, planner.budget());
    const std::string loss = trial.schedule ? fusion_loss(planner, *trial.schedule, cluster->id, keep) : "";
    if (!loss.empty()) {
      planner.decline("fusion", subject, loss);
    } else if (planner.attempt(step, "fusion", subject, "shares " + std::to_string(depth) + " loops; " + gain)) {
      return true;
    }
  }
  return false;
}

}  // namespace

void plan_fusion(GroupPlanner& planner) {
  if (!planner.options().fusion) return;
  for (std::size_t i = 1;;) {
    const TreePtr root = planner.schedule().tree;
    if (root->kind != Tree::Kind::kSequence || i >= root->children.size()) return;
    const TreePtr cluster = root->children[partner(planner.schedule(), root->children, i)], nest = root->children[i];
    if (!fuse_nests(planner, cluster, nest)) ++i;
  }
}

namespace {

// Does a loop become parallel by giving each iteration its own array?
bool frees_a_loop(const GroupPlanner& planner, const Schedule& contracted) {
  bool frees = false;
  const int at = contracted.storage.back().at;
  const Result<Done> asked = guarded("contraction policy", planner.budget(), [&] {
    const TreePtr loop = at < 0 ? nullptr : find_loop(contracted.tree, at);
    if (!loop) return;
    for (const TreePtr& l : loops_around(contracted.tree, loop->member.begin()->first)) {
      frees = frees || (carries_dependence(planner.schedule(), l->id, true) && !carries_dependence(contracted, l->id, true));
      if (l->id == at) break;
    }
  });
  return asked && frees;
}

}  // namespace

void plan_contraction_of_arrays(GroupPlanner& planner) {
  // One tile of an intermediate on a thread's stack, well inside L2; on a GPU, in a block's shared memory.
  const bool for_gpu = planner.options().for_gpu();
  const double most_bytes = for_gpu ? 48 * 1024 : 64 * 1024;
  std::vector<std::string> arrays;
  for (const auto& [name, a] : planner.schedule().scop->arrays)
    if (!a.external && !a.live_out && !a.scalar) arrays.push_back(name);
  for (const std::string& name : arrays) {
    const std::vector<StorageMap>& maps = planner.schedule().storage;
    if (std::any_of(maps.begin(), maps.end(), [&](const StorageMap& m) { return m.array == name; })) continue;
    const Step step = make_step("contract", {{"array", arg(name)}});
    const StepOutcome trial = apply_step(planner.schedule(), step, planner.budget());
    if (!trial.schedule) {
      planner.decline("contraction", "array " + name, trial.refusal->diagnostic.message);
      continue;
    }
    double bytes = static_cast<double>(size_bytes(planner.schedule().scop->arrays.at(name).dtype));
    bool constant = true;
    for (const ExprPtr& e : trial.schedule->storage.back().sizes) {
      constant = constant && e->op == Op::kLiteral;
      if (constant) bytes *= static_cast<double>(e->int_value);
    }
    if (!constant) {
      planner.decline("contraction", "array " + name, "its box has no constant size");
    } else if (bytes > most_bytes && (for_gpu || bytes > kMostStack || planner.model().array_bytes(name) > most_bytes ||
                                      !frees_a_loop(planner, *trial.schedule))) {
      planner.decline("contraction", "array " + name,
                      "its box of " + std::to_string(static_cast<long>(bytes)) + " bytes is over the limit of " +
                          std::to_string(static_cast<long>(most_bytes)));
    } else {
      planner.attempt(step, "contraction", "array " + name,
                      "needs " + std::to_string(static_cast<long>(bytes)) + " bytes per iteration instead of " +
                          std::to_string(static_cast<long>(planner.model().array_bytes(name))));
    }
  }
}

}  // namespace facet
