// Policy: matrix-product-like nests become packed, register-tiled loops with their epilogue in the tile.
//
// For  C[..] += A[..] * B[..]  in any index order, whatever produced it (matmul, einsum, convolution, equation, loop nest):
//
//     B.packed.copy                           whole operands, panels of nr columns, padding included; on threads
//     for P                                   the threads' loop: blocks of j or i, or an outer loop of the larger side
//       for batch, further loops of m and n
//         for jr, ir                          register tiles; the panel of B is met by all row tiles of the block
//           C.tile = 0;  for k..  C.tile[mr, nr] += A * B.packed
//           consumers of C, element by element, or the store of C
//
// The reduction is cut only where contraction_walk.cpp says so: C is then written once. Else it accumulates in C, block by
// block of k, and where every thread has panels of its own they are packed just before use.
#include <algorithm>
#include <cmath>

#include "polyhedral/recipe/contraction.hpp"

namespace facet {

namespace {

using Names = std::vector<std::string>;

constexpr double kLeastWork = 32768;     // multiply-adds; below, tiles cost more than they save
constexpr double kThreadsFrom = 500000;  // multiply-adds that earn the threads' start-up
constexpr double kAlong = 1.1;           // what a tile that is stored along its lanes may be slower by

Names operator+(Names a, const Names& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Names without(Names list, const std::string& name) {
  std::erase(list, name);
  return list;
}

class ContractionPlan {
 public:
  ContractionPlan(GroupPlanner& planner, int statement, const std::vector<Contraction>& choices)
      : planner_(planner), statement_(statement), name_(now().statement(statement).name) {
    bytes_ = size_bytes(now().statement(statement).value->type);
    std::vector<ContractionTile> tiles;
    bool turned = false;
    for (const Contraction& choice : choices) {
      tiles.push_back(choose_tile(cpu(), bytes_, size_for(choice), access_of(choice), planner_.threads()));
      turned = turned || turned_for(choice, tiles.back());
    }
    double best = 0;
    for (std::size_t k = 0; k < choices.size(); ++k) {
      const std::optional<JoinedLanes> joined = joined_for(choices[k], tiles[k]);
      if (joined) tiles[k] = joined->tile;
      // Across only where that gains: among equals, whole lines are stored. Pieces of C that stay in L2 are turned at the end.
      const bool pieces = deep_for(choices[k], tiles[k], size_for(choices[k]).m / planner_.threads()).has_value();
      double rate = tiles[k].rate * (choices[k].across && !pieces ? 1 : kAlong);
      if (turned) rate = rate_with_turning(rate, choices[k], size_for(choices[k]));
      if (rate <= best) continue;
      best = rate;
      c_ = choices[k];
      joined_ = joined;
      if (joined_) c_.i = joined_->i;
      size_ = size_for(c_);
      tile_ = tiles[k];
    }
    turned_ = turned_for(c_, tile_);
  }

  void run() {
    const std::string subject = "contraction " + name_;
    if (now().scop->reassociate != Numerics::Reassociate::kStrict)
      order_reduction(c_, [&](const std::string& k) { return extent(k); });
    if (size_.j < 4 || size_.i < 2 || size_.m * size_.n * size_.k * size_.batch < kLeastWork)
      return planner_.decline(
          "tile", subject,
          "too small for a register tile: m " + text(size_.m) + ", n " + text(size_.n) + ", k " + text(size_.k));
    walk_ = choose_walk(cpu(), bytes_, size_, tile_, stride_bytes(*c_.b, c_.k.back(), *now().scop, planner_.model()),
                        planner_.threads());
    if (deep_for(c_, tile_, size_.m / planner_.threads())) walk_.k_block = 0;  // blocks that all points meet are better ones
    computed_here_ = turned_ || (walk_.k_block == 0 && has_plain_nest(now(), statement_));
    if (turned_) {
      order_turned();
    } else if (joined_) {
      order_joined();
    } else {
      if (computed_here_) join_consumers(planner_, statement_);
      choose_order();
    }
    if (!make_nest(subject)) return;
    if (computed_here_) keep_result_in_tile();
    mark_tile(planner_, {c_, tile_, statement_, piece_loop(), joined_ ? joined_->loop : "", deep_.has_value()});
    statement_ = cut_triangle(planner_, statement_, c_, tile_);
    name_ = now().statement(statement_).name;
    pack_operands(planner_, {c_, size_, tile_, name_, blocks(), row_tiles(), patch_loop_, deep_ && deep_->size > 0,
                             joined_ ? joined_->loop : "", joined_ ? joined_->count : 1,
                             joined_ || turned_ ? 0 : rows_passed(size_, walk_), depth()});
    if (planner_.threads() > 1 && size_.m * size_.n * size_.k * size_.batch > kThreadsFrom)
      planner_.attempt(make_step("parallelize", {{"statement", arg(name_)}, {"loop", arg(order_.front())}}), "parallel",
                       "loop " + order_.front() + " of " + name_, "blocks of the larger side on threads");
  }

 private:
  GroupPlanner& planner_;
  Contraction c_;
  int statement_;
  std::string name_;
  std::int64_t bytes_ = 4;
  ContractionSize size_;
  ContractionTile tile_;
  ContractionWalk walk_;
  bool computed_here_ = false;          // C starts in this nest: it can live in a tile
  Names order_;                         // the loops down to the register tiles
  std::optional<JoinedLanes> joined_;   // vectors go on from row to row
  std::optional<TurnedResult> turned_;  // blocks of C are turned as they are stored
  std::string block_loop_;              // that such a block is computed in
  bool by_lines_ = false;               // blocks of B's lines are packed
  std::vector<Step> cuts_;              // the cache tiles among them
  std::string block_text_;
  std::string patch_loop_;           // the blocks that A's windows are copied for
  std::optional<DepthBlocks> deep_;  // of the reduction, which all points of a panel meet
  Names points_;                     // the loops of a piece's points
  std::int64_t gathered_ = 0;        // columns of the panels that are packed together; 0: one by one

  const Schedule& now() const { return planner_.schedule(); }

  ContractionSize size_for(const Contraction& choice) const {
    return size_of(choice, now().statement(statement_), *now().scop, planner_.model());
  }

  // Blocks of the reduction, where `points` of C are computed together on one thread.
  std::optional<DepthBlocks> deep_for(const Contraction& c, const ContractionTile& tile, double points) const {
    const Statement& s = now().statement(statement_);
    if (!has_plain_nest(now(), statement_)) return std::nullopt;
    return depth_blocks(c, s, now().scop->reassociate, planner_.model(), cpu(), size_for(c), tile, points);
  }

  std::optional<TurnedResult> turned_for(const Contraction& c, const ContractionTile& tile) const {
    if (!has_plain_nest(now(), statement_)) return std::nullopt;
    return turned_result(c, now().statement(statement_), planner_.model(), size_for(c), tile, second_cache_bytes(cpu()));
  }

  std::optional<JoinedLanes> joined_for(const Contraction& c, const ContractionTile& tile) const {
    if (!has_plain_nest(now(), statement_) || statements_of(now().tree).size() > 2) return std::nullopt;
    return joined_lanes(c, now().statement(statement_), planner_.model(), cpu(), tile);
  }

  const CpuMachine& cpu() const { return planner_.options().machine.cpu; }
  static std::string text(double x) { return std::to_string(static_cast<long>(x)); }

  double extent(const std::string& name) const {
    const Names& all = now().statement(statement_).iterators;
    return planner_.model().extent(statement_, static_cast<std::size_t>(std::find(all.begin(), all.end(), name) - all.begin()));
  }

  Step tile_step(const std::string& loop, std::int64_t size, const std::string& suffix) const {
    return tile_loop(name_, loop, size, loop + suffix);
  }

  //   for .., LASTt (of whole lines of C), jt { for LAST, jr, ir  C.tile += A B;  C = C.tile }
  void order_turned() {
    const bool rows = turned_->loop == c_.i;
    const Names rest = without(without(without(c_.batch + c_.n + c_.m, c_.i), c_.j), turned_->loop);
    const std::string lines = turned_->loop + "t", outer = best_outer(rest);
    cut(turned_->loop, turned_->size);
    const double blocks = std::ceil(extent(turned_->loop) / static_cast<double>(turned_->size));
    const bool first = outer.empty() || (rows && balance(blocks, planner_.threads()) >= 0.9);
    order_ = first ? Names{lines} + rest : Names{outer} + without(rest, outer) + Names{lines};
    if (extent(c_.j) > static_cast<double>(turned_->columns)) {
      cut(c_.j, turned_->columns);
      order_.push_back(c_.j + "t");
    }
    block_loop_ = order_.back();
    order_ = order_ + (rows ? Names{} : Names{turned_->loop}) + Names{c_.j + "r", c_.i + "r"};
  }

  //   for .. (as C's rows lie), LOOPr, ir { for k  C.tile += A B;  C = C.tile }
  void order_joined() {
    Names rest;
    for (const ExprPtr& e : now().statement(statement_).subscripts)
      if (e->op == Op::kIndex && e->name != c_.i && e->name != c_.j && e->name != joined_->loop) rest.push_back(e->name);
    if (const std::string outer = best_outer(rest); !outer.empty()) rest = Names{outer} + without(rest, outer);
    order_ = rest + Names{joined_->loop + "r", c_.i + "r"};
    block_text_ += ", vectors over " + std::to_string(joined_->count) + " of " + joined_->loop;
  }

  Names tile_loops() const { return joined_ ? Names{c_.i, joined_->loop, c_.j} : Names{c_.i, c_.j}; }  // rows, then lanes

  // The loop for the threads comes first: in a plain nest blocks of i or j, else an outer loop of the larger side.
  void choose_order() {
    const std::string line = line_loop(c_);
    if (!line.empty() && !size_.prepared && bytes_of_lines() <= 0.75 * static_cast<double>(second_cache_bytes(cpu())))
      return order_by_lines(line);
    const bool rows = size_.m >= size_.n && !share_filters();
    const Names m_rest = without(c_.m, c_.i), n_rest = without(c_.n, c_.j);
    std::string first = rows ? best_outer(m_rest) : best_outer(n_rest);
    if (first.empty()) first = best_outer(c_.batch);
    if (rows && choose_patches(first)) return;
    Names blocks;
    if (first.empty()) {
      first = (walk_.columns ? c_.j : c_.i) + "t";
      cut(walk_.columns ? c_.j : c_.i, walk_.thread_block);
    }
    if (first != c_.i + "t" && walk_.rows > 0) {
      cut(c_.i, walk_.rows);
      blocks = {c_.i + "t"};
    }
    if (first == c_.j + "t" && computed_here_ && blocks.empty() && !walks_dimension(*c_.a, c_.i)) {
      const int threads = planner_.threads();  // each copies windows for itself
      patch_loop_ = threads > 1 && extent(c_.j) <= 1.0 * threads * walk_.thread_block ? first : "";
      return order_windows(Names{first} + c_.batch + n_rest + Names{c_.j + "r"}, m_rest + Names{c_.i + "r"}, size_.m);
    }
    const Names outer = without(c_.batch + (rows ? m_rest + blocks + n_rest : n_rest + m_rest + blocks), first);
    const Names tiles = walk_.along_rows ? Names{c_.i + "r", c_.j + "r"} : Names{c_.j + "r", c_.i + "r"};
    order_ = Names{first} + outer + tiles;
    gather_panels();
  }

  // Windows whose filters are shared out, in blocks of the reduction that all points meet.
  bool share_filters() {
    const std::int64_t block = filters_of_thread(c_, size_, tile_, planner_.model(), planner_.threads());
    const std::optional<DepthBlocks> deep = block > 0 && computed_here_ ? deep_for(c_, tile_, size_.m) : std::nullopt;
    if (deep && deep->size > 0) walk_ = {.columns = true, .thread_block = block};
    return deep && deep->size > 0;
  }

  // Panels that are packed one by one as they are reached: several at once where rows of B lie pages apart.
  void gather_panels() {
    const bool along = Model::stride(c_.b->args, c_.j) == Model::Stride::kUnit;
    if (!along || order_.front() == c_.j + "t" || order_.back() != c_.i + "r" || !met_once()) return;
    const double apart = stride_bytes(*c_.b, c_.k.back(), *now().scop, planner_.model());
    gathered_ = gathered_columns(cpu(), bytes_, size_, tile_, apart);
    if (gathered_ == 0) return;
    cut(c_.j, gathered_);
    order_.insert(std::find(order_.begin(), order_.end(), c_.j + "r"), c_.j + "t");
  }

  // Whole lines of B, which lie along another loop of C than the lanes, become panels of one block of that loop each:
  //   for .., LINEt, jr { B.tile.copy;  for LINE, .., ir .. B_tile .. }
  void order_by_lines(const std::string& line) {
    const Names others = without(without(c_.n, c_.j), line);
    const std::int64_t size = line_elements();
    std::string first = best_outer(others);
    if (first.empty() && balance(std::ceil(extent(line) / static_cast<double>(size)), planner_.threads()) < 0.9)
      first = best_outer(c_.batch);
    cut(line, size);
    order_ = first.empty() ? Names{} : Names{first};
    order_ = order_ + without(c_.batch, first) + without(others, first) + Names{line + "t", c_.j + "r", line} +
             without(c_.m, c_.i) + Names{c_.i + "r"};
    by_lines_ = true;
  }

  std::int64_t line_elements() const { return 64 / bytes_; }
  double bytes_of_lines() const { return static_cast<double>(line_elements() * tile_.nr * bytes_) * size_.k; }

  // Parts of operands that one iteration of a loop uses alone: the rows of the threads' block; a panel of columns that is met
  // once.
  std::vector<PackedBlock> blocks() const {
    if (turned_) return {};
    if (by_lines_) return {{c_.j + "r", c_.j, tile_.nr * line_elements(), size_.k, true}};
    if (deep_ && deep_->size > 0 && met_once()) {
      const double depth = static_cast<double>(deep_->size) * size_.k / extent(deep_->loop);
      return {{deep_->loop + "t", c_.j, tile_.nr, depth, false, true, deep_->loop}};
    }
    if (order_.front() == c_.i + "t") return {{c_.i + "t", c_.i, walk_.thread_block, depth()}};
    if (gathered_ > 0) return {{c_.j + "t", c_.j, gathered_, depth(), false, true}};
    if ((!walk_.along_rows || order_.back() == c_.i + "r") && met_once())
      return {{c_.j + "r", c_.j, tile_.nr, depth(), false, order_.front() != c_.j + "t"}};
    return {};
  }

  double depth() const { return walk_.k_block > 0 ? static_cast<double>(walk_.k_block) : size_.k; }

  // Are the loops around a panel of columns those of its own operand, so that each panel is met once?
  bool met_once() const {
    const auto panels = std::find(order_.begin(), order_.end(), c_.j + "r");
    return std::all_of(order_.begin(), panels, [&](const std::string& l) {
      return l == c_.j + "t" || std::count(c_.n.begin(), c_.n.end(), l) > 0 ||
             (std::count(c_.m.begin(), c_.m.end(), l) > 0 && extent(l) == 1);
    });
  }

  // Tiles that meet a panel of B on one thread.
  double row_tiles() const {
    return size_.m / static_cast<double>(tile_.mr) / (order_.front() == c_.i + "t" ? planner_.threads() : 1);
  }

  // The windows of a convolution: blocks of rows whose part of A fits into L2, met by one panel of B after another.
  bool choose_patches(const std::string& first) {
    if (!computed_here_ || walk_.rows > 0 || !std::count(c_.m.begin(), c_.m.end(), first)) return false;
    const double most = 0.5 * static_cast<double>(second_cache_bytes(cpu()));
    const std::optional<Patches> p =
        patches_of(c_, now().statement(statement_), planner_.model(), first, most, planner_.threads());
    if (!p) return false;
    cut(p->inside[0], p->rows);
    patch_loop_ = p->inside[0] + "t";
    order_windows(p->outside + Names{patch_loop_} + c_.batch + without(c_.n, c_.j) + Names{c_.j + "r"},
                  p->inside + Names{c_.i + "r"}, p->points);
    return true;
  }

  // `panels`, the innermost those of B, around the points, so many on a thread: in blocks of the reduction where that pays.
  void order_windows(const Names& panels, const Names& points, double count) {
    order_ = panels + points;
    deep_ = deep_for(c_, tile_, count);
    if (!deep_) return;
    points_ = deep_->size > 0 ? points : Names{points.back()};
    c_.k = deep_->order;
    if (deep_->size == 0) return;
    block_text_ += ", all points in blocks of " + std::to_string(deep_->size) + " of " + deep_->loop;
  }

  // The loop around what is computed in one piece: a register tile, or points of a panel.
  std::string piece_loop() const { return points_.empty() ? order_.back() : order_[order_.size() - points_.size() - 1]; }

  std::string best_outer(const Names& loops) const {
    for (const std::string& l : loops)
      if (balance(extent(l), planner_.threads()) >= 0.9) return l;
    return "";
  }

  void cut(const std::string& loop, std::int64_t size) {
    cuts_.push_back(tile_step(loop, size, "t"));
    block_text_ += ", " + loop + " in blocks of " + std::to_string(size);
  }

  std::string description() const {
    return std::to_string(tile_.mr) + " x " + std::to_string(tile_.nr) + " in registers" + block_text_;
  }

  bool make_nest(const std::string& subject) {
    if (computed_here_ || statements_of(loops_around(now().tree, statement_).front()).size() == 1)
      return planner_.attempt_all(nest_steps({}), "tile", subject, description());
    std::vector<std::vector<Step>> ways = ways_apart(now(), statement_);
    const auto works = [&](const std::vector<Step>& way) {
      return apply_steps(now(), way, planner_.budget()).schedule.has_value();
    };
    const auto way = std::find_if(ways.begin(), ways.end() - 1, works);  // the last one's refusal is told
    return planner_.attempt_all(nest_steps(std::move(*way)), "tile", subject, description());
  }

  std::vector<Step> nest_steps(std::vector<Step> steps) {
    const Names reduction = c_.k;
    steps.insert(steps.end(), cuts_.begin(), cuts_.end());
    steps.push_back(tile_step(c_.i, tile_.mr, "r"));
    steps.push_back(joined_ ? tile_step(joined_->loop, joined_->count, "r") : tile_step(c_.j, tile_.nr, "r"));
    if (computed_here_) {
      steps.push_back(make_step("interchange", {{"statement", arg(name_)}, {"order", arg(order_ + tile_loops())}}));
      steps.push_back(
          make_step("distribute", {{"statement", arg(name_)}, {"loop", arg(points_.empty() ? c_.i : points_.front())}}));
      const bool cut = deep_ && deep_->size > 0;
      if (cut) steps.push_back(tile_step(deep_->loop, deep_->size, "t"));
      const Names blocks = (cut ? Names{deep_->loop + "t"} : Names{}) + points_;
      steps.push_back(make_step("interchange", {{"statement", arg(name_)}, {"order", arg(blocks + reduction + tile_loops())}}));
      return steps;
    }
    std::vector<double> extents;
    for (const std::string& k : reduction) extents.push_back(extent(k));
    cut_reduction(steps, name_, order_, reduction, reduction_blocks(extents, walk_.k_block), tile_loops());
    return steps;
  }

  // C needs no memory of its own where it is used up in the tile; else the tile is stored. The lanes are its fastest dimension.
  void keep_result_in_tile() {
    const std::string array = now().statement(statement_).target;
    const Array& a = now().scop->arrays.at(array);
    ArgumentMap contract{{"array", arg(array)}, {"statement", arg(name_)}, {"at", arg(piece_loop())}};
    Names order = lanes_last(now().statement(statement_), c_.j);
    if (joined_) order = without(without(order, joined_->loop), c_.j) + Names{joined_->loop, c_.j};
    if (c_.across || joined_) contract["layout"] = arg(ArgumentMap{{"order", arg(order)}});
    ArgumentMap promote = contract;
    promote["memory"] = arg(std::string(turned_ || deep_ ? "l2" : "registers"));
    if (turned_) {
      promote["at"] = arg(block_loop_);
      const std::string what = std::to_string(turned_->size) + " of " + turned_->loop + ", turned as they are stored";
      if (planner_.attempt(make_step("promote", promote), "promotion", "array " + array, "computed in blocks of " + what))
        turn_store(planner_, std::string(now().copies.back().name), c_, *turned_);
      return;
    }
    if (!a.external && !a.live_out &&
        planner_.attempt(make_step("contract", contract), "contraction", "array " + array, "lives in the register tile"))
      return;
    const char* why = deep_ ? "computed for several tiles of points, stored once" : "computed in a register tile, stored once";
    if (!planner_.attempt(make_step("promote", promote), "promotion", "array " + array, why) || !deep_ || !c_.across) return;
    order_store(planner_, now().copies.back().name, c_.i, c_.j);
  }
};

}  // namespace

void plan_contractions(GroupPlanner& planner) {
  for (const int s : statements_of(planner.schedule().tree)) {
    const std::vector<TreePtr> loops = loops_around(planner.schedule().tree, s);
    const auto marked = [](const TreePtr& l) { return l->mark.kind != LoopKind::kSerial; };
    if (std::any_of(loops.begin(), loops.end(), marked)) continue;  // planned already
    const std::vector<Contraction> choices = recognise_contractions(planner.schedule().statement(s), s, planner.model());
    if (!choices.empty()) ContractionPlan(planner, s, choices).run();
  }
}

}  // namespace facet
