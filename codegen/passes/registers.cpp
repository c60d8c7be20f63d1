// keep_in_registers: memory that a loop updates in place lives in named values while the loop runs.
//
//                                                     let h0_0_0 = h0[i0, j0..], h0_0_16 = h0[i0, j0 + 16..], ...
//   for k                                             for k
//     h0[i0, j0..] += a[i0, k] * b[k, j0..]     -->     set h0_0_0 = fma(a[i0, k], b[k, j0..], h0_0_0)
//     h0[i0, j0 + 16..] += ...                          set h0_0_16 = ...
//                                                     h0[i0, j0..] = h0_0_0 ...
//
// For each serial loop, outermost first: a written place (buffer, subscripts, lanes, mask) whose subscripts do not change in
// the loop, and from which every other access to the buffer in the loop is certainly apart (by its form or its range). The load
// and store around the loop must not touch what the program would not: either the loop surely runs and the access in it is
// unconditional, or the same place is stored next to the loop anyway (an `init` before, say); else both go under `if (the loop
// runs)`. A place that every iteration first overwrites carries nothing from one to the next: it is left to the loops inside,
// for a load in front would read what nothing may have written yet. Not done: padded or atomic accesses, loops with parallel
// loops or barriers in them, more than kMaxPlaces places. Known elsewhere as scalar replacement (Callahan, Carr, Kennedy 1990)
// or register promotion.
#include "codegen/passes/lanes.hpp"

#include <algorithm>
#include <cctype>

#include "codegen/passes/apart.hpp"
#include "facet/expr_walk.hpp"

namespace facet::passes {

namespace {

constexpr std::size_t kMaxPlaces = 64;

struct Place {
  Access access;
  std::string name;
  bool certain = false;  // needs no guard
};

std::string identifier(const std::string& text) {
  std::string out = text;
  for (char& c : out)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return out;
}

bool can_hold(const LoopList& body) {
  bool good = true;
  walk_nodes(body, [&](const LoopPtr& n) {
    if (const For* f = as<For>(n)) good = good && f->kind == LoopKind::kSerial;
    if (as<Barrier>(n) || as<AsyncCopy>(n) || as<AsyncWait>(n) || as<Collective>(n) || as<TileOp>(n) || as<Role>(n))
      good = false;
  });
  return good;
}

// Does the block itself certainly store to the place (loops that surely run included)?
bool certainly_stores(const LoopList& block, const Access& place, Facts facts) {
  for (const LoopPtr& n : block) {
    if (const Store* s = as<Store>(n))
      if (same_place(access_of(*s, place.type), place)) return true;
    if (const Sequence* s = as<Sequence>(n))
      if (certainly_stores(s->body, place, facts)) return true;
    const For* f = as<For>(n);
    if (!f || !facts.less(f->lower, f->upper)) continue;
    Facts inner = facts;
    inner.add_range(f->iterator, f->lower, f->upper);
    if (certainly_stores(f->body, place, inner)) return true;
  }
  return false;
}

// The first iteration's statements: `if (j == 0)` holds there.
LoopList first_iteration(const For& f, const Facts& facts, const Context& context) {
  bool asks = false;
  walk_nodes(f.body, [&](const LoopPtr& n) {
    if (const If* i = as<If>(n)) asks = asks || mentions(i->condition, f.iterator);
  });
  return asks ? simplify(substitute(f.body, f.iterator, f.lower), facts, context) : f.body;
}

// Is the block's first access to the place a store that does not depend on what was there (in loops that surely run, too)?
bool begins_with_store(const LoopList& block, const Access& place, const Facts& facts, const Context& context) {
  for (const LoopPtr& n : block) {
    if (const Sequence* s = as<Sequence>(n); s && begins_with_store(s->body, place, facts, context)) return true;
    const std::vector<Access> all = accesses_of(LoopList{n});
    const auto touches = std::count_if(all.begin(), all.end(), [&](const Access& a) { return !disjoint(a, place); });
    if (touches == 0) continue;
    if (const For* f = as<For>(n)) {
      if (!facts.less(f->lower, f->upper)) return false;
      Facts inner = facts;
      inner.add_range(f->iterator, f->lower, f->upper);
      return begins_with_store(first_iteration(*f, inner, context), place, inner, context);
    }
    const Store* s = as<Store>(n);
    return s && !s->update && touches == 1 && same_place(access_of(*s, place.type), place);
  }
  return false;
}

class Registers {
 public:
  explicit Registers(Context& context) : context_(context) {}

  // keep: how many loops from here on are perfectly nested for an enclosing loop's collapse clause.
  LoopList in_block(const LoopList& block, Facts facts, int keep = 0) {
    LoopList out;
    for (std::size_t i = 0; i < block.size(); ++i) {
      const For* f = as<For>(block[i]);
      std::vector<Place> places;
      if (f && f->kind == LoopKind::kSerial && keep == 0) places = places_of(*f, block, i, facts);
      if (places.empty()) {
        out.push_back(descend(block[i], facts, keep));
      } else {
        emit(*f, places, facts, out);
      }
      const Let* l = as<Let>(block[i]);
      if (l && l->type == DType::kI64 && !l->is_mutable && is_index_arithmetic(l->value))
        facts.add_range(l->name, l->value, idx_add(l->value, idx(1)));
    }
    return out;
  }

 private:
  Context& context_;

  LoopPtr descend(const LoopPtr& node, const Facts& facts, int keep) {
    Facts inner = facts;
    if (const For* f = as<For>(node)) {
      inner.add_range(f->iterator, f->lower, f->upper);
      keep = f->collapse > 1 ? f->collapse - 1 : std::max(0, keep - 1);
    }
    if (const If* f = as<If>(node)) {
      Facts otherwise = facts;
      inner.add_condition(f->condition);
      otherwise.add_negation(f->condition);
      If copy = *f;
      copy.then = in_block(f->then, inner);
      copy.otherwise = in_block(f->otherwise, otherwise);
      return make_loop(std::move(copy));
    }
    return rebuild(
        node, [](const ExprPtr& e) { return e; }, [&](const LoopList& list) { return in_block(list, inner, keep); });
  }

  std::vector<Place> places_of(const For& f, const LoopList& block, std::size_t at, const Facts& facts) {
    if (!can_hold(f.body)) return {};
    const std::vector<PlacedAccess> all = placed_accesses(f.body);
    std::set<std::string> inside = introduced_names(f.body);
    inside.insert(f.iterator);
    Facts running = facts;
    running.add_range(f.iterator, f.lower, f.upper);
    std::vector<Place> places;
    for (const PlacedAccess& placed : all) {
      const Access& a = placed.access;
      if (!a.writes || a.atomic || a.padded || (a.lanes > 1 && a.lane_stride != 1) || inside.count(a.buffer) ||
          known(places, a) || varies(a, inside) || !apart_from_others(a, all, running))
        continue;
      Place p{a, "", false};
      if (begins_with_store(f.body, a, running, context_)) continue;
      const bool unconditional = certainly_stores(f.body, a, running);
      p.certain = (unconditional && facts.less(f.lower, f.upper)) || stored_beside(block, at, a, facts);
      if (!p.certain && !unconditional) continue;
      places.push_back(std::move(p));
    }
    if (places.size() > kMaxPlaces) {
      context_.note("registers", f.iterator, false,
                    std::to_string(places.size()) + " places are more than " + std::to_string(kMaxPlaces));
      return {};
    }
    for (Place& p : places) p.name = context_.names.fresh(name_of(p, places));
    return places;
  }

  static bool known(const std::vector<Place>& places, const Access& a) {
    for (const Place& p : places)
      if (same_place(p.access, a)) return true;
    return false;
  }

  static bool varies(const Access& a, const std::set<std::string>& inside) {
    for (const ExprPtr& s : a.subscripts) {
      if (s->lanes > 1 || mentions_any(s, inside)) return true;
      if (!accesses_of(s).empty()) return true;  // an index read from memory may change
    }
    return a.mask && mentions_any(a.mask, inside);
  }

  static bool apart_from_others(const Access& a, const std::vector<PlacedAccess>& all, const Facts& running) {
    for (const PlacedAccess& b : all)
      if (!same_place(a, b.access) && !disjoint(a, b.access) && !never_meet({a, {}}, b, running)) return false;
    return true;
  }

  static bool stored_beside(const LoopList& block, std::size_t at, const Access& a, const Facts& facts) {
    LoopList beside(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(at));
    beside.insert(beside.end(), block.begin() + static_cast<std::ptrdiff_t>(at) + 1, block.end());
    return certainly_stores(beside, a, facts);
  }

  // "h0_3_16": row 3, column 16 of the tile, counted from its first place.
  static std::string name_of(const Place& p, const std::vector<Place>& places) {
    std::string name = identifier(p.access.buffer);
    std::size_t same_buffer = 0;
    const Access* origin = nullptr;
    for (const Place& q : places) {
      if (q.access.buffer != p.access.buffer) continue;
      ++same_buffer;
      if (!origin) origin = &q.access;
    }
    if (same_buffer == 1) return name + "_acc";
    for (std::size_t d = 0; d < p.access.subscripts.size(); ++d) {
      bool differs = false;
      for (const Place& q : places)
        if (q.access.buffer == p.access.buffer && !same(q.access.subscripts[d], origin->subscripts[d])) differs = true;
      if (!differs) continue;
      const Linear offset = difference(p.access.subscripts[d], origin->subscripts[d]);
      name += "_" + (offset.is_constant() && offset.constant >= 0 ? std::to_string(offset.constant) : std::string("x"));
    }
    return name;
  }

  void emit(const For& f, const std::vector<Place>& places, const Facts& facts, LoopList& out) {
    LoopList guarded;
    bool all_certain = true;
    for (const Place& p : places) all_certain = all_certain && p.certain;
    LoopList& into = all_certain ? out : guarded;
    Facts running = facts;
    running.add_range(f.iterator, f.lower, f.upper);
    const LoopList first = first_iteration(f, running, context_);
    for (const Place& p : places) {
      // What the first iteration overwrites is not read before: nothing may have written it yet.
      const bool fresh = begins_with_store(first, p.access, running, context_);
      const ExprPtr start = fresh ? splat_to(literal(p.access.type, 0), p.access.lanes) : load(p.access);
      into.push_back(make_loop(Let{p.name, p.access.type, p.access.lanes, start, true}));
    }
    For copy = f;
    copy.body = replaced(f.body, places);
    into.push_back(descend(make_loop(std::move(copy)), facts, 0));
    for (const Place& p : places) into.push_back(make_loop(store(p)));
    if (!all_certain) out.push_back(make_loop(If{binary(Op::kLt, f.lower, f.upper), std::move(guarded), {}, false}));
    context_.note("registers", f.iterator, true,
                  std::to_string(places.size()) + " named value(s) for " + places[0].access.buffer);
  }

  static ExprPtr load(const Access& a) {
    Expr e = *facet::read(a.buffer, a.type, a.subscripts);
    e.lanes = a.lanes;
    e.mask = a.mask;
    return std::make_shared<const Expr>(std::move(e));
  }

  static Store store(const Place& p) {
    Store s;
    s.statement = p.access.buffer;
    s.buffer = p.access.buffer;
    s.subscripts = p.access.subscripts;
    s.value = value_of(p.name, p.access.type, p.access.lanes);
    s.lanes = p.access.lanes;
    s.lane_stride = p.access.lane_stride;
    s.mask = p.access.mask;
    return s;
  }

  LoopList replaced(const LoopList& body, const std::vector<Place>& places) {
    const auto find = [&](const Access& a) -> const Place* {
      for (const Place& p : places)
        if (same_place(p.access, a)) return &p;
      return nullptr;
    };
    const ExprMap in_expression = [&](const ExprPtr& e) {
      if (!e) return e;
      return rewrite(e, [&](const ExprPtr& n) -> ExprPtr {
        if (n->op != Op::kRead) return n;
        const Place* p = find(access_of(*n));
        return p ? value_of(p->name, n->type, n->lanes) : n;
      });
    };
    LoopList out;
    for (const LoopPtr& node : body) {
      const LoopPtr next = rebuild(node, in_expression, [&](const LoopList& inner) { return replaced(inner, places); });
      const Store* s = as<Store>(next);
      const Place* p = s ? find(access_of(*s, s->value->type)) : nullptr;
      if (!p) {
        out.push_back(next);
        continue;
      }
      const ExprPtr here = value_of(p->name, s->value->type, s->lanes);
      out.push_back(make_loop(Set{p->name, s->update ? combine(*s->update, here, s->value, context_) : s->value}));
    }
    return out;
  }
};

}  // namespace

LoopList keep_in_registers(const LoopList& body, Context& context) {
  return Registers(context).in_block(body, context.symbol_facts());
}

}  // namespace facet::passes
