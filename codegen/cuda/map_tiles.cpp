// tiles: a sum of products as tiles in shared memory and registers.
//
//   C[i,j] = init                                 acc[8][8] = 0
//   for k  C[i,j] += a(i,k) * b(j,k)     -->      for k0 step 16
//   D[i,j] = f(C[i,j])                              left[kk][ii] = a(i0 + ii, k0 + kk), right[kk][jj] = b(j0 + jj, k0 + kk);
//   barrier
//                                                   for kk  acc[u][v] += left[kk][ii(u)] * right[kk][jj(v)]; barrier
//                                                 for u, v  C[i,j] = init; C[i,j] += acc[u][v]; D[i,j] = f(C[i,j])
//
// i stands for all parallel loops that only the left factor depends on, j for those of the right one, others go to the grid; k
// for all reduction loops. Several loops in one role are digits of one count, so a convolution is a product of matrices too.
// Outside the sizes the tiles hold zeros, which add nothing. A thread's rows and columns come in fours, 4*16 apart: a warp then
// reads shared memory in 16-byte words without bank conflicts. Sources: Volkov and Demmel 2008; Chetlur et al., cuDNN, 2014.
#include <algorithm>

#include "codegen/cuda/map_internal.hpp"

namespace facet::gpu {

using passes::as;

namespace {

constexpr std::int64_t kSide = 16;  // threads along each side of the tile

struct Role {
  std::vector<For> loops;
  ExprPtr trips = idx(1);
};

void add_loop(Role* role, const For& f) {
  role->loops.push_back(f);
  role->trips = idx_mul(role->trips, trips_of(f));
}

// Replacement of the role's iterators by the digits of `count`, the last loop running fastest.
std::vector<std::pair<std::string, ExprPtr>> digits(const Role& role, const ExprPtr& count) {
  std::vector<std::pair<std::string, ExprPtr>> by;
  ExprPtr rest = count;
  for (std::size_t n = role.loops.size(); n-- > 0;) {
    const For& f = role.loops[n];
    const ExprPtr trips = trips_of(f);
    by.emplace_back(f.iterator, iteration(f, n == 0 ? rest : binary(Op::kFloorMod, rest, trips)));
    rest = binary(Op::kFloorDiv, rest, trips);
  }
  return by;
}

LoopList substituted(const LoopList& body, const std::vector<std::pair<std::string, ExprPtr>>& by) {
  return passes::map_expressions(body, [&](const ExprPtr& e) { return substitute(e, by); });
}

bool depends_on(const ExprPtr& e, const std::string& name) { return passes::mentions(e, name); }

LoopPtr unrolled(const std::string& iterator, std::int64_t trips, LoopList body) {
  For f;
  f.iterator = iterator;
  f.lower = idx(0);
  f.upper = idx(trips);
  f.kind = LoopKind::kUnroll;
  f.body = std::move(body);
  return make_loop(std::move(f));
}

LoopPtr stored(const std::string& buffer, std::vector<ExprPtr> subscripts, ExprPtr value, const std::string& statement,
               std::optional<ReduceKind> update = std::nullopt) {
  Store s;
  s.statement = statement;
  s.buffer = buffer;
  s.subscripts = std::move(subscripts);
  s.value = std::move(value);
  s.update = update;
  return make_loop(std::move(s));
}

// `pad`: elements between the rows of a tile, so that a column's elements lie in different banks.
LoopPtr allocated(const std::string& name, DType dtype, std::vector<std::int64_t> extents, MemorySpace space,
                  const std::string& comment, std::int64_t pad = 0) {
  Buffer b;
  if (pad > 0) b.strides = {idx(extents[1] + pad), idx(1)};
  b.name = name;
  b.dtype = dtype;
  for (const std::int64_t e : extents) b.extents.push_back(idx(e));
  b.space = space;
  b.alignment_bytes = 16;
  b.comment = comment;
  return make_loop(Allocate{std::move(b)});
}

class TileMapper {
 public:
  TileMapper(const Chain& chain, MapContext& context) : chain_(chain), context_(context) {}

  std::optional<LoopList> run() {
    if (!match() || !assign_roles()) return std::nullopt;
    name_things();
    return build();
  }

 private:
  // One reduction of products; everything else of the body is done once for each point.
  bool match() {
    std::optional<SingleReduction> single = single_reduction_of(chain_.body);
    if (!single) return false;
    before_ = std::move(single->before);
    after_ = std::move(single->after);
    nest_ = std::move(single->nest);
    nest_node_ = single->node;
    if (*nest_.store.update != ReduceKind::kSum) return false;
    bool plain = true;  // loops around one store: no conditions, no values
    passes::walk_nodes({nest_node_},
                       [&](const LoopPtr& n) { plain = plain && (as<For>(n) || as<Store>(n) || as<Comment>(n)); });
    for (const For& f : nest_.loops) plain = plain && of_symbols(f.lower, context_) && of_symbols(f.upper, context_);
    const ExprPtr& v = nest_.store.value;
    if (!plain || v->op != Op::kMul || !is_float(v->type) || v->lanes != 1) return false;
    left_ = v->args[0];
    right_ = v->args[1];
    for (const passes::Access& a : passes::accesses_of(v))
      if (a.buffer == nest_.store.buffer) return false;
    return true;
  }

  bool assign_roles() {
    for (const For& f : chain_.loops) {
      const bool l = depends_on(left_, f.iterator), r = depends_on(right_, f.iterator);
      add_loop(l == r ? &batch_ : l ? &i_ : &j_, f);
    }
    for (const For& f : nest_.loops) add_loop(&k_, f);
    // j is the side along which the result lies in memory.
    bool along_i = false;
    for (const For& f : i_.loops)
      if (!nest_.store.subscripts.empty()) along_i = along_i || depends_on(nest_.store.subscripts.back(), f.iterator);
    for (const LoopPtr& n : after_)
      if (const Store* s = as<Store>(n); s && !s->subscripts.empty())
        for (const For& f : i_.loops) along_i = along_i || depends_on(s->subscripts.back(), f.iterator);
    if (along_i) {
      std::swap(i_, j_);
      std::swap(left_, right_);
    }
    if (i_.loops.empty() || j_.loops.empty()) return false;
    each_ = i_.loops[0].gpu.points;
    depth_ = k_.loops[0].gpu.stage;
    return true;
  }

  std::string fresh(const std::string& base) { return context_.passes.names.fresh(base); }

  void name_things() {
    left_tile_ = fresh("left");
    right_tile_ = fresh("right");
    acc_ = fresh("acc");
    bx_ = fresh("bx");
    by_ = fresh("by");
    tx_ = fresh("tx");
    ty_ = fresh("ty");
    k0_ = fresh("k0");
    kk_ = fresh("kk");
    u_ = fresh("u");
    v_ = fresh("v");
    e_ = fresh("e");
  }

  // Sums are kept in at least f32.
  DType sum_type() const { return nest_.store.value->type == DType::kF64 ? DType::kF64 : DType::kF32; }
  std::int64_t side() const { return kSide * each_; }

  // Row u of thread t: in groups of up to four neighbours.
  ExprPtr place(const std::string& thread, const std::string& n) const {
    const std::int64_t group = std::min<std::int64_t>(each_, 4);
    const ExprPtr within = each_ > group ? binary(Op::kFloorMod, index(n), idx(group)) : index(n);
    const ExprPtr which = each_ > group ? idx_mul(idx(group * kSide), binary(Op::kFloorDiv, index(n), idx(group))) : idx(0);
    return idx_add(idx_add(idx_mul(idx(group), index(thread)), within), which);
  }

  ExprPtr origin(const std::string& block) const { return idx_mul(idx(side()), index(block)); }

  // Is the factor contiguous along the role's last loop (then neighbours in the tile's row are neighbours in memory)?
  static bool contiguous(const ExprPtr& factor, const Role& role) {
    bool yes = false;
    walk(factor, [&](const Expr& x) {
      if (x.op == Op::kRead && !x.args.empty())
        yes = yes || passes::to_linear(x.args.back()).coefficient_of(role.loops.back().iterator) == 1;
    });
    return yes;
  }

  // All threads fill a tile: element e is [e / side][e % side] or, along k, [e % depth][e / depth].
  LoopPtr fill(const std::string& tile, const ExprPtr& factor, const Role& role, const std::string& block) const {
    const std::int64_t threads = kSide * kSide;
    const ExprPtr number = idx_add(idx_add(idx_mul(idx(kSide), index(ty_)), index(tx_)), idx_mul(idx(threads), index(e_)));
    const bool along = contiguous(factor, role);
    const ExprPtr across = along ? binary(Op::kFloorMod, number, idx(side())) : binary(Op::kFloorDiv, number, idx(depth_));
    const ExprPtr deep = along ? binary(Op::kFloorDiv, number, idx(side())) : binary(Op::kFloorMod, number, idx(depth_));
    const ExprPtr at = idx_add(origin(block), across), k = idx_add(index(k0_), deep);
    std::vector<std::pair<std::string, ExprPtr>> by = digits(role, at);
    for (auto& pair : digits(k_, k)) by.push_back(pair);
    const ExprPtr inside = binary(Op::kAnd, binary(Op::kLt, at, role.trips), binary(Op::kLt, k, k_.trips));
    const ExprPtr value = select(inside, substitute(factor, by), literal(factor->type, 0));
    return unrolled(e_, side() * depth_ / threads, {stored(tile, {deep, across}, value, "copy of " + to_text(factor))});
  }

  LoopPtr tile(const std::string& name, const ExprPtr& factor, const Role& role) const {
    const std::int64_t pad = contiguous(factor, role) ? 0 : 16 / size_bytes(factor->type);
    return allocated(
        name, factor->type, {depth_, side()}, MemorySpace::kShared,
        "tile of " + to_text(factor) + ": [k][" + std::to_string(side()) + (pad ? " + " + std::to_string(pad) : "") + "]", pad);
  }

  LoopList build() {
    const DType type = sum_type();
    const std::string statement = nest_.store.statement;
    LoopList body = {tile(left_tile_, left_, i_), tile(right_tile_, right_, j_),
                     allocated(acc_, type, {each_, each_}, MemorySpace::kRegister, "this thread's part of the tile")};
    const std::vector<ExprPtr> cell = {index(u_), index(v_)};
    body.push_back(unrolled(u_, each_, {unrolled(v_, each_, {stored(acc_, cell, literal(type, 0), statement)})}));
    const ExprPtr product = binary(Op::kMul, cast(type, read(left_tile_, left_->type, {index(kk_), place(ty_, u_)})),
                                   cast(type, read(right_tile_, right_->type, {index(kk_), place(tx_, v_)})));
    For steps;
    steps.iterator = k0_;
    steps.lower = idx(0);
    steps.upper = k_.trips;
    steps.step = depth_;
    steps.comment = "tiles along the sum";
    steps.body = {
        fill(left_tile_, left_, i_, by_), fill(right_tile_, right_, j_, bx_),
        make_loop(Barrier{Scope::kBlock, "copies into " + left_tile_ + ", " + right_tile_ + " -> " + statement}),
        unrolled(kk_, depth_,
                 {unrolled(u_, each_, {unrolled(v_, each_, {stored(acc_, cell, product, statement, ReduceKind::kSum)})})}),
        make_loop(Barrier{Scope::kBlock, statement + " -> next copies"})};
    body.push_back(make_loop(std::move(steps)));
    body.push_back(points(cell, type));
    return grid(std::move(body));
  }

  // What the original does at each point, the sum being ready.
  LoopPtr points(const std::vector<ExprPtr>& cell, DType type) const {
    const ExprPtr i = idx_add(origin(by_), place(ty_, u_)), j = idx_add(origin(bx_), place(tx_, v_));
    Store add = nest_.store;
    add.value = cast(nest_.store.value->type, read(acc_, type, cell));
    LoopList point = before_;
    point.push_back(make_loop(std::move(add)));
    point.insert(point.end(), after_.begin(), after_.end());
    std::vector<std::pair<std::string, ExprPtr>> by = digits(i_, i);
    for (auto& pair : digits(j_, j)) by.push_back(pair);
    If guard;
    guard.condition = binary(Op::kAnd, binary(Op::kLt, i, i_.trips), binary(Op::kLt, j, j_.trips));
    guard.then = substituted(point, by);
    guard.is_tail_guard = true;
    return unrolled(u_, each_, {unrolled(v_, each_, {make_loop(std::move(guard))})});
  }

  LoopList grid(LoopList body) {
    body = {
        agent_loop(LoopKind::kThreadY, ty_, idx(kSide), {agent_loop(LoopKind::kThreadX, tx_, idx(kSide), std::move(body))})};
    const auto blocks = [&](const Role& role) { return idx_floordiv(idx_add(role.trips, idx(side() - 1)), side()); };
    std::vector<For> loops = batch_.loops;
    loops.push_back(counted(by_, blocks(i_)));
    loops.push_back(counted(bx_, blocks(j_)));
    context_.passes.note("tile", nest_.store.statement, true,
                         std::to_string(side()) + " x " + std::to_string(side()) + " by " + std::to_string(depth_) +
                             " in shared memory, " + std::to_string(each_) + " x " + std::to_string(each_) + " in registers");
    return to_grid(loops, std::move(body), context_);
  }

  const Chain& chain_;
  MapContext& context_;
  LoopList before_, after_;
  ReductionNest nest_;
  LoopPtr nest_node_;
  ExprPtr left_, right_;
  Role batch_, i_, j_, k_;
  std::int64_t each_ = 8, depth_ = 8;
  std::string left_tile_, right_tile_, acc_, bx_, by_, tx_, ty_, k0_, kk_, u_, v_, e_;
};

}  // namespace

std::optional<LoopList> map_tiles(const Chain& chain, MapContext& context) { return TileMapper(chain, context).run(); }

}  // namespace facet::gpu
