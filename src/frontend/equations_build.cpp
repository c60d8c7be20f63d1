// Building the typed expression of an equation whose syntax has been bound and inferred.
#include <limits>

#include "facet/host_tensor.hpp"
#include "facet/nearest.hpp"
#include "src/frontend/equations_line.hpp"
#include "src/frontend/expression_functions.hpp"

namespace facet {

namespace {

bool is_comparison(Op op) { return op >= Op::kLt && op <= Op::kNe; }

// The dtype an open expression takes when nothing around it says more.
DType natural(const OperandType& t) {
  if (t.form == OperandType::Form::kFixed) return t.dtype;
  return t.form == OperandType::Form::kFraction ? DType::kF64 : DType::kI64;
}

// Whether the literal `value` (or its negative) is a value of the integer dtype.
bool fits(std::uint64_t value, bool negative, DType dtype) {
  const int bits = static_cast<int>(size_bytes(dtype)) * 8;
  const std::uint64_t top = bits == 64 ? std::numeric_limits<std::uint64_t>::max() : (std::uint64_t{1} << bits) - 1;
  if (!is_signed(dtype)) return value <= top && (!negative || value == 0);
  return value <= top / 2 + (negative ? 1 : 0);
}

}  // namespace

Result<Equation> LineCompiler::build(DType dtype) {
  const Diagnostics before = errors_;
  errors_.clear();
  scope_.clear();
  for (BoundIndex& index : line_.left) scope_.push_back(&index);
  Equation equation;
  equation.tensor = definitions_.at(line_.target).tensor.name;
  equation.place = line_.source.at(line_.target_offset);
  for (const BoundIndex& index : line_.left) equation.indices.push_back(index.range);
  for (const Syntax* condition : line_.conditions) equation.conditions.push_back(affine(*condition, true));
  equation.value = value(*line_.value, dtype);
  const Diagnostics found = std::move(errors_);
  errors_ = before;
  if (!found.empty()) return found;
  return equation;
}

ExprPtr LineCompiler::value(const Syntax& s, DType want) {
  // Index arithmetic is done in i64, whatever integer it is combined with.
  if (s.type.form == Form::kPosition && want != DType::kI64) {
    const ExprPtr e = value(s, DType::kI64);
    return e ? cast(want, e) : nullptr;
  }
  switch (s.kind) {
    case Syntax::Kind::kInteger:
    case Syntax::Kind::kFloat: return literal_value(s, want, false);
    case Syntax::Kind::kName: return name_value(s, want);
    case Syntax::Kind::kElement: return element_value(s);
    case Syntax::Kind::kUnary: return unary_value(s, want);
    case Syntax::Kind::kBinary: return binary_value(s, want);
    case Syntax::Kind::kCall: return call_value(s, want);
    case Syntax::Kind::kReduction: return reduction_value(s, want);
    case Syntax::Kind::kConditional: break;  // C only
  }
  return nullptr;
}

// A number, inf or nan as a value of `want`, rounded to it.
ExprPtr LineCompiler::literal_value(const Syntax& s, DType want, bool negative) {
  const std::string text = (negative ? "-" : "") + quote(s);
  const auto refuse = [&] { return fail(Code::kLiteralRange, s.begin, {text, to_text(want)}); };
  const bool word = s.kind == Syntax::Kind::kName;
  if (s.kind == Syntax::Kind::kInteger && is_integer(want)) {
    if (!fits(s.int_value, negative, want)) return refuse();
    const std::uint64_t bits = negative ? ~s.int_value + 1 : s.int_value;
    return int_literal(want, static_cast<std::int64_t>(bits));
  }
  if (!is_float(want)) return refuse();
  double number = s.kind == Syntax::Kind::kInteger ? static_cast<double>(s.int_value) : s.float_value;
  if (word) number = s.name == "inf" ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  const double rounded = round_to(want, negative ? -number : number);
  if (!word && (rounded > std::numeric_limits<double>::max() || rounded < -std::numeric_limits<double>::max())) return refuse();
  return literal(want, rounded);
}

ExprPtr LineCompiler::name_value(const Syntax& s, DType want) {
  if (bound(s.name) || (is_symbol(s.name) && !is_tensor(s.name))) return index(s.name);
  const Tensor* tensor = readable(s.name, s.offset, false);
  if (tensor) return read(tensor->name, tensor->dtype, {});
  if (s.name == "true" || s.name == "false") return int_literal(DType::kBool, s.name == "true" ? 1 : 0);
  return literal_value(s, want, false);
}

ExprPtr LineCompiler::element_value(const Syntax& s) {
  const Tensor* tensor = readable(s.name, s.offset, true);
  if (!tensor) return nullptr;
  Expr e;
  e.op = Op::kRead;
  e.type = tensor->dtype;
  e.name = tensor->name;
  e.offset = s.offset;
  bool ok = true;
  for (const SyntaxPtr& a : s.args) {
    e.args.push_back(subscript(*a, &e.wrap_gather));
    ok = ok && e.args.back();
  }
  if (s.pad) {
    e.pad = value(*s.pad, tensor->dtype);
    ok = ok && e.pad;
  }
  return ok ? std::make_shared<const Expr>(std::move(e)) : nullptr;
}

ExprPtr LineCompiler::subscript(const Syntax& s, bool* wraps) {
  IndexBuilder builder(
      line_.source, Language::kEquation, [&](const Syntax& leaf) { return gathered(leaf, wraps); }, &errors_);
  return builder.index(s);
}

// A leaf of a subscript: an index, a symbol, or an integer read from a tensor.
ExprPtr LineCompiler::gathered(const Syntax& s, bool* wraps) {
  const bool name = s.kind == Syntax::Kind::kName;
  if (name && (bound(s.name) || (is_symbol(s.name) && !is_tensor(s.name)))) return index(s.name);
  if (s.kind == Syntax::Kind::kCall && s.name == "wrap" && context_.operator_text && s.args.size() == 1) {
    *wraps = true;
    return subscript(*s.args[0], wraps);
  }
  const Syntax* element = &s;
  while (element->kind == Syntax::Kind::kCall && element->name == "cast" && element->args.size() == 2)
    element = element->args[1].get();
  if (element->kind != Syntax::Kind::kName && element->kind != Syntax::Kind::kElement)
    return fail(
        Code::kNotAffine, s.begin,
        {quote(s), "subscripts are of indices, symbols and elements of integer tensors; min and max are the only functions"});
  const OperandType type = infer(s);
  if (type.form == Form::kUnknown) return nullptr;
  if (type.form != Form::kFixed || !is_integer(type.dtype))
    return fail(Code::kWrongOperandDtype, s.begin, {"a subscript", "integers", quote(s), describe(type)});
  const ExprPtr e = value(s, type.dtype);
  return e ? cast(DType::kI64, e) : nullptr;
}

ExprPtr LineCompiler::unary_value(const Syntax& s, DType want) {
  const Syntax& a = *s.args[0];
  const bool word = a.kind == Syntax::Kind::kName && a.type.form == Form::kFraction;
  if (s.op == Op::kNeg && (a.kind == Syntax::Kind::kInteger || a.kind == Syntax::Kind::kFloat || word))
    return literal_value(a, want, true);
  const ExprPtr e = value(a, s.op == Op::kNot ? DType::kBool : want);
  return e ? unary(s.op, e) : nullptr;
}

ExprPtr LineCompiler::operation(const Syntax& s, ExprPtr a, ExprPtr b) {
  Op op = s.op;
  if (op == Op::kDiv && !is_float(a->type)) op = Op::kFloorDiv;
  if (op == Op::kFloorMod && is_float(a->type))
    return fail(Code::kWrongOperandDtype, s.begin, {"%", "integers", quote(s), to_text(a->type)},
                {"the floating point remainder is fmod(x, y)"});
  return binary(op, std::move(a), std::move(b));
}

ExprPtr LineCompiler::binary_value(const Syntax& s, DType want) {
  if (is_comparison(s.op)) return comparison_value(s);
  const DType type = s.op == Op::kAnd || s.op == Op::kOr ? DType::kBool : want;
  ExprPtr a = value(*s.args[0], type);
  ExprPtr b = value(*s.args[1], type);
  return a && b ? operation(s, std::move(a), std::move(b)) : nullptr;
}

// Operands in their common dtype; an index against narrower integers in i64, where neither side can wrap.
ExprPtr LineCompiler::comparison_value(const Syntax& s) {
  const Syntax& a = *s.args[0];
  const Syntax& b = *s.args[1];
  const DType common = natural(join(a, a.type, b, b.type));
  const bool position = a.type.form == Form::kPosition || b.type.form == Form::kPosition;
  const auto side = [&](const Syntax& x) -> ExprPtr {
    if (!position || common == DType::kU64) return value(x, common);
    const ExprPtr e = value(x, x.type.form == Form::kFixed ? common : DType::kI64);
    return e ? cast(DType::kI64, e) : nullptr;
  };
  ExprPtr x = side(a);
  ExprPtr y = side(b);
  return x && y ? binary(s.op, std::move(x), std::move(y)) : nullptr;
}

ExprPtr LineCompiler::call_value(const Syntax& s, DType want) {
  if (s.name == "cast") return cast_value(s);
  if (s.name != "select") return function_value(s, want);
  ExprPtr condition = value(*s.args[0], DType::kBool);
  ExprPtr then = value(*s.args[1], want);
  ExprPtr otherwise = value(*s.args[2], want);
  if (!condition || !then || !otherwise) return nullptr;
  return select(std::move(condition), std::move(then), std::move(otherwise));
}

ExprPtr LineCompiler::cast_value(const Syntax& s) {
  const Syntax& a = *s.args[1];
  const DType to = s.type.dtype;
  const bool literals = a.type.form == Form::kNumber || a.type.form == Form::kFraction;
  if (literals && is_float(to)) return value(a, to);
  const ExprPtr e = value(a, natural(a.type));
  if (!e) return nullptr;
  const bool whole = e->op == Op::kLiteral && e->type == DType::kI64 && is_integer(to);
  const std::uint64_t size = whole && e->int_value < 0 ? ~static_cast<std::uint64_t>(e->int_value) + 1
                             : whole                   ? static_cast<std::uint64_t>(e->int_value)
                                                       : 0;
  if (whole && fits(size, e->int_value < 0, to)) return int_literal(to, e->int_value);
  return cast(to, e);
}

ExprPtr LineCompiler::function_value(const Syntax& s, DType want) {
  const ScalarFunction& f = *find_function(s.name);
  DType type = want;
  if (f.domain == Domain::kBools) type = DType::kBool;
  if (f.domain == Domain::kTest) type = s.args[0]->type.form == Form::kFixed ? s.args[0]->type.dtype : DType::kF64;
  std::vector<ExprPtr> args;
  for (const SyntaxPtr& a : s.args) {
    args.push_back(value(*a, type));
    if (!args.back()) return nullptr;
  }
  if (f.domain == Domain::kRounding && !is_float(type)) return args[0];
  if (f.op == Op::kFMod && !is_float(type)) return binary(Op::kTruncMod, args[0], args[1]);
  if (f.arguments == 1) return unary(f.op, args[0]);
  ExprPtr e = args[0];
  for (std::size_t i = 1; i < args.size(); ++i) e = binary(f.op, e, args[i]);
  return e;
}

// Sums and products of 16-bit floats are accumulated in f32, sums of 8-bit integers in i32; `accumulate` overrides.
DType LineCompiler::accumulator(ReduceKind kind, DType dtype) const {
  if (kind != ReduceKind::kSum && kind != ReduceKind::kProd) return dtype;
  if (context_.accumulate && is_float(*context_.accumulate) == is_float(dtype)) return *context_.accumulate;
  if (dtype == DType::kF16 || dtype == DType::kBF16) return DType::kF32;
  if (kind == ReduceKind::kSum && (dtype == DType::kI8 || dtype == DType::kU8)) return DType::kI32;
  return dtype;
}

// `s` in the dtype `wide`: the operands of + - * are widened, so that a product of f16 is exact in f32 (contract V5 leaves the
// rounding of intermediates free). Integers wrap in their own dtype first.
ExprPtr LineCompiler::widened(const Syntax& s, DType narrow, DType wide) {
  if (narrow == wide) return value(s, wide);
  const bool arithmetic = s.kind == Syntax::Kind::kBinary && (s.op == Op::kAdd || s.op == Op::kSub || s.op == Op::kMul);
  if (arithmetic && is_float(narrow) && size_bytes(wide) > size_bytes(narrow)) {
    ExprPtr a = widened(*s.args[0], narrow, wide);
    ExprPtr b = widened(*s.args[1], narrow, wide);
    return a && b ? binary(s.op, std::move(a), std::move(b)) : nullptr;
  }
  const ExprPtr e = value(s, narrow);
  if (!e) return nullptr;
  return e->op == Op::kLiteral && is_float(wide) ? literal(wide, e->float_value) : cast(wide, e);
}

ExprPtr LineCompiler::reduction_value(const Syntax& s, DType want) {
  Reduction r;
  is_reduction_name(s.name, &r.kind);
  const Syntax& body = *s.args[0];
  const bool position = r.kind == ReduceKind::kArgMax || r.kind == ReduceKind::kArgMin;
  const bool fixed = body.type.form == Form::kFixed;
  const DType type = fixed ? body.type.dtype : position ? natural(body.type) : want;
  const DType acc = position ? DType::kI64 : accumulator(r.kind, type);
  ReductionInfo& info = info_of(s);
  enter(info);
  for (const BoundIndex& index : info.indices) r.ranges.push_back(index.range);
  bool ok = true;
  for (const Syntax* condition : info.conditions) {
    r.conditions.push_back(affine(*condition, true));
    ok = ok && r.conditions.back();
  }
  r.body = position ? value(body, type) : widened(body, type, acc);
  leave(info);
  if (!ok || !r.body) return nullptr;
  const ExprPtr e = reduce(acc, std::move(r));
  return position ? e : cast(s.type.form == Form::kFixed ? s.type.dtype : want, e);
}

}  // namespace facet
