// Finding grid loops and reductions in a loop tree, and putting loops on the grid.
#include "codegen/cuda/map_internal.hpp"

#include <algorithm>
#include <functional>

namespace facet::gpu {

using passes::as;

bool on_grid(const For& f) { return f.kind == LoopKind::kMapped && f.gpu.grid >= 0; }
bool in_block(const For& f) { return f.kind == LoopKind::kMapped && f.gpu.block >= 0; }

bool holds(const LoopList& body, bool (*wanted)(const For& f)) {
  bool found = false;
  passes::walk_nodes(body, [&](const LoopPtr& n) {
    if (const For* f = as<For>(n)) found = found || wanted(*f);
  });
  return found;
}

bool of_symbols(const ExprPtr& e, const MapContext& context) {
  bool yes = true;
  walk(e, [&](const Expr& x) {
    if (x.op == Op::kValue || x.op == Op::kRead) yes = false;
    if (x.op == Op::kIndex)
      yes =
          yes && std::any_of(context.symbols.begin(), context.symbols.end(), [&](const Symbol& s) { return s.name == x.name; });
  });
  return yes;
}

LoopList without_comments(const LoopList& body) {
  LoopList result;
  for (const LoopPtr& n : body)
    if (!as<Comment>(n)) result.push_back(n);
  return result;
}

ExprPtr extreme(const ExprPtr& e, const std::vector<For>& loops, bool greatest) {
  ExprPtr result = e;
  for (std::size_t k = loops.size(); k-- > 0;) {
    const For& f = loops[k];
    // Null where it is not known; every form below grows, or falls, with its operand.
    const std::function<ExprPtr(const ExprPtr&, bool)> at = [&](const ExprPtr& x, bool high) -> ExprPtr {
      if (!passes::mentions(x, f.iterator)) return x;
      const auto both = [&](ExprPtr (*make)(ExprPtr, ExprPtr), bool second) -> ExprPtr {
        const ExprPtr a = at(x->args[0], high), b = at(x->args[1], second);
        return a && b ? make(a, b) : nullptr;
      };
      std::int64_t by = 0;
      switch (x->op) {
        case Op::kIndex: return high ? idx_sub(f.upper, idx(1)) : f.lower;
        case Op::kAdd: return both(idx_add, high);
        case Op::kSub: return both(idx_sub, !high);
        case Op::kMin: return both(idx_min, high);
        case Op::kMax: return both(idx_max, high);
        case Op::kNeg: {
          const ExprPtr a = at(x->args[0], !high);
          return a ? idx_sub(idx(0), a) : nullptr;
        }
        case Op::kFloorDiv:
        case Op::kTruncDiv: {
          if (!passes::constant_value(x->args[1], &by) || by <= 0) return nullptr;
          const ExprPtr a = at(x->args[0], high);
          return !a ? nullptr : x->op == Op::kFloorDiv ? idx_floordiv(a, by) : binary(Op::kTruncDiv, a, idx(by));
        }
        case Op::kMul:
          for (const std::size_t c : {std::size_t{0}, std::size_t{1}})
            if (passes::constant_value(x->args[c], &by))
              if (const ExprPtr other = at(x->args[1 - c], by >= 0 ? high : !high)) return idx_mul(idx(by), other);
          return nullptr;
        default: return nullptr;
      }
    };
    result = at(result, greatest);
    if (!result) return nullptr;
  }
  return result;
}

namespace {

// The loop with bounds of symbols; what its own bounds said is added to `guards`. False when there is no such hull.
bool make_rectangular(For* f, const std::vector<For>& around, std::vector<ExprPtr>* guards, const MapContext& context) {
  if (of_symbols(f->lower, context) && of_symbols(f->upper, context)) return true;
  const ExprPtr lower = extreme(f->lower, around, false), last = extreme(idx_sub(f->upper, idx(1)), around, true);
  if (!lower || !last || f->step != 1 || !of_symbols(lower, context) || !of_symbols(last, context)) return false;
  guards->push_back(binary(Op::kLe, f->lower, index(f->iterator)));
  guards->push_back(binary(Op::kLt, index(f->iterator), f->upper));
  f->lower = lower;
  f->upper = idx_add(last, idx(1));
  return true;
}

// Loops that cannot have their place are plain loops of a thread.
LoopList without_grid(const LoopList& body, MapContext& context) {
  LoopList out;
  for (const LoopPtr& n : body) {
    LoopPtr inner = passes::rebuild(
        n, [](const ExprPtr& e) { return e; }, [&](const LoopList& b) { return without_grid(b, context); });
    if (const For* f = as<For>(inner); f && on_grid(*f)) {
      context.passes.note("map", *f, false, "its bounds are not those of a grid: serial");
      For plain = *f;
      plain.kind = LoopKind::kSerial;
      plain.gpu = GpuPlace{};
      inner = make_loop(std::move(plain));
    }
    out.push_back(inner);
  }
  return out;
}

}  // namespace

Chain chain_of(const LoopPtr& node, MapContext& context) {
  Chain chain;
  chain.body = {node};
  std::vector<ExprPtr> guards;
  for (;;) {
    const LoopList inner = without_comments(chain.body);
    if (inner.size() != 1) break;
    if (const If* i = as<If>(inner[0]); i && i->otherwise.empty() && holds(i->then, on_grid)) {
      guards.push_back(i->condition);
      chain.body = i->then;
      continue;
    }
    const For* f = as<For>(inner[0]);
    if (f == nullptr || !on_grid(*f)) break;
    For loop = *f;
    loop.body.clear();
    if (!make_rectangular(&loop, chain.loops, &guards, context)) break;
    chain.loops.push_back(std::move(loop));
    chain.body = f->body;
  }
  chain.body = without_grid(chain.body, context);
  std::stable_sort(chain.loops.begin(), chain.loops.end(), [](const For& a, const For& b) { return a.gpu.grid > b.gpu.grid; });
  if (guards.empty()) return chain;
  ExprPtr all = guards[0];
  for (std::size_t k = 1; k < guards.size(); ++k) all = binary(Op::kAnd, all, guards[k]);
  If guarded;
  guarded.condition = all;
  guarded.then = std::move(chain.body);
  chain.body = {make_loop(std::move(guarded))};
  return chain;
}

LoopPtr nest_of(const std::vector<For>& loops, LoopList body) {
  for (std::size_t k = loops.size(); k-- > 0;) {
    For loop = loops[k];
    loop.body = std::move(body);
    body = {make_loop(std::move(loop))};
  }
  return body[0];
}

LoopList own_arrays(const LoopList& body) {
  LoopList out;
  for (const LoopPtr& n : body) {
    LoopPtr own = passes::rebuild(
        n, [](const ExprPtr& e) { return e; }, own_arrays);
    if (const Allocate* a = as<Allocate>(own); a && a->buffer.space == MemorySpace::kShared) {
      Allocate stack = *a;
      stack.buffer.space = MemorySpace::kStack;
      own = make_loop(std::move(stack));
    }
    out.push_back(own);
  }
  return out;
}

ExprPtr trips_of(const For& f) {
  const ExprPtr length = idx_sub(f.upper, f.lower);
  return f.step == 1 ? length : idx_floordiv(idx_add(length, idx(f.step - 1)), f.step);
}

For counted(const std::string& iterator, ExprPtr trips) {
  For f;
  f.iterator = iterator;
  f.lower = idx(0);
  f.upper = std::move(trips);
  return f;
}

LoopPtr tail_guard(ExprPtr condition, LoopList body) {
  If guard;
  guard.condition = std::move(condition);
  guard.then = std::move(body);
  guard.is_tail_guard = true;
  return make_loop(std::move(guard));
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

namespace {

constexpr int kMostNodes = 100;  // of an expression that takes the place of a name

// Does the expression, written out, have at most `most` nodes? Parts that it shares count each time.
bool is_short(const ExprPtr& e, int* most) {
  if (--*most < 0) return false;
  return std::all_of(e->args.begin(), e->args.end(), [&](const ExprPtr& a) { return is_short(a, most); });
}

// The iterator's value in the body: written out where it is short, so that what follows sees it; else under its name. Bounds of
// tiles over time hold those of the loops around them several times: written out five of them had a million nodes.
LoopList with_value(LoopList body, const std::string& iterator, const ExprPtr& value) {
  int most = kMostNodes;
  if (is_short(value, &most)) return passes::substitute(body, iterator, value);
  body.insert(body.begin(), make_loop(Let{iterator, DType::kI64, 1, value}));
  return body;
}

}  // namespace

LoopList to_grid(const std::vector<For>& loops, LoopList inner, MapContext& context) {
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
      body = with_value(std::move(body), loops[k].iterator, iteration(loops[k], digit));
      rest = binary(Op::kFloorDiv, rest, trips);
      total = idx_mul(total, trips);
    }
    body = {agent_loop(LoopKind::kBlockZ, count, total, std::move(body), "outer loops as one count")};
  }
  for (std::size_t k = 0; k < direct; ++k) {
    For loop = loops[n - direct + k];
    loop.gpu = GpuPlace{};
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

LoopPtr where_iterated(const ReductionNest& nest, const LoopPtr& node, LoopPtr store) {
  const std::set<std::string> inner = passes::introduced_names({node});
  for (const For& f : nest.loops) {
    if (passes::mentions_any(f.lower, inner) || passes::mentions_any(f.upper, inner)) continue;
    store = make_loop(If{binary(Op::kLt, f.lower, f.upper), {std::move(store)}, {}, false});
  }
  return store;
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

}  // namespace facet::gpu
