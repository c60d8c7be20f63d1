// Values of op `loops`: C's operators with the usual arithmetic conversions made explicit (contract L3).
//
// A type is fixed, or open (Form::kFraction) for literals and calls whose C type is double only because C has no other
// spelling: they take the precision of what they meet, so `0.5 * x` stays f32 beside an f32 x.
#include <cmath>
#include <limits>

#include "facet/host_tensor.hpp"
#include "facet/nearest.hpp"
#include "src/frontend/loops_functions.hpp"
#include "src/frontend/loops_parser.hpp"

namespace facet {

namespace {

OperandType fixed(DType dtype) { return {OperandType::Form::kFixed, dtype}; }
const OperandType kOpen = {OperandType::Form::kFraction, DType::kF64};

bool is_fixed_float(const OperandType& t) { return t.form == OperandType::Form::kFixed && is_float(t.dtype); }
bool is_comparison(Op op) { return op >= Op::kLt && op <= Op::kNe; }
bool is_bitwise(Op op) { return op >= Op::kBitAnd && op <= Op::kBitXor; }
bool is_shift(Op op) { return op == Op::kShl || op == Op::kShr; }

DType promoted(DType t) {
  if (t == DType::kBool || (is_integer(t) && size_bytes(t) < 4)) return DType::kI32;
  return t == DType::kF16 || t == DType::kBF16 ? DType::kF32 : t;  // as C compilers without 16-bit arithmetic
}

// C's usual arithmetic conversions.
OperandType common(const OperandType& a, const OperandType& b) {
  using Form = OperandType::Form;
  if (a.form == Form::kUnknown || b.form == Form::kUnknown) return {};
  if (is_fixed_float(a) || is_fixed_float(b)) {
    const bool wide = (is_fixed_float(a) && a.dtype == DType::kF64) || (is_fixed_float(b) && b.dtype == DType::kF64);
    return fixed(wide ? DType::kF64 : DType::kF32);
  }
  if (a.form == Form::kFraction || b.form == Form::kFraction) return kOpen;
  const DType x = promoted(a.dtype), y = promoted(b.dtype);
  for (const DType t : {DType::kU64, DType::kI64, DType::kU32})
    if (x == t || y == t) return fixed(t);
  return fixed(DType::kI32);
}

// C's round: half away from zero. |x - trunc(x)| is exact.
ExprPtr round_away(const ExprPtr& x) {
  const ExprPtr whole = unary(Op::kTrunc, x);
  const ExprPtr rest = unary(Op::kAbs, binary(Op::kSub, x, whole));
  return select(binary(Op::kGe, rest, literal(x->type, 0.5)), binary(Op::kAdd, whole, unary(Op::kSign, x)), whole);
}

int node_count(const ExprPtr& e, int limit) {
  int count = 1;
  for (const ExprPtr& a : e->args)
    if (count < limit) count += node_count(a, limit - count);
  return count;
}

}  // namespace

ExprPtr convert(DType to, const ExprPtr& e) {
  if (e->op == Op::kLiteral && e->type == DType::kI32 && is_float(to))
    return literal(to, round_to(to, static_cast<double>(e->int_value)));
  if (e->op == Op::kLiteral && e->type == DType::kI32 && to == DType::kI64) return int_literal(to, e->int_value);
  return cast(to, e);
}

OperandType LoopParser::infer(const Syntax& s) {
  OperandType type;
  switch (s.kind) {
    case Syntax::Kind::kInteger:
    case Syntax::Kind::kFloat: type = infer_number(s); break;
    case Syntax::Kind::kName: type = infer_name(s); break;
    case Syntax::Kind::kElement: type = infer_element(s); break;
    case Syntax::Kind::kUnary: type = infer_unary(s); break;
    case Syntax::Kind::kBinary: type = infer_binary(s); break;
    case Syntax::Kind::kCall: type = infer_call(s); break;
    case Syntax::Kind::kConditional: {
      const bool condition = infer(*s.args[0]).form != Form::kUnknown;
      infer(*s.args[1]);
      infer(*s.args[2]);
      type = common(s.args[1]->type, s.args[2]->type);
      if (!condition) type = {};
      break;
    }
    case Syntax::Kind::kReduction: break;  // equations only
  }
  s.type = type;
  return type;
}

OperandType LoopParser::infer_number(const Syntax& s) {
  const bool has_f = s.suffix.find('f') != std::string::npos;
  const bool has_l = s.suffix.find('l') != std::string::npos;
  const bool has_u = s.suffix.find('u') != std::string::npos;
  if (s.kind == Syntax::Kind::kFloat) return has_f ? fixed(DType::kF32) : has_l ? fixed(DType::kF64) : kOpen;
  if (has_u) return fixed(s.int_value <= 0xffffffffu && !has_l ? DType::kU32 : DType::kU64);
  if (s.int_value <= 0x7fffffff && !has_l) return fixed(DType::kI32);
  if (s.int_value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return fixed(DType::kI64);
  fail(Code::kLiteralRange, s.begin, {quote(s), "i64"}, {"write the suffix ULL for an unsigned number"});
  return {};
}

// The tensor that an unbound name stands for; null, after a complaint if asked for.
const Tensor* LoopParser::readable(const Syntax& s, bool complain) {
  const auto it = context_.program->tensors.find(s.name);
  const bool listed = has_role(context_.in, s.name) || has_role(context_.inout, s.name) || has_role(context_.out, s.name);
  if (it != context_.program->tensors.end() && listed) return &it->second;
  if (!complain) return nullptr;
  if (it != context_.program->tensors.end())
    return fail(Code::kUnknownNameInText, s.offset, {s.name, "listed in \"in\", \"inout\" or \"out\" of this op"},
                {"add \"" + s.name + "\" to \"in\""});
  std::vector<std::string> notes = did_you_mean(s.name, visible_names());
  if (notes.empty())
    notes = {
        "an array is declared in \"tensors\" and named in \"in\", \"inout\" or \"out\"; a scalar is declared here: float " +
        s.name + ";"};
  return fail(Code::kUnknownNameInText, s.offset, {s.name, "a tensor, symbol, loop variable or scalar here"}, std::move(notes));
}

OperandType LoopParser::infer_name(const Syntax& s) {
  if (const CBinding* binding = bound(s.name)) {
    if (binding->kind != CBinding::Kind::kFinished) return fixed(binding->dtype);
    fail(Code::kUnknownNameInText, s.offset, {s.name, "known here: a loop used it as its variable"},
         {"declare another scalar"});
    return {};
  }
  if (is_symbol(s.name)) {
    const ExprPtr e = affine_leaf(s);
    const Interval range = e ? interval(e) : Interval{};
    if (!e) return {};
    return fixed(range.low >= -2147483648LL && range.high <= 2147483647LL ? DType::kI32 : DType::kI64);
  }
  if (!readable(s, false)) {
    if (s.name == "true" || s.name == "false") return fixed(DType::kI32);
    if (find_c_constant(s.name)) return kOpen;
  }
  const Tensor* tensor = readable(s, true);
  if (!tensor) return {};
  if (tensor->shape.empty()) return fixed(tensor->dtype);
  fail(Code::kSubscriptCount, s.offset, {s.name, std::to_string(tensor->shape.size()), "no"});
  return {};
}

OperandType LoopParser::infer_element(const Syntax& s) {
  if (bound(s.name) || (is_symbol(s.name) && !readable(s, false))) {
    fail(Code::kUnknownNameInText, s.offset, {s.name, "an array: it takes no subscripts"});
    return {};
  }
  const Tensor* tensor = readable(s, true);
  if (!tensor) return {};
  if (tensor->shape.size() == s.args.size()) return fixed(tensor->dtype);
  fail(Code::kSubscriptCount, s.offset, {s.name, std::to_string(tensor->shape.size()), std::to_string(s.args.size())});
  return {};
}

OperandType LoopParser::infer_unary(const Syntax& s) {
  const Syntax& a = *s.args[0];
  const OperandType type = infer(a);
  if (type.form == Form::kUnknown) return type;
  if (s.op == Op::kCast) return fixed(s.cast_type);
  if (s.op == Op::kNot) return fixed(DType::kBool);
  const bool floating = type.form == Form::kFraction || is_float(type.dtype);
  if (s.op == Op::kBitNot && floating) {
    fail(Code::kWrongOperandDtype, a.begin, {"~", "integers", quote(a), describe(type)});
    return {};
  }
  return type.form == Form::kFraction ? type : fixed(promoted(type.dtype));
}

OperandType LoopParser::infer_binary(const Syntax& s) {
  const Syntax& a = *s.args[0];
  const Syntax& b = *s.args[1];
  infer(a);
  infer(b);
  const OperandType type = common(a.type, b.type);
  if (type.form == Form::kUnknown) return type;
  if (s.op == Op::kAnd || s.op == Op::kOr || is_comparison(s.op)) return fixed(DType::kBool);
  const bool floating = type.form == Form::kFraction || is_float(type.dtype);
  if (floating && (is_bitwise(s.op) || is_shift(s.op) || s.op == Op::kFloorMod)) {
    const std::vector<std::string> notes = {s.op == Op::kFloorMod ? "the floating point remainder is fmod(x, y)"
                                                                  : "bit operations take integers"};
    const Syntax& culprit = a.type.form == Form::kFraction || is_fixed_float(a.type) ? a : b;
    fail(Code::kWrongOperandDtype, culprit.begin,
         {"'" + source_.text().substr(static_cast<std::size_t>(s.offset), is_shift(s.op) ? 2 : 1) + "'", "integers",
          quote(culprit), describe(culprit.type)},
         notes);
    return {};
  }
  return is_shift(s.op) ? fixed(promoted(a.type.dtype)) : type;
}

OperandType LoopParser::infer_call(const Syntax& s) {
  char suffix = 0;
  const CMathFunction* f = find_c_function(s.name, &suffix);
  if (!f) {
    fail(Code::kUnknownFunction, s.offset, {s.name}, did_you_mean(s.name, c_function_names()));
    return {};
  }
  const int count = static_cast<int>(s.args.size());
  const bool many = f->kind == CMathFunction::kCommon;
  if (many ? count < 2 : count != f->arguments) {
    fail(Code::kArgumentCount, s.offset,
         {s.name, (many ? "at least " : "") + std::to_string(f->arguments), std::to_string(count)});
    return {};
  }
  OperandType type;
  for (const SyntaxPtr& a : s.args) {
    const OperandType next = infer(*a);
    if (next.form == Form::kUnknown) return {};
    type = type.form == Form::kUnknown ? next : common(type, next);
  }
  if (type.form == Form::kUnknown) return type;
  if (f->kind == CMathFunction::kCommon) return type;
  if (f->kind == CMathFunction::kAbs) return type.form == Form::kFraction ? type : fixed(promoted(type.dtype));
  if (f->kind == CMathFunction::kTest) return fixed(DType::kBool);
  if (suffix) return fixed(suffix == 'f' ? DType::kF32 : DType::kF64);
  return is_fixed_float(type) ? fixed(promoted(type.dtype)) : kOpen;
}

// Open parts take the dtype `weak`; the result has s.type, or `weak` when that is open.
ExprPtr LoopParser::build(const Syntax& s, DType weak) {
  switch (s.kind) {
    case Syntax::Kind::kInteger:
    case Syntax::Kind::kFloat: return build_number(s, weak);
    case Syntax::Kind::kName: return build_name(s, weak);
    case Syntax::Kind::kElement: return build_element(s);
    case Syntax::Kind::kUnary: return build_unary(s, weak);
    case Syntax::Kind::kBinary: return build_binary(s, weak);
    case Syntax::Kind::kCall: return build_call(s, weak);
    case Syntax::Kind::kConditional: {
      const DType type = s.type.form == Form::kFixed ? s.type.dtype : weak;
      const ExprPtr condition = boolean(*s.args[0]);
      const ExprPtr then = build_as(*s.args[1], type);
      const ExprPtr otherwise = build_as(*s.args[2], type);
      return condition && then && otherwise ? select(condition, then, otherwise) : nullptr;
    }
    case Syntax::Kind::kReduction: break;  // equations only
  }
  return nullptr;
}

ExprPtr LoopParser::build_as(const Syntax& s, DType type) {
  const DType weak = !is_float(type) ? DType::kF64 : promoted(type);
  const ExprPtr e = build(s, weak);
  return e ? convert(type, e) : nullptr;
}

ExprPtr LoopParser::boolean(const Syntax& s) {
  const ExprPtr e = build(s, DType::kF64);
  if (!e || e->type == DType::kBool) return e;
  return binary(Op::kNe, e, literal(e->type, 0));
}

ExprPtr LoopParser::build_number(const Syntax& s, DType weak) {
  if (s.kind == Syntax::Kind::kInteger) return int_literal(s.type.dtype, static_cast<std::int64_t>(s.int_value));
  const DType type = s.type.form == Form::kFixed ? s.type.dtype : weak;
  const double value = round_to(type, s.float_value);
  if (!std::isfinite(value)) return fail(Code::kLiteralRange, s.begin, {quote(s), to_text(type)});
  return literal(type, value);
}

ExprPtr LoopParser::build_name(const Syntax& s, DType weak) {
  if (const CBinding* binding = bound(s.name)) {
    if (binding->kind == CBinding::Kind::kScalar) return read(binding->unique, binding->dtype, {});
    const ExprPtr e = affine_leaf(s);
    return e ? convert(binding->dtype, e->op == Op::kLiteral ? int_literal(DType::kI64, e->int_value) : e) : nullptr;
  }
  if (is_symbol(s.name)) return convert(s.type.dtype, index(s.name));
  if (const Tensor* tensor = readable(s, false)) return read(tensor->name, tensor->dtype, {});
  if (s.name == "true" || s.name == "false") return int_literal(DType::kI32, s.name == "true" ? 1 : 0);
  const double* constant = find_c_constant(s.name);
  return constant ? literal(weak, round_to(weak, *constant)) : nullptr;
}

ExprPtr LoopParser::build_element(const Syntax& s) {
  const Tensor* tensor = readable(s, true);
  if (!tensor) return nullptr;
  Expr e;
  e.op = Op::kRead;
  e.type = tensor->dtype;
  e.name = tensor->name;
  e.offset = s.offset;
  bool ok = true;
  for (const SyntaxPtr& a : s.args) {
    e.args.push_back(affine(*a, false));
    ok = ok && e.args.back();
  }
  return ok ? std::make_shared<const Expr>(std::move(e)) : nullptr;
}

ExprPtr LoopParser::build_unary(const Syntax& s, DType weak) {
  const Syntax& a = *s.args[0];
  if (s.op == Op::kNot) {
    const ExprPtr e = boolean(a);
    return e ? unary(Op::kNot, e) : nullptr;
  }
  if (s.op == Op::kCast) {
    if (s.cast_type == DType::kBool) return boolean(a);
    return build_as(a, s.cast_type);
  }
  const ExprPtr e = build_as(a, s.type.form == Form::kFixed ? s.type.dtype : weak);
  if (!e) return nullptr;
  if (s.op == Op::kNeg && e->op == Op::kLiteral && (is_float(e->type) || is_signed(e->type)))
    return is_float(e->type) ? literal(e->type, -e->float_value)
                             : int_literal(e->type, static_cast<std::int64_t>(~static_cast<std::uint64_t>(e->int_value) + 1));
  return unary(s.op, e);
}

ExprPtr LoopParser::build_binary(const Syntax& s, DType weak) {
  const Syntax& a = *s.args[0];
  const Syntax& b = *s.args[1];
  if (s.op == Op::kAnd || s.op == Op::kOr) {
    const ExprPtr x = boolean(a), y = boolean(b);
    return x && y ? binary(s.op, x, y) : nullptr;
  }
  DType type = DType::kF64;
  if (is_comparison(s.op)) {
    const OperandType t = common(a.type, b.type);
    if (t.form == Form::kFixed) type = t.dtype;
  } else {
    type = s.type.form == Form::kFixed ? s.type.dtype : weak;
  }
  const ExprPtr x = build_as(a, type), y = build_as(b, type);
  if (!x || !y) return nullptr;
  Op op = s.op;
  if (op == Op::kDiv && !is_float(type)) op = Op::kTruncDiv;
  if (op == Op::kFloorMod) op = Op::kTruncMod;
  return binary(op, x, y);
}

ExprPtr LoopParser::build_call(const Syntax& s, DType weak) {
  char suffix = 0;
  const CMathFunction& f = *find_c_function(s.name, &suffix);
  DType type = s.type.form == Form::kFixed ? s.type.dtype : weak;
  if (f.kind == CMathFunction::kTest) type = is_fixed_float(s.args[0]->type) ? s.args[0]->type.dtype : DType::kF64;
  std::vector<ExprPtr> args;
  for (const SyntaxPtr& a : s.args) {
    args.push_back(build_as(*a, type));
    if (!args.back()) return nullptr;
  }
  if (f.kind == CMathFunction::kRoundAway) {
    constexpr int kLargest = 100;  // the argument is used six times
    if (node_count(args[0], kLargest) >= kLargest)
      return fail(Code::kTextTooLong, s.begin, {std::to_string(kLargest)}, {"store the argument of round in a scalar first"});
    return round_away(args[0]);
  }
  if (f.arguments == 1) return unary(f.op, args[0]);
  ExprPtr e = args[0];
  for (std::size_t i = 1; i < args.size(); ++i) e = binary(f.op, e, args[i]);
  return e;
}

}  // namespace facet
