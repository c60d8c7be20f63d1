// Proofs of affine inequalities by eliminating indices through their bounds.
#include "codegen/passes/facts.hpp"

#include <algorithm>

namespace facet::passes {

namespace {

constexpr int kMaxSteps = 120;  // nodes of one proof search
// Forms beyond these are given up, so that nothing overflows: the sum of two forms that scales() lets pass stays below 2^63.
constexpr std::int64_t kMaxCoefficient = std::int64_t{1} << 31;
constexpr std::int64_t kMaxConstant = std::int64_t{1} << 61;

bool is_too_large(const Linear& f) {
  if (f.constant > kMaxConstant || f.constant < -kMaxConstant) return true;
  return std::any_of(f.terms.begin(), f.terms.end(),
                     [](const Term& t) { return t.coefficient > kMaxCoefficient || t.coefficient < -kMaxCoefficient; });
}

// Can f be multiplied without leaving the numbers that prove() takes? A chain of conditions may raise its coefficients at every
// step.
bool scales(const Linear& f, std::int64_t factor) {
  const auto fits = [&](std::int64_t value) {
    std::int64_t product = 0;
    return !__builtin_mul_overflow(value, factor, &product) && product <= kMaxConstant && product >= -kMaxConstant;
  };
  return fits(f.constant) && std::all_of(f.terms.begin(), f.terms.end(), [&](const Term& t) { return fits(t.coefficient); });
}

// f - g is a constant. Asked for every known form at every step of a proof, so nothing is built.
bool has_terms_of(const Linear& f, const Linear& g) {
  if (f.terms.size() != g.terms.size()) return false;
  return std::all_of(f.terms.begin(), f.terms.end(), [&](const Term& t) {
    return std::any_of(g.terms.begin(), g.terms.end(),
                       [&](const Term& u) { return t.coefficient == u.coefficient && same(t.atom, u.atom); });
  });
}

Linear without(const Linear& f, const ExprPtr& atom) {
  Linear rest = f;
  std::erase_if(rest.terms, [&](const Term& t) { return t.atom == atom; });
  return rest;
}

}  // namespace

Facts::Facts(const std::vector<Symbol>& symbols) {
  for (const Symbol& s : symbols) ranges_.push_back({s.name, {idx(s.min)}, {idx(s.max + 1)}});
}

void Facts::add_range(const std::string& name, const ExprPtr& lower, const ExprPtr& upper) {
  ranges_.push_back({name, operands_of(Op::kMax, lower), operands_of(Op::kMin, upper)});
}

void Facts::add_condition(const ExprPtr& c) {
  if (c->lanes != 1) return;
  if (c->op == Op::kAnd) {
    add_condition(c->args[0]);
    add_condition(c->args[1]);
    return;
  }
  if (c->op == Op::kNot) return add_negation(c->args[0]);
  // What is read from memory may change under the condition's roof.
  if (c->args.size() != 2 || c->args[0]->type != DType::kI64 || !is_index_arithmetic(c)) return;
  const Linear d = difference(c->args[1], c->args[0]);
  const Linear less = sum(d, constant_form(1), -1);
  const Linear greater = sum(scaled(d, -1), constant_form(1), -1);
  switch (c->op) {
    case Op::kLt: known_.push_back(less); break;
    case Op::kLe: known_.push_back(d); break;
    case Op::kGt: known_.push_back(greater); break;
    case Op::kGe: known_.push_back(scaled(d, -1)); break;
    case Op::kEq:
      known_.push_back(d);
      known_.push_back(scaled(d, -1));
      break;
    default: break;
  }
}

void Facts::add_negation(const ExprPtr& c) {
  if (c->op == Op::kNot) return add_condition(c->args[0]);
  if (c->op == Op::kOr) {
    add_negation(c->args[0]);
    add_negation(c->args[1]);
    return;
  }
  Op opposite = Op::kNe;
  switch (c->op) {
    case Op::kLt: opposite = Op::kGe; break;
    case Op::kLe: opposite = Op::kGt; break;
    case Op::kGt: opposite = Op::kLe; break;
    case Op::kGe: opposite = Op::kLt; break;
    case Op::kNe: opposite = Op::kEq; break;
    default: return;
  }
  add_condition(binary(opposite, c->args[0], c->args[1]));
}

// How deep inside the nest an atom lives: the position of its innermost index.
// Compound atoms go before plain indices.
int Facts::rank(const ExprPtr& atom) const {
  int best = -1;
  walk(atom, [&](const Expr& node) {
    if (node.op != Op::kIndex && node.op != Op::kValue) return;
    for (std::size_t i = ranges_.size(); i-- > 0;) {
      if (ranges_[i].name != node.name) continue;
      best = std::max(best, static_cast<int>(2 * i));
      break;
    }
  });
  return atom->op == Op::kIndex || atom->op == Op::kValue ? best : best + 1;
}

std::vector<ExprPtr> Facts::lower_bounds(const std::string& name) const {
  std::vector<ExprPtr> all;
  for (const Range& r : ranges_)
    if (r.name == name) all.insert(all.end(), r.lowers.begin(), r.lowers.end());
  return all;
}

bool Facts::nonnegative(const Linear& f) const {
  int steps = kMaxSteps;
  return prove(f, &steps);
}

bool Facts::prove(const Linear& f, int* steps) const {
  if (is_too_large(f)) return false;
  if (f.is_constant()) return f.constant >= 0;
  if (--*steps <= 0) return false;
  for (const Linear& g : known_)
    if (f.constant >= g.constant && has_terms_of(f, g)) return true;
  std::size_t pick = 0;
  int best = -2;
  for (std::size_t i = 0; i < f.terms.size(); ++i) {
    const int r = rank(f.terms[i].atom);
    if (r < best) continue;
    best = r;
    pick = i;
  }
  if (prove_without(f, pick, steps)) return true;
  // A condition that mentions the atom may bound it better than its range does.
  for (const Linear& g : known_) {
    std::int64_t c = 0;
    for (const Term& t : g.terms)
      if (same(t.atom, f.terms[pick].atom)) c = t.coefficient;
    if (c == 0 || (c > 0) != (f.terms[pick].coefficient > 0)) continue;
    const std::int64_t a = f.terms[pick].coefficient;
    if (a % c == 0 && scales(g, -(a / c)) && prove(sum(f, g, -(a / c)), steps)) return true;
  }
  return false;
}

bool Facts::prove_without(const Linear& f, std::size_t term, int* steps) const {
  const Term& t = f.terms[term];
  switch (t.atom->op) {
    case Op::kIndex:
    case Op::kValue: return prove_range(f, t, steps);
    case Op::kFloorDiv:
    case Op::kTruncDiv:
    case Op::kFloorMod:
    case Op::kTruncMod: return prove_division(f, t, steps);
    case Op::kMin:
    case Op::kMax: return prove_choice(f, t, steps);
    case Op::kMul:
      // A product of nonnegative factors that enters positively can only help.
      if (t.coefficient < 0 || !prove(to_linear(t.atom->args[0]), steps) || !prove(to_linear(t.atom->args[1]), steps))
        return false;
      return prove(without(f, t.atom), steps);
    default: return false;
  }
}

bool Facts::prove_range(const Linear& f, const Term& t, int* steps) const {
  for (std::size_t i = ranges_.size(); i-- > 0;) {
    const Range& r = ranges_[i];
    if (r.name != t.atom->name) continue;
    const bool up = t.coefficient > 0;
    for (const ExprPtr& bound : up ? r.lowers : r.uppers) {
      const Linear limit = up ? to_linear(bound) : sum(to_linear(bound), constant_form(1), -1);
      if (scales(limit, t.coefficient) && prove(sum(without(f, t.atom), limit, t.coefficient), steps)) return true;
    }
    return false;
  }
  return false;
}

bool Facts::prove_division(const Linear& f, const Term& t, int* steps) const {
  std::int64_t d = 0;
  if (!constant_value(t.atom->args[1], &d) || d <= 0) return false;
  const Linear e = to_linear(t.atom->args[0]);
  // C's operators agree with the flooring ones only from 0 on.
  if ((t.atom->op == Op::kTruncDiv || t.atom->op == Op::kTruncMod) && !prove(e, steps)) return false;
  const Linear rest = without(f, t.atom);
  if (t.atom->op == Op::kFloorMod || t.atom->op == Op::kTruncMod)
    return scales(constant_form(d), t.coefficient) &&
           prove(sum(rest, constant_form(t.coefficient > 0 ? 0 : d - 1), t.coefficient), steps);
  if (t.coefficient > 0 && prove(e, steps) && prove(rest, steps)) return true;  // the quotient is at least 0
  const Linear bound = t.coefficient > 0 ? sum(e, constant_form(d - 1), -1) : e;
  if (!scales(rest, d) || !scales(bound, t.coefficient)) return false;
  // f is an integer: f >= 0 follows from d*f >= -(d - 1).
  return prove(sum(sum(scaled(rest, d), bound, t.coefficient), constant_form(d - 1)), steps);
}

bool Facts::prove_choice(const Linear& f, const Term& t, int* steps) const {
  const bool either = (t.atom->op == Op::kMin) == (t.coefficient < 0);
  const Linear rest = without(f, t.atom);
  if (!scales(to_linear(t.atom->args[0]), t.coefficient) || !scales(to_linear(t.atom->args[1]), t.coefficient)) return false;
  const bool first = prove(sum(rest, to_linear(t.atom->args[0]), t.coefficient), steps);
  if (first == either) return first;
  return prove(sum(rest, to_linear(t.atom->args[1]), t.coefficient), steps);
}

bool Facts::less(const ExprPtr& a, const ExprPtr& b) const { return nonnegative(sum(difference(b, a), constant_form(1), -1)); }

bool Facts::at_most(const ExprPtr& a, const ExprPtr& b) const { return nonnegative(difference(b, a)); }

bool Facts::holds(const ExprPtr& c) const {
  if (c->lanes != 1) return false;
  if (c->op == Op::kLiteral) return c->int_value != 0;
  if (c->op == Op::kAnd) return holds(c->args[0]) && holds(c->args[1]);
  if (c->op == Op::kOr) return holds(c->args[0]) || holds(c->args[1]);
  if (c->op == Op::kNot) return fails(c->args[0]);
  if (c->args.size() != 2 || c->args[0]->type != DType::kI64 || !is_index_arithmetic(c)) return false;
  const ExprPtr& a = c->args[0];
  const ExprPtr& b = c->args[1];
  switch (c->op) {
    case Op::kLt: return less(a, b);
    case Op::kLe: return at_most(a, b);
    case Op::kGt: return less(b, a);
    case Op::kGe: return at_most(b, a);
    case Op::kEq: return at_most(a, b) && at_most(b, a);
    case Op::kNe: return less(a, b) || less(b, a);
    default: return false;
  }
}

bool Facts::fails(const ExprPtr& c) const {
  if (c->lanes != 1) return false;
  if (c->op == Op::kLiteral) return c->int_value == 0;
  if (c->op == Op::kAnd) return fails(c->args[0]) || fails(c->args[1]);
  if (c->op == Op::kOr) return fails(c->args[0]) && fails(c->args[1]);
  if (c->op == Op::kNot) return holds(c->args[0]);
  if (c->args.size() != 2 || c->args[0]->type != DType::kI64 || !is_index_arithmetic(c)) return false;
  const ExprPtr& a = c->args[0];
  const ExprPtr& b = c->args[1];
  switch (c->op) {
    case Op::kLt: return at_most(b, a);
    case Op::kLe: return less(b, a);
    case Op::kGt: return at_most(a, b);
    case Op::kGe: return less(a, b);
    case Op::kEq: return less(a, b) || less(b, a);
    case Op::kNe: return at_most(a, b) && at_most(b, a);
    default: return false;
  }
}

bool Facts::inside(const std::vector<ExprPtr>& subscripts, const std::vector<ExprPtr>& extents) const {
  for (std::size_t d = 0; d < subscripts.size(); ++d) {
    if (!is_index_arithmetic(subscripts[d])) return false;
    if (!nonnegative(to_linear(subscripts[d])) || !less(subscripts[d], extents[d])) return false;
  }
  return true;
}

}  // namespace facet::passes
