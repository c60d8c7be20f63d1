// Affine normal form of extents.
#include "src/ops/dims.hpp"

#include <cstdlib>
#include <map>
#include <numeric>

namespace facet {

namespace {

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && ((a < 0) != (b < 0)) ? 1 : 0); }

struct Term {
  ExprPtr atom;
  std::int64_t coefficient = 0;
};

// constant + sum of terms, keyed by the atom's text.
struct Linear {
  std::map<std::string, Term> terms;
  std::int64_t constant = 0;

  void add(const Linear& other, std::int64_t factor) {
    constant += factor * other.constant;
    for (const auto& [key, term] : other.terms) {
      Term& mine = terms[key];
      mine.atom = term.atom;
      mine.coefficient += factor * term.coefficient;
      if (mine.coefficient == 0) terms.erase(key);
    }
  }
};

Linear atom(const ExprPtr& e) {
  Linear l;
  l.terms[to_text(e)] = Term{e, 1};
  return l;
}

// Positive terms first, so that the text reads "N - 2 * i + 1" and "4 - 2 * i".
ExprPtr expression(const Linear& l) {
  ExprPtr e;
  for (const auto& [key, term] : l.terms) {
    if (term.coefficient <= 0) continue;
    const ExprPtr product = idx_mul(idx(term.coefficient), term.atom);
    e = e ? idx_add(e, product) : product;
  }
  const bool constant_leads = !e && l.constant > 0;
  if (constant_leads) e = idx(l.constant);
  for (const auto& [key, term] : l.terms) {
    if (term.coefficient >= 0) continue;
    e = e ? idx_sub(e, idx_mul(idx(-term.coefficient), term.atom)) : idx_mul(idx(term.coefficient), term.atom);
  }
  if (!e) return idx(l.constant);
  return constant_leads ? e : idx_add(e, idx(l.constant));
}

Linear linear(const ExprPtr& e);

// floor((b*q + r) / b) = q + floor(r / b), term by term; remainders drop every multiple of b.
Linear divided(const Linear& a, std::int64_t b, bool remainder) {
  Linear whole, rest;
  whole.constant = floor_div(a.constant, b);
  rest.constant = a.constant - b * whole.constant;
  for (const auto& [key, term] : a.terms) {
    const std::int64_t q = floor_div(term.coefficient, b);
    if (q != 0) whole.terms[key] = Term{term.atom, q};
    if (term.coefficient != b * q) rest.terms[key] = Term{term.atom, term.coefficient - b * q};
  }
  if (rest.terms.empty()) {  // 0 <= rest.constant < b
    if (!remainder) return whole;
    return rest;
  }
  if (remainder) return atom(idx_mod(expression(rest), b));
  whole.add(atom(idx_floordiv(expression(rest), b)), 1);
  return whole;
}

Linear linear(const ExprPtr& e) {
  Linear l;
  switch (e->op) {
    case Op::kLiteral: l.constant = e->int_value; return l;
    case Op::kNeg: l.add(linear(e->args[0]), -1); return l;
    case Op::kAdd:
    case Op::kSub:
      l = linear(e->args[0]);
      l.add(linear(e->args[1]), e->op == Op::kAdd ? 1 : -1);
      return l;
    case Op::kMul: {
      const Linear a = linear(e->args[0]), b = linear(e->args[1]);
      if (!a.terms.empty() && !b.terms.empty()) return atom(e);
      l.add(a.terms.empty() ? b : a, a.terms.empty() ? a.constant : b.constant);
      return l;
    }
    case Op::kFloorDiv:
    case Op::kFloorMod: {
      const Linear b = linear(e->args[1]);
      if (!b.terms.empty() || b.constant <= 0) return atom(e);
      return divided(linear(e->args[0]), b.constant, e->op == Op::kFloorMod);
    }
    default: return atom(e);
  }
}

// The smallest (largest) value of an atom.
std::optional<std::int64_t> atom_bound(const ExprPtr& e, const Program& program, bool upper) {
  const auto bound = [&](const ExprPtr& x, bool up) { return up ? upper_bound_of(x, program) : lower_bound_of(x, program); };
  if (e->op == Op::kIndex) {
    for (const Symbol& s : program.symbols)
      if (s.name == e->name) return upper ? s.max : s.min;
    return std::nullopt;
  }
  if (e->op == Op::kFloorMod) return upper ? e->args[1]->int_value - 1 : 0;
  if (e->op == Op::kFloorDiv) {
    const std::optional<std::int64_t> inner = bound(e->args[0], upper);
    if (inner) return floor_div(*inner, e->args[1]->int_value);
  }
  return std::nullopt;
}

std::optional<std::int64_t> bound_of(const ExprPtr& e, const Program& program, bool upper) {
  const Linear l = linear(e);
  __int128 total = l.constant;
  for (const auto& [key, term] : l.terms) {
    const std::optional<std::int64_t> b = atom_bound(term.atom, program, upper == (term.coefficient > 0));
    if (!b) return std::nullopt;
    total += static_cast<__int128>(term.coefficient) * *b;
  }
  if (total > INT64_MAX || total < INT64_MIN) return std::nullopt;
  return static_cast<std::int64_t>(total);
}

}  // namespace

std::optional<std::int64_t> constant_of(const ExprPtr& e) {
  const Linear l = linear(e);
  if (!l.terms.empty()) return std::nullopt;
  return l.constant;
}

ExprPtr normal(const ExprPtr& e) { return expression(linear(e)); }

bool same_dim(const ExprPtr& a, const ExprPtr& b) {
  Linear l = linear(a);
  l.add(linear(b), -1);
  return l.terms.empty() && l.constant == 0;
}

bool same_shape(const Shape& a, const Shape& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!same_dim(a[i], b[i])) return false;
  return true;
}

std::optional<std::int64_t> lower_bound_of(const ExprPtr& e, const Program& program) { return bound_of(e, program, false); }
std::optional<std::int64_t> upper_bound_of(const ExprPtr& e, const Program& program) { return bound_of(e, program, true); }

std::optional<ExprPtr> product_of(const Shape& dims) {
  ExprPtr p = idx(1);
  for (const ExprPtr& d : dims) {
    const std::optional<std::int64_t> c = constant_of(d);
    if (!constant_of(p) && !c) return std::nullopt;
    std::int64_t checked = 0;
    if (c && constant_of(p) && __builtin_mul_overflow(*c, *constant_of(p), &checked)) return std::nullopt;
    p = normal(idx_mul(p, d));
  }
  return p;
}

std::optional<ExprPtr> exact_quotient(const ExprPtr& a, const ExprPtr& b) {
  if (same_dim(a, b)) return idx(1);
  const Linear l = linear(a), m = linear(b);
  if (m.terms.empty()) {
    if (m.constant <= 0) return std::nullopt;
    Linear q;
    if (l.constant % m.constant != 0) return std::nullopt;
    q.constant = l.constant / m.constant;
    for (const auto& [key, term] : l.terms) {
      if (term.coefficient % m.constant != 0) return std::nullopt;
      q.terms[key] = Term{term.atom, term.coefficient / m.constant};
    }
    return expression(q);
  }
  // a = q * b for a constant q: read q off the first term, then compare.
  const auto first = m.terms.begin();
  const auto it = l.terms.find(first->first);
  if (it == l.terms.end() || it->second.coefficient % first->second.coefficient != 0) return std::nullopt;
  const std::int64_t q = it->second.coefficient / first->second.coefficient;
  if (!same_dim(a, idx_mul(idx(q), b))) return std::nullopt;
  return idx(q);
}

std::int64_t content_of(const ExprPtr& e) {
  const Linear l = linear(e);
  std::int64_t g = std::abs(l.constant);
  for (const auto& [key, term] : l.terms) g = std::gcd(g, std::abs(term.coefficient));
  return g;
}

std::string shape_text(const Shape& shape) {
  std::string text;
  for (const ExprPtr& e : shape) text += (text.empty() ? "" : ", ") + to_text(normal(e));
  return "[" + text + "]";
}

}  // namespace facet
