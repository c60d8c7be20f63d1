// points: one iteration of the outer parallel loops a thread.
//
//   for i in 0..M   (parallel)                for bx in 0..ceil(N/64)  grid x,  for by in 0..ceil(M/4)  grid y
//     for j in 0..N (parallel)        -->       for ty in 0..4  threads y,  for tx in 0..64  threads x
//       S(i, j)                                   if 4*by + ty < M and 64*bx + tx < N
//                                                   S(4*by + ty, 64*bx + tx)
//
// x is the loop along memory. Plain elementwise bodies do kElements points a thread, a block's width apart, without guards
// where the block lies inside: several independent loads are in flight before the first is used.
#include <algorithm>
#include <cmath>

#include "codegen/cuda/map_internal.hpp"

namespace facet::gpu {

using passes::as;

namespace {

constexpr std::int64_t kBlockThreads = 256;  // eight warps: full occupancy up to 32 registers, no tail effects worth naming
constexpr std::int64_t kElements = 4;        // 16 bytes of f32 a thread in flight
constexpr double kManyPoints = 1 << 20;      // below, more threads are worth more than longer ones

std::int64_t power_at_least(double n) {
  std::int64_t p = 1;
  while (static_cast<double>(p) < n) p *= 2;
  return p;
}

bool has_loops(const LoopList& body) {
  bool found = false;
  passes::walk_nodes(body, [&](const LoopPtr& n) { found = found || as<For>(n) != nullptr; });
  return found;
}

class PointMapper {
 public:
  PointMapper(const Chain& chain, MapContext& context) : chain_(chain), context_(context) {}

  LoopList run() {
    pick_axes();
    const double x_trips = typical_trips(x_, context_);
    threads_x_ = std::min(kBlockThreads, std::max<std::int64_t>(power_at_least(x_trips), has_y_ ? 1 : 32));
    threads_y_ = has_y_ ? std::min<std::int64_t>(kBlockThreads / threads_x_, power_at_least(typical_trips(y_, context_))) : 1;
    double points = 1;
    for (const For& f : chain_.loops) points *= typical_trips(f, context_);
    const bool several = !has_loops(chain_.body) && points >= kManyPoints &&
                         x_trips >= static_cast<double>(kElements * threads_x_) && threads_y_ == 1;
    return several ? wide() : single();
  }

 private:
  // x: the loop along memory (the innermost when none is); y: the innermost of the others.
  void pick_axes() {
    std::size_t x = chain_.loops.size() - 1;
    double best = coalesced_accesses(chain_.body, chain_.loops[x].iterator, context_);
    for (std::size_t k = chain_.loops.size() - 1; k-- > 0;) {
      const double here = coalesced_accesses(chain_.body, chain_.loops[k].iterator, context_);
      if (here <= best) continue;
      best = here;
      x = k;
    }
    for (std::size_t k = 0; k < chain_.loops.size(); ++k) {
      if (k == x)
        x_ = chain_.loops[k];
      else
        others_.push_back(chain_.loops[k]);
    }
    has_y_ = !others_.empty();
    if (!has_y_) return;
    y_ = others_.back();
    others_.pop_back();
  }

  std::string fresh(const std::string& name) { return context_.passes.names.fresh(name); }

  static For counted(const std::string& name, ExprPtr trips) {
    For f;
    f.iterator = name;
    f.lower = idx(0);
    f.upper = std::move(trips);
    return f;
  }

  // Loop as block * width + thread; the guard that the last block needs.
  ExprPtr place(const For& f, const std::string& block, std::int64_t width, const std::string& thread) const {
    return iteration(f, idx_add(idx_mul(idx(width), index(block)), index(thread)));
  }

  static LoopList guarded(const For& f, const ExprPtr& at, std::int64_t width, LoopList body) {
    std::int64_t trips = 0;
    if (passes::constant_value(trips_of(f), &trips) && trips % width == 0) return body;
    If guard;
    guard.condition = binary(Op::kLt, at, f.upper);
    guard.then = std::move(body);
    guard.is_tail_guard = true;
    return {make_loop(std::move(guard))};
  }

  LoopList single() {
    const std::string bx = fresh("bx"), tx = fresh("tx");
    const ExprPtr x = place(x_, bx, threads_x_, tx);
    LoopList body = passes::substitute(chain_.body, x_.iterator, x);
    body = guarded(x_, x, threads_x_, std::move(body));
    std::vector<For> grid = others_;
    LoopKind kind = LoopKind::kThreadX;
    body = {agent_loop(kind, tx, idx(threads_x_), std::move(body))};
    if (has_y_ && threads_y_ > 1) {
      const std::string by = fresh("by"), ty = fresh("ty");
      const ExprPtr y = place(y_, by, threads_y_, ty);
      body = guarded(y_, y, threads_y_, passes::substitute(body, y_.iterator, y));
      body = {agent_loop(LoopKind::kThreadY, ty, idx(threads_y_), std::move(body))};
      grid.push_back(counted(by, idx_floordiv(idx_add(trips_of(y_), idx(threads_y_ - 1)), threads_y_)));
    } else if (has_y_) {
      grid.push_back(y_);
    }
    grid.push_back(counted(bx, idx_floordiv(idx_add(trips_of(x_), idx(threads_x_ - 1)), threads_x_)));
    return on_grid(grid, std::move(body), context_);
  }

  // kElements points a thread along x.
  LoopList wide() {
    const std::string bx = fresh("bx"), tx = fresh("tx"), u = fresh("u");
    const std::int64_t width = threads_x_ * kElements;
    const ExprPtr count = idx_add(idx_add(idx_mul(idx(width), index(bx)), idx_mul(idx(threads_x_), index(u))), index(tx));
    const ExprPtr x = iteration(x_, count);
    const LoopList at = passes::substitute(chain_.body, x_.iterator, x);
    const auto repeated = [&](LoopList body) {
      For loop = counted(u, idx(kElements));
      loop.kind = LoopKind::kUnroll;
      loop.body = std::move(body);
      return LoopList{make_loop(std::move(loop))};
    };
    If whole;
    whole.condition = binary(Op::kLe, idx_mul(idx(width), idx_add(index(bx), idx(1))), trips_of(x_));
    whole.then = repeated(at);
    If guard;
    guard.condition = binary(Op::kLt, x, x_.upper);
    guard.then = at;
    guard.is_tail_guard = true;
    whole.otherwise = repeated({make_loop(std::move(guard))});
    LoopList body = {agent_loop(LoopKind::kThreadX, tx, idx(threads_x_), {make_loop(std::move(whole))})};
    std::vector<For> grid = others_;
    if (has_y_) grid.push_back(y_);
    grid.push_back(counted(bx, idx_floordiv(idx_add(trips_of(x_), idx(width - 1)), width)));
    return on_grid(grid, std::move(body), context_);
  }

  const Chain& chain_;
  MapContext& context_;
  For x_, y_;
  bool has_y_ = false;
  std::vector<For> others_;
  std::int64_t threads_x_ = 1, threads_y_ = 1;
};

}  // namespace

LoopList map_points(const Chain& chain, MapContext& context) { return PointMapper(chain, context).run(); }

}  // namespace facet::gpu
