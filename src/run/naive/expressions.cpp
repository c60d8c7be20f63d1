// Expressions of a naive program as C++ text. Index arithmetic is plain int64_t; everything else is Real<P> or Whole.
#include <cassert>
#include <cmath>
#include <cstdio>

#include "src/run/naive/printer.hpp"

namespace facet::naive {

namespace {

// Made of literals, indices and integer arithmetic only, so that plain int64_t does.
bool is_plain(const ExprPtr& e) {
  bool plain = true;
  walk(e, [&](const Expr& node) {
    const bool leaf = node.op == Op::kLiteral || node.op == Op::kIndex;
    const bool comparison = node.op >= Op::kLt && node.op <= Op::kXor;
    const bool arithmetic = node.op == Op::kNeg || node.op == Op::kNot || node.op == Op::kAdd || node.op == Op::kSub ||
                            node.op == Op::kMul || node.op == Op::kFloorDiv || node.op == Op::kFloorMod ||
                            node.op == Op::kMin || node.op == Op::kMax || node.op == Op::kSelect;
    plain = plain && (leaf || comparison || arithmetic) && (node.type == DType::kI64 || node.type == DType::kBool);
  });
  return plain;
}

std::string double_text(double v) {
  if (std::isnan(v)) return "std::numeric_limits<double>::quiet_NaN()";
  if (std::isinf(v)) return v > 0 ? "kInf" : "-kInf";
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", v);
  return text;
}

std::string int_text(std::int64_t v) { return v == INT64_MIN ? "(-9223372036854775807 - 1)" : std::to_string(v); }

const char* infix(Op op) {
  switch (op) {
    case Op::kAdd: return " + ";
    case Op::kSub: return " - ";
    case Op::kMul: return " * ";
    case Op::kDiv: return " / ";
    case Op::kLt: return " < ";
    case Op::kLe: return " <= ";
    case Op::kGt: return " > ";
    case Op::kGe: return " >= ";
    case Op::kEq: return " == ";
    case Op::kNe:
    case Op::kXor: return " != ";
    case Op::kAnd: return " && ";
    case Op::kOr: return " || ";
    case Op::kBitAnd: return " & ";
    case Op::kBitOr: return " | ";
    case Op::kBitXor: return " ^ ";
    default: return nullptr;
  }
}

}  // namespace

std::string Printer::index_name(const std::string& name) {
  for (const Symbol& s : program_.symbols)
    if (s.name == name) return symbol_name(name);
  return names_.of("index", name);
}

std::string Printer::index_text(const ExprPtr& e) {
  if (!is_plain(e)) return value(e) + ".v";
  const auto arg = [&](std::size_t i) { return index_text(e->args[i]); };
  switch (e->op) {
    case Op::kLiteral: return e->type == DType::kBool ? (e->int_value ? "true" : "false") : int_text(e->int_value);
    case Op::kIndex: return index_name(e->name);
    case Op::kNeg: return "-" + arg(0);
    case Op::kNot: return "!" + arg(0);
    case Op::kFloorDiv: return "floor_div(" + arg(0) + ", " + arg(1) + ")";
    case Op::kFloorMod: return "floor_mod(" + arg(0) + ", " + arg(1) + ")";
    case Op::kMin: return "smaller(" + arg(0) + ", " + arg(1) + ")";
    case Op::kMax: return "larger(" + arg(0) + ", " + arg(1) + ")";
    case Op::kSelect: return "(" + arg(0) + " ? " + arg(1) + " : " + arg(2) + ")";
    default: return "(" + arg(0) + infix(e->op) + arg(1) + ")";
  }
}

std::string Printer::condition_text(const ExprPtr& e) { return is_plain(e) ? index_text(e) : value(e) + ".v"; }

std::string Printer::number_type(DType type) {
  return is_float(type) ? "Real<" + std::to_string(bits_of(type)) + ">" : "Whole";
}

std::string Printer::literal_text(const Expr& e) {
  if (!is_float(e.type)) return "Whole{" + int_text(e.int_value) + "}";
  const std::string number = double_text(e.float_value);
  const bool exact =
      e.type == DType::kF64 || !std::isfinite(e.float_value) || e.float_value == std::nearbyint(e.float_value * 8) / 8;
  const std::string bits = std::to_string(bits_of(e.type));
  // A literal is a value of its dtype: 0.1 in f32 is not 0.1 in f64.
  return number_type(e.type) + "{" +
         (exact && std::fabs(e.float_value) < 16 ? number : "rounded<" + bits + ">(" + number + ")") + "}";
}

std::string Printer::subscript_list(const std::vector<ExprPtr>& subscripts) {
  std::string text;
  for (const ExprPtr& s : subscripts) text += (text.empty() ? "" : ", ") + index_text(s);
  return text;
}

std::string Printer::read_text(const ExprPtr& e) {
  const std::string tensor = tensor_name(e->name);
  std::string subscripts;
  std::string guard;
  for (std::size_t d = 0; d < e->args.size(); ++d) {
    const bool gathers = !is_plain(e->args[d]);
    const std::string index = index_text(e->args[d]);
    const std::string extent = tensor + ".extent[" + std::to_string(d) + "]";
    std::string subscript = index;
    const bool guarded = e->pad && !(gathers && e->wrap_gather);
    if (gathers && e->wrap_gather) {
      use(Piece::kGather);
      subscript = "wrapped_gather(" + index + ", " + extent + ")";
    } else if (gathers && !e->pad) {
      use(Piece::kGather);
      subscript = "gather(" + index + ", " + extent + ", \"" + to_text(e) + "\", [&] { return " + element_ + "; })";
    }
    if (guarded) guard += (guard.empty() ? "" : " && ") + ("inside(" + index + ", " + extent + ")");
    subscripts += (subscripts.empty() ? "" : ", ") + subscript;
  }
  const std::string element = tensor + "(" + subscripts + ")";
  return guard.empty() ? element : "(" + guard + " ? " + element + " : " + value(e->pad) + ")";
}

std::string Printer::cast_text(const ExprPtr& e) {
  const DType from = e->args[0]->type;
  const std::string a = value(e->args[0]);
  const std::string bits = std::to_string(bits_of(e->type));
  if (is_float(e->type)) return (from == DType::kU64 ? "to_real_unsigned<" : "to_real<") + bits + ">(" + a + ")";
  use(Piece::kIntegers);
  if (!is_float(from)) return std::string("convert<") + c_type(e->type) + ">(" + a + ")";
  if (e->type == DType::kBool) return "not_equal(" + a + ", " + number_type(from) + "{0})";
  return std::string("to_whole<") + c_type(e->type) + ">(" + a + ")";
}

std::string Printer::unary_text(const ExprPtr& e) {
  const std::string a = value(e->args[0]);
  const DType type = e->args[0]->type;
  if (is_float(type)) {
    switch (e->op) {
      case Op::kNeg: return "-" + a;
      case Op::kAbs: return "abs(" + a + ")";
      case Op::kIsNan: return "is_nan(" + a + ")";
      case Op::kIsInf: return "is_inf(" + a + ")";
      default: break;
    }
    use(Piece::kMath);
    functions_.insert(e->op);
    return function_name(e->op) + "(" + a + ")";
  }
  use(Piece::kIntegers);
  const std::string t = std::string("<") + c_type(type) + ">(";
  switch (e->op) {
    case Op::kNeg: return "neg" + t + a + ")";
    case Op::kNot: return "calc<bool>([](bool p) { return !p; }, " + a + ")";
    case Op::kBitNot:
      return "calc" + t + (type == DType::kBool ? "[](bool p) { return !p; }, " : "[](auto p) { return ~p; }, ") + a + ")";
    case Op::kAbs:
      return is_signed(type)
                 ? "calc" + t +
                       "[](auto p) { return p < 0 ? 0 - static_cast<std::uint64_t>(p) : static_cast<std::uint64_t>(p); }, " +
                       a + ")"
                 : a;
    case Op::kSign: return "calc" + t + "[](auto p) { return (p > 0) - (p < 0); }, " + a + ")";
    case Op::kIsNan:
    case Op::kIsInf: return "calc<bool>([](bool) { return false; }, " + a + ")";
    default: return a;  // floor, ceil, round, trunc of an integer
  }
}

std::string Printer::real_binary_text(const ExprPtr& e) {
  const std::string a = value(e->args[0]);
  const std::string b = value(e->args[1]);
  switch (e->op) {
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kDiv: return "(" + a + infix(e->op) + b + ")";
    case Op::kMin: return "min(" + a + ", " + b + ")";
    case Op::kMax: return "max(" + a + ", " + b + ")";
    case Op::kCFMin: use(Piece::kFmaxFmin); return "fmin(" + a + ", " + b + ")";
    case Op::kCFMax: use(Piece::kFmaxFmin); return "fmax(" + a + ", " + b + ")";
    case Op::kPow: use(Piece::kPower); return "pow(" + a + ", " + b + ")";
    case Op::kFMod:
    case Op::kTruncMod:
      use(Piece::kRemainder);
      return "remainder([](double q) { return std::trunc(q); }, " + a + ", " + b + ")";
    case Op::kFloorMod:
      use(Piece::kRemainder);
      return "remainder([](double q) { return std::floor(q); }, " + a + ", " + b + ")";
    case Op::kFloorDiv:
    case Op::kTruncDiv: {
      const Op step = e->op == Op::kFloorDiv ? Op::kFloor : Op::kTrunc;
      use(Piece::kMath);
      functions_.insert(step);
      return function_name(step) + "(" + a + " / " + b + ")";
    }
    case Op::kLt: return "less(" + a + ", " + b + ")";
    case Op::kLe: return "less_equal(" + a + ", " + b + ")";
    case Op::kGt: return "greater(" + a + ", " + b + ")";
    case Op::kGe: return "greater_equal(" + a + ", " + b + ")";
    case Op::kEq: return "equal(" + a + ", " + b + ")";
    default: return "not_equal(" + a + ", " + b + ")";
  }
}

std::string Printer::whole_binary_text(const ExprPtr& e) {
  use(Piece::kIntegers);
  const std::string operands = value(e->args[0]) + ", " + value(e->args[1]) + ")";
  const std::string type = c_type(e->args[0]->type);
  const auto lambda = [&](const std::string& body) {
    return "calc<" + type + ">([](auto p, auto q) { return " + body + "; }, " + operands;
  };
  switch (e->op) {
    case Op::kAdd: return "add<" + type + ">(" + operands;
    case Op::kSub: return "sub<" + type + ">(" + operands;
    case Op::kMul: return "mul<" + type + ">(" + operands;
    case Op::kShl: return "shift_left<" + type + ">(" + operands;
    case Op::kShr: return "shift_right<" + type + ">(" + operands;
    case Op::kAnd: return "both(" + operands;
    case Op::kOr: return "either(" + operands;
    case Op::kDiv:
    case Op::kTruncDiv: return lambda("quotient(p, q)");
    case Op::kTruncMod:
    case Op::kFMod: return lambda("residue(p, q)");
    case Op::kFloorDiv: return lambda("floor_quotient(p, q)");
    case Op::kFloorMod: return lambda("floor_residue(p, q)");
    case Op::kPow: return lambda("power(p, static_cast<std::int64_t>(q))");
    case Op::kMin:
    case Op::kCFMin: return lambda("p < q ? p : q");
    case Op::kMax:
    case Op::kCFMax: return lambda("p > q ? p : q");
    default: return lambda(std::string("p") + infix(e->op) + "q");
  }
}

std::string Printer::value(const ExprPtr& e) {
  if (e->op == Op::kLiteral) return literal_text(*e);
  if (!is_float(e->type) && is_plain(e)) return "Whole{" + index_text(e) + "}";
  switch (e->op) {
    case Op::kRead: return read_text(e);
    case Op::kCast: return cast_text(e);
    case Op::kReduce: return reduction_text(e);
    case Op::kSelect: return "select(" + value(e->args[0]) + ", " + value(e->args[1]) + ", " + value(e->args[2]) + ")";
    default: break;
  }
  if (e->args.size() == 1) return unary_text(e);
  return is_float(e->args[0]->type) ? real_binary_text(e) : whole_binary_text(e);
}

}  // namespace facet::naive
