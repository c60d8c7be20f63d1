// Policy: the operands of a register-tiled nest in panels, so that the tile reads both along one line.
//
//     A whole operand, before the nest, on threads            B.packed.copy;  for jt .. { .. B_packed .. }
//     a constant one: the same, which then runs in prepare
//     the block of one thread's iteration, in its own L2      for jt { B.tile.copy;  .. B_tile .. }
//
// The second form takes the operand of which the blocks of a loop use each their own part: what is written once and read soon
// never leaves the cache. Panels of mr rows or nr columns, slowest the loops outside the tile, then the panels, the reduction's
// loops and the place in the panel.
//
// A, whose elements the tile broadcasts, is packed only where they lie apart along the reduction: rows are as good as a panel,
// and packing them cost 5 to 10 % of a product of 256 to 1024 cubed (two Sapphire Rapids cores); or where its rows fall on few
// sets of L2 and narrow panels ask for them often (64 x 4096 x 4096 f64 on two Zen 4 cores: 39 ms in place, 29 packed). B is
// left where it is when few tiles use its columns, unless its elements lie apart along the lanes: each vector would be gathered
// once for each tile.
//
// The copy goes through the packed buffer in order where lanes are contiguous on both sides. Else it walks blocks: of the
// panel and of the reduction's loops along the operand's lines, or where these belong to another loop, of one line along that
// and the innermost reduction loop, so that every line of both sides is in L1 until it has been used up.
#include <algorithm>
#include <numeric>

#include "polyhedral/recipe/contraction.hpp"

namespace facet {

namespace {

using Names = std::vector<std::string>;

constexpr std::int64_t kCopyBlock = 256;              // of a panel of 14 four-byte rows: 14 KiB, well inside L1
constexpr std::int64_t kLineBlock = 16;               // a line of four-byte elements, two of eight-byte ones
constexpr double kLeastInLine = 8, kMostInLine = 64;  // elements of a line that are squares with the rows of a panel
constexpr double kNever = 1e18;
constexpr double kRowTiles = 16;            // that pay for packing a panel which is near
constexpr double kCopyThreadsFrom = 32768;  // elements of a copy that earn the threads' start-up

Names operator+(Names a, const Names& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Names without(Names list, const std::string& name) {
  std::erase(list, name);
  return list;
}

// The operand's loops that walk one dimension alone, "dN" for the others: the names of promote's dimensions.
Names dimensions(const Expr& read) {
  Names names;
  for (std::size_t d = 0; d < read.args.size(); ++d) {
    const bool plain = read.args[d]->op == Op::kIndex && !std::count(names.begin(), names.end(), read.args[d]->name);
    names.push_back(plain ? read.args[d]->name : "d" + std::to_string(d));
  }
  return names;
}

class Packing {
 public:
  Packing(GroupPlanner& planner, const PackedNest& nest, const Expr& operand, std::string axis, std::int64_t panel)
      : planner_(planner),
        nest_(nest),
        operand_(operand),
        axis_(std::move(axis)),
        panel_(panel),
        dims_(dimensions(operand)),
        plain_(std::count(dims_.begin(), dims_.end(), axis_) > 0) {
    const Names& k = nest.contraction.k;
    if (axis_ == nest.contraction.j) joined_ = nest.joined;
    for (const std::string& d : dims_)
      if (d != axis_) (std::count(k.begin(), k.end(), d) ? inside_ : outside_).push_back(d);
  }

  void run() {
    const bool constant = now().scop->arrays.at(operand_.name).constant;
    at_ = constant ? "" : of_patches() ? nest_.patch_loop : block() ? block()->loop : "";
    if (!at_.empty() && !fits(promotion())) at_ = "";
    lines_ = !at_.empty() && !of_patches() && block()->whole_lines;
    const std::string why =
        (!plain_ ? "laid out with its padding and room for whole tiles" : "packed in panels of " + std::to_string(panel_)) +
        (constant      ? ", whole: it is constant"
         : at_.empty() ? ""
                       : ", block by block");
    if (!planner_.attempt(promotion(), "promotion", "array " + operand_.name, why)) return;
    copy_ = now().copies.back().name;
    shape();
    if (at_.empty()) share();
  }

 private:
  GroupPlanner& planner_;
  const PackedNest& nest_;
  const Expr& operand_;
  std::string axis_;
  std::int64_t panel_;
  Names dims_;
  bool plain_;
  Names outside_, inside_;
  std::string joined_;  // the other loop of the panel's columns
  std::string copy_;
  bool lines_ = false;  // one block of lines at a time
  std::string at_;      // the loop whose iterations copy their own part; "": the whole operand before the nest

  const Schedule& now() const { return planner_.schedule(); }

  // The loop whose iterations each use a part of their own that L2 holds; null: none.
  const PackedBlock* block() const {
    if (!plain_) return nullptr;
    for (const PackedBlock& b : nest_.blocks)
      if (b.axis == axis_ && (walked_outside() == 0 || b.whole_lines || b.fixed) &&
          static_cast<double>(b.size) * b.depth * static_cast<double>(size_bytes(operand_.type)) <= block_bytes())
        return &b;
    return nullptr;
  }

  // Dimensions of more than one element outside the panels.
  std::size_t walked_outside() const {
    const std::vector<ExprPtr>& extents = now().scop->arrays.at(operand_.name).extents;
    std::size_t count = 0;
    for (std::size_t d = 0; d < dims_.size(); ++d)
      count += std::count(outside_.begin(), outside_.end(), dims_[d]) > 0 &&
               evaluate_index(extents[d], planner_.model().sizes()) != 1;
    return count;
  }

  bool of_patches() const { return !plain_ && axis_ == nest_.contraction.i && !nest_.patch_loop.empty(); }

  // The dimensions of windows: those that the reduction alone walks come after those that it shares, so that what one step of
  // the tile reads lies together; the axis stays where it is if it is the last.
  Names window_order() const {
    const Names& k = nest_.contraction.k;
    Names first, then;
    for (std::size_t d = 0; d + 1 < dims_.size(); ++d)
      (std::count(k.begin(), k.end(), dims_[d]) > 0 ? then : first).push_back(dims_[d]);
    return first + then + Names{dims_.back()};
  }

  Step promotion() const {
    ArgumentMap step{{"array", arg(operand_.name)}, {"statement", arg(nest_.statement)}}, layout;
    if (!joined_.empty()) {
      layout = {{"order", arg(without(outside_, joined_) + Names{joined_, axis_} + inside_)},
                {"inner", arg(ArgumentMap{{joined_, arg(nest_.count)}, {axis_, arg(panel_)}})}};
    } else if (plain_) {
      layout = {{"order", arg(outside_ + Names{axis_} + inside_)}, {"inner", arg(ArgumentMap{{axis_, arg(panel_)}})}};
    } else {
      const std::int64_t stride = Model::step(operand_.args.back(), axis_).value_or(1);
      layout = {{"order", arg(nest_.deep ? dims_ : window_order())}};
      if (at_.empty()) layout["room"] = arg(ArgumentMap{{dims_.back(), arg((panel_ - 1) * std::max<std::int64_t>(stride, 0))}});
    }
    step["layout"] = arg(layout);
    if (!at_.empty()) {
      step["at"] = arg(at_);
      step["memory"] = arg(std::string("l2"));
      step["fill"] = Argument{true};
    }
    return make_step("promote", step);
  }

  // Is the block's box that small at every size? It has the constant extents of the largest symbols.
  bool fits(const Step& step) const {
    const StepOutcome trial = apply_step(now(), step, planner_.budget());
    if (!trial.schedule) return false;
    double bytes = static_cast<double>(size_bytes(operand_.type));
    for (const ExprPtr& e : trial.schedule->storage.back().sizes)
      bytes *= e->op == Op::kLiteral ? static_cast<double>(e->int_value) : kNever;
    return bytes <= block_bytes();
  }

  double block_bytes() const { return 0.75 * static_cast<double>(second_cache_bytes(planner_.options().machine.cpu)); }

  double extent(const std::string& loop) const {
    const int number = now().find(copy_);
    return planner_.model().trips(*find_loop(now().tree, number, loop), number);
  }

  // Does the loop belong to the copy alone?
  bool runs_inside(const std::string& loop) const {
    const std::vector<TreePtr> around = loops_around(now().tree, now().find(copy_));
    const auto own = [&](const TreePtr& l) { return l->names.at(now().find(copy_)) == loop && statements_of(l).size() == 1; };
    return std::any_of(around.begin(), around.end(), own);
  }

  // The loops of the copy in the order in which it walks, and their lanes.
  void shape() {
    const bool follows = !plain_ || axis_ == dims_.back();
    if (!joined_.empty()) {
      planner_.attempt(make_step("interchange", {{"statement", arg(copy_)},
                                                 {"order", arg(without(outside_, joined_) + inside_ + Names{joined_, axis_})}}),
                       "tile", "copy " + copy_, "rows of the panel one after another");
      return;
    }
    if (lines_) {
      Names order;
      for (const std::string& l : without(outside_, dims_.back()) + inside_ + Names{axis_, dims_.back()})
        if (runs_inside(l)) order.push_back(l);
      planner_.attempt(make_step("interchange", {{"statement", arg(copy_)}, {"order", arg(order)}}), "tile", "copy " + copy_,
                       "lines become columns of the panel");
      return;
    }
    if (plain_) {
      std::vector<Step> steps{tile_loop(copy_, axis_, panel_, axis_ + "p")};
      steps.push_back(make_step("interchange", {{"statement", arg(copy_)}, {"order", arg(walk(steps))}}));
      planner_.attempt_all(steps, "tile", "copy " + copy_, "panel by panel");
    }
    const std::int64_t width = plain_ ? std::gcd(nest_.tile.lanes, panel_) : nest_.tile.lanes;
    if (follows && width >= 4)
      planner_.attempt(make_step("vectorize", {{"statement", arg(copy_)}, {"loop", arg(dims_.back())}, {"width", arg(width)}}),
                       "vector", "copy " + copy_, "contiguous on both sides");
  }

  // Adds the cuts of blocks to `steps`.
  Names walk(std::vector<Step>& steps) const {
    Names outer = outside_, deep = inside_, points{axis_};
    const std::string last = dims_.back();
    if (last == axis_) return outer + Names{axis_ + "p"} + deep + points;
    const std::string part = !at_.empty() && block() ? block()->part : "";  // cut already
    const auto cut = [&](Names& among, const std::string& loop, std::int64_t size) {
      if (loop != part && extent(loop) > 2 * static_cast<double>(size)) {
        steps.push_back(tile_loop(copy_, loop, size, loop + "p"));
        std::replace(among.begin(), among.end(), loop, loop + "p");
      } else {
        std::erase(among, loop);
      }
      points.push_back(loop);
    };
    // The reduction's loops that the operand's lines follow: together one run of the panel.
    Names run;
    for (auto d = dims_.rbegin(); d != dims_.rend() && std::count(inside_.begin(), inside_.end(), *d); ++d)
      run.insert(run.begin(), *d);
    if (run.empty()) {
      // Short lines of loops that choose a panel, as the taps that belong to a class of a transposed convolution: for each
      // place of the reduction, rows of all of them go to their panels as one square.
      const Names line = line_of_panels();
      if (!line.empty())
        return Names(outer.begin(), outer.end() - static_cast<long>(line.size())) + Names{axis_ + "p"} + deep + line + points;
      if (!inside_.empty()) cut(deep, inside_.back(), kLineBlock);
      cut(outer, last, kLineBlock);
    }
    double rest = 1;
    for (std::size_t d = 1; d < run.size(); ++d) rest *= extent(run[d]);
    for (const std::string& d : run) {
      const double block = d == run.front() ? static_cast<double>(kCopyBlock) / rest : extent(d);
      cut(deep, d, std::max<std::int64_t>(static_cast<std::int64_t>(block), 1));
    }
    return outer + Names{axis_ + "p"} + deep + points;
  }

  // The operand's last dimensions when these are the last ones that its panels lie apart by, and few elements.
  Names line_of_panels() const {
    Names line;
    double elements = 1;
    for (auto d = dims_.rbegin(), o = outside_.rbegin(); d != dims_.rend() && o != outside_.rend() && *d == *o; ++d, ++o) {
      if (elements * extent(*d) > kMostInLine) break;
      elements *= extent(*d);
      line.insert(line.begin(), *d);
    }
    return elements >= kLeastInLine ? line : Names{};
  }

  void share() {
    const int number = now().find(copy_);
    if (planner_.threads() < 2 || planner_.model().instances(number) < kCopyThreadsFrom) return;
    for (const TreePtr& loop : loops_around(now().tree, number)) {
      if (loop->mark.kind != LoopKind::kSerial || planner_.model().trips(*loop, number) < planner_.threads()) continue;
      planner_.attempt(make_step("parallelize", {{"statement", arg(copy_)}, {"loop", arg(loop->names.at(number))}}), "parallel",
                       "copy " + copy_, "panels on threads");
      return;
    }
  }
};

// Why B stays where it is, "" where it is packed.
const char* columns_in_place(const GroupPlanner& planner, const PackedNest& nest) {
  const Contraction& c = nest.contraction;
  if (c.b->pad || Model::stride(c.b->args, c.j) != Model::Stride::kUnit) return "";
  if (nest.size.prepared || !nest.joined.empty()) return "";  // once, before any run; for its columns to follow each other
  if (few_row_tiles(nest.size, nest.tile)) return "too few tiles use its columns to pay for a copy";
  const double bytes = planner.model().array_bytes(c.b->name);
  const Names names = dimensions(*c.b);
  const bool plain = !c.b->pad && std::count(names.begin(), names.end(), c.j) > 0;
  const bool near = plain && bytes <= 0.5 * static_cast<double>(second_cache_bytes(planner.options().machine.cpu));
  return near && nest.row_tiles < kRowTiles ? "in the second cache, and few tiles use its columns" : "";
}

// Why A stays where it is: its elements are read one by one, for a line of them all iterations that follow.
const char* rows_in_place(const GroupPlanner& planner, const PackedNest& nest) {
  const Contraction& c = nest.contraction;
  if (c.a->pad) return "";  // its reads ask for their place each time, the copy once
  const double apart = stride_bytes(*c.a, c.k.back(), *planner.schedule().scop, planner.model());
  if (apart <= static_cast<double>(size_bytes(c.a->type))) {
    const double row = stride_bytes(*c.a, c.i, *planner.schedule().scop, planner.model());
    const bool again =
        refetches_rows(planner.options().machine.cpu, size_bytes(c.a->type), nest.tile, nest.rows, nest.depth, row);
    return again ? "" : "read along its lines, element by element";
  }
  if (planner.schedule().scop->arrays.at(c.a->name).constant) return "";
  return nest.size.n < 2 * static_cast<double>(nest.tile.nr) ? "too few tiles use its rows to pay for a copy" : "";
}

}  // namespace

Step tile_loop(const std::string& statement, const std::string& loop, std::int64_t size, const std::string& name) {
  return make_step("tile", {{"statement", arg(statement)},
                            {"loops", arg(Names{loop})},
                            {"sizes", arg(std::vector<std::int64_t>{size})},
                            {"names", arg(Names{name})}});
}

void pack_operands(GroupPlanner& planner, const PackedNest& nest) {
  const Contraction& c = nest.contraction;
  const auto pack = [&](const Expr& operand, const std::string& axis, std::int64_t panel, const char* why_not) {
    if (!*why_not) return Packing(planner, nest, operand, axis, panel).run();
    planner.decline("promotion", "array " + operand.name, why_not);
  };
  pack(*c.b, c.j, nest.tile.nr / nest.count, columns_in_place(planner, nest));
  if (c.a->name != c.b->name) pack(*c.a, c.i, nest.tile.mr, rows_in_place(planner, nest));
}

}  // namespace facet
