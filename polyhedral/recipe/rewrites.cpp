// Policy: the rewrites of a group, chosen before its schedule.
//
// Neighbouring indices of a contraction that play the same part (rows, columns, batch or reduction) become one where nothing
// in the group tells them apart: points of a 1 x 1 convolution, batch and time of a linear layer. Register tiles and vectors
// then end once instead of in every row, and the threads share out all rows. Then sums that would keep all threads but one idle
// are taken in parts.
//
// Before that a sum of products becomes several contractions, and scalar factors, alpha * A[i, k] * B[k, j], are multiplied to
// their operand once: a register tile would do it again for each of its tiles of the other side, with a multiplication and a
// broadcast for every row beside nr / lanes multiply-adds (gemm of PolyBench: 29 ms so, 21 ms from an array of alpha * A).
//
// A 3 x 3 convolution becomes a Winograd one where numerics are free, the estimate says that it pays and its stages can be
// scheduled as the policy for them wants it.
#include <algorithm>

#include "facet/expr_facts.hpp"
#include "polyhedral/analyse.hpp"
#include "polyhedral/recipe/contraction.hpp"
#include "polyhedral/recipe/partials.hpp"
#include "polyhedral/recipe/winograd.hpp"
#include "polyhedral/rewrite/rewrite.hpp"

namespace facet {

namespace {

using Names = std::vector<std::string>;

constexpr double kLeastWork = 500000;  // multiply-adds that pay for an array and its nest
constexpr double kLeastUses = 128;     // of an element, for its way to memory and back: some 2 ns, a multiplication saves 0.02

// Does the value multiply this read by scalars before anything else?
bool is_scaled(const ExprPtr& value, const Expr* read) {
  if (value->op != Op::kMul)
    return std::any_of(value->args.begin(), value->args.end(),
                       [&](const ExprPtr& a) { return a.get() != read && is_scaled(a, read); });
  const auto scalar = [](const ExprPtr& e) { return e->op == Op::kLiteral || (e->op == Op::kRead && e->args.empty()); };
  for (const int k : {0, 1})
    if (value->args[static_cast<std::size_t>(k)].get() == read && scalar(value->args[static_cast<std::size_t>(1 - k)]))
      return true;
  return is_scaled(value->args[0], read) || is_scaled(value->args[1], read);
}

class RewritePlan {
 public:
  RewritePlan(const Schedule& plain, const ScheduleOptions& options, const Budget& budget, Ledger& ledger)
      : schedule_(plain), options_(options), budget_(budget), ledger_(ledger) {}

  std::vector<Step> run() {
    for (int s = 0; s < schedule_.statement_count(); ++s) split_terms(s);
    for (int s = 0; s < schedule_.statement_count(); ++s) scale_operands(s);
    for (int s = 0; s < schedule_.statement_count(); ++s)
      while (join_some(s)) {}
    const int n = schedule_.statement_count();  // what a rewrite adds is left as it made it
    for (int s = 0; s < n; ++s) transform_tiles(s);
    const Model model(schedule_, options_.sizes);
    double group_us = 0;
    for (int s = 0; s < schedule_.statement_count(); ++s) group_us += scalar_us(schedule_.statement(s), model.instances(s));
    for (int s = 0; s < n; ++s) sum_in_parts(s, group_us);
    return std::move(steps_);
  }

 private:
  Schedule schedule_;
  const ScheduleOptions& options_;
  const Budget& budget_;
  Ledger& ledger_;
  std::vector<Step> steps_;
  Ledger unheard_;

  Model model() const { return Model(schedule_, options_.sizes); }

  std::vector<Contraction> contractions(int s) const { return recognise_contractions(schedule_.statement(s), s, model()); }

  // Of a statement all of whose terms are contractions.
  void split_terms(int s) {
    const Statement& st = schedule_.statement(s);
    if (!st.update || model().instances(s) < kLeastWork || (st.value->op != Op::kAdd && st.value->op != Op::kSub)) return;
    const Schedule before = schedule_;
    const std::size_t steps = steps_.size(), told = ledger_.size();
    const int first = schedule_.statement_count();
    if (!attempt(make_step("split_terms", {{"statement", arg(st.name)}}), "update " + st.name, "its terms are contractions"))
      return;
    bool all = !contractions(s).empty();
    for (int t = first; t < schedule_.statement_count(); ++t) all = all && !contractions(t).empty();
    if (all) return;
    schedule_ = before;
    steps_.resize(steps);
    ledger_.resize(told);
  }

  void scale_operands(int s) {
    const Statement& st = schedule_.statement(s);
    const std::vector<Contraction> choices = contractions(s);
    if (choices.empty() || model().instances(s) < kLeastWork) return;
    for (const Expr* operand : {choices[0].a, choices[0].b}) {
      double uses = 1;
      for (std::size_t at = 0; at < st.iterators.size(); ++at)
        if (!mentions_index(operand->args, st.iterators[at])) uses *= model().extent(s, at);
      if (uses < kLeastUses || !is_scaled(st.value, operand)) continue;
      if (attempt(make_step("precompute", {{"statement", arg(st.name)}, {"array", arg(operand->name)}}),
                  "operand " + operand->name + " of " + st.name, "multiplied once, not in every register tile"))
        return;
    }
  }

  // The first two neighbours that can be one.
  bool join_some(int s) {
    const Statement& st = schedule_.statement(s);
    const std::vector<Contraction> choices = contractions(s);
    if (choices.empty()) return false;
    for (std::size_t at = 0; at + 1 < st.iterators.size(); ++at) {
      const Names both{st.iterators[at], st.iterators[at + 1]};
      for (const Names* part : {&choices[0].m, &choices[0].n, &choices[0].k, &choices[0].batch})
        if (std::count(part->begin(), part->end(), both[0]) + std::count(part->begin(), part->end(), both[1]) == 2 &&
            attempt(make_step("flatten", {{"statement", arg(st.name)}, {"loops", arg(both)}}),
                    "loops " + both[0] + ", " + both[1] + " of " + st.name, "walk the rows of every array as one"))
          return true;
    }
    return false;
  }

  void transform_tiles(int s) {
    std::int64_t tile = 0;
    std::optional<Schedule> made;
    const Result<Done> ran = guarded("rewrites of " + schedule_.scop->name, budget_, [&] {
      tile = winograd_tile(GroupPlanner(schedule_, options_, budget_, unheard_), s);
      if (tile == 0) return;
      const Result<std::shared_ptr<const Scop>> scop = rewritten(schedule_.scop, {winograd(s, tile)});
      if (scop) made = original_schedule(*scop, std::make_shared<const Dependences>(compute_dependences(**scop)));
    });
    if (!ran || !made) return;
    const std::string subject = "convolution " + schedule_.statement(s).name, side = std::to_string(tile);
    GroupPlanner trial(*made, options_, budget_, unheard_);
    if (plan_winograd(trial)) {
      attempt(winograd(s, tile), subject,
              "by Winograd's tiles of " + side + " x " + side + ": numerics are free, fewer products pay for the transforms" +
                  (tile == 4 ? "; errors are about 10 times those of the plain sum" : ""));
    } else {
      ledger_.push_back({"rewrite", subject, false, "Winograd's stages cannot be scheduled together", schedule_.scop->name, 0});
    }
  }

  Step winograd(int s, std::int64_t tile) const {
    return make_step("winograd", {{"statement", arg(schedule_.statement(s).name)}, {"tile", arg(tile)}});
  }

  void sum_in_parts(int s, double group_us) {
    std::string why;
    const std::string name = schedule_.statement(s).name, subject = "sum of " + name;
    const std::optional<Step> step = parts_for_threads(schedule_, s, options_, group_us, &why);
    if (!step) return;
    bool parallel = false;
    const Result<Done> ran = guarded("rewrites of " + schedule_.scop->name, budget_, [&] {
      const Result<std::shared_ptr<const Scop>> scop = rewritten(schedule_.scop, {*step});
      if (!scop) {
        why = scop.errors()[0].message;
        return;
      }
      const Schedule made = original_schedule(*scop, std::make_shared<const Dependences>(compute_dependences(**scop)));
      parallel = parts_run_in_parallel(made, made.find(name));
      if (!parallel) why = "its loop carries more than sums: parts would wait for each other";
    });
    if (ran && parallel) {
      attempt(*step, subject, why);
    } else {
      ledger_.push_back({"rewrite", subject, false, ran ? why : ran.errors()[0].message, schedule_.scop->name, 0});
    }
  }

  bool attempt(const Step& step, const std::string& subject, const std::string& why) {
    std::optional<Result<std::shared_ptr<const Scop>>> scop;
    const Result<Done> ran =
        guarded("rewrites of " + schedule_.scop->name, budget_, [&] { scop = rewritten(schedule_.scop, {step}); });
    if (!ran || !*scop) return false;
    ledger_.push_back({"rewrite", subject, true, why, schedule_.scop->name, 0});
    schedule_ = original_schedule(**scop, std::make_shared<const Dependences>());
    steps_.push_back(step);
    return true;
  }
};

}  // namespace

std::vector<Step> plan_rewrites(const Schedule& plain, const ScheduleOptions& options, const Budget& budget, Ledger& ledger) {
  if (options.for_gpu()) return {};
  return RewritePlan(plain, options, budget, ledger).run();
}

}  // namespace facet
