// Policy: sums of products become tiles of a block, their operands in shared memory, their results in registers.
//
//   for i, j { C = 0; for k  C += A[i, k] * B[k, j];  D = f(C) }
//   --> for i0, j0                                  grid
//         for i, j  C = 0                           16 x 16 threads, 8 x 8 results each
//         for k0
//           A.tile.copy, B.tile.copy                along memory, neighbouring threads read neighbouring elements
//           for k, i, j  C += A.tile * B.tile       unrolled k
//         for i, j  D = f(C)
//
// j is the loop along which the result lies in memory. A tile is [k][i]: the product reads neighbours of four, which banks
// serve in one access; where a copy walks k instead, rows are padded, so that a column's elements lie in different banks.
// Sources: Volkov and Demmel, Benchmarking GPUs to tune dense linear algebra, SC 2008; NVIDIA, CUTLASS: efficient GEMM in CUDA.

#include "polyhedral/recipe/gpu_tiles.hpp"

#include <algorithm>
#include <cmath>

#include "facet/expr_facts.hpp"

namespace facet {

namespace {

using Names = std::vector<std::string>;
using Sizes = std::vector<std::int64_t>;

constexpr double kEnoughBlocks = 96;  // most multiprocessors of a large device have work: larger tiles are better then
constexpr double kFullEnough = 0.75;  // of a tile; below, several loops as one count (`stage`) leave less unused
constexpr std::int64_t kThreads = kGpuTileSide * kGpuTileSide;
constexpr std::int64_t kWord = 16;  // bytes of the widest access

Names operator+(Names a, const Names& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// The read that a factor is, conversions aside; null when it is more.
const Expr* read_of(ExprPtr e) {
  while (e->op == Op::kCast) e = e->args[0];
  return e->op == Op::kRead ? e.get() : nullptr;
}

class ProductPlan {
 public:
  ProductPlan(GroupPlanner& planner, const GpuNest& nest, const GpuProduct& product)
      : planner_(planner), nest_(nest), product_(product), statement_(product.statement) {}

  std::optional<GpuTiles> run() {
    if (!find_roles()) return std::nullopt;
    const std::string what =
        "tiles of " + std::to_string(side_) + " x " + std::to_string(side_) + " by " + std::to_string(kGpuTileDepth);
    remember_names();
    const std::string subject = nest_.subject();
    std::vector<Step> steps = structure();
    std::optional<Schedule> tiled = result_of(planner_.schedule(), steps);
    if (!tiled || !keep_result(&*tiled, &steps) || !promote_operands(&*tiled, &steps)) return std::nullopt;
    GpuTiles made{statement_, (batch_ + Names{i0_}).front(), mapping(*tiled), subject,
                  what + ": " + std::to_string(each_) + " x " + std::to_string(each_) + " results a thread"};
    if (!result_of(*tiled, made.steps)) return std::nullopt;
    if (!planner_.attempt_all(steps, "tile", subject, what + ", operands in shared memory, results in registers"))
      return std::nullopt;
    return made;
  }

 private:
  const Schedule& now() const { return planner_.schedule(); }
  const Statement& statement() const { return now().statement(statement_); }

  std::optional<Schedule> result_of(const Schedule& schedule, const std::vector<Step>& steps) const {
    return apply_steps(schedule, steps, planner_.budget()).schedule;
  }

  // The loops to tile: the longest of those that the left factor alone depends on, of the right one's, and of the sum's.
  // Further loops of a factor go to the grid, if that leaves the tiles full enough.
  bool find_roles() {
    const Expr *left = read_of(statement().value->args[0]), *right = read_of(statement().value->args[1]);
    if (!left || !right || left->name == right->name || left->pad || right->pad) return false;
    Names a, b;
    for (const TreePtr& l : nest_.chain()) {
      const std::string name = l->names.at(statement_), iterator = walked_iterator(now(), *l, statement_);
      const bool in_left = mentions_index(left->args, iterator), in_right = mentions_index(right->args, iterator);
      (in_left == in_right ? batch_ : in_left ? a : b).push_back(name);
    }
    if (a.empty() || b.empty()) return false;
    const bool swapped = along_memory(longest(a));
    i_ = longest(swapped ? b : a);
    j_ = longest(swapped ? a : b);
    of_i_ = swapped ? right : left;
    of_j_ = swapped ? left : right;
    k_ = longest(product_.sum);
    for (const Names* names : {&a, &b})
      for (const std::string& name : *names)
        if (name != i_ && name != j_) batch_.push_back(name);
    each_ = points_of_product(product_);
    side_ = kGpuTileSide * each_;
    return trips(k_) >= kGpuTileDepth && (a.size() == 1 || full(longest(a))) && (b.size() == 1 || full(longest(b)));
  }

  double trips(const std::string& name) const { return nest_.trips(*find_loop(now().tree, statement_, name), statement_); }

  std::string longest(const Names& names) const {
    return *std::max_element(names.begin(), names.end(),
                             [&](const std::string& x, const std::string& y) { return trips(x) < trips(y); });
  }

  bool full(const std::string& name) const {
    const double side = static_cast<double>(side_);
    return trips(name) >= kFullEnough * std::ceil(trips(name) / side) * side;
  }

  // Does a result of the nest lie along this loop?
  bool along_memory(const std::string& name) const {
    const TreePtr loop = find_loop(now().tree, statement_, name);
    for (const int s : statements_of(nest_.body())) {
      const Statement& st = now().statement(s);
      const std::string iterator = walked_iterator(now(), *loop, s);
      if (!st.subscripts.empty() && !iterator.empty() && mentions_index(st.subscripts.back(), iterator)) return true;
    }
    return false;
  }

  std::string unused(const std::string& base) const {
    std::string name = base;
    for (int n = 0; find_loop(now().tree, statement_, name); ++n) name = base + "_" + std::to_string(n);
    return name;
  }

  void remember_names() {
    i0_ = unused(i_ + "0");
    j0_ = unused(j_ + "0");
    k0_ = unused(k_ + "0");
    const TreePtr i = find_loop(now().tree, statement_, i_), j = find_loop(now().tree, statement_, j_);
    for (const int s : statements_of(nest_.body())) names_[s] = {i->names.at(s), j->names.at(s)};
  }

  Step step(const std::string& verb, ArgumentMap arguments) const {
    arguments["statement"] = arg(statement().name);
    return make_step(verb, std::move(arguments));
  }

  std::vector<Step> structure() const {
    std::vector<Step> steps;
    Names chain;
    for (const TreePtr& l : nest_.chain()) chain.push_back(l->names.at(statement_));
    const Names order = batch_ + Names{i_, j_};
    if (chain != order) steps.push_back(step("interchange", {{"order", arg(order)}}));
    steps.push_back(
        step("tile", {{"loops", arg(Names{i_, j_})}, {"sizes", arg(Sizes{side_, side_})}, {"names", arg(Names{i0_, j0_})}}));
    steps.push_back(step("distribute", {{"loop", arg(i_)}}));
    steps.push_back(
        step("tile", {{"loops", arg(Names{k_})}, {"sizes", arg(Sizes{kGpuTileDepth})}, {"names", arg(Names{k0_})}}));
    Names around;
    for (const std::string& k : product_.sum)
      if (k != k_) around.push_back(k);
    steps.push_back(step("interchange", {{"order", arg(around + Names{k0_, k_, i_, j_})}}));
    steps.push_back(step("unroll", {{"loop", arg(k_)}}));
    return steps;
  }

  bool try_step(const Step& s, Schedule* schedule, std::vector<Step>* steps) const {
    std::optional<Schedule> next = result_of(*schedule, {s});
    if (!next) return false;
    *schedule = std::move(*next);
    steps->push_back(s);
    return true;
  }

  // The result needs no memory of its own where the tile uses it up; else the tile is stored.
  bool keep_result(Schedule* schedule, std::vector<Step>* steps) const {
    const std::string array = statement().target;
    const Array& a = schedule->scop->arrays.at(array);
    if (!a.external && !a.live_out && try_step(step("contract", {{"array", arg(array)}, {"at", arg(j0_)}}), schedule, steps))
      return true;
    return try_step(step("promote", {{"array", arg(array)}, {"at", arg(j0_)}, {"memory", arg(std::string("registers"))}}),
                    schedule, steps);
  }

  struct Operand {
    std::string array, copy, row;  // copied by this statement; the loop of the tile's rows: i or j
    bool along_row = false;        // memory runs along it
  };

  // The operand's dimensions by the name of the loop that walks one alone.
  static Names dimensions(const Statement& s, const Expr& read) {
    Names names;
    for (std::size_t d = 0; d < read.args.size(); ++d) {
      const ExprPtr& e = read.args[d];
      const bool plain = e->op == Op::kIndex && std::count(s.iterators.begin(), s.iterators.end(), e->name) &&
                         !std::count(names.begin(), names.end(), e->name);
      names.push_back(plain ? e->name : "d" + std::to_string(d));
    }
    return names;
  }

  bool promote_operands(Schedule* schedule, std::vector<Step>* steps) {
    for (const auto& [read, row] : {std::pair{of_i_, i_}, std::pair{of_j_, j_}}) {
      const Names dims = dimensions(statement(), *read);
      if (!std::count(dims.begin(), dims.end(), row) || !std::count(dims.begin(), dims.end(), k_)) return false;
      Names order;
      for (const std::string& d : dims)
        if (d != row && d != k_) order.push_back(d);
      const bool along_row = dims.back() != k_;
      ArgumentMap layout{{"order", arg(order + Names{k_, row})}};
      if (!along_row) layout["pad"] = arg(ArgumentMap{{row, arg(kWord / static_cast<std::int64_t>(size_bytes(read->type)))}});
      const Step s = step("promote", {{"array", arg(read->name)},
                                      {"at", arg(k0_)},
                                      {"memory", arg(std::string("shared"))},
                                      {"fill", {true}},
                                      {"layout", arg(layout)}});
      if (!try_step(s, schedule, steps)) return false;
      operands_.push_back({read->name, schedule->copies.back().name, row, along_row});
    }
    return true;
  }

  // Elements of a word that a thread copies at once.
  std::int64_t word_of(const std::string& array) const {
    const Array& a = now().scop->arrays.at(array);
    SymbolValues typical;
    for (const Symbol& s : now().scop->symbols) typical[s.name] = s.value;
    for (const auto& [name, value] : planner_.options().sizes) typical[name] = value;
    const std::int64_t bytes = static_cast<std::int64_t>(size_bytes(a.dtype)),
                       length = evaluate_index(a.extents.back(), typical);
    std::int64_t word = bytes < 4 ? 1 : std::min(kWord / bytes, side_ * kGpuTileDepth / kThreads);
    while (word > 1 && length % word != 0) word /= 2;
    return word;
  }

  Step nest_step(const std::string& statement, const Names& block, const Sizes& threads, const Sizes& points,
                 const Sizes& adjacent) const {
    ArgumentMap arguments{{"statement", arg(statement)}, {"block", arg(block)}, {"threads", arg(threads)}};
    const auto several = [](const Sizes& s) { return std::any_of(s.begin(), s.end(), [](std::int64_t n) { return n > 1; }); };
    if (several(points)) arguments["points"] = arg(points);
    if (several(adjacent)) arguments["adjacent"] = arg(adjacent);
    return make_step("map_gpu", std::move(arguments));
  }

  std::vector<Step> mapping(const Schedule& tiled) const {
    std::vector<Step> steps{step("map_gpu", {{"grid", arg(batch_ + Names{i0_, j0_})}})};
    const Sizes adjacent(2, std::min<std::int64_t>(each_, kWord / 4));
    const TreePtr body = find_loop(tiled.tree, statement_, j0_)->children[0];
    const std::vector<TreePtr> nests = body->kind == Tree::Kind::kSequence ? body->children : std::vector<TreePtr>{body};
    for (const TreePtr& nest : nests) {
      const int s = contains(nest, statement_) ? statement_ : statements_of(nest).front();
      const auto names = names_.find(s);
      const Names block = names != names_.end() ? names->second : Names{i_, j_};
      steps.push_back(nest_step(tiled.statement(s).name, block, {kGpuTileSide, kGpuTileSide}, {each_, each_}, adjacent));
    }
    for (const Operand& o : operands_) {
      // Neighbours of one word where the rows of memory are whole words; further threads go along the other loop.
      const std::int64_t word = word_of(o.array), along = (o.along_row ? side_ : kGpuTileDepth) / word;
      const std::int64_t across = kThreads / along, all = o.along_row ? kGpuTileDepth : side_;
      const Names block = o.along_row ? Names{k_, o.row} : Names{o.row, k_};
      steps.push_back(nest_step(o.copy, block, {across, along}, {std::max<std::int64_t>(1, all / across), word}, {1, word}));
    }
    return steps;
  }

  GroupPlanner& planner_;
  const GpuNest& nest_;
  const GpuProduct& product_;
  int statement_;
  Names batch_;
  std::string i_, j_, k_, i0_, j0_, k0_;
  const Expr *of_i_ = nullptr, *of_j_ = nullptr;
  std::int64_t each_ = 8, side_ = 128;
  std::map<int, Names> names_;  // of i and j, by statement
  std::vector<Operand> operands_;
};

void plan(GroupPlanner& planner, const TreePtr& node, std::vector<GpuTiles>* all) {
  if (node->kind == Tree::Kind::kSequence)
    for (const TreePtr& c : node->children) plan(planner, c, all);
  if (node->kind != Tree::Kind::kLoop || is_mapped(node)) return;
  const GpuNest nest(planner, node);
  if (!nest.known()) return;
  if (nest.chain().empty()) return plan(planner, node->children[0], all);
  const std::optional<GpuProduct> p = nest.product();
  if (!p || !p->worthwhile()) return;
  if (std::optional<GpuTiles> made = ProductPlan(planner, nest, *p).run()) all->push_back(std::move(*made));
}

}  // namespace

std::int64_t points_of_product(const GpuProduct& p) {
  std::int64_t each = p.type == DType::kF64 ? 4 : 8;
  for (; each > 2; each /= 2) {
    const double side = static_cast<double>(kGpuTileSide * each);
    if (p.batch * (p.left / side) * (p.right / side) >= kEnoughBlocks) break;
  }
  return each;
}

std::vector<GpuTiles> plan_gpu_tiles(GroupPlanner& planner) {
  std::vector<GpuTiles> all;
  const TreePtr root = planner.schedule().tree;  // what is planned replaces it
  plan(planner, root, &all);
  return all;
}

}  // namespace facet
