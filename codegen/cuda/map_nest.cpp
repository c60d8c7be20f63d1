// A thread's part of a nest of mapped loops.
//
//   for i in i0..min(M, i0 + 64)  block y 16, 4 a thread        for u in 0..4   i = i0 + 4*(t / 16) + u
//     for j in j0..j0 + 64        block x 16, 4 a thread   -->    if i < M
//       C[i - i0, j - j0] = A[i] * B[j]                             for v in 0..4   j = j0 + 4*(t mod 16) + v
//                                                                     C[u, v] = A[i] * B[j]
//
// The thread's linear number t is a number in mixed radix, one digit a loop. Points are groups of neighbours (one wide access),
// the groups threads * adjacent apart, so that neighbouring threads' groups are neighbours. A loop longer than all points is
// cut into pieces of that width. Source: Verdoolaege et al., PPCG, TACO 2013, section 5 (mapping to threads).
#include "codegen/cuda/map_nest.hpp"

#include <algorithm>

namespace facet::gpu {

using passes::as;

namespace {

// The most iterations, where that is a constant.
std::optional<std::int64_t> most_trips(const For& f) {
  std::optional<std::int64_t> most;
  for (const ExprPtr& upper : passes::operands_of(Op::kMin, f.upper))
    for (const ExprPtr& lower : passes::operands_of(Op::kMax, f.lower)) {
      const passes::Linear length = passes::difference(upper, lower);
      if (!length.is_constant()) continue;
      const std::int64_t trips = std::max<std::int64_t>(0, passes::floor_div(length.constant + f.step - 1, f.step));
      most = most ? std::min(*most, trips) : trips;
    }
  return most;
}

std::int64_t width_of(const For& f) { return f.gpu.threads * f.gpu.points; }
bool covered(const For& f) { return most_trips(f).value_or(width_of(f) + 1) <= width_of(f); }

// What is left of `upper` to check for an iteration below lower + step * width.
std::vector<ExprPtr> open_bounds(const For& f, const ExprPtr& at) {
  std::vector<ExprPtr> open;
  for (const ExprPtr& upper : passes::operands_of(Op::kMin, f.upper)) {
    const passes::Linear length = passes::difference(upper, f.lower);
    if (covered(f) && length.is_constant() && length.constant >= f.step * (width_of(f) - 1) + 1) continue;
    open.push_back(binary(Op::kLt, at, upper));
  }
  return open;
}

LoopList guarded(const std::vector<ExprPtr>& conditions, LoopList body) {
  if (conditions.empty()) return body;
  ExprPtr all = conditions[0];
  for (std::size_t k = 1; k < conditions.size(); ++k) all = binary(Op::kAnd, all, conditions[k]);
  return {tail_guard(all, std::move(body))};
}

// Digit k of `number` in a mixed radix, the last digit running fastest. The first needs no remainder: number < product.
ExprPtr digit(const ExprPtr& number, const std::vector<std::int64_t>& radix, std::size_t k) {
  std::int64_t below = 1;
  for (std::size_t j = k + 1; j < radix.size(); ++j) below *= radix[j];
  const ExprPtr high = below > 1 ? binary(Op::kFloorDiv, number, idx(below)) : number;
  return k == 0 ? high : binary(Op::kFloorMod, high, idx(radix[k]));
}

ExprPtr coordinate(const Nest& nest, std::size_t k, const std::string& thread) {
  std::vector<std::int64_t> threads, warps, lanes;
  for (const For& f : nest.loops) {
    threads.push_back(f.gpu.threads);
    if (f.gpu.lanes == 0) continue;
    warps.push_back(f.gpu.threads / f.gpu.lanes);
    lanes.push_back(f.gpu.lanes);
  }
  if (lanes.empty()) return digit(index(thread), threads, k);
  if (nest.threads == kWarp) return digit(binary(Op::kFloorMod, index(thread), idx(kWarp)), lanes, k);
  const ExprPtr warp = binary(Op::kFloorDiv, index(thread), idx(kWarp)),
                lane = binary(Op::kFloorMod, index(thread), idx(kWarp));
  return idx_add(idx_mul(digit(warp, warps, k), idx(lanes[k])), digit(lane, lanes, k));
}

// Point u of a thread: which iteration, counted from the loop's first.
ExprPtr point(const For& f, const ExprPtr& thread, const std::string& u) {
  const GpuPlace& g = f.gpu;
  if (g.points == 1) return thread;
  if (g.adjacent == 1) return idx_add(idx_mul(idx(g.threads), index(u)), thread);
  const bool groups = g.points > g.adjacent;
  const ExprPtr within = groups ? binary(Op::kFloorMod, index(u), idx(g.adjacent)) : index(u);
  const ExprPtr first = idx_add(idx_mul(idx(g.adjacent), thread), within);
  if (!groups) return first;
  return idx_add(first, idx_mul(idx(g.adjacent * g.threads), binary(Op::kFloorDiv, index(u), idx(g.adjacent))));
}

class Part {
 public:
  Part(const LoopPtr& root, const std::string& thread, const Privates& privates, MapContext& context)
      : nest_(nest_at(root)), thread_(thread), privates_(privates), context_(context) {
    for (std::size_t k = 0; k < nest_.loops.size(); ++k)
      points_.push_back(context_.passes.names.fresh(std::string(1, static_cast<char>('u' + k % 6))));
  }

  LoopList of(const LoopList& body) {
    LoopList out;
    for (const LoopPtr& n : body) {
      const LoopPtr inner = passes::rebuild(
          n, [&](const ExprPtr& e) { return e ? kept(e) : e; }, [&](const LoopList& b) { return of(b); });
      const For* f = as<For>(inner);
      if (f && in_block(*f)) {
        for (const LoopPtr& m : points(*f)) out.push_back(m);
      } else if (const Store* s = as<Store>(inner)) {
        out.push_back(stored(*s));
      } else {
        out.push_back(inner);
      }
    }
    return out;
  }

  const Nest& nest() const { return nest_; }

 private:
  std::size_t number_of(const For& f) const {
    std::size_t k = 0;
    while (nest_.loops[k].iterator != f.iterator) ++k;
    return k;
  }

  LoopList points(const For& f) {
    const std::size_t k = number_of(f);
    const ExprPtr me = coordinate(nest_, k, thread_);
    if (f.gpu.points == 1 && !covered(f)) return {strided(f, me)};
    if (std::optional<LoopList> wide = words(f, k, me)) return std::move(*wide);
    ExprPtr count = point(f, me, points_[k]);
    std::string piece;
    if (!covered(f)) {
      piece = context_.passes.names.fresh(f.iterator + "p");
      count = idx_add(index(piece), count);
    }
    const ExprPtr at = iteration(f, count);
    LoopList body = guarded(open_bounds(f, at), passes::substitute(f.body, f.iterator, at));
    if (f.gpu.points > 1) {
      For repeated = counted(points_[k], idx(f.gpu.points));
      repeated.kind = LoopKind::kUnroll;
      repeated.body = std::move(body);
      body = {make_loop(std::move(repeated))};
    }
    if (piece.empty()) return body;
    For pieces = counted(piece, trips_of(f));
    pieces.step = width_of(f);
    pieces.body = std::move(body);
    return {make_loop(std::move(pieces))};
  }

  // Groups of neighbours copied as words.
  std::optional<LoopList> words(const For& f, std::size_t k, const ExprPtr& me) {
    const GpuPlace& g = f.gpu;
    const ExprPtr at = iteration(f, idx(0));
    if (g.adjacent < 2 || !covered(f) || !open_bounds(f, at).empty()) return std::nullopt;
    const Store* s = f.body.size() == 1 ? as<Store>(f.body[0]) : nullptr;
    const Buffer* target = s && !privates_.count(s->buffer) ? context_.passes.find(s->buffer) : nullptr;
    ExprPtr count = idx_mul(idx(g.adjacent), me);
    const bool groups = g.points > g.adjacent;
    const std::string group = groups ? context_.passes.names.fresh(points_[k] + "g") : "";
    if (groups) count = idx_add(count, idx_mul(idx(g.adjacent * g.threads), index(group)));
    std::optional<LoopList> body = wide_copy(f, iteration(f, count), points_[k], target, context_);
    if (!body || !groups) return body;
    For all = counted(group, idx(g.points / g.adjacent));
    all.kind = LoopKind::kUnroll;
    all.body = std::move(*body);
    return LoopList{make_loop(std::move(all))};
  }

  LoopPtr strided(const For& f, const ExprPtr& me) const {
    For loop = f;
    loop.kind = holds(f.body, [](const For&) { return true; }) ? LoopKind::kSerial : LoopKind::kUnroll;
    loop.width = loop.kind == LoopKind::kUnroll ? kInFlight : 0;
    loop.gpu = GpuPlace{};
    loop.lower = iteration(f, me);
    loop.step = f.step * f.gpu.threads;
    return make_loop(std::move(loop));
  }

  std::vector<ExprPtr> own(const Private& part, std::vector<ExprPtr> subscripts) const {
    for (std::size_t k = 0; k < part.dimensions.size(); ++k)
      subscripts[part.dimensions[k]] = part.points[k] > 1 ? index(points_[k]) : idx(0);
    return subscripts;
  }

  ExprPtr kept(const ExprPtr& e) const {
    return rewrite(e, [&](const ExprPtr& x) -> ExprPtr {
      const auto it = x->op == Op::kRead ? privates_.find(x->name) : privates_.end();
      if (it == privates_.end()) return x;
      const ExprPtr mine = read(x->name, it->second.dtype, own(it->second, x->args));
      return it->second.dtype == x->type ? mine : cast(x->type, mine);
    });
  }

  LoopPtr stored(Store s) const {
    if (const auto it = privates_.find(s.buffer); it != privates_.end()) {
      s.subscripts = own(it->second, s.subscripts);
      if (s.value->type != it->second.dtype) s.value = cast(it->second.dtype, s.value);
    }
    return make_loop(std::move(s));
  }

  Nest nest_;
  const std::string& thread_;
  const Privates& privates_;
  MapContext& context_;
  std::vector<std::string> points_;  // iterators of the points
};

}  // namespace

std::string Nest::shape() const {
  std::string text;
  for (const For& f : loops)
    text += std::to_string(f.gpu.threads) + "." + std::to_string(f.gpu.lanes) + "." + std::to_string(f.gpu.points) + "." +
            std::to_string(f.gpu.adjacent) + " ";
  return text;
}

bool starts_nest(const LoopPtr& n) {
  const For* f = as<For>(n);
  return f && in_block(*f) && !f->gpu.reduces && !f->gpu.warp;
}

bool gives_warps(const LoopPtr& n) {
  const For* f = as<For>(n);
  return f && in_block(*f) && f->gpu.warp;
}

LoopList with_warp(const LoopList& body, const std::set<std::string>& arrays, const ExprPtr& warp) {
  const auto mine = [&](const ExprPtr& e) {
    return rewrite(e, [&](const ExprPtr& x) -> ExprPtr {
      if (x->op != Op::kRead || !arrays.count(x->name)) return x;
      Expr read = *x;
      read.args.insert(read.args.begin(), warp);
      return std::make_shared<const Expr>(std::move(read));
    });
  };
  LoopList out;
  for (const LoopPtr& n : body) {
    LoopPtr next = passes::rebuild(
        n, [&](const ExprPtr& e) { return e ? mine(e) : e; }, [&](const LoopList& b) { return with_warp(b, arrays, warp); });
    if (const Store* s = as<Store>(next); s && arrays.count(s->buffer)) {
      Store copy = *s;
      copy.subscripts.insert(copy.subscripts.begin(), warp);
      next = make_loop(std::move(copy));
    }
    out.push_back(next);
  }
  return out;
}

bool one_each(const For& f) { return covered(f); }

LoopList part_of_warp(const For& f, const ExprPtr& warp, LoopList body) {
  const ExprPtr at = iteration(f, warp);
  if (covered(f)) return guarded(open_bounds(f, at), passes::substitute(body, f.iterator, at));
  For loop = f;
  loop.kind = LoopKind::kSerial;
  loop.gpu = GpuPlace{};
  loop.lower = at;
  loop.step = f.step * f.gpu.threads;
  loop.body = std::move(body);
  return {make_loop(std::move(loop))};
}

Nest nest_at(const LoopPtr& root) {
  Nest nest;
  passes::walk_nodes({root}, [&](const LoopPtr& n) {
    const For* f = as<For>(n);
    if (!f || !in_block(*f)) return;
    For loop = *f;
    loop.body.clear();
    nest.threads *= loop.gpu.threads;
    nest.valid = nest.valid && !loop.gpu.reduces;
    nest.loops.push_back(std::move(loop));
  });
  std::stable_sort(nest.loops.begin(), nest.loops.end(), [](const For& a, const For& b) { return a.gpu.block > b.gpu.block; });
  for (std::size_t k = 0; k + 1 < nest.loops.size(); ++k)
    nest.valid = nest.valid && nest.loops[k].gpu.block != nest.loops[k + 1].gpu.block &&
                 (nest.loops[k].gpu.lanes > 0) == (nest.loops[k + 1].gpu.lanes > 0);
  // What stands beside an inner mapped loop would be done by all its threads.
  const auto alone = [&](const auto& self, const LoopList& body) -> bool {
    if (!holds(body, in_block)) return true;
    const LoopList inner = without_comments(body);
    if (inner.size() != 1) return false;
    if (const For* f = as<For>(inner[0])) return self(self, f->body);
    const If* i = as<If>(inner[0]);
    return i && i->otherwise.empty() && self(self, i->then);
  };
  nest.valid = nest.valid && alone(alone, {root});
  return nest;
}

std::set<std::string> inner_names(const LoopPtr& root, const Nest& nest) {
  std::set<std::string> inner = passes::introduced_names({root});
  for (const For& f : nest.loops) inner.erase(f.iterator);
  return inner;
}

std::optional<Owner> owner_of(const passes::Access& access, const Nest& nest, const std::set<std::string>& inner,
                              const std::set<std::string>& stepped) {
  if (access.padded || !nest.valid) return std::nullopt;
  Owner owner;
  owner.form = nest.shape();
  for (const For& f : nest.loops) {
    bool found = false;
    for (std::size_t d = 0; d < access.subscripts.size() && !found; ++d) {
      const ExprPtr& s = access.subscripts[d];
      if (s->lanes > 1 || passes::to_linear(s).coefficient_of(f.iterator) == 0 || passes::mentions_any(s, inner)) continue;
      if (!passes::accesses_of(s).empty()) continue;
      const bool alone = std::none_of(nest.loops.begin(), nest.loops.end(), [&](const For& other) {
        return other.iterator != f.iterator && passes::mentions(s, other.iterator);
      });
      if (!alone) continue;
      // Counted from the loop's first iteration, so that tiles of different steps are seen to be alike.
      const ExprPtr form = passes::to_expr(passes::to_linear(substitute(s, {{f.iterator, iteration(f, index("@"))}})));
      // A form that moves with a loop run in steps names another thread in the next step.
      if (passes::mentions_any(form, stepped)) continue;
      owner.form += std::to_string(d) + ":" + to_text(form) + " ";
      owner.dimensions.push_back(d);
      found = true;
    }
    if (!found) return std::nullopt;
  }
  return owner;
}

std::optional<Private> private_of(const Buffer& buffer, const Owner& owner, const Nest& nest) {
  Private part;
  part.owner = owner.form;
  part.dimensions = owner.dimensions;
  part.dtype = buffer.dtype == DType::kF16 || buffer.dtype == DType::kBF16 ? DType::kF32 : buffer.dtype;
  for (const For& f : nest.loops) {
    if (!covered(f)) return std::nullopt;
    part.points.push_back(f.gpu.points);
  }
  return part;
}

Buffer part_of_thread(const Buffer& buffer, const Private& part) {
  Buffer mine = buffer;
  for (std::size_t k = 0; k < part.dimensions.size(); ++k) mine.extents[part.dimensions[k]] = idx(part.points[k]);
  mine.strides.clear();
  mine.dtype = part.dtype;
  mine.space = MemorySpace::kRegister;
  mine.comment = "this thread's part of " + (buffer.comment.empty() ? buffer.name : buffer.comment);
  return mine;
}

LoopList part_of_nest(const LoopPtr& root, const std::string& thread, const Privates& privates, MapContext& context) {
  return own_arrays(Part(root, thread, privates, context).of({root}));
}

}  // namespace facet::gpu
