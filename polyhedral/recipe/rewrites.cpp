// Policy: the rewrites of a group, chosen before its schedule.
//
// Neighbouring indices of a contraction that play the same part (rows, columns, batch or reduction) become one where nothing
// in the group tells them apart: points of a 1 x 1 convolution, batch and time of a linear layer. Register tiles and vectors
// then end once instead of in every row, and the threads share out all rows. Then sums that would keep all threads but one idle
// are taken in parts.
//
// A 3 x 3 convolution becomes a Winograd one where numerics are free, the estimate says that it pays and its stages can be
// scheduled as the policy for them wants it.
#include "polyhedral/analyse.hpp"
#include "polyhedral/recipe/contraction.hpp"
#include "polyhedral/recipe/partials.hpp"
#include "polyhedral/recipe/winograd.hpp"
#include "polyhedral/rewrite/rewrite.hpp"

namespace facet {

namespace {

using Names = std::vector<std::string>;

class RewritePlan {
 public:
  RewritePlan(const Schedule& plain, const ScheduleOptions& options, const Budget& budget, Ledger& ledger)
      : schedule_(plain), options_(options), budget_(budget), ledger_(ledger) {}

  std::vector<Step> run() {
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

  // The first two neighbours that can be one.
  bool join_some(int s) {
    const Statement& st = schedule_.statement(s);
    const std::vector<Contraction> choices = recognise_contractions(st, s, Model(schedule_, options_.sizes));
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
