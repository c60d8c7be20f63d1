// The search behind `legal`'s repair.
//
// A violated pair (source, sink) can be mended in few ways, tried from the smallest change to the largest:
//
//     reduction    a parallel loop that carries a reduction gets copies for its pieces, or atomic updates
//     shift        the sink's nest is delayed by what it is early, read off the distance, in one loop or in several
//     distribute   source or sink leaves the loop that carries the pair
//     privatise    an array that only passes values within an iteration is contracted at the loop: every iteration
//                  has its own; then all such arrays at once, with and without `reduction`
//     skew         one loop gets a small multiple of another; then several inner loops get one of the outermost
//     wavefront    a concurrent loop goes inside the next one, which gets a multiple of it
//     skew, shift  loops of both nests get the same multiple of a loop around both, and the sink is delayed
//     reverse      a loop runs backwards
//
// Every candidate is applied to the schedule at hand, then the refused step and all steps after it: legality judges each, so a
// repair is never a guess. Where none serves all steps, the answer is the candidate after which most of them are legal, the
// refused one at least, together with what refuses the next: pasted, it moves the recipe on to the next question. At most some
// hundred candidates, under the caller's budget. Source of the idea: Kelly and Pugh, Finding legal reordering transformations
// using mappings, LCPC 1994.
#include "polyhedral/repair.hpp"

#include <algorithm>

#include "polyhedral/recipe/planner.hpp"
#include "polyhedral/storage.hpp"

namespace facet {

namespace {

using Candidate = Repair;

constexpr std::int64_t kFarthestShift = 64;  // a delay beyond it is no small repair

class RepairSearch {
 public:
  RepairSearch(const Schedule& before, const std::vector<Step>& steps, const Violation& violation, const Budget& budget)
      : before_(before),
        steps_(steps),
        violation_(violation),
        budget_(budget),
        source_(before.find(violation.source)),
        sink_(before.find(violation.sink)) {}

  Repair run() {
    if (source_ < 0 || sink_ < 0) return {};
    for (const auto generate : {&RepairSearch::reductions, &RepairSearch::shifts, &RepairSearch::distributions,
                                &RepairSearch::privatisations, &RepairSearch::skews, &RepairSearch::common_skews,
                                &RepairSearch::wavefronts, &RepairSearch::skewed_shifts, &RepairSearch::reversals}) {
      std::vector<Candidate> candidates;
      const Result<Done> ran = guarded("repair", budget_, [&] { candidates = (this->*generate)(); });
      if (!ran) return partial_;
      for (const Candidate& c : candidates)
        if (mends(c)) return c;
    }
    return partial_;
  }

 private:
  // Does it make all steps legal? Of those that serve the refused step only, the first that goes furthest is kept.
  bool mends(const Candidate& candidate) {
    if (budget_.expired()) return false;
    std::vector<Step> all = candidate.insert;
    all.insert(all.end(), steps_.begin(), steps_.end());
    if (candidate.instead) all[candidate.insert.size()] = *candidate.instead;
    StepOutcome outcome = apply_steps(before_, all, budget_);
    if (!outcome.refusal) return true;
    const Code code = outcome.refusal->diagnostic.code;
    if (code == Code::kBudgetExhausted || failure_of(code) == Failure::kInternal) return false;
    outcome.refusal->step -= static_cast<int>(candidate.insert.size());
    if (outcome.refusal->step <= (partial_.still ? partial_.still->step : 0)) return false;
    partial_ = candidate;
    partial_.still = std::move(outcome.refusal);
    return false;
  }

  std::vector<std::string> loops_of(int statement) const {
    std::vector<std::string> names;
    for (const TreePtr& l : loops_around(before_.tree, statement)) names.push_back(l->names.at(statement));
    return names;
  }

  // The refused step with each way of sharing updates, where it makes a loop parallel and says nothing of that.
  std::vector<Step> sharing() const {
    std::vector<Step> list;
    if (steps_[0].verb != "parallelize" || steps_[0].arguments.count("reduction")) return list;
    for (const char* how : {"clause", "atomic"}) {
      list.push_back(steps_[0]);
      list.back().arguments["reduction"] = arg(how);
    }
    return list;
  }

  std::vector<Candidate> reductions() {
    std::vector<Candidate> list;
    if (violation_.kind != DependenceKind::kReduction || violation_.question != "parallel") return list;
    for (const Step& s : sharing()) list.push_back({{}, s});
    if (const std::vector<Step> own = private_arrays(); !own.empty())
      for (const Step& s : sharing()) list.push_back({own, s});
    return list;
  }

  struct Delay {
    std::size_t level = 0;        // of the loop, from the outermost on
    std::vector<Step> nest, own;  // of all that shares the sink's loop, and of the sink only
  };

  // Delays of the sink, together with what shares its own loop, so that in that loop it never comes before the source.
  std::vector<Delay> delays() const {
    std::vector<Delay> list;
    if (source_ == sink_) return list;
    const std::vector<TreePtr> from = loops_around(before_.tree, source_), to = loops_around(before_.tree, sink_);
    for (std::size_t k = 0; k < from.size() && k < to.size(); ++k) {
      std::int64_t early = 0;
      for (const Dependence& d : *before_.dependences) {
        if (d.source != source_ || d.sink != sink_ || d.kind == DependenceKind::kReduction) continue;
        const auto [low, high] = distance_range(d.relation, from[k]->member.at(source_), to[k]->member.at(sink_));
        if (low <= high) early = std::max(early, -low);
      }
      if (early == 0 || early > kFarthestShift) continue;
      Delay delay{k, {}, {shift(sink_, to[k]->names.at(sink_), early)}};
      for (const auto& [s, name] : to[k]->names)
        if (!from[k]->member.count(s) || s == sink_) delay.nest.push_back(shift(s, name, early));
      list.push_back(std::move(delay));
    }
    return list;
  }

  // In one loop, then in two and more: what is fused and tiled afterwards asks for the delay in each of its loops.
  std::vector<Candidate> shifts() {
    std::vector<Candidate> list;
    const std::vector<Delay> all = delays();
    for (const Delay& d : all) {
      list.push_back({d.nest, {}});
      if (d.nest.size() > 1) list.push_back({d.own, {}});
    }
    for (std::size_t count = 2; count <= all.size(); ++count)
      for (std::size_t first = 0; first + count <= all.size(); ++first) {
        Candidate c;
        for (std::size_t k = first; k < first + count; ++k)
          c.insert.insert(c.insert.end(), all[k].nest.begin(), all[k].nest.end());
        list.push_back(std::move(c));
      }
    return list;
  }

  Step shift(int statement, const std::string& loop, std::int64_t offset) const {
    return make_step("shift",
                     {{"statement", arg(before_.statement(statement).name)}, {"loop", arg(loop)}, {"offset", arg(offset)}});
  }

  std::vector<Candidate> distributions() {
    std::vector<Candidate> list;
    if (source_ == sink_) return list;
    for (const int s : {sink_, source_})
      for (const std::string& loop : loops_of(s))
        list.push_back({{make_step("distribute", {{"statement", arg(before_.statement(s).name)}, {"loop", arg(loop)}})}, {}});
    return list;
  }

  Step contract(const std::string& array, int statement, const std::string& loop) const {
    return make_step("contract",
                     {{"array", arg(array)}, {"statement", arg(before_.statement(statement).name)}, {"at", arg(loop)}});
  }

  std::vector<Candidate> privatisations() {
    std::vector<Candidate> list;
    const auto array = before_.scop->arrays.find(violation_.array);
    if (array == before_.scop->arrays.end() || array->second.external || array->second.live_out) return list;
    for (const std::string& loop : loops_of(sink_)) list.push_back({{contract(violation_.array, sink_, loop)}, {}});
    if (violation_.question == "order" || violation_.question == "storage") return list;
    std::vector<Step> all = private_arrays();
    if (all.size() > 1) list.push_back({all, {}});
    for (Step& s : sharing()) list.push_back({all, std::move(s)});
    return list;
  }

  // Every array of the group whose values stay inside an iteration of the concurrent loop, contracted there.
  std::vector<Step> private_arrays() const {
    std::vector<Step> list;
    const TreePtr loop = find_loop(before_.tree, sink_, violation_.loop);
    for (const auto& [name, array] : before_.scop->arrays) {
      if (!loop || array.external || array.live_out || array.scalar || before_.storage_of(sink_, name)) continue;
      int user = -1;
      for (const int s : statements_of(before_.tree))
        if (before_.statement(s).touches(name)) user = contains(loop, s) && user != -2 ? s : -2;
      if (user >= 0 && keeps_flows(before_, name, loop->id)) list.push_back(contract(name, user, loop->names.at(user)));
    }
    return list;
  }

  Step skew(int statement, const std::string& loop, const std::string& by, std::int64_t factor) const {
    ArgumentMap arguments{{"statement", arg(before_.statement(statement).name)}, {"loop", arg(loop)}, {"by", arg(by)}};
    if (factor != 1) arguments["factor"] = arg(factor);
    return make_step("skew", std::move(arguments));
  }

  std::vector<Candidate> skews() {
    std::vector<Candidate> list;
    const std::vector<std::string> loops = loops_of(sink_);
    for (const std::int64_t factor : {1, -1, 2, -2, 3})
      for (std::size_t inner = loops.size(); inner-- > 0;)
        for (std::size_t outer = 0; outer < loops.size(); ++outer)
          if (inner != outer) list.push_back({{skew(sink_, loops[inner], loops[outer], factor)}, {}});
    return list;
  }

  // Stencils of several dimensions: all their inner loops move with the outermost.
  std::vector<Candidate> common_skews() {
    std::vector<Candidate> list;
    const std::vector<std::string> loops = loops_of(sink_);
    for (const std::int64_t factor : {1, 2})
      for (std::size_t outer = 0; outer + 2 < loops.size(); ++outer) {
        std::vector<Step> c;
        for (std::size_t inner = outer + 1; inner < loops.size(); ++inner)
          c.push_back(skew(sink_, loops[inner], loops[outer], factor));
        list.push_back({std::move(c), {}});
      }
    return list;
  }

  // Iterations of the concurrent loop that need each other, in a front after another: the loop inside carries what it carried.
  std::vector<Candidate> wavefronts() {
    std::vector<Candidate> list;
    const TreePtr loop = find_loop(before_.tree, sink_, violation_.loop);
    if (violation_.question != "parallel" || !loop || loop->children[0]->kind != Tree::Kind::kLoop) return list;
    const std::string outer = loop->names.at(sink_), inner = loop->children[0]->names.at(sink_);
    const Step exchanged = make_step("interchange", {{"statement", arg(before_.statement(sink_).name)},
                                                     {"order", Argument{ArgumentList{arg(inner), arg(outer)}}}});
    for (const std::int64_t factor : {1, 2, 3}) list.push_back({{skew(sink_, inner, outer, factor), exchanged}, {}});
    return list;
  }

  // Nests in one loop over time that are fused and tiled with it: each gets the skew of time, and the later one its delay.
  std::vector<Candidate> skewed_shifts() {
    std::vector<Candidate> list;
    const std::vector<TreePtr> from = loops_around(before_.tree, source_), to = loops_around(before_.tree, sink_);
    const std::vector<Delay> all = delays();
    for (const std::int64_t factor : {1, 2})
      for (std::size_t outer = 0; outer < from.size() && outer < to.size() && from[outer] == to[outer]; ++outer)
        for (std::size_t count = 1; count <= all.size(); ++count) {
          Candidate c;
          for (std::size_t k = 0; k < count; ++k) {
            const std::size_t level = all[k].level;
            if (from[level] == to[level]) continue;
            for (const auto& [s, loop] : {std::pair{source_, from[level]}, std::pair{sink_, to[level]}})
              c.insert.push_back(skew(s, loop->names.at(s), to[outer]->names.at(s), factor));
            c.insert.insert(c.insert.end(), all[k].nest.begin(), all[k].nest.end());
          }
          if (!c.insert.empty()) list.push_back(std::move(c));
        }
    return list;
  }

  std::vector<Candidate> reversals() {
    std::vector<Candidate> list;
    const std::vector<std::string> loops = loops_of(sink_);
    for (auto l = loops.rbegin(); l != loops.rend(); ++l)
      list.push_back({{make_step("reverse", {{"statement", arg(before_.statement(sink_).name)}, {"loop", arg(*l)}})}, {}});
    return list;
  }

  const Schedule& before_;
  const std::vector<Step>& steps_;
  const Violation& violation_;
  const Budget& budget_;
  int source_, sink_;
  Repair partial_;  // the best so far that leaves a later step refused
};

}  // namespace

Repair find_repair(const Schedule& before, const std::vector<Step>& steps, const Violation& violation, const Budget& budget) {
  return RepairSearch(before, steps, violation, budget).run();
}

}  // namespace facet
