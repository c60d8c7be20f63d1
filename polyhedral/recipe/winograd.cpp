// Policy: the stages of a Winograd convolution in one nest.
//
//     filter = G w G'  for each channel (threads)           input = B' x B  for blocks of 16 channels (threads)
//     for rows of tiles (threads)                           for blocks of filters (threads)
//       input = B' x B                                        filter = G w G'
//       for a, b  products[a, b] = input * filter             for a, b  products[a, b] = input * filter
//       y = A' products A                                     y = A' products A
//
// Constant filters are transformed in a nest of their own, which runs once, in prepare: in the second form in panels of a
// block's filters. What follows y element by element, as bias and activation, is applied to a block of it that was just turned,
// in rows of y. What one thread's iteration makes stays in its second cache. The first form reads all transformed filters for
// each row of tiles: where these fit into half of that cache. The second reads all transformed windows for each block of
// filters, which it makes itself, once. Lanes are channels and filters in every stage; x and w are turned for that, and y is
// turned back, square by square in registers.
#include <algorithm>
#include <cmath>

#include "facet/expr_facts.hpp"
#include "polyhedral/recipe/contraction.hpp"
#include "polyhedral/recipe/winograd.hpp"
#include "polyhedral/rewrite/winograd.hpp"

namespace facet {

namespace {

using Names = std::vector<std::string>;

constexpr std::int64_t kTurned = 8;  // channels

Names operator+(Names a, const Names& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

class WinogradPlan {
 public:
  WinogradPlan(GroupPlanner& planner, int products)
      : planner_(planner), stages_(target_of(planner.schedule().statement(products).name)), products_(products) {}

  static bool is_products(const std::string& name) {
    const std::string target = target_of(name);
    return !target.empty() && WinogradStages(target).products == name;
  }

  // Steps or nothing.
  bool run() {
    if (!plain()) return false;
    join_result();
    measure();
    const CpuMachine& cpu = planner_.options().machine.cpu;
    const double l2 = static_cast<double>(second_cache_bytes(cpu));
    const bool by_rows = size_.filter_bytes() <= l2 / 2;
    tile_ = choose_tile(cpu, static_cast<std::int64_t>(size_.element),
                        {by_rows ? size_.tiles_x : size_.tiles_y * size_.tiles_x,
                         by_rows ? size_.filters : winograd_filter_block(size_, cpu), 0, 0, size_.channels, 1});
    kernel_block_ = tile_.nr;
    const std::string subject = "winograd " + stages_.products;
    if (by_rows) {
      rows_form();
    } else {
      if (size_.batch > 1) return false;
      filters_form();
    }
    return planner_.attempt_all(steps_, "tile", subject,
                                std::to_string(tile_.mr) + " x " + std::to_string(tile_.nr) + " in registers, " +
                                    (by_rows ? "row by row of tiles" : "block by block of filters"));
  }

 private:
  GroupPlanner& planner_;
  WinogradStages stages_;
  int products_;
  WinogradSizes size_;
  ContractionTile tile_;
  std::int64_t kernel_block_ = 16, m_ = 4, tiles_x_ = 1;
  std::vector<Step> steps_;
  Names lead_products_, lead_input_;  // the loops of the batch
  std::string t_, k_, c_;             // of the products
  std::string y_;                     // the statement that writes the result, and its loops
  std::string p_, q_, yk_;
  Names lead_y_;
  bool joined_ = false;  // what consumes the result, element by element, runs with it

  static std::string target_of(const std::string& name) {
    const std::size_t at = name.find(".winograd.");
    return at == std::string::npos ? "" : name.substr(0, at);
  }

  const Schedule& now() const { return planner_.schedule(); }
  const Statement& statement(const std::string& name) const { return now().statement(now().find(name)); }
  const Names& loops(const std::string& name) const { return statement(name).iterators; }
  double extent(const std::string& name, std::size_t at) const { return planner_.model().extent(now().find(name), at); }

  // One channel index summed over, everything else of the input the batch: no groups.
  bool plain() {
    const Names& own = loops(stages_.products);
    const std::size_t rank = statement(stages_.products).subscripts.size();
    if (own.size() != rank + 1) return false;
    t_ = own[rank - 2];
    k_ = own[rank - 1];
    c_ = own[rank];
    lead_products_ = {own.begin() + 2, own.begin() + static_cast<long>(rank) - 2};
    const Expr& input = *statement(stages_.products).value->args[0];
    const Expr& filter = *statement(stages_.products).value->args[1];
    const auto is = [](const ExprPtr& e, const std::string& name) { return e->op == Op::kIndex && e->name == name; };
    if (filter.args.size() != 4 || !is(filter.args[2], c_) || input.args.size() != rank || !is(input.args.back(), c_))
      return false;
    for (std::size_t d = 0; d < lead_products_.size(); ++d)
      if (!is(input.args[2 + d], lead_products_[d])) return false;
    const Names& in = loops(stages_.input);
    lead_input_ = {in.begin() + 2, in.begin() + 2 + static_cast<long>(lead_products_.size())};
    return find_result();
  }

  // The statement that takes y's elements from `result`.
  bool find_result() {
    for (const int s : statements_of(now().tree)) {
      const Statement& st = now().statement(s);
      if (st.value->op != Op::kRead || st.value->name != stages_.result) continue;
      y_ = st.name;
      const std::vector<ExprPtr>& from = st.value->args;
      const std::size_t rank = from.size();
      p_ = from[rank - 3]->name;
      q_ = from[rank - 2]->name;
      yk_ = from[rank - 1]->name;
      for (std::size_t d = 0; d + 3 < rank; ++d) lead_y_.push_back(from[d]->name);
      return Model::stride(st.subscripts, q_) == Model::Stride::kUnit;
    }
    return false;
  }

  // Bias, activation and the like, while a block of the result is near: it needs no memory of its own then.
  void join_result() {
    const Array& a = now().scop->arrays.at(statement(y_).target);
    if (a.external || a.live_out) return;
    join_consumers(planner_, now().find(y_));
    joined_ = statements_of(loops_around(now().tree, now().find(y_)).front()).size() > 1;
  }

  void measure() {
    const Names& in = loops(stages_.input);
    const std::size_t n = lead_input_.size();
    for (std::size_t d = 0; d < n; ++d) size_.batch *= extent(stages_.input, 2 + d);
    size_.tiles_y = extent(stages_.input, 2 + n);
    size_.tiles_x = extent(stages_.input, 3 + n);
    size_.channels = extent(stages_.input, in.size() - 1);
    size_.filters = extent(stages_.products, loops(stages_.products).size() - 2);
    size_.points = extent(stages_.products, 0) * extent(stages_.products, 1);
    size_.element = static_cast<double>(size_bytes(statement(stages_.products).value->type));
    m_ = static_cast<std::int64_t>(extent(stages_.sums, 0));
    tiles_x_ = static_cast<std::int64_t>(size_.tiles_x);
  }

  void add(const std::string& verb, const std::string& s, ArgumentMap arguments) {
    arguments["statement"] = arg(s);
    steps_.push_back(make_step(verb, std::move(arguments)));
  }
  void tile(const std::string& s, const std::string& loop, std::int64_t size, const std::string& name) {
    steps_.push_back(tile_loop(s, loop, size, name));
  }
  // The point loop counts from 0 in its tile, as a loop over the rest of a division does.
  void tile_apart(const std::string& s, const std::string& loop, std::int64_t size, const std::string& name) {
    tile(s, loop, size, name);
    add("skew", s, {{"loop", arg(loop)}, {"by", arg(name)}, {"factor", arg(-size)}});
  }
  void order(const std::string& s, const Names& names) { add("interchange", s, {{"order", arg(names)}}); }
  void contract(const std::string& array, const std::string& s, const std::string& at) {
    add("contract", s, {{"array", arg(array)}, {"at", arg(at)}});
  }
  void fuse(const std::vector<std::pair<std::string, Names>>& nests) {
    Names statements;
    ArgumentMap names;
    for (const auto& [s, l] : nests) {
      statements.push_back(s);
      names[s] = arg(l);
    }
    steps_.push_back(make_step("fuse", {{"statements", arg(statements)}, {"loops", arg(names)}}));
  }
  void lanes(const std::string& s, const std::string& loop, const std::string& written_out = "") {
    add("vectorize", s, {{"loop", arg(loop)}, {"width", arg(width())}});
    if (!written_out.empty()) add("unroll", s, {{"loop", arg(written_out)}});
  }
  void parallel(const std::string& s, const std::string& loop) {
    if (planner_.threads() > 1) add("parallelize", s, {{"loop", arg(loop)}});
  }
  std::int64_t width() const { return planner_.options().machine.cpu.vector_bytes / static_cast<std::int64_t>(size_.element); }

  // Are w's values known before any run?
  bool prepared() const { return now().scop->arrays.at(statement(stages_.w).value->name).constant; }

  const std::string& last(const std::string& s) const { return loops(s).back(); }
  std::string of(const std::string& s, std::size_t at) const { return loops(s)[at]; }
  Names lead_of(const std::string& s, std::size_t from) const {
    const Names& all = loops(s);
    return {all.begin() + static_cast<long>(from), all.begin() + static_cast<long>(from + lead_input_.size())};
  }

  // x, channels last: rows for the threads.
  void turn_input() {
    const Names& l = loops(stages_.x);
    parallel(stages_.x, l[l.size() - 3]);
  }

  // B' x B for rows of tiles, or channel blocks of them; inside, a block of channels at a time.
  void input_blocks(bool rows_outside) {
    const std::size_t n = lead_input_.size();
    const std::string ry = of(stages_.rows, 1 + n), rv = of(stages_.rows, 2 + n), rc = last(stages_.rows),
                      ra = of(stages_.rows, 0);
    const std::string iy = of(stages_.input, 2 + n), ix = of(stages_.input, 3 + n), ic = last(stages_.input),
                      ia = of(stages_.input, 0), ib = of(stages_.input, 1);
    const Names lr = lead_of(stages_.rows, 1), li = lead_of(stages_.input, 2), block{"cr"};
    const std::int64_t channels =
        winograd_channel_block(size_, planner_.options().machine.cpu, rows_outside ? 1 : planner_.threads());
    tile(stages_.rows, rc, channels, "cr");
    tile(stages_.input, ic, channels, "cr");
    const auto outer = [&](const Names& lead, const std::string& y) {
      return rows_outside ? lead + Names{y} + block : block + lead + Names{y};
    };
    order(stages_.rows, outer(lr, ry) + Names{rv, rc, ra});
    order(stages_.input, outer(li, iy) + Names{ix, ia, ic, ib});
    fuse({{stages_.rows, outer(lr, ry)}, {stages_.input, outer(li, iy)}});
    contract(stages_.rows, stages_.rows, rows_outside ? "cr" : ry);
    lanes(stages_.rows, rc, ra);
    lanes(stages_.input, ic, ib);
  }

  // G w G', channel by channel; `around`: blocks of the filters.
  void filter_blocks(bool blocked) {
    const std::string wc = of(stages_.w, 0), wk = last(stages_.w), ra = of(stages_.filter_rows, 0),
                      rc = of(stages_.filter_rows, 1), rs = of(stages_.filter_rows, 2), rk = last(stages_.filter_rows),
                      fa = of(stages_.filter, 0), fb = of(stages_.filter, 1), fc = of(stages_.filter, 2),
                      fk = last(stages_.filter);
    Names around;
    if (blocked) {
      around = {"kt"};
      tile(stages_.w, wk, kernel_block_, "kt");
      tile(stages_.filter_rows, rk, kernel_block_, "kt");
      tile(stages_.filter, fk, kernel_block_, "kt");
    }
    // Squares of several channels' taps are turned at once: nine columns are one too many for one square.
    tile(stages_.w, wc, kTurned, "ct");
    tile(stages_.filter_rows, rc, kTurned, "ct");
    tile(stages_.filter, fc, kTurned, "ct");
    around.push_back("ct");
    order(stages_.w, around + Names{wc, of(stages_.w, 1), of(stages_.w, 2), wk});
    order(stages_.filter_rows, around + Names{rc, rs, rk, ra});
    order(stages_.filter, around + Names{fc, fa, fk, fb});
    fuse({{stages_.filter_rows, around + Names{rc}}, {stages_.filter, around + Names{fc}}});
    fuse({{stages_.w, around}, {stages_.filter, around}});
    contract(stages_.w, stages_.w, "ct");
    contract(stages_.filter_rows, stages_.filter_rows, rc);
    lanes(stages_.filter_rows, rk, ra);
    lanes(stages_.filter, fk, fb);
  }

  // All transformed filters, each block's together.
  void panels_of_filters() {
    const Names& own = loops(stages_.filter);
    lay_out_filter({{"order", arg(Names{own.back()} + Names(own.begin(), own.end() - 1))},
                    {"inner", arg(ArgumentMap{{own.back(), arg(kernel_block_)}})}});
  }

  // One block's. The planes of a and b, which one channel's transform writes to all at once, are often a power of two: a line's
  // room between them keeps them from the same sets of the caches.
  void planes_of_filters() {
    const Names& own = loops(stages_.filter);
    lay_out_filter({{"order", arg(own)}, {"pad", arg(ArgumentMap{{own[2], arg(std::int64_t{1})}})}});
  }
  void lay_out_filter(ArgumentMap layout) {
    ArgumentMap step{{"array", arg(stages_.filter)}, {"layout", arg(std::move(layout))}};
    if (!prepared()) step["at"] = arg(std::string("kt"));
    add("contract", stages_.filter, std::move(step));
  }

  void product_tiles(const Names& around) {
    const std::string a = of(stages_.products, 0), b = of(stages_.products, 1);
    tile(stages_.products, t_, tile_.mr, "tr");
    tile(stages_.products, k_, tile_.nr, "kr");
    order(stages_.products, around + Names{a, b} + Names{"kr", "tr", t_, k_});
    add("distribute", stages_.products, {{"loop", arg(t_)}});
    order(stages_.products, {c_, t_, k_});
  }

  void product_registers() {
    add("promote", stages_.products,
        {{"array", arg(stages_.products)}, {"at", arg(std::string("tr"))}, {"memory", arg(std::string("registers"))}});
    const std::string init = stages_.products + ".init";
    lanes(init, k_, t_);
    lanes(stages_.products, k_, t_);
    lanes(stages_.products + ".tile.store", k_);
  }

  // A' products A and y for rows of tiles; `around`: blocks of the filters outside.
  void output_rows(bool blocked) {
    const std::size_t n = lead_input_.size();
    const std::string si = of(stages_.sums, 0), sb = of(stages_.sums, 1), st = of(stages_.sums, 2 + n), sk = last(stages_.sums);
    const std::string ry = of(stages_.result, n), ri = of(stages_.result, n + 1), rx = of(stages_.result, n + 2),
                      rj = of(stages_.result, n + 3), rk = last(stages_.result);
    const Names ls = lead_of(stages_.sums, 2), lr = lead_of(stages_.result, 0);
    Names around;
    if (blocked) {
      around = {"kt"};
      tile(stages_.sums, sk, kernel_block_, "kt");
      tile(stages_.result, rk, kernel_block_, "kt");
      tile(y_, yk_, kernel_block_, "kt");
    }
    tile(stages_.sums, st, tiles_x_, "tt");
    tile_apart(y_, p_, m_, p_ + "t");
    tile(stages_.sums, sk, width(), "kr");
    tile(stages_.result, rk, width(), "kr");
    tile(y_, yk_, width(), "kr");
    const auto outer = [&](const Names& lead, const std::string& row) {
      return blocked ? around + Names{"kr"} + lead + Names{row} : lead + Names{row, "kr"};
    };
    order(stages_.sums, outer(ls, "tt") + Names{st, sb, sk, si});
    order(stages_.result, outer(lr, ry) + Names{ri, rx, rk, rj});
    order(y_, outer(lead_y_, p_ + "t") + Names{p_, yk_, q_});
    fuse({{stages_.sums, outer(ls, "tt")}, {stages_.result, outer(lr, ry)}, {y_, outer(lead_y_, p_ + "t")}});
    contract(stages_.sums, stages_.sums, blocked ? "tt" : "kr");
    contract(stages_.result, stages_.result, blocked ? ry : "kr");
    if (joined_) {
      add("distribute", y_, {{"loop", arg(p_)}, {"first", Argument{true}}});
      contract(statement(y_).target, y_, blocked ? p_ + "t" : "kr");
    }
    lanes(stages_.sums, sk, si);
    lanes(stages_.result, rk, rj);
  }

  void rows_form() {
    const std::size_t n = lead_input_.size();
    turn_input();
    filter_blocks(false);
    parallel(stages_.filter, "ct");
    input_blocks(true);
    tile_apart(stages_.products, t_, tiles_x_, "tt");
    product_tiles(lead_products_ + Names{"tt"});
    output_rows(false);
    const std::string ry = of(stages_.rows, 1 + n);
    fuse({{stages_.rows, lead_of(stages_.rows, 1) + Names{ry}},
          {stages_.products, lead_products_ + Names{"tt"}},
          {stages_.sums, lead_of(stages_.sums, 2) + Names{"tt"}}});
    contract(stages_.input, stages_.input, of(stages_.input, 2 + n));
    contract(stages_.products, stages_.sums, "tt");
    product_registers();
    const bool images = n > 0 && extent(stages_.rows, 1) >= 2 * planner_.threads();
    parallel(stages_.rows, images ? of(stages_.rows, 1) : ry);
  }

  void filters_form() {
    turn_input();
    input_blocks(false);
    parallel(stages_.rows, "cr");
    filter_blocks(true);
    tile(stages_.products, k_, kernel_block_, "kt");
    product_tiles(Names{"kt"} + lead_products_);
    output_rows(true);
    if (prepared()) {
      panels_of_filters();
      parallel(stages_.filter, "kt");
      fuse({{stages_.products, {"kt"}}, {stages_.sums, {"kt"}}});
    } else {
      fuse({{stages_.filter, {"kt"}}, {stages_.products, {"kt"}}, {stages_.sums, {"kt"}}});
      planes_of_filters();
    }
    contract(stages_.products, stages_.sums, "kt");
    product_registers();
    parallel(stages_.products, "kt");
  }
};

}  // namespace

bool plan_winograd(GroupPlanner& planner) {
  bool all = true;
  for (const int s : statements_of(planner.schedule().tree))
    if (WinogradPlan::is_products(planner.schedule().statement(s).name)) all = WinogradPlan(planner, s).run() && all;
  return all;
}

}  // namespace facet
