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
// tile is B / N of the work; in large tiles, which fetch less, it is cut once more in the same way, into small tiles that run
// one after the other. What is left there goes on from k to k, a column's end (a division by the diagonal) before the updates:
// its rows do not wait for each other. Not handled: updates whose loops are not i, j and k, several arrays updated in turn.
// Source: Dongarra, Duff, Sorensen and van der Vorst, Numerical Linear Algebra for High-Performance Computers, 1998, ch. 5.
#include "polyhedral/recipe/blocks.hpp"

#include <algorithm>
#include <cmath>

#include "facet/expr_facts.hpp"
#include "polyhedral/recipe/block_sides.hpp"
#include "polyhedral/recipe/contraction.hpp"
#include "polyhedral/recipe/index_walk.hpp"
#include "polyhedral/recipe/time_tiles.hpp"

namespace facet {

namespace {

using Names = std::vector<std::string>;

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
    if (sides_.outer == 0) return {};
    cut("t", sides_.outer);
    if (sides_.inner > 0) cut("s", sides_.inner);
    for (const Update& u : updates_)
      for (const Part& p : u.pure) tile_registers(u, p);
    for (const Update& u : updates_) order_rest(u);
    add_wavefronts();
    return {steps_, reason()};
  }

 private:
  // The products of finished tiles of one side: what they are called.
  struct Part {
    std::string name;
    std::int64_t side = 0;
  };

  struct Update {
    int statement = -1;
    std::string row, column, k;  // its names for the loops
    std::vector<Part> pure;      // large tiles first
    std::string rest;            // what is left
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

  void choose() {
    const Update& u = updates_[0];
    BlockFacts facts;
    facts.extent = std::min(model_.trips(*shared_[0], u.statement), model_.trips(*shared_[1], u.statement));
    for (const Update& x : updates_) facts.instances += model_.instances(x.statement);
    facts.element_bytes = static_cast<double>(size_bytes(statement(u.statement).value->type));
    facts.threads = planner_.threads();
    facts.dot = u.dot;
    facts.again = std::all_of(updates_.begin(), updates_.end(), [&](const Update& x) { return goes_on_by_k(x); });
    sides_ = choose_block_sides(planner_.options().machine.cpu, facts);
  }

  std::string tile_name(const TreePtr& loop, const std::string& suffix) const {
    return loop->names.at(updates_[0].statement) + suffix;
  }

  // "min(64*it, 64*jt)" over the bounds of one sign; "" without any.
  std::string point(std::int64_t sign, const std::string& suffix, std::int64_t side) const {
    std::string list;
    int n = 0;
    for (const Bound& b : bounds_) {
      if (b.sign != sign) continue;
      ++n;
      list += (list.empty() ? "" : ", ") + std::string(sign > 0 ? "" : "-") + std::to_string(side) + "*" +
              tile_name(b.loop, suffix);
      if (b.offset != 0) list += (b.offset > 0 ? " + " : " - ") + std::to_string(std::abs(b.offset));
    }
    return n > 1 ? (sign > 0 ? "min(" : "max(") + list + ")" : list;
  }

  bool has_bounds(std::int64_t sign) const {
    return std::any_of(bounds_.begin(), bounds_.end(), [&](const Bound& b) { return b.sign == sign; });
  }

  // Tiles of what is left so far; the products of finished ones in nests of their own, in front.
  void cut(const std::string& suffix, std::int64_t side) {
    Names loops, tiles;
    for (int l = 0; l < 2; ++l) {
      loops.push_back(shared_[static_cast<std::size_t>(l)]->names.at(updates_[0].statement));
      tiles.push_back(tile_name(shared_[static_cast<std::size_t>(l)], suffix));
    }
    for (Update& u : updates_)
      if (u.rest.empty()) u.rest = statement(u.statement).name;
    steps_.push_back(make_step("tile", {{"statement", arg(updates_[0].rest)},
                                        {"loops", arg(loops)},
                                        {"sizes", arg(std::vector<std::int64_t>{side, side})},
                                        {"names", arg(tiles)}}));
    const std::string low = point(-1, suffix, side), high = point(1, suffix, side);
    std::vector<int> split;  // loops over k that are cut: updates may share one
    for (Update& u : updates_) {
      std::string pure = u.rest;
      const TreePtr k_loop = find_loop(made_.tree, u.statement, u.k);
      const bool done = std::count(split.begin(), split.end(), k_loop->id) > 0;
      if (!low.empty()) {
        if (!done) split_k(u, pure, low);
        pure += ".from";
      }
      if (!high.empty()) {
        if (!done) split_k(u, pure, high);
        u.rest = pure + ".from";
      }
      split.push_back(k_loop->id);
      u.pure.push_back({pure, side});
    }
    for (const Update& u : updates_)
      steps_.push_back(
          make_step("distribute", {{"statement", arg(u.pure.back().name)}, {"loop", arg(loops[0])}, {"first", truth()}}));
  }

  static Argument truth() { return {true}; }

  void split_k(const Update& u, const std::string& name, const std::string& point) {
    steps_.push_back(make_step("index_set_split", {{"statement", arg(name)}, {"loop", arg(u.k)}, {"expression", arg(point)}}));
  }

  ContractionTile register_tile(const Update& u, std::int64_t side) const {
    const CpuMachine& cpu = planner_.options().machine.cpu;
    const std::int64_t bytes = static_cast<std::int64_t>(size_bytes(statement(u.statement).value->type));
    return u.dot ? dot_tile(cpu, bytes) : block_tile(cpu, bytes, side);
  }

  void tile_registers(const Update& u, const Part& part) {
    const ContractionTile t = register_tile(u, part.side);
    const Argument pure = arg(part.name);
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
    if (!u.dot && part.side == sides_.outer) {
      tile(u.k, kKBlock);
      order.insert(order.begin(), u.k + "r");
    }
    for (const std::string& l : u.dot ? Names{u.row, u.column, u.k} : Names{u.k, u.row, u.column}) order.push_back(l);
    add("interchange", {{"order", arg(order)}});
    add("vectorize", {{"loop", arg(u.dot ? u.k : u.column)}, {"width", arg(t.lanes)}});
    add("unroll", {{"loop", arg(u.row)}});
    if (u.dot) add("unroll", {{"loop", arg(u.column)}});
  }

  // Can what is left inside a tile go on from k to k, lanes along the columns?
  bool goes_on_by_k(const Update& u) const {
    if (u.dot || has_bounds(-1) || !has_bounds(1)) return false;
    const TreePtr k_loop = find_loop(made_.tree, u.statement, u.k);
    return std::find(shared_.begin(), shared_.end(), k_loop) != shared_.end();
  }

  // Inside the tile: what ends an element's updates (a division by the diagonal) for all rows, then the updates of each row,
  // every statement in a loop of its own there.
  void order_rest(const Update& u) {
    if (!goes_on_by_k(u) || rest_ordered_) return;
    rest_ordered_ = true;
    steps_.push_back(make_step("interchange", {{"statement", arg(u.rest)}, {"order", arg(Names{u.k, u.row, u.column})}}));
    const std::size_t kept = statements_.size() - updates_.size();
    for (const Update& x : updates_)
      if (kept > 0)
        steps_.push_back(make_step("distribute", {{"statement", arg(x.rest)}, {"loop", arg(x.row)}, {"last", truth()}}));
    std::size_t n = 0;
    for (const int s : statements_) {
      const bool updates = std::any_of(updates_.begin(), updates_.end(), [&](const Update& x) { return x.statement == s; });
      if (!updates && ++n < kept)
        steps_.push_back(make_step("distribute", {{"statement", arg(statement(s).name)}, {"loop", arg(shared_name(s, u))}}));
    }
  }

  std::string shared_name(int s, const Update& u) const { return find_loop(made_.tree, u.statement, u.column)->names.at(s); }

  void add_wavefronts() {
    const Argument first = arg(updates_[0].pure[0].name);
    const std::string outer = tile_name(shared_[0], "t"), inner = tile_name(shared_[1], "t");
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
    const ContractionTile t = register_tile(updates_[0], sides_.outer);
    const std::string again = sides_.inner > 0 ? ", inside them tiles of " + std::to_string(sides_.inner) : "";
    return "tiles of " + std::to_string(sides_.outer) + again + "; products of finished ones " + std::to_string(t.mr) + " x " +
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
  BlockSides sides_;
  bool rest_ordered_ = false;
  std::vector<Step> steps_;
};

}  // namespace

BlockedNest plan_blocks(const GroupPlanner& planner, const Schedule& made, const std::vector<TreePtr>& shared,
                        const std::vector<int>& statements, const std::vector<std::string>& expanded) {
  return Blocks(planner, made, shared, statements, expanded).run();
}

}  // namespace facet
