// split_reduction: one long reduction to one place -> partial results by many blocks, then their reduction by one block.
//
//   for i  for j  s += x[i,j]     -->     for g in 0..1024 (parallel)  p[g] = 0; for i in part g of the range  for j  p[g] +=
//   x[i,j]
//                                         for g in 0..1024  s += p[g]
//
// The order is fixed by the sizes alone, the same on every run.
#include "codegen/cuda/map_internal.hpp"

namespace facet::gpu {

using passes::as;

namespace {

constexpr std::int64_t kParts = 1024;
constexpr double kLong = 1 << 17;  // shorter ones are faster in one block than in two launches

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
      part.kind = LoopKind::kSerial;
      part.lower = lower;
      part.upper = upper;
      inner = make_loop(std::move(part));
    }
    out.push_back(inner);
  }
  return out;
}

}  // namespace

std::optional<SplitReduction> split_reduction(const LoopPtr& node, MapContext& context) {
  const std::optional<ReductionNest> nest = reduction_of(node);
  if (context.strict || !nest) return std::nullopt;
  double length = 1;
  const For* longest = &nest->loops.front();
  for (const For& f : nest->loops) {
    length *= typical_trips(f, context);
    if (typical_trips(f, context) > typical_trips(*longest, context)) longest = &f;
  }
  if (length < kLong || !of_symbols(longest->lower, *context.program) || !of_symbols(longest->upper, *context.program))
    return std::nullopt;
  const DType type = nest->store.value->type;
  SplitReduction split;
  split.partial.name = context.passes.names.fresh(nest->store.buffer + "_parts");
  split.partial.dtype = type;
  split.partial.extents = {idx(kParts)};
  split.partial.role = BufferRole::kWorkspace;
  split.partial.comment = "partial results of " + nest->store.statement;
  const std::string g = context.passes.names.fresh("g");
  Store first = nest->store;
  first.buffer = split.partial.name;
  first.subscripts = {index(g)};
  Store init = first;
  init.update.reset();
  init.value = passes::identity_of(*nest->store.update, type);
  init.statement += ".init";
  // Parts of equal length, a multiple of the loop's step.
  const ExprPtr chunk = idx_floordiv(idx_add(trips_of(*longest), idx(kParts - 1)), kParts);
  const auto start = [&](ExprPtr part) {
    return idx_add(longest->lower, idx_mul(idx(longest->step), idx_mul(std::move(part), chunk)));
  };
  For parts;
  parts.iterator = g;
  parts.lower = idx(0);
  parts.upper = idx(kParts);
  parts.kind = LoopKind::kParallel;
  parts.body =
      with_store({node}, longest->iterator, first, start(index(g)), idx_min(start(idx_add(index(g), idx(1))), longest->upper));
  parts.body.insert(parts.body.begin(), make_loop(std::move(init)));
  split.parts = make_loop(std::move(parts));
  For rest;
  rest.iterator = g;
  rest.lower = idx(0);
  rest.upper = idx(kParts);
  Store add = nest->store;
  add.value = read(split.partial.name, type, {index(g)});
  rest.body = {make_loop(std::move(add))};
  split.rest = make_loop(std::move(rest));
  context.passes.note("map", nest->store.statement, true,
                      "two kernels: " + std::to_string(kParts) + " partial results, then their reduction");
  return split;
}

}  // namespace facet::gpu
