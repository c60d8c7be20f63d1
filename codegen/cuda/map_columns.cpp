// columns: a reduction for each of few points, with the points along memory.
//
//   for j (parallel)                        block 32 x 32: x over j, y over i
//     s[j] = 0                                part = 0;  for i = y step 32  part += x[i,j]
//     for i  s[j] += x[i,j]      -->          sums[y][x] = part; barrier
//     z[j] = f(s[j])                          if y == 0:  s[j] = 0; s[j] += sums[0][x] + ... + sums[31][x];  z[j] = f(s[j])
//
// One thread a point would leave most of the device idle; here 32 threads share each point's sum and accesses still coalesce.
#include <algorithm>

#include "codegen/cuda/map_internal.hpp"

namespace facet::gpu {

using passes::as;

namespace {

constexpr std::int64_t kSide = 32;
constexpr double kFewPoints = 200000;  // below one full set of threads of a large device (132 x 2048)
constexpr double kLongSum = 256;

class ColumnMapper {
 public:
  ColumnMapper(const Chain& chain, MapContext& context) : chain_(chain), context_(context) {}

  std::optional<LoopList> run() {
    std::optional<SingleReduction> single = single_reduction_of(chain_.body);
    if (!single || chain_.loops.empty()) return std::nullopt;
    sum_ = std::move(*single);
    double points = 1, length = 1;
    for (const For& f : chain_.loops) points *= typical_trips(f, context_);
    for (const For& f : sum_.nest.loops) length *= typical_trips(f, context_);
    x_ = chain_.loops.back();
    double best_inner = 0;
    for (const For& f : sum_.nest.loops)
      best_inner = std::max(best_inner, coalesced_accesses(chain_.body, f.iterator, context_));
    const bool along = coalesced_accesses(chain_.body, x_.iterator, context_) > best_inner;
    if (!along || points >= kFewPoints || length < kLongSum || typical_trips(x_, context_) < kSide) return std::nullopt;
    if (nest_moves_with_itself()) return std::nullopt;
    return build();
  }

 private:
  // The strided loop's bounds must not depend on the nest's other loops.
  bool nest_moves_with_itself() {
    shared_ = &sum_.nest.loops.front();
    for (const For& f : sum_.nest.loops)
      if (typical_trips(f, context_) > typical_trips(*shared_, context_)) shared_ = &f;
    return !of_symbols(shared_->lower, *context_.program) || !of_symbols(shared_->upper, *context_.program);
  }

  std::string fresh(const std::string& base) { return context_.passes.names.fresh(base); }

  LoopList with_partial(const LoopList& body) const {
    const DType type = sum_.nest.store.value->type;
    LoopList out;
    for (const LoopPtr& n : body) {
      if (const Store* s = as<Store>(n)) {
        out.push_back(make_loop(Set{part_, binary(passes::operator_of(*s->update), value_of(part_, type), s->value)}));
        continue;
      }
      LoopPtr inner =
          passes::rebuild(n, [](const ExprPtr& e) { return e; }, [&](const LoopList& b) { return with_partial(b); });
      if (const For* f = as<For>(inner); f && f->iterator == shared_->iterator) {
        For strided = *f;
        strided.kind = LoopKind::kSerial;
        strided.lower = iteration(*f, index(ty_));
        strided.step = f->step * kSide;
        inner = make_loop(std::move(strided));
      }
      out.push_back(inner);
    }
    return out;
  }

  LoopPtr guarded(ExprPtr condition, LoopList body) const {
    If guard;
    guard.condition = std::move(condition);
    guard.then = std::move(body);
    guard.is_tail_guard = true;
    return make_loop(std::move(guard));
  }

  LoopList build() {
    part_ = fresh(sum_.nest.store.buffer + "_part");
    total_ = fresh(sum_.nest.store.buffer + "_total");
    sums_ = fresh("sums");
    tx_ = fresh("tx");
    ty_ = fresh("ty");
    const std::string bx = fresh("bx"), y = fresh("y");
    const ReduceKind kind = *sum_.nest.store.update;
    const DType type = sum_.nest.store.value->type;
    const ExprPtr x = iteration(x_, idx_add(idx_mul(idx(kSide), index(bx)), index(tx_)));
    const ExprPtr inside = binary(Op::kLt, x, x_.upper);
    Buffer sums;
    sums.name = sums_;
    sums.dtype = type;
    sums.extents = {idx(kSide), idx(kSide)};
    sums.space = MemorySpace::kShared;
    sums.comment = "partial results: [y][x]";
    LoopList body = {make_loop(Allocate{sums}), make_loop(Let{part_, type, 1, passes::identity_of(kind, type), true})};
    body.push_back(guarded(inside, with_partial({sum_.node})));
    Store put;
    put.statement = sum_.nest.store.statement;
    put.buffer = sums_;
    put.subscripts = {index(ty_), index(tx_)};
    put.value = value_of(part_, type);
    body.push_back(make_loop(std::move(put)));
    body.push_back(make_loop(Barrier{Scope::kBlock, "partial results of " + sum_.nest.store.statement + " -> their total"}));
    For fold;
    fold.iterator = y;
    fold.lower = idx(1);
    fold.upper = idx(kSide);
    fold.body = {make_loop(
        Set{total_, binary(passes::operator_of(kind), value_of(total_, type), read(sums_, type, {index(y), index(tx_)}))})};
    Store add = sum_.nest.store;
    add.value = value_of(total_, type);
    LoopList last = {make_loop(Let{total_, type, 1, read(sums_, type, {idx(0), index(tx_)}), true}),
                     make_loop(std::move(fold))};
    last.insert(last.end(), sum_.before.begin(), sum_.before.end());
    last.push_back(make_loop(std::move(add)));
    last.insert(last.end(), sum_.after.begin(), sum_.after.end());
    body.push_back(guarded(binary(Op::kAnd, binary(Op::kEq, index(ty_), idx(0)), inside), std::move(last)));
    body = passes::substitute(body, x_.iterator, x);
    body = {
        agent_loop(LoopKind::kThreadY, ty_, idx(kSide), {agent_loop(LoopKind::kThreadX, tx_, idx(kSide), std::move(body))})};
    std::vector<For> grid(chain_.loops.begin(), chain_.loops.end() - 1);
    For blocks;
    blocks.iterator = bx;
    blocks.lower = idx(0);
    blocks.upper = idx_floordiv(idx_add(trips_of(x_), idx(kSide - 1)), kSide);
    grid.push_back(std::move(blocks));
    return on_grid(grid, std::move(body), context_);
  }

  const Chain& chain_;
  MapContext& context_;
  SingleReduction sum_;
  For x_;
  const For* shared_ = nullptr;
  std::string part_, total_, sums_, tx_, ty_;
};

}  // namespace

std::optional<LoopList> map_columns(const Chain& chain, MapContext& context) {
  if (context.strict) return std::nullopt;
  return ColumnMapper(chain, context).run();
}

}  // namespace facet::gpu
