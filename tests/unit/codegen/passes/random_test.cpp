// Random nests of legal requests: whatever the passes do, every element comes out as the scalar tree computes it.
//
// Three statements (a producer, a reduction over k, a consumer), tiled or not, fused in one nest or apart, the producer in a
// local array or a global one; vectors on j or i, unrolling on the other; reads shifted, transposed, padded, strided, gathered,
// chosen by conditions. The seed is printed with a failure.
#include "unit/codegen/passes/trees.hpp"

namespace facet::test {
namespace {

class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}

  LoopProgram make() {
    i_tile_ = pick({1, 2, 3, 5});
    j_tile_ = pick({3, 4, 8, 12});
    fused_ = chance(2);
    tiled_ = chance(3) || fused_;
    vector_on_i_ = chance(4);
    k_outside_ = tiled_ && chance(2);
    LoopList body;
    if (fused_) {
      body = {tiles(fused())};
    } else {
      body = {nest(producer()), nest(put("s", at(), f32(pick({0, 1})))), reduction(), nest(consumer())};
    }
    if (chance(3)) body.push_back(row_sums());
    if (chance(3)) body.push_back(row_statistics());
    return program({"M", "N", "K"},
                   {array("a", {M_, N_}), array("at", {N_, M_}), array("x", {M_, K_}), array("w", {K_, N_}), array("v", {N_}),
                    array("p", {M_, N_}, BufferRole::kOutput), array("s", {M_, N_}, BufferRole::kOutput),
                    array("y", {M_, N_}, BufferRole::kOutput), array("r", {M_}, BufferRole::kOutput)},
                   body);
  }

 private:
  std::mt19937 random_;
  std::int64_t i_tile_ = 1, j_tile_ = 4;
  bool fused_ = false, tiled_ = false, vector_on_i_ = false, k_outside_ = false;
  const ExprPtr M_ = ix("M"), N_ = ix("N"), K_ = ix("K"), i_ = ix("i"), j_ = ix("j");

  std::int64_t pick(std::vector<std::int64_t> of) { return of[random_() % of.size()]; }
  bool chance(unsigned one_in) { return random_() % one_in == 0; }
  std::vector<ExprPtr> at() const { return {i_, j_}; }

  ExprPtr leaf() {
    switch (random_() % 9) {
      case 0: return rd("a", {i_, j_});
      case 1: return rd("at", {j_, i_});
      case 2: return rd("v", {j_});
      case 3: return rd("a", {sub(i_, idx(1)), add(j_, idx(1))}, f32(static_cast<double>(pick({0, 3}))));
      case 4: return rd("v", {binary(Op::kFloorDiv, j_, idx(2))});
      case 5: return cast(DType::kF32, binary(Op::kFloorMod, sub(i_, j_), idx(3)));
      case 6: return select(less(j_, sub(N_, idx(1))), rd("v", {add(j_, idx(1))}), f32(2));
      case 7: return select(less(idx(0), i_), rd("a", {sub(i_, idx(1)), j_}), rd("a", {i_, idx(0)}));
      default: return rd("v", {sub(sub(N_, idx(1)), j_)});
    }
  }
  ExprPtr value(int depth) {
    if (depth == 0 || chance(3)) return leaf();
    const ExprPtr a = value(depth - 1), b = value(depth - 1);
    switch (random_() % 4) {
      case 0: return add(a, b);
      case 1: return sub(a, b);
      case 2: return most(a, b);
      default: return least(a, b);
    }
  }

  LoopPtr producer() { return guarded(put("p", at(), value(2))); }
  LoopPtr consumer() { return put("y", at(), add(rd("s", at()), chance(2) ? value(1) : rd("v", {j_}))); }
  LoopPtr guarded(const LoopPtr& statement) {
    if (!chance(3)) return statement;
    Store other = *passes::as<Store>(statement);
    other.value = f32(-1);
    return guard(less(j_, sub(add(i_, idx(4)), idx(pick({0, 2})))), {statement}, {make_loop(other)});
  }

  LoopPtr inner(LoopList statements) {
    const LoopKind i_kind = vector_on_i_ ? LoopKind::kVector : chance(4) ? LoopKind::kSerial : LoopKind::kUnroll;
    const LoopKind j_kind = vector_on_i_ ? LoopKind::kSerial : LoopKind::kVector;
    ExprPtr i_lower = idx(0), i_upper = M_, j_lower = idx(0), j_upper = N_;
    if (tiled_) {
      i_lower = mul(idx(i_tile_), ix("it"));
      i_upper = least(M_, add(i_lower, idx(i_tile_)));
      j_lower = mul(idx(j_tile_), ix("jt"));
      j_upper = least(add(j_lower, idx(j_tile_)), N_);
    }
    const LoopPtr j = loop("j", j_lower, j_upper, std::move(statements), j_kind, j_kind == LoopKind::kVector ? 4 : 0);
    return loop("i", i_lower, i_upper, {j}, tiled_ || i_kind == LoopKind::kVector ? i_kind : LoopKind::kSerial,
                i_kind == LoopKind::kVector ? 4 : 0);
  }
  LoopPtr tiles(LoopList body) {
    return loop("it", idx(0), ceil_div(M_, i_tile_), {loop("jt", idx(0), ceil_div(N_, j_tile_), std::move(body))},
                LoopKind::kParallel);
  }
  LoopPtr nest(LoopPtr statement) {
    const LoopPtr points = inner({std::move(statement)});
    return tiled_ ? tiles({points}) : points;
  }
  LoopPtr product() { return update("s", at(), mul(rd("x", {i_, ix("k")}), rd("w", {ix("k"), j_}))); }
  LoopPtr multiplied() {
    if (k_outside_) return loop("k", idx(0), K_, {inner({product()})});
    return inner({loop("k", chance(3) ? most(idx(0), sub(i_, idx(2))) : idx(0), chance(3) ? least(K_, add(j_, idx(1))) : K_,
                       {product()})});
  }
  LoopPtr reduction() {
    const LoopPtr points = multiplied();
    return tiled_ ? tiles({points}) : points;
  }
  LoopList fused() {
    if (chance(2)) {  // one point nest holds everything
      return {inner({producer(), put("s", at(), f32(0)), loop("k", idx(0), K_, {product()}), consumer(),
                     put("y", at(), add(rd("y", at()), rd("p", at())))})};
    }
    return {inner({producer()}), inner({put("s", at(), f32(1))}), multiplied(), inner({consumer()})};
  }
  // Statistics of a row in local arrays of the row's loop; a row kept in a local array, sometimes.
  LoopPtr row_statistics() {
    const LoopKind kind = chance(2) ? LoopKind::kParallel : LoopKind::kSerial;
    const auto along = [&](LoopPtr statement) { return loop("j", idx(0), N_, {std::move(statement)}, LoopKind::kVector, 4); };
    LoopList body = {local("top", {idx(1)}), local("row", {idx(1), N_}),
                     put("top", {idx(0)}, f32(static_cast<double>(pick({-9, 2}))))};
    body.push_back(along(put("row", {idx(0), j_}, value(1))));
    body.push_back(along(update("top", {idx(0)}, rd("row", {idx(0), j_}), chance(2) ? ReduceKind::kMax : ReduceKind::kSum)));
    body.push_back(along(put("p", at(), sub(rd("row", {idx(0), j_}), rd("top", {idx(0)})))));
    return loop("i", idx(0), M_, body, kind);
  }
  LoopPtr row_sums() {
    const ReduceKind kind = chance(2) ? ReduceKind::kSum : ReduceKind::kMax;
    return loop("i", idx(0), M_,
                {put("r", {i_}, f32(-3)), loop("j", idx(0), chance(2) ? N_ : least(N_, add(i_, idx(1))),
                                               {update("r", {i_}, leaf(), kind)}, LoopKind::kVector, 4)});
  }
};

TEST(RandomNests, StayTheSame) {
  for (unsigned seed = 1; seed <= 25; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const LoopProgram p = Maker(seed).make();
    const LoopProgram q = lowered(p);
    for (const auto& [m, n, k] :
         std::vector<std::array<std::int64_t, 3>>{{1, 1, 1}, {3, 9, 2}, {7, 13, 5}, {4, 24, 0}, {0, 5, 2}, {10, 4, 11}})
      expect_same(p, q, {{"M", m}, {"N", n}, {"K", k}});
    if (HasFailure()) {
      std::cout << "seed " << seed << "\n" << to_text(p.kernels[0].body) << "----\n" << to_text(q.kernels[0].body);
      return;
    }
  }
}

}  // namespace
}  // namespace facet::test
