// The two tree walks of expr.hpp (templates only).
#pragma once

#include <utility>

#include "facet/expr.hpp"

namespace facet {

template <class F>
void walk(const ExprPtr& e, const F& visit) {
  if (!e) return;
  visit(*e);
  for (const ExprPtr& a : e->args) walk(a, visit);
  walk(e->pad, visit);
  walk(e->mask, visit);
  if (!e->reduction) return;
  for (const Range& r : e->reduction->ranges) {
    walk(r.lower, visit);
    walk(r.upper, visit);
  }
  for (const ExprPtr& c : e->reduction->conditions) walk(c, visit);
  walk(e->reduction->body, visit);
}

template <class F>
ExprPtr rewrite(const ExprPtr& e, const F& visit) {
  if (!e) return e;
  Expr copy = *e;
  bool changed = false;
  const auto step = [&](ExprPtr& child) {
    ExprPtr next = rewrite(child, visit);
    if (next != child) {
      child = std::move(next);
      changed = true;
    }
  };
  for (ExprPtr& a : copy.args) step(a);
  step(copy.pad);
  step(copy.mask);
  if (copy.reduction) {
    Reduction r = *copy.reduction;
    const bool before = changed;
    changed = false;
    for (Range& range : r.ranges) {
      step(range.lower);
      step(range.upper);
    }
    for (ExprPtr& c : r.conditions) step(c);
    step(r.body);
    if (changed) copy.reduction = std::make_shared<const Reduction>(std::move(r));
    changed = changed || before;
  }
  return visit(changed ? std::make_shared<const Expr>(std::move(copy)) : e);
}

}  // namespace facet
