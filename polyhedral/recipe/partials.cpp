// Policy: reductions in parts, one after the other on every thread, combined in order at the end.
//
//     for i { for j s[j] += r[i] * A[i, j]            for i0 (parallel) { for i in part i0 {
//             for j q[i] += A[i, j] * p[j] }    -->                         for j s.part[i0, j] += ..; for j q[i] += .. } }
//                                                     for r  for j  s[j] += s.part[r, j]
//
// Two kinds of nests leave all threads but one idle otherwise. Where statements share the loop i, and one of them sums over it
// what another has an own element for, cutting the columns j serves the one and cutting rows the other. And a result of few
// elements offers no loop to share out. Where such statements have nests of their own, x1 += A y1 and x2 += A' y2, parts let
// them share the loop: a matrix that no cache holds is read once. The parts are fixed by the recipe, so results do not depend
// on the number of threads. Source: Suriana, Adams and Kamil, Parallel associative reductions in Halide, CGO 2017, section 3.
#include "polyhedral/recipe/partials.hpp"

#include <algorithm>
#include <cmath>

#include "facet/expr_facts.hpp"
#include "polyhedral/affine.hpp"
#include "polyhedral/recipe/contraction.hpp"

namespace facet {

namespace {

constexpr std::int64_t kPartsPerThread = 4;            // so that threads that are late do not hold up the others
constexpr double kReuse = 16;                          // instances for each element of all parts, which is filled and combined
constexpr double kLeastBytes = 4096;                   // of a row that a thread reads in one piece: a page
constexpr std::int64_t kLongPart = 4096, kWhole = 64;  // a long part is a multiple of all vectors
constexpr std::int64_t kRows = 8;                      // and one of some rows of what is done to several at once

bool combines_in_parts(ReduceKind k) { return k != ReduceKind::kArgMax && k != ReduceKind::kArgMin; }

// Does an operand of the sum lie along the result, a term's neighbours in other lines?
bool lies_along(const Statement& s, const std::string& result, const std::string& sum) {
  bool along = false;
  walk(s.value, [&](const Expr& e) {
    along =
        along || (e.op == Op::kRead && mentions_index(e.args, sum) && Model::stride(e.args, result) == Model::Stride::kUnit);
  });
  return along;
}

class Parts {
 public:
  Parts(const Schedule& plain, int s, const ScheduleOptions& options, double group_us)
      : plain_(plain),
        s_(s),
        st_(plain.statement(s)),
        options_(options),
        model_(plain, options.sizes),
        loops_(loops_around(plain.tree, s)),
        group_us_(group_us),
        threads_(options.used_threads()) {}

  std::optional<Step> run(std::string* why) {
    if (threads_ < 2 || !st_.update || !combines_in_parts(*st_.update) || !find_loop_of_sum()) return std::nullopt;
    instances_ = model_.instances(s_);
    // A sum of few elements may share the loop of what it sums, whose work counts then.
    if (group_us_ < threads_pay_us(options_)) return std::nullopt;
    if (level_ == 0 && shares_loop()) {
      if (scalar_us(st_, instances_) < threads_pay_us(options_)) return std::nullopt;
      *why = "other statements of its loop have a result for each iteration: every thread sums parts of its own";
    } else if (alone() && shares_matrix()) {
      *why = "another nest reads the same matrix: one pass over it for both, every thread sums parts of its own";
    } else if (alone() && few_results()) {
      *why = "the result has too few elements for all threads: every thread sums parts of its own";
    } else {
      return std::nullopt;
    }
    return step();
  }

 private:
  // The outermost loop that the reduction runs over; only loops over the result stand outside it.
  bool find_loop_of_sum() {
    elements_ = 1;
    for (std::size_t i = 0; i < st_.iterators.size(); ++i)
      if (mentions_index(st_.subscripts, st_.iterators[i])) elements_ *= std::max(1.0, model_.extent(s_, i));
    for (level_ = 0; level_ < loops_.size(); ++level_) {
      index_ = walked_iterator(plain_, *loops_[level_], s_);
      if (index_.empty()) return false;
      if (!mentions_index(st_.subscripts, index_)) return true;
    }
    return false;
  }

  bool is_start(int t) const {
    const Statement& other = plain_.statement(t);
    return t == s_ || (other.target == st_.target && !other.update);
  }

  bool shares_loop() const {
    for (const int t : statements_of(loops_[0])) {
      const std::string name = walked_iterator(plain_, *loops_[0], t);
      if (!is_start(t) && !name.empty() && mentions_index(plain_.statement(t).subscripts, name)) return true;
    }
    return false;
  }

  bool alone() const {
    const std::vector<int> all = statements_of(loops_[0]);
    return std::all_of(all.begin(), all.end(), [&](int t) { return is_start(t); });
  }

  // Does another nest sum along the rows of a matrix, too large for the second cache, of which this one sums the columns?
  bool shares_matrix() const {
    const double cache = static_cast<double>(second_cache_bytes(options_.machine.cpu));
    if (level_ != 1 || loops_.size() != 2) return false;
    const std::string lanes = walked_iterator(plain_, *loops_[0], s_);
    bool found = false;
    walk(st_.value, [&](const Expr& e) {
      if (found || e.op != Op::kRead || e.args.size() != 2 || !is_index(e.args[0], index_) || !is_index(e.args[1], lanes))
        return;
      if (model_.array_bytes(e.name) <= cache) return;
      for (int t = 0; t < plain_.statement_count(); ++t) found = found || (!contains(loops_[0], t) && sums_rows_of(e.name, t));
    });
    return found;
  }

  static bool is_index(const ExprPtr& e, const std::string& name) { return e->op == Op::kIndex && e->name == name; }

  // A sum over rows whose nest does not wait for this one, nor the other way round.
  bool sums_rows_of(const std::string& array, int t) const {
    const Statement& other = plain_.statement(t);
    const std::vector<TreePtr> loops = loops_around(plain_.tree, t);
    if (!other.update || loops.size() != 2 || other.touches(st_.target) || st_.touches(other.target)) return false;
    const std::string row = walked_iterator(plain_, *loops[0], t), column = walked_iterator(plain_, *loops[1], t);
    if (row.empty() || column.empty() || !mentions_index(other.subscripts, row) || mentions_index(other.subscripts, column))
      return false;
    bool reads = false;
    walk(other.value, [&](const Expr& e) {
      reads = reads || (e.op == Op::kRead && e.name == array && e.args.size() == 2 && is_index(e.args[0], row) &&
                        is_index(e.args[1], column));
    });
    return reads;
  }

  bool few_results() const {
    for (const Contraction& c : recognise_contractions(st_, s_, model_))
      if (!c.m.empty() && !c.n.empty()) return false;  // register tiles, with splits of their own
    const ExprPtr last = st_.subscripts.empty() ? nullptr : st_.subscripts.back();
    const bool columns = last && last->op == Op::kIndex && lies_along(st_, last->name, index_);
    if (!columns) return elements_ < threads_;
    return elements_ * static_cast<double>(size_bytes(st_.value->type)) < kLeastBytes * threads_;
  }

  std::optional<Step> step() const {
    const double trips = model_.trips(*loops_[level_], s_);
    std::int64_t parts = kPartsPerThread * threads_;
    while (parts > threads_ && elements_ * static_cast<double>(parts) * kReuse > instances_) parts /= 2;
    if (elements_ * static_cast<double>(parts) * kReuse > instances_ || trips < 2 * static_cast<double>(parts))
      return std::nullopt;
    std::int64_t size = static_cast<std::int64_t>(std::ceil(trips / static_cast<double>(parts)));
    const std::int64_t whole = size >= kLongPart ? kWhole : size >= kWhole ? kRows : 1;
    size = (size + whole - 1) / whole * whole;
    return make_step("rfactor", {{"statement", arg(st_.name)}, {"by", arg(index_ + " / " + std::to_string(size))}});
  }

  const Schedule& plain_;
  int s_;
  const Statement& st_;
  const ScheduleOptions& options_;
  Model model_;
  std::vector<TreePtr> loops_;
  double group_us_;
  int threads_;
  std::size_t level_ = 0;
  std::string index_;
  double elements_ = 1, instances_ = 0;
};

struct Part {
  std::string index;
  std::int64_t size = 0;
};

// "k / 64" among the subscripts of an update.
std::optional<Part> part_of(const Statement& s) {
  if (!s.update) return std::nullopt;
  for (const ExprPtr& e : s.subscripts)
    if (e->op == Op::kFloorDiv && e->args[0]->op == Op::kIndex && e->args[1]->op == Op::kLiteral)
      return Part{e->args[0]->name, e->args[1]->int_value};
  return std::nullopt;
}

bool in_tile_of(const Schedule& schedule, int s, const Part& part) {
  const Statement& st = schedule.statement(s);
  const auto at = std::find(st.iterators.begin(), st.iterators.end(), part.index) - st.iterators.begin();
  const isl::pw_aff number = floor_div(output_dimension(st.domain, static_cast<unsigned>(at)), part.size);
  for (const TreePtr& l : loops_around(schedule.tree, s))
    if (l->member.at(s).plain_is_equal(number)) return true;
  return false;
}

}  // namespace

bool has_parts(const Statement& s) { return part_of(s).has_value(); }

std::optional<Step> parts_for_threads(const Schedule& plain, int statement, const ScheduleOptions& options, double group_us,
                                      std::string* why) {
  return Parts(plain, statement, options, group_us).run(why);
}

bool parts_run_in_parallel(const Schedule& made, int statement) {
  const std::optional<Part> part = part_of(made.statement(statement));
  const std::vector<TreePtr> loops = loops_around(made.tree, statement);
  const auto loop = std::find_if(loops.begin(), loops.end(),
                                 [&](const TreePtr& l) { return part && walked_iterator(made, *l, statement) == part->index; });
  if (loop == loops.end()) return false;
  const auto number = [&](int s) { return floor_div((*loop)->member.at(s), part->size); };
  return std::none_of(made.dependences->begin(), made.dependences->end(), [&](const Dependence& d) {
    // Another sum of the loop may get parts as well.
    if (d.kind == DependenceKind::kReduction || !contains(*loop, d.source) || !contains(*loop, d.sink)) return false;
    isl::map carried = d.relation.subtract(compare_map(number(d.source), Compare::kEqual, number(d.sink)));
    for (auto outer = loops.begin(); outer != loop; ++outer)
      carried = carried.intersect(compare_map((*outer)->member.at(d.source), Compare::kEqual, (*outer)->member.at(d.sink)));
    return !carried.is_empty();
  });
}

void cut_parts(GroupPlanner& planner) {
  for (const int s : statements_of(planner.schedule().tree)) {
    const Schedule& schedule = planner.schedule();
    const Statement& st = schedule.statement(s);
    const std::optional<Part> part = part_of(st);
    if (!part) continue;
    TreePtr loop;
    bool cut = false;
    const Result<Done> asked = guarded("parts for threads", planner.budget(), [&] { cut = in_tile_of(schedule, s, *part); });
    for (const TreePtr& l : loops_around(schedule.tree, s))
      if (walked_iterator(schedule, *l, s) == part->index) loop = l;
    if (!asked || cut || !loop || loop->mark.kind != LoopKind::kSerial) continue;
    planner.attempt(make_step("tile", {{"statement", arg(st.name)},
                                       {"loops", arg(std::vector<std::string>{loop->names.at(s)})},
                                       {"names", arg(std::vector<std::string>{loop->names.at(s) + "0"})},
                                       {"sizes", arg(std::vector<std::int64_t>{part->size})}}),
                    "tile", "loop " + loop->names.at(s) + " of " + st.name, "one part of the sum for each iteration outside");
  }
}

// Columns of a result that the operand's rows run along: for j { for i s.part[i / 64, j] += A[i, j] } walks A across its lines.
// And around a sum of everything there is one iteration of them, which keeps the sum from its producer's loop.
void plan_parts(GroupPlanner& planner) {
  for (const int s : statements_of(planner.schedule().tree)) {
    const Schedule& schedule = planner.schedule();
    const Statement& st = schedule.statement(s);
    const std::optional<Part> part = part_of(st);
    const std::vector<TreePtr> loops = loops_around(schedule.tree, s);
    std::size_t at = 0;
    while (part && at < loops.size() && walked_iterator(schedule, *loops[at], s) != part->index) ++at;
    if (!part || at == 0 || at == loops.size()) continue;
    const std::string lanes = walked_iterator(schedule, *loops[at - 1], s);
    const bool along = lies_along(st, lanes, part->index);
    const Model model = planner.model();
    double outside = 1;
    for (std::size_t k = 0; k < at; ++k) outside *= model.trips(*loops[k], s);
    if (!along && outside > 1) continue;
    std::vector<std::string> order{loops[at]->names.at(s)};
    for (std::size_t k = 0; k < at; ++k) order.push_back(loops[k]->names.at(s));
    std::vector<Step> steps;
    if (statements_of(loops[0]).size() > 1)
      steps.push_back(make_step("distribute", {{"statement", arg(st.name)}, {"loop", arg(loops[0]->names.at(s))}}));
    steps.push_back(make_step("interchange", {{"statement", arg(st.name)}, {"order", arg(order)}}));
    planner.attempt_all(
        steps, "order", "loop " + order[0] + " of " + st.name,
        "moved out of the result's loops: " + std::string(along ? "its operand lies along them" : "one iteration of them"));
  }
}

Statement within_parts(const Schedule& schedule, int statement) {
  Statement st = schedule.statement(statement);
  const std::optional<Part> part = part_of(st);
  if (!part || !in_tile_of(schedule, statement, *part)) return st;
  for (ExprPtr& e : st.subscripts)
    if (e->op == Op::kFloorDiv && e->args[0]->op == Op::kIndex && e->args[0]->name == part->index) e = idx(0);
  return st;
}

}  // namespace facet
