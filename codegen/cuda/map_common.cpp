// Finding parallel loops and reductions in a loop tree, and putting loops on the grid.
#include "codegen/cuda/map_internal.hpp"

#include <algorithm>
#include <cmath>

#include "codegen/passes/tiles.hpp"

namespace facet::gpu {

using passes::as;

bool is_parallel(const LoopPtr& node) {
  const For* f = as<For>(node);
  if (f == nullptr) return false;
  if (f->kind == LoopKind::kParallel) return true;
  if (f->kind != LoopKind::kSerial && f->kind != LoopKind::kVector) return false;
  return passes::independent({node}, {f->iterator});
}

bool of_symbols(const ExprPtr& e, const LoopProgram& program) {
  bool yes = true;
  walk(e, [&](const Expr& x) {
    if (x.op == Op::kValue || x.op == Op::kRead) yes = false;
    if (x.op == Op::kIndex)
      yes =
          yes && std::any_of(program.symbols.begin(), program.symbols.end(), [&](const Symbol& s) { return s.name == x.name; });
  });
  return yes;
}

LoopList without_comments(const LoopList& body) {
  LoopList result;
  for (const LoopPtr& n : body)
    if (!as<Comment>(n)) result.push_back(n);
  return result;
}

Chain chain_of(const LoopPtr& node, const LoopProgram& program) {
  Chain chain;
  chain.body = {node};
  for (;;) {
    const LoopList inner = without_comments(chain.body);
    if (inner.size() != 1) return chain;
    const For* f = as<For>(inner[0]);
    if (f == nullptr || !is_parallel(inner[0]) || !of_symbols(f->lower, program) || !of_symbols(f->upper, program))
      return chain;
    For loop = *f;
    loop.body.clear();
    chain.loops.push_back(std::move(loop));
    chain.body = f->body;
  }
}

ExprPtr trips_of(const For& f) {
  const ExprPtr length = idx_sub(f.upper, f.lower);
  return f.step == 1 ? length : idx_floordiv(idx_add(length, idx(f.step - 1)), f.step);
}

double typical_trips(const For& f, const MapContext& context) {
  const ExprPtr trips = trips_of(f);
  if (!of_symbols(trips, *context.program)) return kUnknownTrips;
  return static_cast<double>(std::max<std::int64_t>(0, evaluate_index(trips, context.typical)));
}

namespace {

// The innermost subscript is +-iterator plus things that stand still.
bool runs_along(const std::vector<ExprPtr>& subscripts, const std::string& iterator) {
  if (subscripts.empty()) return false;
  for (std::size_t d = 0; d + 1 < subscripts.size(); ++d)
    if (passes::mentions(subscripts[d], iterator)) return false;
  const std::int64_t c = passes::to_linear(subscripts.back()).coefficient_of(iterator);
  return c == 1 || c == -1;
}

void count_accesses(const LoopList& body, const std::string& iterator, double times, const MapContext& context, double* total) {
  for (const LoopPtr& n : body) {
    if (const For* f = as<For>(n)) {
      count_accesses(f->body, iterator, times * std::max(1.0, typical_trips(*f, context)), context, total);
    } else if (const If* i = as<If>(n)) {
      count_accesses(i->then, iterator, times, context, total);
      count_accesses(i->otherwise, iterator, times, context, total);
    } else if (const Sequence* s = as<Sequence>(n)) {
      count_accesses(s->body, iterator, times, context, total);
    } else {
      for (const passes::Access& a : passes::accesses_of(LoopList{n}))
        if (runs_along(a.subscripts, iterator)) *total += times;
    }
  }
}

}  // namespace

double coalesced_accesses(const LoopList& body, const std::string& iterator, const MapContext& context) {
  double total = 0;
  count_accesses(body, iterator, 1, context, &total);
  return total;
}

LoopPtr agent_loop(LoopKind kind, const std::string& iterator, ExprPtr trips, LoopList body, const std::string& comment) {
  For f;
  f.iterator = iterator;
  f.lower = idx(0);
  f.upper = std::move(trips);
  f.kind = kind;
  f.body = std::move(body);
  f.comment = comment;
  return make_loop(std::move(f));
}

ExprPtr iteration(const For& f, ExprPtr count) { return idx_add(f.lower, idx_mul(idx(f.step), std::move(count))); }

LoopList on_grid(const std::vector<For>& loops, LoopList inner, MapContext& context) {
  const LoopKind kinds[3] = {LoopKind::kBlockX, LoopKind::kBlockY, LoopKind::kBlockZ};
  const std::size_t n = loops.size(), direct = n > 3 ? 2 : n;
  LoopList body = std::move(inner);
  if (n > 3) {
    // The outer loops as digits of one count, the last running fastest.
    const std::string count = context.passes.names.fresh("z");
    ExprPtr rest = index(count), total = idx(1);
    for (std::size_t k = n - 2; k-- > 0;) {
      const ExprPtr trips = trips_of(loops[k]);
      const ExprPtr digit = k == 0 ? rest : binary(Op::kFloorMod, rest, trips);
      body = passes::substitute(body, loops[k].iterator, iteration(loops[k], digit));
      rest = binary(Op::kFloorDiv, rest, trips);
      total = idx_mul(total, trips);
    }
    body = {agent_loop(LoopKind::kBlockZ, count, total, std::move(body), "outer loops as one count")};
  }
  for (std::size_t k = 0; k < direct; ++k) {
    For loop = loops[n - direct + k];
    loop.kind = kinds[direct - 1 - k];
    loop.collapse = 1;
    loop.width = 0;
    loop.body = std::move(body);
    body = {make_loop(std::move(loop))};
  }
  return body;
}

namespace {

// The one store of the nest with the loops around it; false when there is anything else than loops, ifs and lets.
bool path_to_store(const LoopList& body, std::vector<For>* loops, std::optional<Store>* store) {
  for (const LoopPtr& n : body) {
    if (as<Comment>(n) || as<Let>(n)) continue;
    if (const Store* s = as<Store>(n)) {
      if (store->has_value()) return false;
      *store = *s;
    } else if (const For* f = as<For>(n)) {
      if (store->has_value()) return false;
      For loop = *f;
      loop.body.clear();
      loops->push_back(std::move(loop));
      if (!path_to_store(f->body, loops, store)) return false;
    } else if (const If* i = as<If>(n)) {
      if (!i->otherwise.empty() || !path_to_store(i->then, loops, store)) return false;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<ReductionNest> reduction_of(const LoopPtr& node) {
  ReductionNest nest;
  std::optional<Store> store;
  if (!as<For>(node) || !path_to_store({node}, &nest.loops, &store) || !store) return std::nullopt;
  if (!store->update || store->atomic || store->lanes > 1 || *store->update >= ReduceKind::kArgMax) return std::nullopt;
  const std::set<std::string> inner = passes::introduced_names({node});
  for (const ExprPtr& s : store->subscripts)
    if (passes::mentions_any(s, inner)) return std::nullopt;
  bool mutable_value = false;
  passes::walk_nodes({node}, [&](const LoopPtr& n) {
    if (const Let* l = as<Let>(n)) mutable_value = mutable_value || l->is_mutable;
  });
  if (mutable_value) return std::nullopt;
  for (const passes::Access& a : passes::accesses_of(LoopList{node}))
    if (a.buffer == store->buffer && !a.writes) return std::nullopt;
  nest.store = std::move(*store);
  return nest;
}

std::optional<SingleReduction> single_reduction_of(const LoopList& body) {
  SingleReduction single;
  for (const LoopPtr& n : without_comments(body)) {
    std::optional<ReductionNest> nest = reduction_of(n);
    if (!nest) {
      if (as<For>(n) || as<Barrier>(n) || as<Set>(n)) return std::nullopt;
      (single.node ? single.after : single.before).push_back(n);
      continue;
    }
    if (single.node) return std::nullopt;
    single.nest = std::move(*nest);
    single.node = n;
  }
  if (!single.node) return std::nullopt;
  // The other statements move behind the whole reduction: it may not read what they write, their values included.
  std::set<std::string> read;
  for (const passes::Access& a : passes::accesses_of(LoopList{single.node}))
    if (a.reads && a.buffer != single.nest.store.buffer) read.insert(a.buffer);
  for (const LoopList* list : {&single.before, &single.after})
    for (const passes::Access& a : passes::accesses_of(*list))
      if (a.writes && read.count(a.buffer)) return std::nullopt;
  std::set<std::string> values;
  for (const LoopPtr& n : single.before)
    if (const Let* l = as<Let>(n)) values.insert(l->name);
  bool uses = false;
  passes::walk_expressions({single.node}, [&](const ExprPtr& e) { uses = uses || passes::mentions_any(e, values); });
  if (uses) return std::nullopt;
  return single;
}

bool prefers_rows(const Chain& chain, const MapContext& context) {
  double outer = 0, points = 1, inner = 0, inner_trips = 0;
  for (const For& f : chain.loops) {
    outer = std::max(outer, coalesced_accesses(chain.body, f.iterator, context));
    points *= std::max(1.0, typical_trips(f, context));
  }
  passes::walk_nodes(chain.body, [&](const LoopPtr& n) {
    const For* f = as<For>(n);
    if (f == nullptr || (!is_parallel(n) && !reduction_of(n))) return;
    inner = std::max(inner, coalesced_accesses(chain.body, f->iterator, context));
    inner_trips = std::max(inner_trips, typical_trips(*f, context));
  });
  if (inner_trips == 0) return false;
  // Too few points to fill the device: the inner loops must help.
  constexpr double kFewPoints = 2048;
  return inner > outer || (points < kFewPoints && inner_trips > 64 && inner > 0);
}

}  // namespace facet::gpu
