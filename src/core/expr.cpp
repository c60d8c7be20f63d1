// Constructors, comparison and text of the scalar expression language.
#include "facet/expr.hpp"

#include <cmath>
#include <cstdio>

#include "src/core/saturate.hpp"

namespace facet {

namespace {

struct DTypeRow {
  DType dtype;
  const char* name;
  int bytes;
};
constexpr DTypeRow kDTypes[] = {{DType::kBool, "bool", 1}, {DType::kI8, "i8", 1},     {DType::kU8, "u8", 1},
                                {DType::kI16, "i16", 2},   {DType::kI32, "i32", 4},   {DType::kI64, "i64", 8},
                                {DType::kF16, "f16", 2},   {DType::kBF16, "bf16", 2}, {DType::kF32, "f32", 4},
                                {DType::kF64, "f64", 8},   {DType::kU16, "u16", 2},   {DType::kU32, "u32", 4},
                                {DType::kU64, "u64", 8}};

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

WideInt wide(const ExprPtr& literal) { return literal->int_value; }

bool is_const(const ExprPtr& e) { return e->op == Op::kLiteral && is_integer(e->type); }

ExprPtr make(Op op, DType type, std::vector<ExprPtr> args) {
  Expr e;
  e.op = op;
  e.type = type;
  for (const ExprPtr& a : args) e.lanes = std::max(e.lanes, a->lanes);
  e.args = std::move(args);
  return std::make_shared<const Expr>(std::move(e));
}

}  // namespace

std::string to_text(DType dtype) {
  for (const DTypeRow& row : kDTypes)
    if (row.dtype == dtype) return row.name;
  return "?";
}

bool dtype_from_text(const std::string& text, DType* dtype) {
  for (const DTypeRow& row : kDTypes) {
    if (text != row.name) continue;
    *dtype = row.dtype;
    return true;
  }
  return false;
}

std::int64_t size_bytes(DType dtype) {
  for (const DTypeRow& row : kDTypes)
    if (row.dtype == dtype) return row.bytes;
  return 0;
}

bool is_float(DType t) { return t == DType::kF16 || t == DType::kBF16 || t == DType::kF32 || t == DType::kF64; }
bool is_integer(DType t) { return !is_float(t) && t != DType::kBool; }
bool is_signed(DType t) { return is_float(t) || t == DType::kI8 || t == DType::kI16 || t == DType::kI32 || t == DType::kI64; }

std::string to_text(ReduceKind kind) {
  static const char* const names[] = {"sum", "prod", "max", "min", "any", "all", "argmax", "argmin"};
  return names[static_cast<int>(kind)];
}

ExprPtr literal(DType type, double value) {
  Expr e;
  e.op = Op::kLiteral;
  e.type = type;
  if (is_float(type)) {
    e.float_value = value;
  } else {
    e.int_value = static_cast<std::int64_t>(value);
  }
  return std::make_shared<const Expr>(std::move(e));
}

ExprPtr int_literal(DType type, std::int64_t value) {
  if (is_float(type)) return literal(type, static_cast<double>(value));
  Expr e;
  e.op = Op::kLiteral;
  e.type = type;
  e.int_value = value;
  return std::make_shared<const Expr>(std::move(e));
}

ExprPtr index(const std::string& name) {
  Expr e;
  e.op = Op::kIndex;
  e.type = DType::kI64;
  e.name = name;
  return std::make_shared<const Expr>(std::move(e));
}

ExprPtr read(const std::string& tensor, DType type, std::vector<ExprPtr> subscripts, ExprPtr pad) {
  Expr e;
  e.op = Op::kRead;
  e.type = type;
  e.name = tensor;
  e.args = std::move(subscripts);
  e.pad = std::move(pad);
  return std::make_shared<const Expr>(std::move(e));
}

ExprPtr value_of(const std::string& name, DType type, int lanes) {
  Expr e;
  e.op = Op::kValue;
  e.type = type;
  e.name = name;
  e.lanes = lanes;
  return std::make_shared<const Expr>(std::move(e));
}

ExprPtr unary(Op op, ExprPtr a) {
  const bool boolean = op == Op::kNot || op == Op::kIsNan || op == Op::kIsInf;
  const DType type = boolean ? DType::kBool : a->type;
  return make(op, type, {std::move(a)});
}

ExprPtr binary(Op op, ExprPtr a, ExprPtr b) {
  const bool boolean = op >= Op::kLt && op <= Op::kXor;
  const DType type = boolean ? DType::kBool : a->type;
  return make(op, type, {std::move(a), std::move(b)});
}

ExprPtr select(ExprPtr condition, ExprPtr then, ExprPtr otherwise) {
  const DType type = then->type;
  return make(Op::kSelect, type, {std::move(condition), std::move(then), std::move(otherwise)});
}

ExprPtr cast(DType to, ExprPtr a) {
  if (a->type == to) return a;
  return make(Op::kCast, to, {std::move(a)});
}

ExprPtr reduce(DType accumulator, Reduction reduction) {
  Expr e;
  e.op = Op::kReduce;
  e.type = accumulator;
  e.reduction = std::make_shared<const Reduction>(std::move(reduction));
  return std::make_shared<const Expr>(std::move(e));
}

ExprPtr idx(std::int64_t value) { return int_literal(DType::kI64, value); }

ExprPtr idx_add(ExprPtr a, ExprPtr b) {
  if (is_const(a) && is_const(b)) return idx(saturated(wide(a) + wide(b)));
  if (is_const(a) && a->int_value == 0) return b;
  if (is_const(b) && b->int_value == 0) return a;
  if (is_const(a)) std::swap(a, b);
  // (x + c1) + c2 and (x - c1) + c2
  if (is_const(b) && (a->op == Op::kAdd || a->op == Op::kSub) && is_const(a->args[1])) {
    const WideInt c = (a->op == Op::kAdd ? wide(a->args[1]) : -wide(a->args[1])) + wide(b);
    if (c == 0) return a->args[0];
    return c > 0 ? binary(Op::kAdd, a->args[0], idx(saturated(c))) : binary(Op::kSub, a->args[0], idx(saturated(-c)));
  }
  if (is_const(b) && b->int_value < 0) return binary(Op::kSub, std::move(a), idx(saturated(-wide(b))));
  return binary(Op::kAdd, std::move(a), std::move(b));
}

ExprPtr idx_sub(ExprPtr a, ExprPtr b) {
  if (is_const(b)) return idx_add(std::move(a), idx(saturated(-wide(b))));
  if (same(a, b)) return idx(0);
  if (is_const(a) && a->int_value == 0) return unary(Op::kNeg, std::move(b));
  return binary(Op::kSub, std::move(a), std::move(b));
}

ExprPtr idx_mul(ExprPtr a, ExprPtr b) {
  if (is_const(a) && is_const(b)) return idx(saturated(wide(a) * wide(b)));
  if (is_const(b)) std::swap(a, b);
  if (is_const(a) && a->int_value == 0) return idx(0);
  if (is_const(a) && a->int_value == 1) return b;
  if (is_const(a) && a->int_value == -1) return unary(Op::kNeg, std::move(b));
  return binary(Op::kMul, std::move(a), std::move(b));
}

ExprPtr idx_floordiv(ExprPtr a, std::int64_t b) {
  if (b == 1) return a;
  if (is_const(a)) return idx(floor_div(a->int_value, b));
  return binary(Op::kFloorDiv, std::move(a), idx(b));
}

ExprPtr idx_mod(ExprPtr a, std::int64_t b) {
  if (b == 1) return idx(0);
  if (is_const(a)) return idx(a->int_value - b * floor_div(a->int_value, b));
  return binary(Op::kFloorMod, std::move(a), idx(b));
}

ExprPtr idx_min(ExprPtr a, ExprPtr b) {
  if (is_const(a) && is_const(b)) return idx(std::min(a->int_value, b->int_value));
  if (same(a, b)) return a;
  return binary(Op::kMin, std::move(a), std::move(b));
}

ExprPtr idx_max(ExprPtr a, ExprPtr b) {
  if (is_const(a) && is_const(b)) return idx(std::max(a->int_value, b->int_value));
  if (same(a, b)) return a;
  return binary(Op::kMax, std::move(a), std::move(b));
}

bool same(const ExprPtr& a, const ExprPtr& b) {
  if (a == b) return true;
  if (!a || !b) return false;
  if (a->op != b->op || a->type != b->type || a->lanes != b->lanes || a->name != b->name || a->args.size() != b->args.size())
    return false;
  if (a->op == Op::kLiteral || a->op == Op::kExtract) {
    if (a->int_value != b->int_value) return false;
    const bool nan = std::isnan(a->float_value) && std::isnan(b->float_value);
    if (!nan && (a->float_value != b->float_value || std::signbit(a->float_value) != std::signbit(b->float_value)))
      return false;
  }
  if (a->reduce_kind != b->reduce_kind || a->wrap_gather != b->wrap_gather) return false;
  for (std::size_t i = 0; i < a->args.size(); ++i)
    if (!same(a->args[i], b->args[i])) return false;
  if (!same(a->pad, b->pad) || !same(a->mask, b->mask)) return false;
  if (!a->reduction != !b->reduction) return false;
  if (!a->reduction) return true;
  const Reduction& r = *a->reduction;
  const Reduction& s = *b->reduction;
  if (r.kind != s.kind || r.ranges.size() != s.ranges.size() || r.conditions.size() != s.conditions.size()) return false;
  for (std::size_t i = 0; i < r.ranges.size(); ++i)
    if (r.ranges[i].name != s.ranges[i].name || !same(r.ranges[i].lower, s.ranges[i].lower) ||
        !same(r.ranges[i].upper, s.ranges[i].upper))
      return false;
  for (std::size_t i = 0; i < r.conditions.size(); ++i)
    if (!same(r.conditions[i], s.conditions[i])) return false;
  return same(r.body, s.body);
}

ExprPtr substitute(const ExprPtr& e, const std::vector<std::pair<std::string, ExprPtr>>& by) {
  return rewrite(e, [&](const ExprPtr& node) -> ExprPtr {
    if (node->op != Op::kIndex) return node;
    for (const auto& [name, replacement] : by)
      if (node->name == name) return replacement;
    return node;
  });
}

}  // namespace facet
