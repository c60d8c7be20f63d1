// winograd: a sum over 3 x 3 windows is computed tile by tile of m x m results with (m + 2)^2 products where it has 9 m^2.
//
//     for n, k, p, q { y[n, k, p, q] = 0;  for c, r, s  y[n, k, p, q] += x[n, c, p + r - 1, q + s - 1 ? 0] * w[k, c, r, s] }
// -->
//     x'[n, h, w, c] = x[n, c, h, w]                                        channels last: all that follows has them in lanes
//     rows[a, n, ty, v, c]  = sum[i] B[a, i] x'[n, m*ty + i - 1, v - 1, c ? 0]
//     input[a, b, n, t, c]  = sum[j] B[b, j] rows[a, n, ty, m*tx + j, c]    t = TX*ty + tx: tiles, row by row
//     w'[c, r, s, k] = w[k, c, r, s];  filter[a, b, c, k] = G w' G^T, in two steps
//     products[a, b, n, t, k] = sum[c] input[a, b, n, t, c] * filter[a, b, c, k]             (m + 2)^2 matrix products
//     result[n, m*ty + i, m*tx + j, k] = A products A^T, in two steps;   y[n, k, p, q] = result[n, p, q, k]
//
// The sums over i, j and taps are written out: B, G and A are small constants. With m = 4 there are 36 products for 144, with
// m = 2 16 for 36. The recognition is by accesses and domains (winograd_match.cpp), so groups, batches and any order of the
// dimensions are alike; the proof is that of the matrices (computes_windows) and of linearity: `input` holds the transform of
// every element that x has in its other dimensions, whichever the products read.
//
// Results are rounded otherwise: the error of an element follows the largest magnitudes of its tile's windows and filters, not
// its own terms, and an infinity or a NaN spreads over its tile. With 64 to 256 channels of uniform values the largest error
// was 0.6 times (m = 2) and 10 to 12 times (m = 4) that of the plain sum. So numerics must be `free`.
//
// Refuses: strict or tree numerics; integers and 16-bit floats; windows that are not 3 x 3, have a stride or a dilation; a sum
// that does not start at 0 in a nest of its own. Depthwise sums have no channels to sum over and are refused.
// Source: winograd_form.cpp.
#include <algorithm>

#include "polyhedral/rewrite/rewrite.hpp"
#include "polyhedral/rewrite/stage_maker.hpp"
#include "polyhedral/rewrite/winograd.hpp"
#include "polyhedral/statement_maker.hpp"

namespace facet {

namespace {

class Winograd : StageMaker {
 public:
  Winograd(const Scop& scop, const WindowProduct& product, const WinogradForm& form)
      : StageMaker(scop, product.statement),
        old_(scop),
        p_(product),
        form_(form),
        stages_(scop.statements[static_cast<std::size_t>(product.statement)].target),
        tiles_x_(up(product.extent[1])) {}

  std::shared_ptr<const Scop> run() {
    input();
    filter();
    products();
    output();
    place();
    return scop_;
  }

 private:
  const Scop& old_;
  const WindowProduct& p_;
  const WinogradForm& form_;
  WinogradStages stages_;
  ExprPtr tiles_x_;

  const Statement& s() const { return old_.statements[static_cast<std::size_t>(p_.statement)]; }
  std::int64_t m() const { return form_.tile; }
  ExprPtr points() const { return idx(form_.points()); }
  ExprPtr up(const ExprPtr& extent) const { return idx_floordiv(idx_add(extent, idx(m() - 1)), m()); }
  ExprPtr tiles_y() const { return up(p_.extent[0]); }
  ExprPtr tile() const { return idx_add(idx_mul(tiles_x_, ix("ty")), ix("tx")); }
  ExprPtr at(const std::string& tile, const ExprPtr& inside) const { return idx_add(idx_mul(idx(m()), ix(tile)), inside); }

  static std::string dimension(std::size_t d) { return "e" + std::to_string(d); }

  Exprs extents(const std::string& array) const { return old_.arrays.at(array).extents; }

  // The dimensions of an operand but the two of windows or taps.
  std::vector<std::size_t> others(const Expr& e, const std::array<std::size_t, 2>& windows) const {
    std::vector<std::size_t> list;
    for (std::size_t d = 0; d < e.args.size(); ++d)
      if (d != windows[0] && d != windows[1]) list.push_back(d);
    return list;
  }

  void input() {
    const Expr& x = *p_.x;
    std::vector<std::size_t> lead = others(x, p_.x_dimension);
    const std::size_t last = lead.back();
    lead.pop_back();
    const Exprs whole = extents(x.name);
    Exprs from(whole.size()), to, sizes, indices;  // x', and the leading indices
    std::vector<Range> around, loops;
    for (const std::size_t d : lead) {
      around.push_back(range(dimension(d), whole[d]));
      indices.push_back(ix(dimension(d)));
      sizes.push_back(whole[d]);
      from[d] = indices.back();
    }
    const Range channel = range("c", whole[last]);
    from[last] = ix("c");
    from[p_.x_dimension[0]] = ix("h");
    from[p_.x_dimension[1]] = ix("v");
    loops = around;
    loops.insert(loops.end(), {range("h", whole[p_.x_dimension[0]]), range("v", whole[p_.x_dimension[1]]), channel});
    declare(stages_.x, sizes + Exprs{whole[p_.x_dimension[0]], whole[p_.x_dimension[1]], whole[last]});
    add_nest(stages_.x, loops, indices + Exprs{ix("h"), ix("v"), ix("c")}, read(x.name, type(), from));

    // B^T x, for all columns of the tiles.
    const ExprPtr width = idx_add(idx_mul(idx(m()), tiles_x_), idx(2));
    Exprs elements;
    for (std::int64_t i = 0; i < form_.points(); ++i)
      elements.push_back(read(stages_.x, type(),
                              indices + Exprs{at("ty", idx(i + p_.offset[0])), idx_add(ix("v"), idx(p_.offset[1])), ix("c")},
                              literal(type(), 0)));
    loops = {range("a", points())};
    loops.insert(loops.end(), around.begin(), around.end());
    loops.insert(loops.end(), {range("ty", tiles_y()), range("v", width), channel});
    declare(stages_.rows, Exprs{points()} + sizes + Exprs{tiles_y(), width, whole[last]});
    add_nest(stages_.rows, loops, Exprs{ix("a")} + indices + Exprs{ix("ty"), ix("v"), ix("c")},
             combinations(form_.input, "a", elements));

    // B^T x B.
    elements.clear();
    for (std::int64_t j = 0; j < form_.points(); ++j)
      elements.push_back(read(stages_.rows, type(), Exprs{ix("a")} + indices + Exprs{ix("ty"), at("tx", idx(j)), ix("c")}));
    loops = {range("a", points()), range("b", points())};
    loops.insert(loops.end(), around.begin(), around.end());
    loops.insert(loops.end(), {range("ty", tiles_y()), range("tx", tiles_x_), channel});
    declare(stages_.input, Exprs{points(), points()} + sizes + Exprs{idx_mul(tiles_x_, tiles_y()), whole[last]});
    add_nest(stages_.input, loops, Exprs{ix("a"), ix("b")} + indices + Exprs{tile(), ix("c")},
             combinations(form_.input, "b", elements));
  }

  std::size_t lane_dimension() const {
    std::size_t d = 0;
    while (p_.w->args[d]->name != p_.lanes) ++d;
    return d;
  }

  void filter() {
    const Expr& w = *p_.w;
    const Exprs whole = extents(w.name);
    const std::size_t lanes = lane_dimension();
    Exprs from(whole.size()), indices, sizes;
    std::vector<Range> around;
    for (const std::size_t d : others(w, p_.w_dimension)) {
      if (d == lanes) continue;
      around.push_back(range(dimension(d), whole[d]));
      indices.push_back(ix(dimension(d)));
      sizes.push_back(whole[d]);
      from[d] = indices.back();
    }
    from[lanes] = ix("k");
    from[p_.w_dimension[0]] = ix("r");
    from[p_.w_dimension[1]] = ix("s");
    const Range k = range("k", whole[lanes]), a = range("a", points());
    std::vector<Range> loops = around;
    loops.insert(loops.end(), {range("r", idx(3)), range("s", idx(3)), k});
    declare(stages_.w, sizes + Exprs{idx(3), idx(3), whole[lanes]});
    add_nest(stages_.w, loops, indices + Exprs{ix("r"), ix("s"), ix("k")}, read(w.name, type(), from));

    const auto taps = [&](const std::string& array, const auto& subscripts) {
      Exprs list;
      for (std::int64_t t = 0; t < 3; ++t) list.push_back(read(array, type(), subscripts(idx(t))));
      return list;
    };
    loops = {a};
    loops.insert(loops.end(), around.begin(), around.end());
    loops.insert(loops.end(), {range("s", idx(3)), k});
    declare(stages_.filter_rows, Exprs{points()} + sizes + Exprs{idx(3), whole[lanes]});
    add_nest(stages_.filter_rows, loops, Exprs{ix("a")} + indices + Exprs{ix("s"), ix("k")},
             combinations(form_.filter, "a",
                          taps(stages_.w,
                               [&](const ExprPtr& r) {
                                 return indices + Exprs{r, ix("s"), ix("k")};
                               }),
                          form_.denominator));
    loops = {a, range("b", points())};
    loops.insert(loops.end(), around.begin(), around.end());
    loops.push_back(k);
    declare(stages_.filter, Exprs{points(), points()} + sizes + Exprs{whole[lanes]});
    add_nest(stages_.filter, loops, Exprs{ix("a"), ix("b")} + indices + Exprs{ix("k")},
             combinations(form_.filter, "b",
                          taps(stages_.filter_rows,
                               [&](const ExprPtr& t) {
                                 return Exprs{ix("a")} + indices + Exprs{t, ix("k")};
                               }),
                          form_.denominator));
  }

  // The loops of the sum, under other names where the stages' indices have theirs.
  std::string own(const std::string& name) const {
    for (const char* taken : {"a", "b", "t"})
      if (name == id(taken)) return name + "_";
    return name;
  }

  // y's dimensions but p, q and the lanes.
  std::vector<std::size_t> leading() const {
    std::vector<std::size_t> list;
    for (std::size_t d = 0; d < s().subscripts.size(); ++d) {
      const std::string& name = s().subscripts[d]->name;
      if (name != p_.place[0] && name != p_.place[1] && name != p_.lanes) list.push_back(d);
    }
    return list;
  }

  const Range& range_of(const std::string& name) const {
    return *std::find_if(s().ranges.begin(), s().ranges.end(), [&](const Range& r) { return r.name == name; });
  }

  void products() {
    std::vector<std::pair<std::string, ExprPtr>> renamed;
    for (const std::string& name : s().iterators) renamed.emplace_back(name, index(own(name)));
    const auto subscripts = [&](const Expr& e, const std::vector<std::size_t>& dims) {
      Exprs list;
      for (const std::size_t d : dims) list.push_back(substitute(e.args[d], renamed));
      return list;
    };
    std::vector<Range> loops{range("a", points()), range("b", points())};
    Exprs to{ix("a"), ix("b")}, sizes{points(), points()};
    for (const std::size_t d : leading()) {
      const Range& r = range_of(s().subscripts[d]->name);
      loops.push_back({own(r.name), idx(0), r.upper});
      to.push_back(index(own(r.name)));
      sizes.push_back(r.upper);
    }
    const Range& lanes = range_of(p_.lanes);
    loops.insert(loops.end(), {range("t", idx_mul(tiles_x_, tiles_y())), Range{own(p_.lanes), idx(0), lanes.upper}});
    to = to + Exprs{ix("t"), index(own(p_.lanes))};
    declare(stages_.products, sizes + Exprs{idx_mul(tiles_x_, tiles_y()), lanes.upper});
    const std::size_t shared = loops.size();
    const int init =
        add(stages_.products + ".init", loops, stages_.products, to, identity_of(ReduceKind::kSum, type()), {}, p_.init);
    for (const Range& r : s().ranges)
      if (!mentions(r.name) && r.name != p_.tap[0] && r.name != p_.tap[1]) loops.push_back({own(r.name), idx(0), r.upper});

    Exprs x = subscripts(*p_.x, others(*p_.x, p_.x_dimension));
    x.insert(x.end() - 1, ix("t"));
    std::vector<std::size_t> w_dims = others(*p_.w, p_.w_dimension);
    std::erase(w_dims, lane_dimension());
    const ExprPtr from_x = read(stages_.input, type(), Exprs{ix("a"), ix("b")} + x);
    const ExprPtr from_w =
        read(stages_.filter, type(), Exprs{ix("a"), ix("b")} + subscripts(*p_.w, w_dims) + Exprs{index(own(p_.lanes))});
    const int update = add(stages_.products, loops, stages_.products, to, binary(Op::kMul, from_x, from_w), ReduceKind::kSum);
    nests_.push_back(shared_nest(init, update, shared));
  }

  bool mentions(const std::string& name) const {
    return std::any_of(s().subscripts.begin(), s().subscripts.end(), [&](const ExprPtr& e) { return e->name == name; });
  }

  void output() {
    std::vector<Range> around;
    Exprs indices, sizes, from(s().subscripts.size());
    for (const std::size_t d : leading()) {
      const ExprPtr& extent = range_of(s().subscripts[d]->name).upper;
      around.push_back(range(dimension(d), extent));
      indices.push_back(ix(dimension(d)));
      sizes.push_back(extent);
    }
    const Range k = range("k", range_of(p_.lanes).upper), i = range("i", idx(m())), j = range("j", idx(m())),
                b = range("b", points());
    const auto list = [&](const std::string& array, const auto& subscripts) {
      Exprs elements;
      for (std::int64_t n = 0; n < form_.points(); ++n) elements.push_back(read(array, type(), subscripts(idx(n))));
      return elements;
    };
    std::vector<Range> loops{i, b};
    loops.insert(loops.end(), around.begin(), around.end());
    loops.insert(loops.end(), {range("t", idx_mul(tiles_x_, tiles_y())), k});
    declare(stages_.sums, Exprs{idx(m()), points()} + sizes + Exprs{idx_mul(tiles_x_, tiles_y()), k.upper});
    add_nest(stages_.sums, loops, Exprs{ix("i"), ix("b")} + indices + Exprs{ix("t"), ix("k")},
             combinations(form_.output, "i", list(stages_.products, [&](const ExprPtr& n) {
                            return Exprs{n, ix("b")} + indices + Exprs{ix("t"), ix("k")};
                          })));

    loops = around;
    loops.insert(loops.end(), {range("ty", tiles_y()), i, range("tx", tiles_x_), j, k});
    declare(stages_.result, sizes + Exprs{idx_mul(idx(m()), tiles_y()), idx_mul(idx(m()), tiles_x_), k.upper});
    add_nest(stages_.result, loops, indices + Exprs{at("ty", ix("i")), at("tx", ix("j")), ix("k")},
             combinations(form_.output, "j", list(stages_.sums, [&](const ExprPtr& n) {
                            return Exprs{ix("i"), n} + indices + Exprs{tile(), ix("k")};
                          })));

    // y itself, under its own name.
    Exprs result;
    loops.clear();
    for (const ExprPtr& e : s().subscripts) loops.push_back(range_of(e->name));
    for (const std::size_t d : leading()) result.push_back(s().subscripts[d]);
    result = result + Exprs{index(p_.place[0]), index(p_.place[1]), index(p_.lanes)};
    nests_.push_back(
        nest(add(s().name, loops, s().target, s().subscripts, read(stages_.result, type(), result), {}, p_.statement)));
  }

  // The new nests in the place of the sum's.
  void place() {
    const TreePtr& root = old_.original;
    std::vector<TreePtr> order;
    for (const TreePtr& nest : root->kind == Tree::Kind::kSequence ? root->children : std::vector<TreePtr>{root})
      if (contains(nest, p_.statement))
        order.insert(order.end(), nests_.begin(), nests_.end());
      else
        order.push_back(nest);
    scop_->original = make_sequence(std::move(order));
  }
};

std::shared_ptr<const Scop> apply(const Scop& scop, Arguments& args) {
  const int s = args.statement();
  const std::int64_t tile = args.integer("tile", 4, 2);
  if (args.problem()) return nullptr;
  const WinogradForm* form = winograd_form(tile);
  if (!form) {
    args.bad("tile", "2 or 4", std::to_string(tile));
    return nullptr;
  }
  const std::string& name = scop.statements[static_cast<std::size_t>(s)].name;
  std::string why;
  const std::optional<WindowProduct> product = window_product(scop, s, &why);
  if (!product) {
    args.refuse("'" + name + "' is no 3 x 3 convolution of stride 1: " + why, {"leave the rewrite out"});
    return nullptr;
  }
  if (scop.reassociate != Numerics::Reassociate::kFree) {
    args.refuse("sums of differences are rounded otherwise than '" + name + "', and numerics are not free",
                {"--numerics reassociate=free allows it"});
    return nullptr;
  }
  return Winograd(scop, *product, *form).run();
}

}  // namespace

extern const Rewrite kWinograd;
const Rewrite kWinograd = {
    "winograd",
    "A sum over 3 x 3 windows of stride 1 is computed in tiles of results, by fewer products of transformed tiles (Winograd).",
    {{"statement", "statement", true, "the sum: y[.., p, q] += x[.., p + r, q + s] * w[.., r, s]"},
     {"tile", "int", false, "results of a tile along each side: 4 (default, 36 products for 144) or 2 (16 for 36)"}},
    apply,
    {"for k, p, q  y[k, p, q] = 0\n  for c, r, s  y[k, p, q] += x[c, p + r, q + s] * w[k, c, r, s]",
     "input = B' x B;  filter = G w G'\nfor a, b, t, k  products[a, b, t, k] = 0\n  for c  products[a, b, t, k] += input[a, b, t, c] * "
     "filter[a, b, c, k]\ny = A' products A",
     "Winograd's minimal filtering, F(2x2, 3x3) and F(4x4, 3x3)",
     "numerics that are not free, other types than f32 and f64, windows of another size, with strides or dilations, sums that "
     "share their nest"}};

}  // namespace facet
