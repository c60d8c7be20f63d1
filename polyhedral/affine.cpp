// Index expressions <-> isl.
#include "polyhedral/affine.hpp"

#include <algorithm>
#include <cassert>

namespace facet {

namespace {

std::string mangle(const std::string& prefix, const std::string& name) {
  std::string text = prefix;
  for (const char c : name) text += c == '.' ? std::string("__") : std::string(1, c);
  return text;
}

bool constant(const ExprPtr& e, std::int64_t* value) {
  if (e->op == Op::kLiteral && !is_float(e->type)) {
    *value = e->int_value;
    return true;
  }
  if (e->op == Op::kNeg && constant(e->args[0], value)) {
    *value = -*value;
    return true;
  }
  if (e->op == Op::kCast && !is_float(e->type)) return constant(e->args[0], value);
  return false;
}

const char* infix(Op op) {
  switch (op) {
    case Op::kAdd: return " + ";
    case Op::kSub: return " - ";
    case Op::kLt: return " < ";
    case Op::kLe: return " <= ";
    case Op::kGt: return " > ";
    case Op::kGe: return " >= ";
    case Op::kEq: return " = ";
    case Op::kNe: return " != ";
    case Op::kAnd: return " and ";
    case Op::kOr: return " or ";
    default: return nullptr;
  }
}

using Texts = std::vector<std::string>;

std::optional<std::string> division_text(const ExprPtr& e, const std::string& a) {
  std::int64_t c = 0;
  if (!constant(e->args[1], &c) || c <= 0) return std::nullopt;
  const std::string by = std::to_string(c);
  // What truncates goes by the sign; isl reads no choice `a >= 0 ? .. : ..` where a condition may stand.
  const std::string above = "max(0, " + a + ")", below = "max(0, -(" + a + "))";
  switch (e->op) {
    case Op::kFloorDiv: return "floor((" + a + ")/" + by + ")";
    case Op::kFloorMod: return "((" + a + ") mod " + by + ")";
    case Op::kTruncDiv: return "(floor(" + above + "/" + by + ") - floor(" + below + "/" + by + "))";
    default: return "((" + above + " mod " + by + ") - (" + below + " mod " + by + "))";
  }
}

std::optional<std::string> product_text(const ExprPtr& e, const std::string& a, const std::string& b) {
  std::int64_t c = 0;
  if (constant(e->args[0], &c)) return "(" + std::to_string(c) + " * (" + b + "))";
  if (constant(e->args[1], &c)) return "(" + std::to_string(c) + " * (" + a + "))";
  return std::nullopt;
}

}  // namespace

std::string parameter_id(const std::string& symbol) { return mangle("p_", symbol); }
std::string statement_id(const std::string& statement) { return mangle("S_", statement); }
std::string array_id(const std::string& array) { return mangle("A_", array); }

std::optional<std::string> isl_text(const ExprPtr& e, const std::vector<std::string>& iterators) {
  if (e->op == Op::kLiteral) {
    if (is_float(e->type)) return std::nullopt;
    if (e->type == DType::kBool) return e->int_value ? "1 = 1" : "1 = 0";
    return std::to_string(e->int_value);
  }
  if (e->op == Op::kIndex) {
    const auto it = std::find(iterators.begin(), iterators.end(), e->name);
    return it == iterators.end() ? parameter_id(e->name) : "i" + std::to_string(it - iterators.begin());
  }
  if (e->op == Op::kRead || e->op == Op::kReduce || e->op == Op::kValue) return std::nullopt;
  Texts args;
  for (const ExprPtr& a : e->args) {
    const std::optional<std::string> text = isl_text(a, iterators);
    if (!text) return std::nullopt;
    args.push_back(*text);
  }
  switch (e->op) {
    case Op::kNeg: return "(-(" + args[0] + "))";
    case Op::kNot: return "(not (" + args[0] + "))";
    case Op::kCast: return is_integer(e->type) ? std::optional<std::string>(args[0]) : std::nullopt;
    case Op::kMul: return product_text(e, args[0], args[1]);
    case Op::kMin: return "min(" + args[0] + ", " + args[1] + ")";
    case Op::kMax: return "max(" + args[0] + ", " + args[1] + ")";
    case Op::kFloorDiv:
    case Op::kFloorMod:
    case Op::kTruncDiv:
    case Op::kTruncMod: return division_text(e, args[0]);
    default: break;
  }
  const char* op = infix(e->op);
  if (!op) return std::nullopt;
  return "(" + args[0] + op + args[1] + ")";
}

std::string parameter_prefix(const std::vector<Symbol>& symbols) {
  std::string text;
  for (const Symbol& s : symbols) text += (text.empty() ? "[" : ", ") + parameter_id(s.name);
  return text.empty() ? "" : text + "] -> ";
}

std::string tuple_text(const std::string& id, std::size_t arity) {
  std::string text = id + "[";
  for (std::size_t i = 0; i < arity; ++i) text += (i ? ", i" : "i") + std::to_string(i);
  return text + "]";
}

isl::set context_of(const std::vector<Symbol>& symbols, const std::vector<ExprPtr>& assumptions) {
  std::string text = parameter_prefix(symbols) + "{ : ";
  for (const Symbol& s : symbols) {
    const std::string p = parameter_id(s.name);
    text += std::to_string(s.min) + " <= " + p + " <= " + std::to_string(s.max) + " and ";
  }
  for (const ExprPtr& a : assumptions) {
    const std::optional<std::string> t = isl_text(a, {});
    if (t) text += *t + " and ";
  }
  return read_set(text + "1 = 1 }");
}

namespace {

ExprPtr linear_part(isl_aff* aff, const std::vector<ExprPtr>& dims, std::int64_t denominator);

// floor(expression / denominator) of the div at `position`.
ExprPtr div_expr(isl_aff* aff, unsigned position, const std::vector<ExprPtr>& dims) {
  isl_aff* div = isl_aff_get_div(aff, static_cast<int>(position));  // the argument of the floor, rational
  const std::int64_t d = take_int(isl_aff_get_denominator_val(div));
  ExprPtr e = idx_floordiv(linear_part(div, dims, d), d);
  isl_aff_free(div);
  return e;
}

void add_term(ExprPtr& sum, std::int64_t coefficient, const ExprPtr& x) {
  if (coefficient == 0) return;
  sum = coefficient < 0 ? idx_sub(sum, idx_mul(idx(-coefficient), x)) : idx_add(sum, idx_mul(idx(coefficient), x));
}

// denominator * aff, all of whose scaled coefficients are integers.
ExprPtr linear_part(isl_aff* aff, const std::vector<ExprPtr>& dims, std::int64_t denominator) {
  const auto scaled = [denominator](isl_val* v) {
    return take_int(isl_val_mul(v, isl_val_int_from_si(isl_val_get_ctx(v), denominator)));
  };
  ExprPtr sum = idx(0);
  for (unsigned i = 0; i < static_cast<unsigned>(isl_aff_dim(aff, isl_dim_in)); ++i)
    add_term(sum, scaled(isl_aff_get_coefficient_val(aff, isl_dim_in, static_cast<int>(i))), dims[i]);
  for (unsigned i = 0; i < static_cast<unsigned>(isl_aff_dim(aff, isl_dim_param)); ++i) {
    const std::string name = isl_aff_get_dim_name(aff, isl_dim_param, i);
    add_term(sum, scaled(isl_aff_get_coefficient_val(aff, isl_dim_param, static_cast<int>(i))), index(name.substr(2)));
  }
  for (unsigned i = 0; i < static_cast<unsigned>(isl_aff_dim(aff, isl_dim_div)); ++i) {
    const std::int64_t c = scaled(isl_aff_get_coefficient_val(aff, isl_dim_div, static_cast<int>(i)));
    if (c != 0) add_term(sum, c, div_expr(aff, i, dims));
  }
  return idx_add(sum, idx(scaled(isl_aff_get_constant_val(aff))));
}

Op binary_op(isl_ast_expr_op_type type) {
  switch (type) {
    case isl_ast_expr_op_and:
    case isl_ast_expr_op_and_then: return Op::kAnd;
    case isl_ast_expr_op_or:
    case isl_ast_expr_op_or_else: return Op::kOr;
    case isl_ast_expr_op_eq: return Op::kEq;
    case isl_ast_expr_op_le: return Op::kLe;
    case isl_ast_expr_op_lt: return Op::kLt;
    case isl_ast_expr_op_ge: return Op::kGe;
    case isl_ast_expr_op_gt: return Op::kGt;
    default: assert(false && "unexpected isl AST operation"); return Op::kAdd;
  }
}

ExprPtr operation_of(isl_ast_expr_op_type type, const std::vector<ExprPtr>& a) {
  switch (type) {
    case isl_ast_expr_op_max:
    case isl_ast_expr_op_min: {
      ExprPtr e = a[0];
      for (std::size_t i = 1; i < a.size(); ++i) e = type == isl_ast_expr_op_max ? idx_max(e, a[i]) : idx_min(e, a[i]);
      return e;
    }
    case isl_ast_expr_op_minus: return idx_mul(idx(-1), a[0]);
    case isl_ast_expr_op_add: return idx_add(a[0], a[1]);
    case isl_ast_expr_op_sub: return idx_sub(a[0], a[1]);
    case isl_ast_expr_op_mul: return idx_mul(a[0], a[1]);
    case isl_ast_expr_op_div:  // exact
    case isl_ast_expr_op_fdiv_q: return idx_floordiv(a[0], a[1]->int_value);
    case isl_ast_expr_op_pdiv_q: return binary(Op::kTruncDiv, a[0], a[1]);  // operand proven non-negative: C's / is right
    case isl_ast_expr_op_pdiv_r: return binary(Op::kTruncMod, a[0], a[1]);
    case isl_ast_expr_op_zdiv_r: return idx_mod(a[0], a[1]->int_value);  // only compared with zero
    case isl_ast_expr_op_cond:
    case isl_ast_expr_op_select: return select(a[0], a[1], a[2]);
    default: {
      ExprPtr e = binary(binary_op(type), a[0], a[1]);
      for (std::size_t i = 2; i < a.size(); ++i) e = binary(binary_op(type), e, a[i]);
      return e;
    }
  }
}

}  // namespace

ExprPtr expr_of(const isl::aff& aff, const std::vector<ExprPtr>& dims) {
  const std::int64_t d = take_int(isl_aff_get_denominator_val(aff.get()));
  return idx_floordiv(linear_part(aff.get(), dims, d), d);
}

ExprPtr extent_of(const DimensionBounds& bounds, const isl::set& context) {
  const ExprPtr extent = idx_add(idx_sub(expr_of(bounds.high, {}), expr_of(bounds.low, {})), idx(1));
  const isl::set some = isl::pw_aff(bounds.low).le_set(add_constant(isl::pw_aff(bounds.high), 1)).params();
  return context.params().is_subset(some) ? extent : idx_max(extent, idx(0));
}

ExprPtr expr_of(const isl::ast_expr& e, const std::function<ExprPtr(const std::string&)>& lookup) {
  switch (isl_ast_expr_get_type(e.get())) {
    case isl_ast_expr_int: return idx(take_int(isl_ast_expr_get_val(e.get())));
    case isl_ast_expr_id: {
      isl_id* id = isl_ast_expr_get_id(e.get());
      const std::string name = isl_id_get_name(id);
      isl_id_free(id);
      return lookup(name);
    }
    default: break;
  }
  std::vector<ExprPtr> args;
  for (int i = 0; i < static_cast<int>(isl_ast_expr_get_op_n_arg(e.get())); ++i)
    args.push_back(expr_of(isl::manage(isl_ast_expr_get_op_arg(e.get(), i)), lookup));
  return operation_of(isl_ast_expr_get_op_type(e.get()), args);
}

}  // namespace facet
