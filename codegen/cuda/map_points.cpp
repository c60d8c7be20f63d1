// points: an iteration of the grid's loops, or a few, a thread.
//
//   for i in 0..M  block y 4                  for bx in 0..ceil(N/64)  grid x,  for by in 0..ceil(M/4)  grid y
//     for j in 0..N  block x 64       -->       for ty in 0..4  threads y,  for tx in 0..64  threads x
//       S(i, j)                                   if 4*by + ty < M and 64*bx + tx < N
//                                                   S(4*by + ty, 64*bx + tx)
//
// Several points a thread are a block's width apart, without guards where the block lies inside: several independent loads are
// in flight before the first is used.
#include "codegen/cuda/map_internal.hpp"

namespace facet::gpu {

namespace {

class PointMapper {
 public:
  PointMapper(const Chain& chain, MapContext& context) : chain_(chain), context_(context) {}

  LoopList run() {
    LoopList body = chain_.body;
    std::vector<For> grid = chain_.loops;
    for (const int axis : {0, 1})
      for (For& f : grid)
        if (in_block(f) && f.gpu.block == axis) body = along(&f, axis, std::move(body));
    return to_grid(grid, std::move(body), context_);
  }

 private:
  std::string fresh(const std::string& name) { return context_.passes.names.fresh(name); }

  // The loop over blocks takes the loop's place on the grid; the body becomes a thread's.
  LoopList along(For* f, int axis, LoopList body) {
    const For loop = *f;
    const std::string letter = axis == 0 ? "x" : "y", b = fresh("b" + letter), t = fresh("t" + letter);
    const std::int64_t width = loop.gpu.threads * loop.gpu.points;
    body = loop.gpu.points > 1 ? several(loop, b, t, body) : one(loop, b, t, body);
    *f = counted(b, idx_floordiv(idx_add(trips_of(loop), idx(width - 1)), width));
    return {agent_loop(axis == 0 ? LoopKind::kThreadX : LoopKind::kThreadY, t, idx(loop.gpu.threads), std::move(body))};
  }

  static LoopList one(const For& f, const std::string& b, const std::string& t, const LoopList& body) {
    const ExprPtr at = iteration(f, idx_add(idx_mul(idx(f.gpu.threads), index(b)), index(t)));
    LoopList inner = passes::substitute(body, f.iterator, at);
    std::int64_t trips = 0;
    if (passes::constant_value(trips_of(f), &trips) && trips % f.gpu.threads == 0) return inner;
    return {tail_guard(binary(Op::kLt, at, f.upper), std::move(inner))};
  }

  LoopList several(const For& f, const std::string& b, const std::string& t, const LoopList& body) {
    const std::string u = fresh("u");
    const std::int64_t width = f.gpu.threads * f.gpu.points;
    const ExprPtr count = idx_add(idx_add(idx_mul(idx(width), index(b)), idx_mul(idx(f.gpu.threads), index(u))), index(t));
    const ExprPtr at = iteration(f, count);
    const LoopList inner = passes::substitute(body, f.iterator, at);
    const auto repeated = [&](LoopList list) {
      For loop = counted(u, idx(f.gpu.points));
      loop.kind = LoopKind::kUnroll;
      loop.body = std::move(list);
      return LoopList{make_loop(std::move(loop))};
    };
    If whole;
    whole.condition = binary(Op::kLe, idx_mul(idx(width), idx_add(index(b), idx(1))), trips_of(f));
    whole.then = repeated(inner);
    whole.otherwise = repeated({tail_guard(binary(Op::kLt, at, f.upper), inner)});
    return {make_loop(std::move(whole))};
  }

  const Chain& chain_;
  MapContext& context_;
};

}  // namespace

LoopList map_points(const Chain& chain, MapContext& context) { return PointMapper(chain, context).run(); }

}  // namespace facet::gpu
