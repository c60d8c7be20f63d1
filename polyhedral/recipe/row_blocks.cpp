// Policy: rows of matrix-vector products, several at once.
//
//     for i {                                           for it {
//       for j (lanes)  t[i] += A[i, j] * x[j]             for j (lanes)  for i in it (unrolled)  t[i] += A[i, j] * x[j]
//       for j (lanes)  y[j] += A[i, j] * t[i] }    -->    for j (lanes)  for i in it (unrolled)  y[j] += A[i, j] * t[i] }
//
// Each element of the matrix is used once, so its loads are what such a nest must do; what lies along the rows beside it (x and
// y, which is stored as well) passes through the load and store units again with every row. With R rows at once it does so once
// for R of them, and the rows' sums hide each other's latency. Accesses a vector of a row, where the matrices have a and the
// vectors beside them take b loads and stores:
//
//     a + b / R
//
// R is the largest power of two for which a loop's values stay in registers (a sum, or the factor that is the row's, for each
// of the rows), the rows are no more streams than the hardware fetches ahead, and stay in the second cache between two loops
// over them. (PolyBench's atax, two Zen 4 cores with AVX2: 1.50 ms row by row, 1.27 in pairs, 0.98 in fours, 0.84 in eights.)
//
// Only nests of updates, whose order numerics leave open: a row of which more is made (softmax, say) has no vectors beside it
// to save. Rows that are short enough for a register tile are left alone. Source: Callahan, Carr and Kennedy, Improving
// register allocation for subscripted variables, PLDI 1990.
#include <algorithm>
#include <set>

#include "facet/expr_facts.hpp"
#include "polyhedral/recipe/partials.hpp"

namespace facet {

namespace {

constexpr double kLeastUs = 50;       // of work: below, it is no matter
constexpr double kLeastGain = 0.1;    // of the accesses
constexpr std::int64_t kStreams = 8;  // rows that are fetched ahead at a time: cores since 2015 follow 16 and more, a page each
constexpr double kShareOfCache = 0.5;  // of the second one, for rows that are met twice
constexpr double kLeastVectors = 8;    // of a row; less is a register tile

// What one vector of a row takes in a loop over its lanes, or in all of them.
struct RowAccesses {
  double own = 0, beside = 0;         // the row's loads; loads and stores of what is the same for other rows
  std::int64_t each = 0, shared = 1;  // registers for each row, and for all
};

// The accesses of a loop over lanes, or nothing where it holds anything but sums that the model knows.
std::optional<RowAccesses> accesses_of(const Schedule& schedule, const Tree& rows, const TreePtr& lanes) {
  RowAccesses all;
  std::set<std::string> own, beside, factors;
  for (const int s : statements_of(lanes)) {
    const Statement st = within_parts(schedule, s);
    const std::string i = walked_iterator(schedule, rows, s), j = walked_iterator(schedule, *lanes, s);
    if (i.empty() || j.empty() || !st.update || *st.update == ReduceKind::kArgMax || *st.update == ReduceKind::kArgMin)
      return std::nullopt;
    const bool along = Model::stride(st.subscripts, j) == Model::Stride::kUnit, down = mentions_index(st.subscripts, i);
    if (along == down || (!along && mentions_index(st.subscripts, j))) return std::nullopt;
    if (along) {
      all.beside += 2;
      ++all.shared;
    } else {
      ++all.each;
    }
    bool known = true;
    const auto place_of = [&](const Expr& e) {  // by the loops' parts, whatever the statement calls them
      std::string text = e.name;
      for (const ExprPtr& a : e.args) text += "," + to_text(substitute(a, {{i, index("row")}, {j, index("lane")}}));
      return text;
    };
    walk(st.value, [&](const Expr& e) {
      if (e.op != Op::kRead) return;
      const bool with_i = mentions_index(e.args, i), with_j = mentions_index(e.args, j);
      known = known && (!with_j || Model::stride(e.args, j) == Model::Stride::kUnit);
      const std::string place = place_of(e);
      if (with_i && with_j) own.insert(place);
      if (!with_i && with_j) beside.insert(place);
      if (with_i && !with_j) factors.insert(place);
    });
    if (!known) return std::nullopt;
  }
  all.own = static_cast<double>(own.size());
  all.beside += static_cast<double>(beside.size());
  all.each += static_cast<std::int64_t>(factors.size());
  all.shared += static_cast<std::int64_t>(beside.size());
  return all;
}

class RowBlocks {
 public:
  explicit RowBlocks(GroupPlanner& planner) : planner_(planner), cpu_(planner.options().machine.cpu) {}

  void run() {
    visit(planner_.schedule().tree);
    for (const Found& f : found_)
      planner_.attempt(
          make_step("unroll_and_jam", {{"statement", arg(f.statement)}, {"loop", arg(f.loop)}, {"factor", arg(f.rows)}}),
          "registers", "loop " + f.loop + " of " + f.statement,
          std::to_string(f.rows) + " rows at once: what lies along them is loaded once for all");
  }

 private:
  struct Found {
    std::string statement, loop;
    std::int64_t rows = 1;
  };

  void visit(const TreePtr& tree) {
    if (tree->kind == Tree::Kind::kLoop && consider(tree)) return;
    for (const TreePtr& c : tree->children) visit(c);
  }

  // The loops over lanes directly below; false where there is another loop.
  static bool lanes_below(const TreePtr& tree, std::vector<TreePtr>* lanes) {
    for (const TreePtr& c : tree->children) {
      if (c->kind == Tree::Kind::kSequence && !lanes_below(c, lanes)) return false;
      if (c->kind != Tree::Kind::kLoop) continue;
      bool inner = false;
      for_each_loop(c->children[0], [&](const Tree&) { inner = true; });
      if (inner || c->mark.kind != LoopKind::kVector) return false;
      lanes->push_back(c);
    }
    return true;
  }

  bool consider(const TreePtr& loop) {
    std::vector<TreePtr> lanes;
    if (loop->mark.kind != LoopKind::kSerial || !lanes_below(loop, &lanes) || lanes.empty()) return false;
    const Schedule& schedule = planner_.schedule();
    const Model model = planner_.model();
    RowAccesses sum;
    double work = 0, row_bytes = 0;
    std::int64_t rows = kStreams;
    for (const TreePtr& l : lanes) {
      const std::optional<RowAccesses> found = accesses_of(schedule, *loop, l);
      const int s = statements_of(l).front();
      const double trips = model.trips_inside(*l, s),
                   bytes = static_cast<double>(size_bytes(schedule.statement(s).value->type));
      if (!found || trips * bytes <= kLeastVectors * cpu_.vector_bytes) return false;
      while (rows > 1 && rows * found->each + found->shared > cpu_.vector_registers) rows /= 2;
      while (rows > 1 && static_cast<double>(rows) * found->own > static_cast<double>(kStreams)) rows /= 2;
      sum.own += found->own;
      sum.beside += found->beside;
      row_bytes = std::max(row_bytes, trips * bytes * found->own);
      for (const int t : statements_of(l)) work += scalar_us(schedule.statement(t), model.instances(t));
    }
    while (lanes.size() > 1 && rows > 1 &&
           static_cast<double>(rows) * row_bytes > kShareOfCache * static_cast<double>(second_cache_bytes(cpu_)))
      rows /= 2;
    const double together = sum.own + sum.beside / static_cast<double>(rows), alone = sum.own + sum.beside;
    const auto [statement, name] = address_of(schedule, loop);
    if (statement < 0 || work < kLeastUs || together > (1 - kLeastGain) * alone) return false;
    if (model.trips_inside(*loop, statement) < static_cast<double>(2 * rows)) return false;
    found_.push_back({schedule.statement(statement).name, name, rows});
    return true;
  }

  GroupPlanner& planner_;
  const CpuMachine& cpu_;
  std::vector<Found> found_;
};

}  // namespace

void plan_row_blocks(GroupPlanner& planner) { RowBlocks(planner).run(); }

}  // namespace facet
