// Policy: factorizations in square tiles, what finished tiles contribute as register-tiled products.
//
// In a nest of permutable loops i, j an update  U(i, j, k):  A[i,j] OP= f(A[i,k], A[k,j])  reads elements that other tiles of
// (i, j) make, and a few of its own tile. Where the tile coordinates of what it reads lie before its own, nothing in the tile
// has a say: with tiles of B these are the k below B*jt (from the subscript k in the place of j) and below B*it (in the place
// of i); where a loop runs backwards, those from some point on. That part is a product of finished tiles and comes first:
//
//     for i { for j < i { for k < j  A[i,j] -= A[i,k] A[k,j]     for w { for it (parallel) {             wavefronts of tiles
//                         A[i,j] /= A[j,j] }               -->     for jr, ir { for k < B*min(it, jt)
//             for j >= i  for k < i  A[i,j] -= A[i,k] A[k,j] }        for i in ir (unrolled) for j in jr (lanes)  A -= A A }
//                                                                   the nest as it was, for i, j in the tile and the last k } }
//
// The register tile has lanes along j where all reads walk memory along it, else along k, whose partial sums are then added up
// once a tile. Left-looking, as Crout's variant: an element of A is fetched and stored once by the products. The rest of the
// tile is B / N of the work. Not handled: updates whose loops are not i, j and k, several arrays updated in turn.
// Source: Dongarra, Duff, Sorensen and van der Vorst, Numerical Linear Algebra for High-Performance Computers, 1998, ch. 5.
#include "polyhedral/recipe/blocks.hpp"

#include <algorithm>
#include <cmath>

#include "facet/expr_facts.hpp"
#include "polyhedral/recipe/contraction.hpp"
#include "polyhedral/recipe/index_walk.hpp"
#include "polyhedral/recipe/time_tiles.hpp"

namespace facet {

namespace {

using Names = std::vector<std::string>;

constexpr double kPlainSlower =
    5;  // than register tiles: the work inside a tile (lu in tiles of 32, 64 and 128: 102, 80, 87 ms)
constexpr double kDotSlower = 10;      // without lanes along the columns there (cholesky: 32 44 ms, 64 49)
constexpr double kPeakGflopS = 100;    // f32 of one core where the machine does not say
constexpr std::int64_t kKBlock = 128;  // rows of another tile that a register tile passes before the next one meets them again:
                                       // their pages are known then (lu: 64 83 ms, 128 and 256 80, all 93)
constexpr double kDefaultL3 = 12;      // GB/s of one core where the machine does not say
constexpr double kWaveStarts = 3;      // a loop for threads ends with the last of them: more than their start alone

class Blocks {
 public:
  Blocks(const GroupPlanner& planner, const Schedule& made, const std::vector<TreePtr>& shared, const std::vector<int>& all,
         const std::vector<std::string>& expanded)
      : planner_(planner),
        made_(made),
        shared_(shared),
        statements_(all),
        expanded_(expanded),
        model_(made, planner.options().sizes) {}

  BlockedNest run() {
    if (shared_.size() < 2) return {};
    put_target_first();
    if (!find_updates()) return {};
    choose();
    if (size_ == 0) return {};
    cut();
    for (const Update& u : updates_) tile_registers(u);
    for (const Update& u : updates_) order_rest(u);
    add_wavefronts();
    return {steps_, reason()};
  }

 private:
  struct Update {
    int statement = -1;
    std::string row, column, k;  // its names for the loops
    std::string pure, rest;      // what the two parts are called
    bool dot = false;            // lanes along k
  };

  const Statement& statement(int s) const { return made_.statement(s); }
  static std::string text(double x) { return std::to_string(static_cast<long>(x)); }

  // The iterator that a loop walks up or down, "" when its member is another function.
  std::string walked(const TreePtr& loop, int s) const {
    const std::optional<unsigned> d = only_dimension(loop->member.at(s));
    return d ? statement(s).iterators[*d] : "";
  }

  // Of more shared loops, those of the updates' target become the outer ones.
  void put_target_first() {
    int heavy = -1;
    for (const int s : statements_)
      if (statement(s).update && statement(s).iterators.size() == 3 && statement(s).subscripts.size() == 2 &&
          (heavy < 0 || model_.instances(s) > model_.instances(heavy)))
        heavy = s;
    if (heavy < 0) return;
    std::vector<TreePtr> order = shared_;
    std::stable_partition(order.begin(), order.end(), [&](const TreePtr& l) { return dimension_of(heavy, l) >= 0; });
    if (order == shared_) return;
    Names names;
    for (const TreePtr& l : order) names.push_back(l->names.at(heavy));
    steps_.push_back(make_step("interchange", {{"statement", arg(statement(heavy).name)}, {"order", arg(names)}}));
    shared_ = std::move(order);
  }

  // The updates whose target the first two shared loops walk, and which need what other tiles make.
  bool find_updates() {
    for (const int s : statements_) {
      const Statement& st = statement(s);
      if (st.update && st.iterators.size() == 3 && st.subscripts.size() == 2 && needs_the_nest(st) && !add_update(s))
        return false;
    }
    return !updates_.empty();
  }

  bool needs_the_nest(const Statement& st) const {
    return std::any_of(st.reads.begin(), st.reads.end(), [&](const Access& a) { return writer_of(a.array) >= 0; });
  }

  // A statement of the nest that writes elements of the array that the two shared loops walk.
  int writer_of(const std::string& array) const {
    for (const int s : statements_)
      if (statement(s).target == array && statement(s).subscripts.size() == 2 && dimension_of(s, shared_[0]) >= 0 &&
          dimension_of(s, shared_[1]) >= 0)
        return s;
    return -1;
  }

  // The subscript of the statement's target that a loop walks; -1: none.
  int dimension_of(int s, const TreePtr& loop) const {
    const std::string name = walked(loop, s);
    for (int d = 0; d < 2; ++d)
      if (!name.empty() && is_index(statement(s).subscripts[static_cast<std::size_t>(d)], name)) return d;
    return -1;
  }

  bool add_update(int s) {
    const Statement& st = statement(s);
    if (dimension_of(s, shared_[0]) < 0) return false;
    // An update of the diagonal is left with the rest of its tile.
    if (same(st.subscripts[0], st.subscripts[1])) return true;
    Update u;
    u.statement = s;
    std::string j, k;
    for (const TreePtr& l : loops_around(made_.tree, s)) {
      const std::string name = walked(l, s);
      if (name.empty()) continue;
      const int d = is_index(st.subscripts[0], name) ? 0 : is_index(st.subscripts[1], name) ? 1 : 2;
      (d == 0 ? u.row : d == 1 ? u.column : u.k) = l->names.at(s);
      if (d > 0) (d == 1 ? j : k) = name;
    }
    if (u.row.empty() || u.column.empty() || u.k.empty() || dimension_of(s, shared_[1]) < 0 || !bounds_of(u, k)) return false;
    if (Model::stride(st.subscripts, j) != Model::Stride::kUnit) return false;
    bool along_j = true, along_k = true, walks_j = false;
    walk(st.value, [&](const Expr& e) {
      if (e.op != Op::kRead) return;
      along_j = along_j && Model::stride(e.args, j) != Model::Stride::kOther;
      walks_j = walks_j || Model::stride(e.args, j) == Model::Stride::kUnit;
      along_k = along_k && Model::stride(e.args, k) != Model::Stride::kOther;
    });
    u.dot = !along_j || !walks_j;
    if (u.dot && !along_k) return false;
    updates_.push_back(u);
    return true;
  }

  static bool is_index(const ExprPtr& e, const std::string& name) { return e->op == Op::kIndex && e->name == name; }

  // Where k leaves what the tile itself makes, by each read of what the nest makes.
  bool bounds_of(const Update& u, const std::string& k) {
    const Statement& st = statement(u.statement);
    const std::optional<Walk> plain = walk_of(find_loop(made_.tree, u.statement, u.k)->member.at(u.statement), st.domain);
    if (!plain || plain->sign != 1 || plain->offset != 0) return false;
    bool good = true;
    walk(st.value, [&](const Expr& e) {
      const int writer = e.op == Op::kRead ? writer_of(e.name) : -1;
      if (writer < 0) return;
      bool found = false;
      for (const TreePtr& loop : {shared_[0], shared_[1]}) {
        const std::optional<std::int64_t> c = offset_from(e.args[static_cast<std::size_t>(dimension_of(writer, loop))], k);
        const std::optional<Walk> walk = walk_of(loop->member.at(writer), statement(writer).domain);
        if (!c || !walk) continue;
        found = true;
        add_bound(loop, walk->sign, walk->sign > 0 ? -walk->offset - *c : walk->offset - *c + 1);
      }
      good = good && found;
    });
    return good && !bounds_.empty();
  }

  struct Bound {
    TreePtr loop;
    std::int64_t sign = 1, offset = 0;  // sign * B * tile + offset
  };

  void add_bound(const TreePtr& loop, std::int64_t sign, std::int64_t offset) {
    const auto known = [&](const Bound& b) { return b.loop == loop && b.sign == sign && b.offset == offset; };
    if (std::none_of(bounds_.begin(), bounds_.end(), known)) bounds_.push_back({loop, sign, offset});
  }

  // The tile's side: register tiles run near the peak of multiply-adds and are kPlainSlower times faster than the rest, which
  // is about 1.5 * side / extent of all; a side of twice the length fetches the finished tiles half as often.
  void choose() {
    const Update& u = updates_[0];
    const CpuMachine& cpu = planner_.options().machine.cpu;
    const double extent = std::min(model_.trips(*shared_[0], u.statement), model_.trips(*shared_[1], u.statement));
    double instances = 0;
    for (const Update& x : updates_) instances += model_.instances(x.statement);
    const double element = static_cast<double>(size_bytes(statement(u.statement).value->type));
    const double peak = cpu.peak_f32_gflop_s > 0 ? cpu.peak_f32_gflop_s : kPeakGflopS;
    const double work = 2 * instances / (1000 * peak * 4 / element);
    const double l3 = cpu.caches.size() > 2 && cpu.caches[2].read_gb_s > 0 ? cpu.caches[2].read_gb_s : kDefaultL3;
    const double threads = planner_.threads(), slower = u.dot ? kDotSlower : kPlainSlower;
    double best = slower * work / threads;
    for (const std::int64_t side : {16, 32, 64, 96, 128}) {
      const double tiles = extent / static_cast<double>(side);
      if (tiles < 2 * threads) break;
      const double inside = std::min(1.0, 1.5 / tiles);
      const double fetched = 2 * element * instances / static_cast<double>(side) / (l3 * 1000);
      const double us = (std::max(work, fetched) + 0.3 * fetched + slower * inside * work) / threads +
                        2 * tiles * kWaveStarts * cpu.thread_start_us;
      if (us >= best) continue;
      best = us;
      size_ = side;
    }
  }

  std::string tile_name(const TreePtr& loop) const { return loop->names.at(updates_[0].statement) + "t"; }

  // "min(64*it, 64*jt)" over the bounds of one sign; "" without any.
  std::string point(std::int64_t sign) const {
    std::string list;
    int n = 0;
    for (const Bound& b : bounds_) {
      if (b.sign != sign) continue;
      ++n;
      list += (list.empty() ? "" : ", ") + std::string(sign > 0 ? "" : "-") + std::to_string(size_) + "*" + tile_name(b.loop);
      if (b.offset != 0) list += (b.offset > 0 ? " + " : " - ") + std::to_string(std::abs(b.offset));
    }
    return n > 1 ? (sign > 0 ? "min(" : "max(") + list + ")" : list;
  }

  // Tiles; the products of finished tiles in nests of their own, in front.
  void cut() {
    const std::string& first = statement(updates_[0].statement).name;
    Names loops, tiles;
    for (int l = 0; l < 2; ++l) {
      loops.push_back(shared_[static_cast<std::size_t>(l)]->names.at(updates_[0].statement));
      tiles.push_back(tile_name(shared_[static_cast<std::size_t>(l)]));
    }
    steps_.push_back(make_step("tile", {{"statement", arg(first)},
                                        {"loops", arg(loops)},
                                        {"sizes", arg(std::vector<std::int64_t>{size_, size_})},
                                        {"names", arg(tiles)}}));
    const std::string low = point(-1), high = point(1);
    std::vector<int> split;  // loops over k that are cut: updates may share one
    for (Update& u : updates_) {
      u.pure = statement(u.statement).name;
      u.rest = u.pure;
      const TreePtr k_loop = find_loop(made_.tree, u.statement, u.k);
      const bool done = std::count(split.begin(), split.end(), k_loop->id) > 0;
      if (!low.empty()) {
        if (!done) split_k(u, u.pure, low);
        u.pure += ".from";
      }
      if (!high.empty()) {
        if (!done) split_k(u, u.pure, high);
        u.rest = u.pure + ".from";
      }
      split.push_back(k_loop->id);
    }
    Names pure;
    for (const Update& u : updates_) pure.push_back(u.pure);
    const std::string outer = loops[0];
    for (std::size_t k = 0; k < pure.size(); ++k) {
      ArgumentMap arguments{{"statement", arg(pure[k])}, {"loop", arg(outer)}, {"first", truth()}};
      steps_.push_back(make_step("distribute", arguments));
    }
  }

  static Argument truth() { return {true}; }

  void split_k(const Update& u, const std::string& name, const std::string& point) {
    steps_.push_back(make_step("index_set_split", {{"statement", arg(name)}, {"loop", arg(u.k)}, {"expression", arg(point)}}));
  }

  ContractionTile register_tile(const Update& u) const {
    const CpuMachine& cpu = planner_.options().machine.cpu;
    const std::int64_t bytes = static_cast<std::int64_t>(size_bytes(statement(u.statement).value->type));
    const double side = static_cast<double>(size_);
    if (!u.dot) {  // partial tiles inside each tile would cost more than a smaller one
      TileAccess whole;
      whole.divides = true;
      return choose_tile(cpu, bytes, {side, side, side, side, side, 1}, whole);
    }
    ContractionTile t;
    t.lanes = std::max<std::int64_t>(1, cpu.vector_bytes / bytes);
    t.mr = 1;
    while ((t.mr + 1) * (t.mr + 1) + 2 * (t.mr + 1) <= cpu.vector_registers) ++t.mr;
    t.nr = t.mr;
    return t;
  }

  void tile_registers(const Update& u) {
    const ContractionTile t = register_tile(u);
    const Argument pure = arg(u.pure);
    const auto add = [&](const std::string& verb, ArgumentMap arguments) {
      arguments["statement"] = pure;
      steps_.push_back(make_step(verb, std::move(arguments)));
    };
    const auto tile = [&](const std::string& loop, std::int64_t size) {
      add("tile",
          {{"loops", arg(Names{loop})}, {"sizes", arg(std::vector<std::int64_t>{size})}, {"names", arg(Names{loop + "r"})}});
    };
    tile(u.row, t.mr);
    tile(u.column, t.nr);
    const Names tiles{u.column + "r", u.row + "r"};
    Names order = tiles;
    if (!u.dot) {
      tile(u.k, kKBlock);
      order.insert(order.begin(), u.k + "r");
    }
    for (const std::string& l : u.dot ? Names{u.row, u.column, u.k} : Names{u.k, u.row, u.column}) order.push_back(l);
    add("interchange", {{"order", arg(order)}});
    add("vectorize", {{"loop", arg(u.dot ? u.k : u.column)}, {"width", arg(t.lanes)}});
    add("unroll", {{"loop", arg(u.row)}});
    if (u.dot) add("unroll", {{"loop", arg(u.column)}});
  }

  // Inside the tile: lanes along the columns, every statement in a loop of its own there.
  void order_rest(const Update& u) {
    if (u.dot || u.rest == u.pure || !point(-1).empty()) return;
    const TreePtr k_loop = find_loop(made_.tree, u.statement, u.k);
    if (std::find(shared_.begin(), shared_.end(), k_loop) == shared_.end() || rest_ordered_) return;
    rest_ordered_ = true;
    // What ends an element's updates (a division by the diagonal) follows the last of them at once, before others need it.
    for (const int s : statements_)
      if (!statement(s).update)
        steps_.push_back(make_step("shift", {{"statement", arg(statement(s).name)},
                                             {"loop", arg(find_loop(made_.tree, k_loop->id)->names.at(s))},
                                             {"offset", arg(std::int64_t{-1})}}));
    steps_.push_back(make_step("interchange", {{"statement", arg(u.rest)}, {"order", arg(Names{u.row, u.k, u.column})}}));
    for (std::size_t s = 0; s + 1 < statements_.size(); ++s) {
      const auto it =
          std::find_if(updates_.begin(), updates_.end(), [&](const Update& x) { return x.statement == statements_[s]; });
      const std::string name = it == updates_.end() ? statement(statements_[s]).name : it->rest;
      steps_.push_back(make_step("distribute", {{"statement", arg(name)}, {"loop", arg(shared_name(statements_[s], u))}}));
    }
  }

  std::string shared_name(int s, const Update& u) const { return find_loop(made_.tree, u.statement, u.column)->names.at(s); }

  void add_wavefronts() {
    const Argument first = arg(updates_[0].pure);
    const std::string outer = tile_name(shared_[0]), inner = tile_name(shared_[1]);
    if (planner_.threads() < 2) return contract_again(first, inner);
    steps_.push_back(make_step("skew", {{"statement", first}, {"loop", arg(inner)}, {"by", arg(outer)}}));
    steps_.push_back(make_step("interchange", {{"statement", first}, {"order", arg(Names{inner, outer})}}));
    contract_again(first, outer);
    steps_.push_back(make_step("parallelize", {{"statement", first}, {"loop", arg(outer)}}));
  }

  void contract_again(const Argument& first, const std::string& at) {
    for (const std::string& array : expanded_)
      if (lives_inside(array))
        steps_.push_back(make_step("contract", {{"array", arg(array)}, {"statement", first}, {"at", arg(at)}}));
  }

  bool lives_inside(const std::string& array) const {
    bool inside = true;
    for (int s = 0; s < made_.statement_count(); ++s) {
      const Statement& st = statement(s);
      inside = inside && (!st.touches(array) || std::count(statements_.begin(), statements_.end(), s) > 0);
    }
    return inside;
  }

  std::string reason() const {
    const ContractionTile t = register_tile(updates_[0]);
    return "tiles of " + std::to_string(size_) + "; products of finished ones " + std::to_string(t.mr) + " x " +
           std::to_string(t.nr) + " in registers, lanes along " + (updates_[0].dot ? updates_[0].k : updates_[0].column);
  }

  const GroupPlanner& planner_;
  const Schedule& made_;
  std::vector<TreePtr> shared_;
  std::vector<int> statements_;
  std::vector<std::string> expanded_;
  Model model_;
  std::vector<Update> updates_;
  std::vector<Bound> bounds_;
  std::int64_t size_ = 0;
  bool rest_ordered_ = false;
  std::vector<Step> steps_;
};

}  // namespace

BlockedNest plan_blocks(const GroupPlanner& planner, const Schedule& made, const std::vector<TreePtr>& shared,
                        const std::vector<int>& statements, const std::vector<std::string>& expanded) {
  return Blocks(planner, made, shared, statements, expanded).run();
}

}  // namespace facet
