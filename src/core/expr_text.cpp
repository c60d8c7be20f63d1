// Index-notation text of expressions.
#include <cmath>
#include <cstdio>

#include "facet/expr.hpp"

namespace facet {

namespace {

// Binding strength, loosest first; operators print parentheses only where needed.
enum Level { kOr, kXorLevel, kAnd, kBitOrLevel, kBitXorLevel, kBitAndLevel, kCompare, kShift, kSum, kTerm, kUnary, kAtom };

struct Spelling {
  const char* text;
  Level level;
  bool infix;
};

Spelling spelling(Op op) {
  switch (op) {
    case Op::kAdd: return {"+", kSum, true};
    case Op::kSub: return {"-", kSum, true};
    case Op::kMul: return {"*", kTerm, true};
    case Op::kDiv:
    case Op::kFloorDiv: return {"/", kTerm, true};
    case Op::kFloorMod: return {"%", kTerm, true};
    case Op::kLt: return {"<", kCompare, true};
    case Op::kLe: return {"<=", kCompare, true};
    case Op::kGt: return {">", kCompare, true};
    case Op::kGe: return {">=", kCompare, true};
    case Op::kEq: return {"==", kCompare, true};
    case Op::kNe: return {"!=", kCompare, true};
    case Op::kAnd: return {"and", kAnd, true};
    case Op::kOr: return {"or", kOr, true};
    case Op::kXor: return {"xor", kAtom, false};
    case Op::kBitAnd: return {"&", kBitAndLevel, true};
    case Op::kBitOr: return {"|", kBitOrLevel, true};
    case Op::kBitXor: return {"^", kBitXorLevel, true};
    case Op::kShl: return {"<<", kShift, true};
    case Op::kShr: return {">>", kShift, true};
    case Op::kTruncDiv: return {"tdiv", kAtom, false};
    case Op::kTruncMod: return {"tmod", kAtom, false};
    case Op::kFMod: return {"fmod", kAtom, false};
    case Op::kPow: return {"pow", kAtom, false};
    case Op::kMin: return {"min", kAtom, false};
    case Op::kMax: return {"max", kAtom, false};
    case Op::kCFMin: return {"fmin", kAtom, false};
    case Op::kCFMax: return {"fmax", kAtom, false};
    case Op::kNeg: return {"-", kUnary, false};
    case Op::kNot: return {"not", kAtom, false};
    case Op::kBitNot: return {"~", kUnary, false};
    case Op::kAbs: return {"abs", kAtom, false};
    case Op::kExp: return {"exp", kAtom, false};
    case Op::kLog: return {"log", kAtom, false};
    case Op::kSqrt: return {"sqrt", kAtom, false};
    case Op::kRsqrt: return {"rsqrt", kAtom, false};
    case Op::kTanh: return {"tanh", kAtom, false};
    case Op::kErf: return {"erf", kAtom, false};
    case Op::kSigmoid: return {"sigmoid", kAtom, false};
    case Op::kFloor: return {"floor", kAtom, false};
    case Op::kCeil: return {"ceil", kAtom, false};
    case Op::kRound: return {"round", kAtom, false};
    case Op::kTrunc: return {"trunc", kAtom, false};
    case Op::kSin: return {"sin", kAtom, false};
    case Op::kCos: return {"cos", kAtom, false};
    case Op::kTan: return {"tan", kAtom, false};
    case Op::kAsin: return {"asin", kAtom, false};
    case Op::kAcos: return {"acos", kAtom, false};
    case Op::kAtan: return {"atan", kAtom, false};
    case Op::kSinh: return {"sinh", kAtom, false};
    case Op::kCosh: return {"cosh", kAtom, false};
    case Op::kAsinh: return {"asinh", kAtom, false};
    case Op::kAcosh: return {"acosh", kAtom, false};
    case Op::kAtanh: return {"atanh", kAtom, false};
    case Op::kLog1p: return {"log1p", kAtom, false};
    case Op::kExpm1: return {"expm1", kAtom, false};
    case Op::kSign: return {"sign", kAtom, false};
    case Op::kIsNan: return {"isnan", kAtom, false};
    case Op::kIsInf: return {"isinf", kAtom, false};
    case Op::kSelect: return {"select", kAtom, false};
    case Op::kSplat: return {"splat", kAtom, false};
    case Op::kIota: return {"iota", kAtom, false};
    case Op::kFma: return {"fma", kAtom, false};
    default: return {"?", kAtom, false};
  }
}

// The shortest decimal text that reads back as the same value of `type`.
std::string float_text(double v, DType type) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  char buffer[64];
  for (int digits = 6; digits <= 17; ++digits) {
    std::snprintf(buffer, sizeof buffer, "%.*g", digits, v);
    const double back = std::strtod(buffer, nullptr);
    if (back == v || (type != DType::kF64 && static_cast<float>(back) == static_cast<float>(v))) break;
  }
  std::string text = buffer;
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string print(const ExprPtr& e, Level outer);

std::string list(const std::vector<ExprPtr>& items) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) text += (i ? ", " : "") + print(items[i], kOr);
  return text;
}

std::string reduction_text(const Expr& e) {
  const Reduction& r = *e.reduction;
  std::string names, where, ranges;
  for (const Range& range : r.ranges) {
    names += (names.empty() ? "" : ", ") + range.name;
    ranges +=
        (ranges.empty() ? " for " : ", ") + range.name + " in " + print(range.lower, kSum) + ".." + print(range.upper, kSum);
  }
  for (const ExprPtr& c : r.conditions) where += (where.empty() ? " where " : " and ") + print(c, kCompare);
  return to_text(r.kind) + "[" + names + "](" + print(r.body, kOr) + where + ranges + ")";
}

std::string print(const ExprPtr& e, Level outer) {
  switch (e->op) {
    case Op::kLiteral:
      if (is_float(e->type)) return float_text(e->float_value, e->type);
      if (e->type == DType::kBool) return e->int_value ? "true" : "false";
      return e->int_value < 0 && outer > kSum ? "(" + std::to_string(e->int_value) + ")" : std::to_string(e->int_value);
    case Op::kIndex:
    case Op::kValue: return e->name;
    case Op::kRead: {
      std::string text = e->name + "[" + list(e->args);
      if (e->pad) text += " ? " + print(e->pad, kOr);
      text += "]";
      if (e->lanes > 1) text += ":" + std::to_string(e->lanes);
      if (e->mask) text += "{" + print(e->mask, kOr) + "}";
      return text;
    }
    case Op::kReduce: return reduction_text(*e);
    case Op::kCast: return "cast(" + to_text(e->type) + ", " + print(e->args[0], kOr) + ")";
    case Op::kLaneReduce: return "lane_" + to_text(e->reduce_kind) + "(" + print(e->args[0], kOr) + ")";
    case Op::kExtract:
      if (e->args.size() > 1) return "concat(" + list(e->args) + ")";
      return (e->lanes > 1 ? "lanes" + std::to_string(e->lanes) : "lane") + "(" + print(e->args[0], kOr) + ", " +
             std::to_string(e->int_value) + ")";
    case Op::kIota:
    case Op::kSplat: return std::string(spelling(e->op).text) + std::to_string(e->lanes) + "(" + list(e->args) + ")";
    default: break;
  }
  const Spelling s = spelling(e->op);
  std::string text;
  if (s.infix) {
    const Level right = static_cast<Level>(s.level + 1);
    text = print(e->args[0], s.level == kCompare ? right : s.level) + " " + s.text + " " + print(e->args[1], right);
  } else if (s.level == kUnary) {
    text = s.text + print(e->args[0], kUnary);
  } else {
    return std::string(s.text) + "(" + list(e->args) + ")";
  }
  return s.level < outer ? "(" + text + ")" : text;
}

}  // namespace

std::string to_text(const ExprPtr& e) { return e ? print(e, kOr) : "<none>"; }

}  // namespace facet
