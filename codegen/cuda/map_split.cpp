// split_reduction: one long reduction -> partial results by many blocks, then their combination.
//
//   for i  for j  s += x[i,j]     -->     for g in 0..1024 (grid)  p[g] = 0; for i in part g of the range  for j  p[g] +=
//   x[i,j]
//                                         for g in 0..1024  s += p[g]
//
// Around the reduction may be loops of the grid: p then has their dimensions too. The order is fixed by the sizes and the
// number of parts, the same on every run.
#include <algorithm>

#include "codegen/cuda/map_internal.hpp"

namespace facet::gpu {

using passes::as;

namespace {

constexpr std::int64_t kRestThreads = 256;  // of the block that combines the parts of one place

bool is_split(const For& f) { return f.kind == LoopKind::kMapped && f.gpu.parts > 0; }

// The nest with its update replaced, its split loop cut to [lower, upper).
LoopList with_store(const LoopList& body, const std::string& loop, const Store& store, const ExprPtr& lower,
                    const ExprPtr& upper) {
  LoopList out;
  for (const LoopPtr& n : body) {
    if (as<Store>(n)) {
      out.push_back(make_loop(Store(store)));
      continue;
    }
    LoopPtr inner = passes::rebuild(
        n, [](const ExprPtr& e) { return e; }, [&](const LoopList& b) { return with_store(b, loop, store, lower, upper); });
    if (const For* f = as<For>(inner); f && f->iterator == loop) {
      For part = *f;
      part.gpu.parts = 0;
      if (!in_block(part)) part.kind = LoopKind::kSerial;
      part.lower = lower;
      part.upper = upper;
      inner = make_loop(std::move(part));
    }
    out.push_back(inner);
  }
  return out;
}

class Splitter {
 public:
  Splitter(const Chain& chain, MapContext& context) : chain_(chain), context_(context) {}

  std::optional<SplitReduction> run() {
    std::optional<SingleReduction> single = single_reduction_of(chain_.body);
    if (!single) return std::nullopt;
    sum_ = std::move(*single);
    for (const For& f : sum_.nest.loops)
      if (is_split(f)) cut_ = f;
    if (!is_split(cut_) || !of_symbols(cut_.lower, context_) || !of_symbols(cut_.upper, context_)) return std::nullopt;
    SplitReduction split;
    g_ = context_.passes.names.fresh("g");
    const Store& store = sum_.nest.store;
    Buffer& p = split.partial;
    p.name = context_.passes.names.fresh(store.buffer + "_parts");
    p.dtype = store.value->type;
    p.extents = {idx(cut_.gpu.parts)};
    p.role = BufferRole::kWorkspace;
    p.comment = "partial results of " + store.statement;
    place_ = {index(g_)};
    for (const For& f : chain_.loops) {
      p.extents.push_back(trips_of(f));
      place_.push_back(f.step == 1 ? idx_sub(index(f.iterator), f.lower)
                                   : idx_floordiv(idx_sub(index(f.iterator), f.lower), f.step));
    }
    split.parts = parts(p);
    split.rest = rest(p);
    context_.passes.note("map", store.statement, true,
                         "two kernels: " + std::to_string(cut_.gpu.parts) + " partial results, then their combination");
    return split;
  }

 private:
  // Parts of equal length, a multiple of the loop's step.
  LoopPtr parts(const Buffer& p) const {
    Store add = sum_.nest.store;
    add.buffer = p.name;
    add.subscripts = place_;
    Store init = add;
    init.update.reset();
    init.value = passes::identity_of(*add.update, p.dtype);
    init.statement += ".init";
    const std::int64_t n = cut_.gpu.parts;
    const ExprPtr chunk = idx_floordiv(idx_add(trips_of(cut_), idx(n - 1)), n);
    const auto start = [&](ExprPtr part) {
      return idx_add(cut_.lower, idx_mul(idx(cut_.step), idx_mul(std::move(part), chunk)));
    };
    std::vector<For> loops = chain_.loops;
    For over = counted(g_, idx(n));
    over.kind = LoopKind::kMapped;
    over.gpu.grid = static_cast<int>(loops.size());
    loops.insert(loops.begin(), over);
    LoopList body =
        with_store({sum_.node}, cut_.iterator, add, start(index(g_)), idx_min(start(idx_add(index(g_), idx(1))), cut_.upper));
    body.insert(body.begin(), make_loop(std::move(init)));
    return nest_of(loops, std::move(body));
  }

  LoopPtr rest(const Buffer& p) const {
    For over = counted(g_, idx(cut_.gpu.parts));
    if (chain_.loops.empty()) {
      over.kind = LoopKind::kMapped;
      over.gpu.block = 0;
      over.gpu.threads = kRestThreads;
      over.gpu.reduces = true;
    }
    Store add = sum_.nest.store;
    add.value = read(p.name, p.dtype, place_);
    over.body = {make_loop(std::move(add))};
    if (chain_.loops.empty()) return make_loop(std::move(over));
    LoopList body = sum_.before;
    body.push_back(make_loop(std::move(over)));
    body.insert(body.end(), sum_.after.begin(), sum_.after.end());
    return nest_of(chain_.loops, std::move(body));
  }

  const Chain& chain_;
  MapContext& context_;
  SingleReduction sum_;
  For cut_;
  std::string g_;
  std::vector<ExprPtr> place_;
};

}  // namespace

std::optional<SplitReduction> split_reduction(const Chain& chain, MapContext& context) {
  if (!holds(chain.body, is_split)) return std::nullopt;
  return Splitter(chain, context).run();
}

}  // namespace facet::gpu
