// Policy: nests that walk a whole matrix once per column (orthogonalizations) in panels of columns.
//
// In a nest of permutable loops k, j the heavy statements have one loop i more and lanes along j: with each k all rows of all
// later columns are read for a sum and read and written for an update. Once the matrix is larger than the second cache it comes
// from further away each time. A panel of a few vectors of columns stays there for a block of k:
//
//     for k { norm and column k;                         for kt { for jt in kt  the nest as it was, in its panels
//             for j > k { for i  R[k,j] += Q[i,k] A[i,j];         for jt > kt (parallel)
//                         for i  A[i,j] -= Q[i,k] R[k,j] } }        for k in kt { for i  for j in jt (lanes)  R[k,j] += ..
//                                                  -->                            for i  for j in jt (lanes)  A[i,j] -= .. } }
//
// The panel is as wide as the accumulators that hide the latency of a multiply-add, or as a quarter of that cache holds. Not
// handled: more shared loops (plan_bands tiles those), products of finished panels (they need the sums taken apart: another
// algorithm).
// Source: Bjorck, Numerics of Gram-Schmidt orthogonalization, Linear Algebra and its Applications 1994 (by columns, by rows).
#include "polyhedral/recipe/panels.hpp"

#include <algorithm>

namespace facet {

namespace {

using Names = std::vector<std::string>;

constexpr std::int64_t kSums = 4;       // vectors of a panel: a latency of 4 cycles, a multiply-add in each
constexpr double kShareOfCache = 0.25;  // for the panel, which is read and written, beside the columns that it meets
constexpr std::int64_t kPanels = 2;     // in a block of k (gramschmidt: one 127 ms, two 102)

class Panels {
 public:
  Panels(const GroupPlanner& planner, const Schedule& made, const std::vector<TreePtr>& shared, const std::vector<int>& all)
      : planner_(planner), made_(made), shared_(shared), statements_(all), model_(made, planner.options().sizes) {}

  BlockedNest run() {
    if (shared_.size() != 2) return {};
    for (const int s : statements_)
      if (is_heavy(s)) heavy_.push_back(s);
    if (heavy_.empty() || !is_larger_than_cache() || !choose()) return {};
    cut();
    for (const int s : heavy_) order(s);
    split_panels();
    return {steps_, "panels of " + std::to_string(columns_) + " columns stay in the second cache for " +
                        std::to_string(block_) + " of " + name(0) + ", lanes along " + name(1)};
  }

 private:
  const Statement& statement(int s) const { return made_.statement(s); }
  const std::string& name(std::size_t loop) const { return shared_[loop]->names.at(heavy_[0]); }
  std::string tile_name(std::size_t loop) const { return name(loop) + "t"; }

  // The one loop that the statement has inside the shared ones; nullptr: none or several.
  TreePtr inner_loop(int s) const {
    const std::vector<TreePtr> around = loops_around(made_.tree, s);
    return around.size() == 3 ? around.back() : nullptr;
  }

  // An update of three loops, all of whose operands the inner shared loop walks along memory or not at all.
  bool is_heavy(int s) const {
    const Statement& st = statement(s);
    const std::string j = walked_iterator(made_, *shared_[1], s);
    if (!st.update || !inner_loop(s) || !walks_rows(s) || Model::stride(st.subscripts, j) != Model::Stride::kUnit) return false;
    bool plain = true;
    walk(st.value,
         [&](const Expr& e) { plain = plain && (e.op != Op::kRead || Model::stride(e.args, j) != Model::Stride::kOther); });
    return plain;
  }

  const CpuMachine& cpu() const { return planner_.options().machine.cpu; }
  double cache() const { return static_cast<double>(second_cache_bytes(cpu())); }
  double element_bytes() const { return static_cast<double>(size_bytes(statement(heavy_[0]).value->type)); }

  bool is_larger_than_cache() const {
    return std::any_of(heavy_.begin(), heavy_.end(), [&](int s) { return model_.array_bytes(statement(s).target) > cache(); });
  }

  bool choose() {
    const std::int64_t lanes = std::max<std::int64_t>(1, cpu().vector_bytes / static_cast<std::int64_t>(element_bytes()));
    const double rows = model_.trips(*inner_loop(heavy_[0]), heavy_[0]);
    std::int64_t vectors = kSums;
    while (vectors > 0 && rows * element_bytes() * static_cast<double>(vectors * lanes) > kShareOfCache * cache()) --vectors;
    columns_ = vectors * lanes;
    if (columns_ == 0) return false;
    const double panels = model_.trips(*shared_[0], heavy_[0]) / static_cast<double>(columns_);
    block_ = columns_ * kPanels;
    return panels >= 2 * planner_.threads();
  }

  void add(const std::string& verb, int s, ArgumentMap arguments) {
    arguments["statement"] = arg(statement(s).name);
    steps_.push_back(make_step(verb, std::move(arguments)));
  }

  // Does an iteration of the outer loop run more than one of the inner one? Else the statement belongs to one column.
  bool walks_rows(int s) const {
    const std::string j = walked_iterator(made_, *shared_[1], s);
    return !j.empty() && j != walked_iterator(made_, *shared_[0], s);
  }

  // Tiles; inside k every statement in a loop of its own, in their order, but those of one column together.
  void cut() {
    add("tile", heavy_[0],
        {{"loops", arg(Names{name(0), name(1)})},
         {"sizes", arg(std::vector<std::int64_t>{block_, columns_})},
         {"names", arg(Names{tile_name(0), tile_name(1)})}});
    for (std::size_t k = 0; k + 1 < statements_.size(); ++k)
      if (walks_rows(statements_[k])) add("distribute", statements_[k], {{"loop", arg(shared_[1]->names.at(statements_[k]))}});
  }

  void order(int s) {
    const std::string i = inner_loop(s)->names.at(s), j = shared_[1]->names.at(s);
    add("interchange", s, {{"order", arg(Names{i, j})}});
    add("vectorize", s, {{"loop", arg(j)}, {"width", arg(cpu().vector_bytes / static_cast<std::int64_t>(element_bytes()))}});
  }

  // The panels behind those of the block's own columns wait for these only.
  void split_panels() {
    if (planner_.threads() < 2) return;
    const std::string blocks = std::to_string(kPanels);
    add("index_set_split", heavy_[0],
        {{"loop", arg(tile_name(1))}, {"expression", arg(blocks + "*" + tile_name(0) + " + " + blocks)}});
    steps_.push_back(
        make_step("parallelize", {{"statement", arg(statement(heavy_[0]).name + ".from")}, {"loop", arg(tile_name(1))}}));
  }

  const GroupPlanner& planner_;
  const Schedule& made_;
  const std::vector<TreePtr>& shared_;
  const std::vector<int>& statements_;
  Model model_;
  std::vector<int> heavy_;
  std::int64_t columns_ = 0, block_ = 0;
  std::vector<Step> steps_;
};

}  // namespace

BlockedNest plan_panels(const GroupPlanner& planner, const Schedule& made, const std::vector<TreePtr>& shared,
                        const std::vector<int>& statements) {
  return Panels(planner, made, shared, statements).run();
}

}  // namespace facet
