// Linear forms of index expressions and back.
#include "codegen/passes/linear.hpp"

namespace facet::passes {

namespace {

// Of 64-bit values that wrap, as a program's own may: a form of them is right modulo 2^64.
std::int64_t wrapped_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t wrapped_product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

void add_term(Linear& form, const ExprPtr& atom, std::int64_t coefficient) {
  if (coefficient == 0) return;
  for (std::size_t i = 0; i < form.terms.size(); ++i) {
    if (!same(form.terms[i].atom, atom)) continue;
    form.terms[i].coefficient = wrapped_sum(form.terms[i].coefficient, coefficient);
    if (form.terms[i].coefficient == 0) form.terms.erase(form.terms.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
  form.terms.push_back({atom, coefficient});
}

void collect(const ExprPtr& e, std::int64_t factor, Linear& into) {
  if (e->op == Op::kLiteral) {
    into.constant = wrapped_sum(into.constant, wrapped_product(factor, e->int_value));
    return;
  }
  if (e->op == Op::kAdd || e->op == Op::kSub) {
    collect(e->args[0], factor, into);
    collect(e->args[1], e->op == Op::kAdd ? factor : wrapped_product(factor, -1), into);
    return;
  }
  if (e->op == Op::kNeg) {
    collect(e->args[0], wrapped_product(factor, -1), into);
    return;
  }
  if (e->op == Op::kMul) {
    const Linear a = to_linear(e->args[0]);
    const Linear b = to_linear(e->args[1]);
    if (a.is_constant() || b.is_constant()) {
      const Linear& other = a.is_constant() ? b : a;
      const std::int64_t c = wrapped_product(factor, a.is_constant() ? a.constant : b.constant);
      into.constant = wrapped_sum(into.constant, wrapped_product(c, other.constant));
      for (const Term& t : other.terms) add_term(into, t.atom, wrapped_product(c, t.coefficient));
      return;
    }
  }
  add_term(into, e, factor);
}

}  // namespace

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

std::int64_t Linear::coefficient_of(const std::string& index) const {
  for (const Term& t : terms)
    if (t.atom->op == Op::kIndex && t.atom->name == index) return t.coefficient;
  return 0;
}

Linear constant_form(std::int64_t value) {
  Linear form;
  form.constant = value;
  return form;
}

Linear to_linear(const ExprPtr& e) {
  Linear form;
  collect(e, 1, form);
  return form;
}

Linear sum(const Linear& a, const Linear& b, std::int64_t scale_b) {
  Linear form = a;
  form.constant = wrapped_sum(form.constant, wrapped_product(scale_b, b.constant));
  for (const Term& t : b.terms) add_term(form, t.atom, wrapped_product(scale_b, t.coefficient));
  return form;
}

Linear scaled(const Linear& a, std::int64_t factor) { return sum(constant_form(0), a, factor); }

Linear difference(const ExprPtr& a, const ExprPtr& b) { return sum(to_linear(a), to_linear(b), -1); }

ExprPtr to_expr(const Linear& form) {
  ExprPtr result;
  for (const Term& t : form.terms) {
    if (t.coefficient < 0) continue;
    const ExprPtr part = idx_mul(idx(t.coefficient), t.atom);
    result = result ? idx_add(result, part) : part;
  }
  // "16 - x", not "-x + 16".
  if (!result) result = idx(form.constant);
  const bool constant_used = result->op == Op::kLiteral;
  for (const Term& t : form.terms) {
    if (t.coefficient > 0) continue;
    result = idx_sub(result, idx_mul(idx(-t.coefficient), t.atom));
  }
  return constant_used ? result : idx_add(result, idx(form.constant));
}

bool constant_value(const ExprPtr& e, std::int64_t* value) {
  if (!e || e->lanes != 1 || e->type != DType::kI64) return false;
  const Linear form = to_linear(e);
  if (!form.is_constant()) return false;
  *value = form.constant;
  return true;
}

bool mentions(const ExprPtr& e, const std::string& name) {
  bool found = false;
  walk(e, [&](const Expr& node) {
    if ((node.op == Op::kIndex || node.op == Op::kValue) && node.name == name) found = true;
  });
  return found;
}

ExprPtr index_value(const std::string& name) {
  Expr e = *value_of(name, DType::kI64);
  e.int_value = 1;
  return std::make_shared<const Expr>(std::move(e));
}

bool is_index_arithmetic(const ExprPtr& e) {
  bool pure = true;
  walk(e, [&](const Expr& node) {
    switch (node.op) {
      case Op::kValue:
        if (node.int_value != 1) pure = false;
        return;
      case Op::kLiteral:
      case Op::kIndex:
      case Op::kNeg:
      case Op::kAdd:
      case Op::kSub:
      case Op::kMul:
      case Op::kFloorDiv:
      case Op::kFloorMod:
      case Op::kTruncDiv:
      case Op::kTruncMod:
      case Op::kMin:
      case Op::kMax:
      case Op::kLt:
      case Op::kLe:
      case Op::kGt:
      case Op::kGe:
      case Op::kEq:
      case Op::kNe:
      case Op::kAnd:
      case Op::kOr:
      case Op::kNot:
        if (node.lanes != 1 || (node.type != DType::kI64 && node.type != DType::kBool)) pure = false;
        return;
      default: pure = false;
    }
  });
  return pure;
}

std::vector<ExprPtr> operands_of(Op op, const ExprPtr& e) {
  if (e->op != op) return {e};
  std::vector<ExprPtr> all = operands_of(op, e->args[0]);
  for (const ExprPtr& x : operands_of(op, e->args[1])) all.push_back(x);
  return all;
}

}  // namespace facet::passes
