// Proofs that two accesses of a region never meet.
#include "codegen/passes/apart.hpp"

#include <algorithm>

#include "facet/expr_walk.hpp"

namespace facet::passes {

namespace {

using Bounds = std::vector<PlacedAccess::Bound>;

void collect(const LoopList& region, Bounds around, std::vector<PlacedAccess>& all) {
  for (const LoopPtr& n : region) {
    Bounds below = around;
    if (const For* f = as<For>(n)) below.push_back({f->iterator, f->lower, f->upper});
    rebuild(
        n,
        [&](const ExprPtr& e) {
          for (Access& a : accesses_of(e)) all.push_back({std::move(a), around});
          return e;
        },
        [&](const LoopList& inner) {
          collect(inner, below, all);
          return inner;
        });
    if (const Store* s = as<Store>(n)) all.push_back({access_of(*s, s->value->type), around});
    if (const AsyncCopy* c = as<AsyncCopy>(n)) all.push_back({access_of(c->copy, c->copy.value->type), around});
    if (const Let* l = as<Let>(n); l && l->type == DType::kI64 && l->lanes == 1) {
      const bool fixed = !l->is_mutable && l->value && is_index_arithmetic(l->value);
      around.push_back({l->name, fixed ? l->value : nullptr, fixed ? idx_add(l->value, idx(1)) : nullptr});
    }
  }
}

bool is_bounded(const ExprPtr& subscript, const Bounds& bounds) {
  if (subscript->lanes != 1 || !is_index_arithmetic(subscript)) return false;
  return std::none_of(bounds.begin(), bounds.end(),
                      [&](const PlacedAccess::Bound& b) { return !b.lower && mentions(subscript, b.name); });
}

std::string primed(const std::string& name) { return name + "'"; }

// Another iteration: the names that the region introduces get a prime.
ExprPtr renamed(const ExprPtr& e, const Bounds& bounds) {
  return rewrite(e, [&](const ExprPtr& n) {
    const bool own = (n->op == Op::kIndex || n->op == Op::kValue) &&
                     std::any_of(bounds.begin(), bounds.end(), [&](const PlacedAccess::Bound& b) { return b.name == n->name; });
    return own ? index(primed(n->name)) : n;
  });
}

// Elements that one vector of lanes spans in the innermost dimension.
std::int64_t span(const Access& a) { return (a.lanes - 1) * a.lane_stride + 1; }

}  // namespace

std::vector<PlacedAccess> placed_accesses(const LoopList& region) {
  std::vector<PlacedAccess> all;
  collect(region, {}, all);
  return all;
}

bool never_meet(const PlacedAccess& a, const PlacedAccess& b, const Facts& facts) {
  if (a.access.buffer != b.access.buffer) return true;
  if (a.access.padded || b.access.padded || a.access.lane_stride < 1 || b.access.lane_stride < 1) return false;
  Facts inside = facts;
  for (const PlacedAccess::Bound& bound : a.bounds)
    if (bound.lower) inside.add_range(bound.name, bound.lower, bound.upper);
  for (const PlacedAccess::Bound& bound : b.bounds)
    if (bound.lower) inside.add_range(primed(bound.name), renamed(bound.lower, b.bounds), renamed(bound.upper, b.bounds));
  for (std::size_t d = 0; d < a.access.subscripts.size() && d < b.access.subscripts.size(); ++d) {
    const ExprPtr& x = a.access.subscripts[d];
    const ExprPtr& y = b.access.subscripts[d];
    if (!is_bounded(x, a.bounds) || !is_bounded(y, b.bounds)) continue;
    const bool innermost = d + 1 == a.access.subscripts.size();
    const Linear apart = difference(renamed(y, b.bounds), x);
    if (inside.nonnegative(sum(apart, constant_form(innermost ? span(a.access) : 1), -1))) return true;
    if (inside.nonnegative(sum(scaled(apart, -1), constant_form(innermost ? span(b.access) : 1), -1))) return true;
  }
  return false;
}

}  // namespace facet::passes
