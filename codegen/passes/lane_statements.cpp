// Statements over lanes (see lanes.hpp).
#include <algorithm>

#include "codegen/passes/apart.hpp"
#include "codegen/passes/lanes.hpp"

namespace facet::passes {

Lanes::Lanes(const For& f, ExprPtr base, int lanes, ExprPtr mask, const Facts& facts, Context& context)
    : loop_(f),
      base_(std::move(base)),
      lanes_(lanes),
      context_(context),
      inside_(introduced_names(f.body)),
      top_{facts, facts, std::move(mask), nullptr, false} {
  inside_.insert(f.iterator);
  top_.facts.add_range(f.iterator, f.lower, f.upper);
  // Of a loop that may have no iteration no lane runs: not even what all lanes read alike may be read then.
  top_.lazy = top_.mask && !facts.at_most(idx_add(base_, idx(1)), f.upper);
}

LoopPtr stored_inside(const Store& store, const Facts& facts, const Context& context) {
  LoopPtr stored = make_loop(Store(store));
  const Buffer* buffer = context.find(store.buffer);
  if (!buffer || facts.inside(store.subscripts, buffer->extents)) return stored;
  for (std::size_t d = store.subscripts.size(); d-- > 0;) {
    const ExprPtr& s = store.subscripts[d];
    stored = make_loop(
        If{binary(Op::kAnd, binary(Op::kLe, idx(0), s), binary(Op::kLt, s, buffer->extents[d])), {stored}, {}, false});
  }
  return stored;
}

void Lanes::refuse(const std::string& why) {
  if (refusal_.empty()) refusal_ = why;
}

LoopList Lanes::body() { return list(loop_.body, top_); }

// A scope: what a name is ends with it.
LoopList Lanes::list(const LoopList& body, Place place) {
  const std::map<std::string, DType> outside = vectors_;
  LoopList out;
  for (const LoopPtr& n : body) {
    node(n, place, out);
    if (!refusal_.empty()) return {};
  }
  vectors_ = outside;
  return out;
}

void Lanes::node(const LoopPtr& n, const Place& place, LoopList& out) {
  if (const Store* s = as<Store>(n)) return store(*s, place, out);
  if (const Let* l = as<Let>(n)) return let(*l, place, out);
  if (const Set* s = as<Set>(n)) return set(*s, place, out);
  if (const For* f = as<For>(n)) return nested(*f, place, out);
  if (const If* f = as<If>(n)) return branch(*f, place, out);
  if (const Sequence* s = as<Sequence>(n)) {
    out.push_back(make_loop(Sequence{list(s->body, place)}));
    return;
  }
  if (as<Comment>(n)) {
    out.push_back(n);
    return;
  }
  if (const Prefetch* p = as<Prefetch>(n)) {
    Prefetch copy = *p;
    for (ExprPtr& s : copy.subscripts) s = at_base(s);
    out.push_back(make_loop(std::move(copy)));
    return;
  }
  if (const Allocate* a = as<Allocate>(n)) return refuse("local array " + a->buffer.name + " is allocated inside it");
  refuse("its body holds a statement that has no vector form");
}

ExprPtr Lanes::bind_mask(const ExprPtr& mask, const std::string& name, LoopList& out) {
  if (!mask || mask->op == Op::kValue) return mask;
  const std::string fresh = context_.names.fresh(name);
  out.push_back(make_loop(Let{fresh, DType::kBool, lanes_, mask, false}));
  return value_of(fresh, DType::kBool, lanes_);
}

void Lanes::let(const Let& l, const Place& place, LoopList& out) {
  Let copy = l;
  if (l.value) copy.value = expression(l.value, place);
  const bool vector = l.is_mutable || (copy.value && copy.value->lanes > 1);
  if (vector) {
    copy.lanes = lanes_;
    if (copy.value) copy.value = splat(copy.value);
    vectors_[l.name] = l.type;
  } else {
    vectors_.erase(l.name);  // another value of that name, a vector, ended with its scope
  }
  out.push_back(make_loop(std::move(copy)));
}

void Lanes::set(const Set& s, const Place& place, LoopList& out) {
  if (!vectors_.count(s.name)) return refuse("named value " + s.name + " is carried from iteration to iteration");
  ExprPtr value = splat(expression(s.value, place));
  if (place.branch) value = select(place.branch, value, value_of(s.name, value->type, lanes_));
  out.push_back(make_loop(Set{s.name, value}));
}

void Lanes::store(const Store& s, const Place& place, LoopList& out) {
  if (s.lanes > 1) return refuse("an inner loop is vectorised already");
  if (s.atomic) return refuse("atomic update of " + s.buffer);
  bool fixed = true;
  for (const ExprPtr& e : s.subscripts) fixed = fixed && !varies(e);
  if (fixed) {
    if (s.update) return reduction(s, place, out);
    if (varies(s.value) || place.mask) return refuse("every iteration stores to the same element of " + s.buffer);
    out.push_back(make_loop(Store(s)));
    return;
  }
  std::int64_t step = 0;
  if (innermost_step(s.buffer, over_lanes(s.subscripts, place), &step)) return contiguous_store(s, step, place, out);
  lane_stores(s, place, out);
}

void Lanes::contiguous_store(const Store& s, std::int64_t lane_stride, const Place& place, LoopList& out) {
  Store copy = s;
  copy.lanes = lanes_;
  copy.lane_stride = lane_stride;
  copy.mask = place.mask;
  copy.subscripts = first_lane(over_lanes(s.subscripts, place), place);
  ExprPtr value = s.value;
  if (s.update) {
    const ExprPtr old = facet::read(s.buffer, s.value->type, s.subscripts);
    copy.value = combine(*s.update, expression(old, place), expression(value, place), context_);
    copy.update.reset();
  } else {
    copy.value = splat(expression(value, place));
  }
  out.push_back(make_loop(std::move(copy)));
}

void Lanes::lane_stores(const Store& s, const Place& place, LoopList& out) {
  LoopList scope;
  const ExprPtr mask = bind_mask(place.mask, "active", scope);
  ExprPtr value = expression(s.value, place);
  if (value->lanes > 1) {
    const std::string name = context_.names.fresh(s.buffer + "_lanes");
    scope.push_back(make_loop(Let{name, value->type, lanes_, value, false}));
    value = value_of(name, value->type, lanes_);
  }
  for (int lane = 0; lane < lanes_; ++lane) {
    Store one = s;
    for (ExprPtr& e : one.subscripts) e = in_lane(e, lane);
    one.value = value->lanes > 1 ? extract(value, lane) : value;
    const LoopPtr stored = make_loop(std::move(one));
    scope.push_back(mask ? make_loop(If{extract(mask, lane), {stored}, {}, false}) : stored);
  }
  out.push_back(make_loop(Sequence{std::move(scope)}));
}

// Does the loop touch elements that the reduction may change, other than by this very update? Sums into elements that are
// certainly others, rows side by side, are none of them.
bool Lanes::is_used_besides(const Store& s) const {
  const DType type = s.value->type;
  const Access target = access_of(s, type);
  bool used = false;
  walk_nodes(loop_.body, [&](const LoopPtr& n) {
    const Store* other = as<Store>(n);
    if (!other || other->buffer != s.buffer) return;
    const Access place = access_of(*other, type);
    used = used || !(other->update == s.update && (same_place(place, target) || disjoint(place, target)));
  });
  const std::vector<PlacedAccess> all = placed_accesses({make_loop(For(loop_))});
  for (const PlacedAccess& w : all) {
    if (!w.access.writes || w.access.buffer != s.buffer) continue;
    for (const PlacedAccess& r : all)
      used = used || (!r.access.writes && r.access.buffer == s.buffer && !never_meet(w, r, top_.sure));
  }
  return used;
}

void Lanes::reduction(const Store& s, const Place& place, LoopList& out) {
  const DType type = s.value->type;
  if (operator_of(*s.update) == Op::kReduce) return refuse("an arg reduction over lanes");
  if (!context_.allows_reassociation(type)) return refuse("numerics: strict order of the reduction into " + s.buffer);
  bool fixed = true;
  for (const ExprPtr& e : s.subscripts) fixed = fixed && !mentions_any(e, inside_);
  const Access place_of = access_of(s, type);
  if (is_used_besides(s)) return refuse("its body uses " + s.buffer + " besides reducing into it");
  const ExprPtr value = splat(expression(s.value, place));
  const auto masked = [&](const ExprPtr& v, const ExprPtr& otherwise) {
    return place.mask ? select(splat(place.mask), v, otherwise) : v;
  };
  if (!fixed) {
    Store each = s;
    each.value = lane_reduce(*s.update, masked(value, splat(identity_of(*s.update, type))));
    out.push_back(stored_inside(each, place.sure, context_));
    return;
  }
  std::string name;
  for (const LaneReduction& r : reductions_)
    if (same_place(access_of(r.store, type), place_of)) name = r.accumulator;
  if (name.empty()) {
    name = context_.names.fresh(s.buffer + "_" + to_text(*s.update));
    reductions_.push_back({s, name});
  }
  const ExprPtr accumulator = value_of(name, type, lanes_);
  out.push_back(make_loop(Set{name, masked(combine(*s.update, accumulator, value, context_), accumulator)}));
}

void Lanes::branch(const If& f, const Place& place, LoopList& out) {
  const ExprPtr condition = expression(f.condition, place);
  Place then = place, otherwise = place;
  then.facts.add_condition(f.condition);
  otherwise.facts.add_negation(f.condition);
  if (condition->lanes == 1) {
    then.sure.add_condition(f.condition);
    otherwise.sure.add_negation(f.condition);
    If copy = f;
    copy.condition = condition;
    copy.then = list(f.then, then);
    copy.otherwise = list(f.otherwise, otherwise);
    out.push_back(make_loop(std::move(copy)));
    return;
  }
  LoopList scope;
  const ExprPtr holds = bind_mask(condition, "holds", scope);
  const auto run = [&](const LoopList& body, Place inner, const ExprPtr& mask) {
    if (body.empty()) return;
    inner.lazy = true;
    inner.mask = bind_mask(both(place.mask, mask), "active", scope);
    inner.branch = inner.mask;
    LoopList made = list(body, inner);
    const bool names = std::any_of(made.begin(), made.end(), [](const LoopPtr& n) { return as<Let>(n) != nullptr; });
    if (names && !f.then.empty() && !f.otherwise.empty()) made = {make_loop(Sequence{std::move(made)})};
    scope.insert(scope.end(), made.begin(), made.end());
  };
  run(f.then, then, holds);
  run(f.otherwise, otherwise, unary(Op::kNot, holds));
  out.push_back(make_loop(Sequence{std::move(scope)}));
}

void Lanes::nested(const For& f, const Place& place, LoopList& out) {
  if (f.kind != LoopKind::kSerial) return refuse("loop " + f.iterator + " inside it is not serial");
  For copy = f;
  Place inner = place;
  inner.facts.add_range(f.iterator, f.lower, f.upper);
  if (!varies(f.lower) && !varies(f.upper)) {
    inner.sure.add_range(f.iterator, f.lower, f.upper);
    copy.body = list(f.body, inner);
    out.push_back(make_loop(std::move(copy)));
    return;
  }
  if (f.step != 1) return refuse("loop " + f.iterator + " has bounds that vary and a step");
  // Hull over the lanes that there are: each bound at the lane where it is smallest (lower) or largest (upper). Lanes past the
  // end would ask for iterations that no lane has, of memory that nothing may have written.
  const ExprPtr end = idx_add(base_, idx(lanes_ - 1));
  const ExprPtr last = top_.mask ? simplify_expr(idx_min(end, idx_sub(loop_.upper, idx(1))), place.sure, context_) : end;
  ExprPtr active;
  const auto hull = [&](Op op, const ExprPtr& bound, bool low) -> ExprPtr {
    ExprPtr result;
    for (const ExprPtr& part : operands_of(op, bound)) {
      const std::int64_t c = to_linear(part).coefficient_of(loop_.iterator);
      for (const Term& t : to_linear(part).terms)
        if (t.atom->op != Op::kIndex && varies(t.atom)) refuse("bound " + to_text(part) + " of loop " + f.iterator);
      const ExprPtr extreme = facet::substitute(part, {{loop_.iterator, (c > 0) == low ? base_ : last}});
      result = !result ? extreme : op == Op::kMax ? idx_max(result, extreme) : idx_min(result, extreme);
      if (!varies(part)) continue;
      const ExprPtr here = splat(index(f.iterator));
      const ExprPtr limit = expression(part, place);
      active = both(active, low ? binary(Op::kLe, limit, here) : binary(Op::kLt, here, limit));
    }
    return result;
  };
  copy.lower = hull(Op::kMax, f.lower, true);
  copy.upper = hull(Op::kMin, f.upper, false);
  inner.sure.add_range(f.iterator, copy.lower, copy.upper);
  LoopList body;
  inner.mask = bind_mask(both(place.mask, active), "active", body);
  inner.branch = inner.mask;
  inner.lazy = true;
  for (const LoopPtr& n : list(f.body, inner)) body.push_back(n);
  copy.body = std::move(body);
  out.push_back(make_loop(std::move(copy)));
}

}  // namespace facet::passes
