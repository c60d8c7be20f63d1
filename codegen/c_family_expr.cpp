// Scalar expressions, and what scalars and vectors spell alike.
//
// spell() gives text and strength; at() adds parentheses where C's precedence, or a compiler's -Wparentheses, wants them.
#include <algorithm>

#include "codegen/c_family.hpp"

namespace facet {

namespace {

struct Infix {
  const char* text;
  Level level;
};

// Operators whose C spelling means the same on every type they are used with here.
bool infix_of(Op op, Infix* infix) {
  switch (op) {
    case Op::kAdd: *infix = {"+", Level::kSum}; return true;
    case Op::kSub: *infix = {"-", Level::kSum}; return true;
    case Op::kMul: *infix = {"*", Level::kTerm}; return true;
    case Op::kDiv: *infix = {"/", Level::kTerm}; return true;
    case Op::kLt: *infix = {"<", Level::kCompare}; return true;
    case Op::kLe: *infix = {"<=", Level::kCompare}; return true;
    case Op::kGt: *infix = {">", Level::kCompare}; return true;
    case Op::kGe: *infix = {">=", Level::kCompare}; return true;
    case Op::kEq: *infix = {"==", Level::kEqual}; return true;
    case Op::kNe: *infix = {"!=", Level::kEqual}; return true;
    case Op::kAnd: *infix = {"&&", Level::kAnd}; return true;
    case Op::kOr: *infix = {"||", Level::kOr}; return true;
    case Op::kXor: *infix = {"!=", Level::kEqual}; return true;
    case Op::kBitAnd: *infix = {"&", Level::kBitAnd}; return true;
    case Op::kBitOr: *infix = {"|", Level::kBitOr}; return true;
    case Op::kBitXor: *infix = {"^", Level::kBitXor}; return true;
    default: return false;
  }
}

bool is_bitwise(Op op) { return op == Op::kBitAnd || op == Op::kBitOr || op == Op::kBitXor; }

// Helpers of one argument whose result has the argument's type.
const char* function_of(Op op) {
  switch (op) {
    case Op::kAbs: return "abs";
    case Op::kExp: return "exp";
    case Op::kLog: return "log";
    case Op::kSqrt: return "sqrt";
    case Op::kRsqrt: return "rsqrt";
    case Op::kTanh: return "tanh";
    case Op::kErf: return "erf";
    case Op::kSigmoid: return "sigmoid";
    case Op::kFloor: return "floor";
    case Op::kCeil: return "ceil";
    case Op::kRound: return "round_even";
    case Op::kTrunc: return "trunc";
    case Op::kSin: return "sin";
    case Op::kCos: return "cos";
    case Op::kTan: return "tan";
    case Op::kAsin: return "asin";
    case Op::kAcos: return "acos";
    case Op::kAtan: return "atan";
    case Op::kSinh: return "sinh";
    case Op::kCosh: return "cosh";
    case Op::kAsinh: return "asinh";
    case Op::kAcosh: return "acosh";
    case Op::kAtanh: return "atanh";
    case Op::kLog1p: return "log1p";
    case Op::kExpm1: return "expm1";
    case Op::kSign: return "sign";
    case Op::kFloorDiv: return "floor_div";
    case Op::kFloorMod: return "floor_mod";
    case Op::kTruncDiv: return "trunc_div";
    case Op::kTruncMod: return "trunc_mod";
    case Op::kFMod: return "fmod";
    case Op::kPow: return "pow";
    case Op::kMin: return "min";
    case Op::kMax: return "max";
    case Op::kCFMin: return "fmin";
    case Op::kCFMax: return "fmax";
    case Op::kShl: return "shl";
    case Op::kShr: return "shr";
    case Op::kFma: return "fma";
    default: return nullptr;
  }
}

bool is_rounding(Op op) { return op == Op::kFloor || op == Op::kCeil || op == Op::kRound || op == Op::kTrunc; }

bool is_positive_literal(const ExprPtr& e) { return e->op == Op::kLiteral && is_integer(e->type) && e->int_value > 0; }

}  // namespace

std::string CPrinter::call(const std::string& helper, DType type, int lanes, const std::vector<std::string>& args) {
  helpers.insert({helper, computed_as(type), lanes});
  std::string text = helper + "_" + type_suffix(type, lanes) + "(";
  for (std::size_t i = 0; i < args.size(); ++i) text += (i ? ", " : "") + args[i];
  return text + ")";
}

void CPrinter::fail(const std::string& what) {
  errors.push_back(diagnose(Code::kInternalError, {}, {"code generation", what}));
}

std::string CPrinter::value(const ExprPtr& e, Level level) { return at(e, level); }

std::string CPrinter::at(const ExprPtr& e, Level level) {
  const Spelled s = spell(e);
  return s.level < level ? "(" + s.text + ")" : s.text;
}

CPrinter::Spelled CPrinter::literal_text(const Expr& e) {
  if (e.lanes > 1) {
    Expr scalar = e;
    scalar.lanes = 1;
    return {call("splat", e.type, e.lanes, {literal_text(scalar).text})};
  }
  if (is_float(e.type)) {
    const std::string text = float_literal(e.type, e.float_value);
    return {text, text[0] == '-' ? Level::kUnary : Level::kAtom};
  }
  if (e.type == DType::kBool) return {e.int_value ? "true" : "false"};
  const std::string digits = std::to_string(e.int_value);
  switch (e.type) {
    case DType::kI32:
      if (e.int_value == INT32_MIN) return {"(-2147483647 - 1)"};
      return {digits, e.int_value < 0 ? Level::kUnary : Level::kAtom};
    case DType::kI64:
      if (e.int_value == INT64_MIN) return {"(-INT64_C(9223372036854775807) - 1)"};
      return {"INT64_C(" + digits + ")"};
    case DType::kU32: return {std::to_string(static_cast<std::uint32_t>(e.int_value)) + "u"};
    case DType::kU64: return {"UINT64_C(" + std::to_string(static_cast<std::uint64_t>(e.int_value)) + ")"};
    default: return {"(" + storage_type(e.type) + ")" + (e.int_value < 0 ? "(" + digits + ")" : digits), Level::kUnary};
  }
}

CPrinter::Spelled CPrinter::spell(const ExprPtr& e) {
  if (e->type == DType::kBool && e->lanes > 1) return mask_text(e);
  switch (e->op) {
    case Op::kLiteral: return literal_text(*e);
    case Op::kIndex: return {index_name(e->name)};
    case Op::kValue: return {names.of("value", e->name)};
    case Op::kRead: return e->lanes > 1 ? vector_read(e) : scalar_read(e);
    case Op::kCast: return cast_text(e);
    case Op::kSelect: return select_text(e);
    case Op::kSplat:
    case Op::kIota:
    case Op::kLaneReduce:
    case Op::kExtract: return lanes_text(e);
    case Op::kReduce: fail("a reduction reached the printer: " + to_text(e)); return {"0"};
    default: break;
  }
  if (is_plain_index(e)) return index_spelled(e);
  return e->args.size() == 1 ? unary_text(e) : infix_text(e);
}

CPrinter::Spelled CPrinter::unary_text(const ExprPtr& e) {
  const ExprPtr& a = e->args[0];
  const DType type = a->type;
  switch (e->op) {
    case Op::kNeg:
      if (is_float(type)) return {"-" + at(a, Level::kAtom), Level::kUnary};
      return {call("wrap_neg", type, e->lanes, {at(a, Level::kTernary)})};
    case Op::kNot: return {"!" + at(a, Level::kUnary), Level::kUnary};
    case Op::kBitNot:
      if (type == DType::kBool) return {"!" + at(a, Level::kUnary), Level::kUnary};
      if (e->lanes > 1 || size_bytes(type) >= 4) return {"~" + at(a, Level::kUnary), Level::kUnary};
      return {"(" + storage_type(type) + ")~" + at(a, Level::kUnary), Level::kUnary};
    case Op::kIsNan: {
      if (!is_float(type)) return {"false"};
      return {call("is_nan", type, 1, {at(a, Level::kTernary)})};
    }
    case Op::kIsInf: return is_float(type) ? Spelled{call("is_inf", type, 1, {at(a, Level::kTernary)})} : Spelled{"false"};
    default: break;
  }
  if (is_rounding(e->op) && !is_float(type)) return spell(a);
  const char* function = function_of(e->op);
  if (!function) {
    fail("no spelling for " + to_text(e));
    return {"0"};
  }
  return {call(function, type, e->lanes, {at(a, Level::kTernary)})};
}

CPrinter::Spelled CPrinter::infix_text(const ExprPtr& e) {
  const DType type = e->args[0]->type;
  const int lanes = e->lanes;
  Infix infix;
  if (!infix_of(e->op, &infix)) {
    if (e->op == Op::kFloorDiv || e->op == Op::kFloorMod || e->op == Op::kTruncDiv || e->op == Op::kTruncMod)
      return division(e);
    const char* function = function_of(e->op);
    if (!function) {
      fail("no spelling for " + to_text(e));
      return {"0"};
    }
    std::vector<std::string> args;
    for (const ExprPtr& a : e->args) args.push_back(lanes > 1 ? vector_arg(a, lanes) : at(a, Level::kTernary));
    return {call(e->op == Op::kFMod && !is_float(type) ? "trunc_mod" : function, type, lanes, args)};
  }
  const bool arithmetic = e->op == Op::kAdd || e->op == Op::kSub || e->op == Op::kMul;
  if (type == DType::kBool && is_bitwise(e->op))
    infix = e->op == Op::kBitAnd  ? Infix{"&&", Level::kAnd}
            : e->op == Op::kBitOr ? Infix{"||", Level::kOr}
                                  : Infix{"!=", Level::kEqual};
  if (arithmetic && !is_float(type) && type != DType::kBool) {
    const bool unsigned_wide = !is_signed(type) && (size_bytes(type) >= 4 || lanes > 1);
    if (!unsigned_wide) {
      const char* helper = e->op == Op::kAdd ? "wrap_add" : e->op == Op::kSub ? "wrap_sub" : "wrap_mul";
      if (lanes > 1) return {call(helper, type, lanes, {vector_arg(e->args[0], lanes), vector_arg(e->args[1], lanes)})};
      return {call(helper, type, lanes, {at(e->args[0], Level::kTernary), at(e->args[1], Level::kTernary)})};
    }
  }
  if (arithmetic && type == DType::kBool) infix = e->op == Op::kMul ? Infix{"&&", Level::kAnd} : Infix{"||", Level::kOr};
  // One level tighter on the right (a - (b - c)), and on both sides where compilers suggest parentheses.
  const Level right = static_cast<Level>(static_cast<int>(infix.level) + 1);
  const bool associative = e->op == Op::kAnd || e->op == Op::kOr;
  Level side = infix.level;
  if (infix.level == Level::kCompare || infix.level == Level::kEqual) side = Level::kShift;
  if (infix.level <= Level::kBitAnd) side = e->op == Op::kAnd || e->op == Op::kOr ? Level::kEqual : Level::kUnary;
  // C spreads a scalar over the lanes itself, where the other operand is a vector.
  const bool spreads = lanes > 1 && is_float(type) && (arithmetic || e->op == Op::kDiv);
  const bool compares = infix.level == Level::kCompare || infix.level == Level::kEqual;
  const auto is_vector = [](const ExprPtr& a) { return a->lanes > 1 && a->op != Op::kSplat; };
  const bool beside_vector = is_vector(e->args[0]) || is_vector(e->args[1]);
  const auto operand = [&](const ExprPtr& a, Level level) {
    if (spreads && beside_vector && a->op == Op::kSplat && a->type == a->args[0]->type) return at(a->args[0], level);
    // Beside a 64-bit number a small one needs no type of its own.
    if (compares && lanes == 1 && a->op == Op::kLiteral && a->type == DType::kI64) return index_text(a, level);
    if (associative && a->op == e->op && a->type == e->type) return at(a, infix.level);
    return at(a, level);
  };
  const bool tight = infix.level <= Level::kEqual;
  const std::string text = operand(e->args[0], side) + " " + infix.text + " " +
                           operand(e->args[1], tight || infix.level == Level::kCompare ? side : right);
  if (is_bitwise(e->op) && type != DType::kBool && lanes == 1 && size_bytes(type) < 4)
    return {"(" + storage_type(type) + ")(" + text + ")", Level::kUnary};
  return {text, infix.level};
}

CPrinter::Spelled CPrinter::division(const ExprPtr& e) {
  const ExprPtr& a = e->args[0];
  const ExprPtr& b = e->args[1];
  const bool modulo = e->op == Op::kFloorMod || e->op == Op::kTruncMod;
  const bool truncating = e->op == Op::kTruncDiv || e->op == Op::kTruncMod;
  const bool wide = size_bytes(a->type) >= 4;
  if (e->lanes == 1 && wide && is_positive_literal(b) && (truncating || !is_signed(a->type) || non_negative(a))) {
    const bool index = is_plain_index(a);
    const std::string left = index ? index_text(a, Level::kTerm) : at(a, Level::kTerm);
    return {left + (modulo ? " % " : " / ") + (index ? std::to_string(b->int_value) : at(b, Level::kUnary)), Level::kTerm};
  }
  const std::vector<std::string> args = {e->lanes > 1 ? vector_arg(a, e->lanes) : at(a, Level::kTernary),
                                         e->lanes > 1 ? vector_arg(b, e->lanes) : at(b, Level::kTernary)};
  return {call(function_of(e->op), a->type, e->lanes, args)};
}

CPrinter::Spelled CPrinter::cast_text(const ExprPtr& e) {
  const ExprPtr& a = e->args[0];
  const DType to = e->type;
  const DType from = a->type;
  if (e->lanes > 1) return lanes_text(e);
  if (to == DType::kBool) return {at(a, Level::kShift) + " != 0", Level::kEqual};
  if (to == DType::kF16 || to == DType::kBF16) {
    // Integers up to 53 bits are exact in double; wider ones round once there, far above the largest f16.
    const DType via = is_float(from) ? computed_as(from) : DType::kF64;
    const std::string text = is_float(from) ? at(a, Level::kTernary) : "(double)" + at(a, Level::kUnary);
    return {call(to == DType::kF16 ? "round_f16" : "round_bf16", via, 1, {text})};
  }
  if (is_float(from) && is_integer(to)) return {call("to_" + to_text(to), from, 1, {at(a, Level::kTernary)})};
  if (value_type(to, 1) == value_type(from, 1)) return spell(a);
  return {"(" + value_type(to, 1) + ")" + at(a, Level::kUnary), Level::kUnary};
}

CPrinter::Spelled CPrinter::select_text(const ExprPtr& e) {
  const ExprPtr& condition = e->args[0];
  if (e->lanes > 1 && condition->lanes > 1) {
    const int bytes = e->type == DType::kBool ? 4 : static_cast<int>(size_bytes(computed_as(e->type)));
    return {mask(condition, bytes) + " ? " + vector_arg(e->args[1], e->lanes) + " : " + vector_arg(e->args[2], e->lanes),
            Level::kTernary};
  }
  const auto arm = [&](const ExprPtr& a) { return e->lanes > 1 ? vector_arg(a, e->lanes) : at(a, Level::kOr); };
  const std::string text = at(condition, Level::kOr) + " ? " + arm(e->args[1]) + " : " + arm(e->args[2]);
  const bool narrow = e->lanes == 1 && is_integer(e->type) && size_bytes(e->type) < 4;
  if (narrow) return {"(" + storage_type(e->type) + ")(" + text + ")", Level::kUnary};
  return {text, Level::kTernary};
}

}  // namespace facet
