// simplify: say the same with less arithmetic, fewer guards and fewer loops.
//
//   for i2 in 0..ceil(M/14)                                   for i2 in 0..(M +
//   13) / 14
//     for i in 0..min(14, min(M - 14*i2, 1000000))              for i in
//     0..min(14, M - 14*i2)
//       if 14*i2 + i < M                                 -->      c[14*i2 + i]
//       = b[i2, i]
//         c[14*i2 + i] = b[floor((14*i2 + i)/14), (14*i2 + i) mod 14]
//
// Index expressions are brought to linear forms and written back; with what is
// known at each place (ranges of symbols, bounds of enclosing loops, conditions
// of enclosing ifs: facts.hpp)
//   - floor((c*q + r)/c) is q + floor(r/c), and q alone when 0 <= r < c; mod
//   likewise, also for an iterator that walks one tile, c*q <= i < c*q + c;
//   where the operand cannot be negative the
//     division becomes C's own (kTruncDiv, kTruncMod), which prints as / and %;
//   - operands of min and max that cannot decide are dropped; conditions that
//   always or never hold go, with their branch;
//   - a read that is provably inside loses its pad;
//   - a loop of one iteration becomes its body, a loop of none goes.
// Only arithmetic on indices and symbols is rearranged: integer data may wrap.
// Near twin: isl's gist, which works on sets before the scan; this one also
// sees what unrolling and peeling made constant. Cost: linear in the tree times
// short proofs.
#include "codegen/passes/context.hpp"

#include <algorithm>

#include "facet/expr_walk.hpp"

namespace facet::passes {

namespace {

// Splits f = d * quotient + rest by coefficients.
void split_by(const Linear& f, std::int64_t d, Linear* quotient, Linear* rest) {
  quotient->constant = floor_div(f.constant, d);
  rest->constant = f.constant - d * quotient->constant;
  for (const Term& t : f.terms) {
    const std::int64_t q = floor_div(t.coefficient, d);
    if (t.coefficient % d == 0)
      quotient->terms.push_back({t.atom, q});
    else
      rest->terms.push_back(t);
  }
}

// floor((g*q + r)/d) with g a divisor of d and 0 <= r < g is floor(q/(d/g)), and the remainder is g*(q mod d/g) + r:
// (16*v + lane)/32 is v/2. Null if no coefficient of f serves as g.
ExprPtr divide_by_part(const Linear& f, std::int64_t d, bool is_mod, const Facts& facts) {
  for (const Term& t : f.terms) {
    const std::int64_t g = t.coefficient;
    if (g <= 1 || g >= d || d % g != 0) continue;
    Linear quotient, rest;
    split_by(f, g, &quotient, &rest);
    if (!facts.nonnegative(rest) || !facts.nonnegative(sum(constant_form(g - 1), rest, -1))) continue;
    const bool plain = facts.nonnegative(quotient);
    const Op op = is_mod ? (plain ? Op::kTruncMod : Op::kFloorMod) : (plain ? Op::kTruncDiv : Op::kFloorDiv);
    const ExprPtr part = binary(op, to_expr(quotient), idx(d / g));
    return is_mod ? to_expr(sum(to_linear(idx_mul(idx(g), part)), rest)) : part;
  }
  return nullptr;
}

// floor(f/d) is q where an iterator of f starts at a bound that makes f = d*q + constant, and f never leaves [d*q, d*q + d).
// Null if there is no such iterator.
ExprPtr divide_in_tile(const Linear& f, std::int64_t d, bool is_mod, const Facts& facts) {
  for (const Term& t : f.terms) {
    if (t.atom->op != Op::kIndex || t.coefficient <= 0) continue;
    for (const ExprPtr& low : facts.lower_bounds(t.atom->name)) {
      const Linear first = sum(sum(f, to_linear(t.atom), -t.coefficient), to_linear(low), t.coefficient);
      Linear quotient, rest;
      split_by(first, d, &quotient, &rest);
      if (!rest.terms.empty()) continue;
      const Linear inside = sum(f, quotient, -d);
      if (!facts.nonnegative(inside) || !facts.nonnegative(sum(constant_form(d - 1), inside, -1))) continue;
      return to_expr(is_mod ? inside : quotient);
    }
  }
  return nullptr;
}

ExprPtr simplify_division(const ExprPtr& e, const Facts& facts) {
  std::int64_t d = 0;
  if (!constant_value(e->args[1], &d) || d <= 0) return e;
  const bool is_mod = e->op == Op::kFloorMod || e->op == Op::kTruncMod;
  const bool truncates = e->op == Op::kTruncDiv || e->op == Op::kTruncMod;
  const Linear f = to_linear(e->args[0]);
  if (truncates && !facts.nonnegative(f)) return e;
  if (d == 1) return is_mod ? idx(0) : to_expr(f);
  Linear quotient, rest;
  split_by(f, d, &quotient, &rest);
  const bool rest_nonnegative = facts.nonnegative(rest);
  if (rest_nonnegative && facts.nonnegative(sum(constant_form(d - 1), rest, -1)))
    return is_mod ? to_expr(rest) : to_expr(quotient);
  if (const ExprPtr tile = divide_in_tile(f, d, is_mod, facts)) return tile;
  if (const ExprPtr part = divide_by_part(rest, d, is_mod, facts)) return is_mod ? part : idx_add(to_expr(quotient), part);
  const bool whole_nonnegative = rest_nonnegative || facts.nonnegative(f);
  // Keep the whole operand where only that one is known not to be negative.
  if (!rest_nonnegative && whole_nonnegative) return binary(is_mod ? Op::kTruncMod : Op::kTruncDiv, to_expr(f), idx(d));
  const Op op =
      is_mod ? (rest_nonnegative ? Op::kTruncMod : Op::kFloorMod) : (rest_nonnegative ? Op::kTruncDiv : Op::kFloorDiv);
  const ExprPtr part = binary(op, to_expr(rest), idx(d));
  return is_mod ? part : idx_add(to_expr(quotient), part);
}

// min (max) of a list: drops every operand that another one is never above
// (below).
ExprPtr simplify_choice(const ExprPtr& e, const Facts& facts) {
  std::vector<ExprPtr> all = operands_of(e->op, e);
  const bool is_min = e->op == Op::kMin;
  std::vector<ExprPtr> kept;
  for (std::size_t i = 0; i < all.size(); ++i) {
    bool needed = true;
    for (std::size_t j = 0; j < all.size() && needed; ++j) {
      if (j == i || !all[j]) continue;
      if (is_min ? facts.at_most(all[j], all[i]) : facts.at_most(all[i], all[j])) needed = false;
    }
    if (needed)
      kept.push_back(all[i]);
    else
      all[i] = nullptr;
  }
  ExprPtr result = kept[0];
  for (std::size_t i = 1; i < kept.size(); ++i) result = is_min ? idx_min(result, kept[i]) : idx_max(result, kept[i]);
  return result;
}

bool is_literal(const ExprPtr& e, std::int64_t value) {
  return e->op == Op::kLiteral && !is_float(e->type) && e->lanes == 1 && e->int_value == value;
}

ExprPtr simplify_logic(const ExprPtr& e) {
  const ExprPtr& a = e->args[0];
  if (e->op == Op::kNot) return a->op == Op::kLiteral ? int_literal(DType::kBool, a->int_value ? 0 : 1) : e;
  const ExprPtr& b = e->args[1];
  const bool conjunction = e->op == Op::kAnd;
  if (is_literal(a, conjunction ? 1 : 0)) return b;
  if (is_literal(b, conjunction ? 1 : 0)) return a;
  if (is_literal(a, conjunction ? 0 : 1) && b->lanes == 1) return a;
  if (is_literal(b, conjunction ? 0 : 1) && a->lanes == 1) return b;
  return e;
}

ExprPtr negated(const ExprPtr& c) {
  if (c->op == Op::kNot) return c->args[0];
  if (c->args.size() == 2 && c->args[0]->type == DType::kI64) {
    switch (c->op) {
      case Op::kLt: return binary(Op::kGe, c->args[0], c->args[1]);
      case Op::kLe: return binary(Op::kGt, c->args[0], c->args[1]);
      case Op::kGt: return binary(Op::kLe, c->args[0], c->args[1]);
      case Op::kGe: return binary(Op::kLt, c->args[0], c->args[1]);
      case Op::kEq: return binary(Op::kNe, c->args[0], c->args[1]);
      case Op::kNe: return binary(Op::kEq, c->args[0], c->args[1]);
      default: break;
    }
  }
  return unary(Op::kNot, c);
}

bool is_comparison(Op op) { return op >= Op::kLt && op <= Op::kNe; }

ExprPtr simplify_index_node(const ExprPtr& e, const Facts& facts) {
  switch (e->op) {
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kNeg: return to_expr(to_linear(e));
    case Op::kFloorDiv:
    case Op::kFloorMod:
    case Op::kTruncDiv:
    case Op::kTruncMod: return simplify_division(e, facts);
    case Op::kMin:
    case Op::kMax: return simplify_choice(e, facts);
    default: return e;
  }
}

// One node whose children are simplified already.
ExprPtr simplify_node(const ExprPtr& e, const Facts& facts, const Context& context) {
  if (e->lanes != 1) return e;
  if (e->op == Op::kRead && e->pad) {
    const Buffer* buffer = context.find(e->name);
    if (!buffer || !facts.inside(e->args, buffer->extents)) return e;
    Expr bare = *e;
    bare.pad = nullptr;
    return std::make_shared<const Expr>(std::move(bare));
  }
  if (e->op == Op::kSelect) {
    if (is_literal(e->args[0], 1)) return e->args[1];
    if (is_literal(e->args[0], 0)) return e->args[2];
    return e;
  }
  if (e->op == Op::kAnd || e->op == Op::kOr || e->op == Op::kNot) return simplify_logic(e);
  if (is_comparison(e->op) && e->args[0]->type == DType::kI64 && is_index_arithmetic(e)) {
    if (facts.holds(e)) return int_literal(DType::kBool, 1);
    if (facts.fails(e)) return int_literal(DType::kBool, 0);
    return e;
  }
  if (e->type != DType::kI64 || e->args.empty() || !is_index_arithmetic(e)) return e;
  return simplify_index_node(e, facts);
}

ExprPtr simplify_tree(const ExprPtr& e, const Facts& facts, const Context& context);

// A chain of min (max) as one list: choosing at each of its nodes would prove everything about n operands n times over, and
// isl's bounds of skewed tiles have ten operands whose proofs take milliseconds each.
ExprPtr simplify_chain(const ExprPtr& e, const Facts& facts, const Context& context) {
  ExprPtr chain;
  for (const ExprPtr& operand : operands_of(e->op, e)) {
    const ExprPtr next = simplify_tree(operand, facts, context);
    chain = !chain ? next : e->op == Op::kMin ? idx_min(chain, next) : idx_max(chain, next);
  }
  const ExprPtr result = chain->op == e->op ? simplify_choice(chain, facts) : chain;
  return same(result, e) ? e : result;
}

// `select` is lazy: inside a branch its condition is known.
ExprPtr simplify_tree(const ExprPtr& e, const Facts& facts, const Context& context) {
  if (!e) return e;
  if ((e->op == Op::kMin || e->op == Op::kMax) && e->type == DType::kI64 && e->lanes == 1 && is_index_arithmetic(e))
    return simplify_chain(e, facts, context);
  Expr copy = *e;
  bool changed = false;
  const auto step = [&](ExprPtr& child, const Facts& here) {
    const ExprPtr next = simplify_tree(child, here, context);
    changed = changed || next != child;
    child = next;
  };
  if (e->op == Op::kSelect) {
    step(copy.args[0], facts);
    Facts then = facts, otherwise = facts;
    then.add_condition(copy.args[0]);
    otherwise.add_negation(copy.args[0]);
    step(copy.args[1], then);
    step(copy.args[2], otherwise);
  } else {
    for (ExprPtr& a : copy.args) step(a, facts);
    step(copy.mask, facts);
  }
  const ExprPtr next = changed ? std::make_shared<const Expr>(std::move(copy)) : e;
  const ExprPtr result = simplify_node(next, facts, context);
  return result != e && same(result, e) ? e : result;
}

void append(LoopList& out, const LoopList& more) { out.insert(out.end(), more.begin(), more.end()); }

// A braced scope where the spliced statements would leak names into the
// surrounding block.
LoopList as_block(LoopList body, bool alone) {
  bool introduces = false;
  for (const LoopPtr& node : body) introduces = introduces || as<Let>(node) || as<Allocate>(node);
  if (!introduces || alone) return body;
  return {make_loop(Sequence{std::move(body)})};
}

LoopList simplify_list(const LoopList& body, const Facts& facts, const Context& context, int keep);

// keep: how many loops from here on belong to an enclosing loop's collapse
// group and must stay.
LoopList simplify_for(For f, const Facts& facts, const Context& context, bool alone, int keep) {
  f.lower = simplify_expr(f.lower, facts, context);
  f.upper = simplify_expr(f.upper, facts, context);
  if (facts.at_most(f.upper, f.lower)) return {};
  const bool is_agent = f.kind >= LoopKind::kBlockX;
  const bool single = facts.less(f.lower, f.upper) && facts.at_most(f.upper, idx_add(f.lower, idx(f.step)));
  if (single && !is_agent && f.lower->op != Op::kMax && f.collapse == 1 && keep == 0)
    return as_block(simplify(substitute(f.body, f.iterator, f.lower), facts, context), alone);
  Facts inner = facts;
  inner.add_range(f.iterator, f.lower, f.upper);
  // Inside the body the loop runs at least once.
  for (const ExprPtr& low : operands_of(Op::kMax, f.lower))
    for (const ExprPtr& up : operands_of(Op::kMin, f.upper)) inner.add_condition(binary(Op::kLt, low, up));
  f.body = simplify_list(f.body, inner, context, f.collapse > 1 ? f.collapse - 1 : std::max(0, keep - 1));
  if (f.body.empty() && !is_agent) return {};
  return {make_loop(std::move(f))};
}

LoopList simplify_if(If f, const Facts& facts, const Context& context, bool alone) {
  f.condition = simplify_expr(f.condition, facts, context);
  if (f.condition->op == Op::kLiteral)
    return as_block(simplify(f.condition->int_value ? f.then : f.otherwise, facts, context), alone);
  Facts then = facts, otherwise = facts;
  then.add_condition(f.condition);
  otherwise.add_negation(f.condition);
  f.then = simplify(f.then, then, context);
  f.otherwise = simplify(f.otherwise, otherwise, context);
  if (f.then.empty() && f.otherwise.empty()) return {};
  if (f.then.empty()) {
    f.condition = negated(f.condition);
    std::swap(f.then, f.otherwise);
  }
  return {make_loop(std::move(f))};
}

LoopList simplify_list(const LoopList& body, const Facts& outer, const Context& context, int keep) {
  LoopList out;
  Facts facts = outer;
  const bool alone = body.size() == 1;
  for (const LoopPtr& node : body) {
    if (const For* f = as<For>(node)) {
      append(out, simplify_for(*f, facts, context, alone, keep));
    } else if (const If* f = as<If>(node)) {
      append(out, simplify_if(*f, facts, context, alone));
    } else if (const Sequence* s = as<Sequence>(node)) {
      append(out, as_block(simplify(s->body, facts, context), alone));
    } else {
      out.push_back(rebuild(
          node, [&](const ExprPtr& e) { return simplify_expr(e, facts, context); },
          [&](const LoopList& inner) { return simplify(inner, facts, context); }));
      const Let* l = as<Let>(out.back());
      if (l && l->type == DType::kI64 && !l->is_mutable && is_index_arithmetic(l->value))
        facts.add_range(l->name, l->value, idx_add(l->value, idx(1)));
    }
  }
  return out;
}

}  // namespace

ExprPtr simplify_expr(const ExprPtr& e, const Facts& facts, const Context& context) { return simplify_tree(e, facts, context); }

LoopList simplify(const LoopList& body, const Facts& facts, const Context& context) {
  return simplify_list(body, facts, context, 0);
}

LoopList simplify(const LoopList& body, const Context& context) { return simplify(body, context.symbol_facts(), context); }

}  // namespace facet::passes
