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

class ColumnMapper {
 public:
  ColumnMapper(const Chain& chain, MapContext& context) : chain_(chain), context_(context) {}

  std::optional<LoopList> run() {
    std::optional<SingleReduction> single = single_reduction_of(chain_.body);
    if (!single || chain_.loops.empty()) return std::nullopt;
    sum_ = std::move(*single);
    x_ = chain_.loops.back();
    for (const For& f : sum_.nest.loops)
      if (in_block(f)) shared_ = &f;
    if (!in_block(x_) || !shared_ || !of_symbols(shared_->lower, context_) || !of_symbols(shared_->upper, context_))
      return std::nullopt;
    return build();
  }

 private:
  std::string fresh(const std::string& base) { return context_.passes.names.fresh(base); }

  LoopList with_partial(const LoopList& body) const {
    const DType type = sum_.nest.store.value->type;
    LoopList out;
    for (const LoopPtr& n : body) {
      if (const Store* s = as<Store>(n)) {
        out.push_back(make_loop(Set{part_, binary(passes::operator_of(*s->update), value_of(part_, type), s->value)}));
        continue;
      }
      LoopPtr inner = passes::rebuild(
          n, [](const ExprPtr& e) { return e; }, [&](const LoopList& b) { return with_partial(b); });
      if (const For* f = as<For>(inner); f && f->iterator == shared_->iterator) {
        For strided = *f;
        strided.kind = holds(f->body, [](const For&) { return true; }) ? LoopKind::kSerial : LoopKind::kUnroll;
        strided.width = strided.kind == LoopKind::kUnroll ? kInFlight : 0;
        strided.lower = iteration(*f, index(ty_));
        strided.step = f->step * shared_->gpu.threads;
        strided.gpu = GpuPlace{};
        inner = make_loop(std::move(strided));
      }
      out.push_back(inner);
    }
    return out;
  }

  LoopList build() {
    part_ = fresh(sum_.nest.store.buffer + "_part");
    total_ = fresh(sum_.nest.store.buffer + "_total");
    sums_ = fresh("sums");
    tx_ = fresh("tx");
    ty_ = fresh("ty");
    const std::string bx = fresh("bx"), y = fresh("y");
    const std::int64_t wide = x_.gpu.threads, high = shared_->gpu.threads;
    const ReduceKind kind = *sum_.nest.store.update;
    const DType type = sum_.nest.store.value->type;
    const ExprPtr x = iteration(x_, idx_add(idx_mul(idx(wide), index(bx)), index(tx_)));
    const ExprPtr inside = binary(Op::kLt, x, x_.upper);
    Buffer sums;
    sums.name = sums_;
    sums.dtype = type;
    sums.extents = {idx(high), idx(wide)};
    sums.space = MemorySpace::kShared;
    sums.comment = "partial results: [y][x]";
    LoopList body = {make_loop(Allocate{sums}), make_loop(Let{part_, type, 1, passes::identity_of(kind, type), true})};
    body.push_back(tail_guard(inside, with_partial({sum_.node})));
    Store put;
    put.statement = sum_.nest.store.statement;
    put.buffer = sums_;
    put.subscripts = {index(ty_), index(tx_)};
    put.value = value_of(part_, type);
    body.push_back(make_loop(std::move(put)));
    body.push_back(make_loop(Barrier{Scope::kBlock, "partial results of " + sum_.nest.store.statement + " -> their total"}));
    For fold = counted(y, idx(high));
    fold.lower = idx(1);
    fold.body = {make_loop(
        Set{total_, binary(passes::operator_of(kind), value_of(total_, type), read(sums_, type, {index(y), index(tx_)}))})};
    Store add = sum_.nest.store;
    add.value = value_of(total_, type);
    LoopList last = {make_loop(Let{total_, type, 1, read(sums_, type, {idx(0), index(tx_)}), true}),
                     make_loop(std::move(fold))};
    last.insert(last.end(), sum_.before.begin(), sum_.before.end());
    last.push_back(where_iterated(sum_.nest, sum_.node, make_loop(std::move(add))));
    last.insert(last.end(), sum_.after.begin(), sum_.after.end());
    body.push_back(tail_guard(binary(Op::kAnd, binary(Op::kEq, index(ty_), idx(0)), inside), std::move(last)));
    body = passes::substitute(body, x_.iterator, x);
    body = {agent_loop(LoopKind::kThreadY, ty_, idx(high), {agent_loop(LoopKind::kThreadX, tx_, idx(wide), std::move(body))})};
    std::vector<For> grid(chain_.loops.begin(), chain_.loops.end() - 1);
    grid.push_back(counted(bx, idx_floordiv(idx_add(trips_of(x_), idx(wide - 1)), wide)));
    return to_grid(grid, std::move(body), context_);
  }

  const Chain& chain_;
  MapContext& context_;
  SingleReduction sum_;
  For x_;
  const For* shared_ = nullptr;
  std::string part_, total_, sums_, tx_, ty_;
};

}  // namespace

std::optional<LoopList> map_columns(const Chain& chain, MapContext& context) { return ColumnMapper(chain, context).run(); }

}  // namespace facet::gpu
