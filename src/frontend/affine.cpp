// Building and comparing quasi-affine index expressions.
#include "src/frontend/affine.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "facet/nearest.hpp"

namespace facet {

namespace {

constexpr std::int64_t kMax64 = std::numeric_limits<std::int64_t>::max();

bool is_constant(const ExprPtr& e) { return e->op == Op::kLiteral; }

bool is_comparison(Op op) { return op >= Op::kLt && op <= Op::kNe; }

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

// Folds constants; false when the result does not fit.
bool fold(Op op, std::int64_t a, std::int64_t b, std::int64_t* result) {
  switch (op) {
    case Op::kAdd: return !__builtin_add_overflow(a, b, result);
    case Op::kSub: return !__builtin_sub_overflow(a, b, result);
    case Op::kMul: return !__builtin_mul_overflow(a, b, result);
    case Op::kFloorDiv: *result = floor_div(a, b); return true;
    case Op::kFloorMod: *result = a - b * floor_div(a, b); return true;
    case Op::kTruncDiv: *result = a / b; return true;
    case Op::kTruncMod: *result = a % b; return true;
    default: return false;
  }
}

// Whether idx_add and idx_sub can fold `b` into a chain "x + c" without overflow.
bool chain_overflows(Op op, const ExprPtr& a, const ExprPtr& b) {
  constexpr std::int64_t kSafe = kMax64 / 4;
  const auto large = [](const ExprPtr& e) { return is_constant(e) && (e->int_value > kSafe || e->int_value < -kSafe); };
  if (op != Op::kAdd && op != Op::kSub) return false;
  const auto chain = [&](const ExprPtr& e) { return (e->op == Op::kAdd || e->op == Op::kSub) && large(e->args[1]); };
  return large(a) || large(b) || chain(a) || chain(b);
}

}  // namespace

ExprPtr IndexBuilder::fail(const Syntax& s, const std::string& why) {
  errors_->push_back(diagnose(
      Code::kNotAffine, source_.at(s.begin), {source_.slice(s.begin, s.end), why},
      {"an index is a sum of indices and symbols times constants; / and % by positive constants, min and max are allowed"}));
  return nullptr;
}

ExprPtr IndexBuilder::index(const Syntax& s) {
  switch (s.kind) {
    case Syntax::Kind::kInteger:
      if (s.int_value <= static_cast<std::uint64_t>(kMax64)) return idx(static_cast<std::int64_t>(s.int_value));
      errors_->push_back(diagnose(Code::kIndexOverflow, source_.at(s.begin), {source_.slice(s.begin, s.end)}));
      return nullptr;
    case Syntax::Kind::kFloat: return fail(s, "it is not an integer");
    case Syntax::Kind::kName:
    case Syntax::Kind::kElement: return leaf_(s);
    case Syntax::Kind::kCall:
      if (s.name == "min" || s.name == "max") return extreme(s);
      return leaf_(s);
    case Syntax::Kind::kReduction: return fail(s, "it is a reduction");
    case Syntax::Kind::kConditional: return fail(s, "it is a choice");
    case Syntax::Kind::kUnary:
      if (s.op == Op::kCast && is_integer(s.cast_type)) return index(*s.args[0]);
      if (s.op == Op::kNeg) {
        const ExprPtr a = index(*s.args[0]);
        if (!a) return nullptr;
        if (!is_constant(a)) return unary(Op::kNeg, a);
        if (a->int_value >= -kMax64) return idx(-a->int_value);
        errors_->push_back(diagnose(Code::kIndexOverflow, source_.at(s.begin), {source_.slice(s.begin, s.end)}));
        return nullptr;
      }
      return fail(s, s.op == Op::kCast ? "it is converted to " + to_text(s.cast_type) : "it is not arithmetic");
    case Syntax::Kind::kBinary: return arithmetic(s);
  }
  return nullptr;
}

ExprPtr IndexBuilder::extreme(const Syntax& s) {
  if (s.args.size() < 2) return fail(s, "it needs two arguments");
  ExprPtr result;
  for (const SyntaxPtr& a : s.args) {
    const ExprPtr next = index(*a);
    if (!next) return nullptr;
    result = !result ? next : s.name == "min" ? idx_min(result, next) : idx_max(result, next);
  }
  return result;
}

ExprPtr IndexBuilder::arithmetic(const Syntax& s) {
  if (s.op != Op::kAdd && s.op != Op::kSub && s.op != Op::kMul && s.op != Op::kDiv && s.op != Op::kFloorMod)
    return fail(s, is_comparison(s.op) ? "it is a comparison" : "this operator is not affine");
  const ExprPtr a = index(*s.args[0]);
  const ExprPtr b = index(*s.args[1]);
  if (!a || !b) return nullptr;
  if (s.op == Op::kDiv || s.op == Op::kFloorMod) return divide(s, a, b);
  if (s.op == Op::kMul && !is_constant(a) && !is_constant(b)) return fail(s, "neither factor is a constant");
  const auto overflow = [&]() -> ExprPtr {
    errors_->push_back(diagnose(Code::kIndexOverflow, source_.at(s.begin), {source_.slice(s.begin, s.end)}));
    return nullptr;
  };
  if (is_constant(a) && is_constant(b)) {
    std::int64_t value = 0;
    return fold(s.op, a->int_value, b->int_value, &value) ? idx(value) : overflow();
  }
  if (chain_overflows(s.op, a, b)) return overflow();
  return s.op == Op::kAdd ? idx_add(a, b) : s.op == Op::kSub ? idx_sub(a, b) : idx_mul(a, b);
}

ExprPtr IndexBuilder::divide(const Syntax& s, const ExprPtr& a, const ExprPtr& b) {
  if (!is_constant(b) || b->int_value <= 0)
    return fail(s, is_constant(b) ? "the divisor is not positive" : "the divisor is not a constant");
  const bool c = language_ == Language::kC;
  const Op op = s.op == Op::kDiv ? (c ? Op::kTruncDiv : Op::kFloorDiv) : (c ? Op::kTruncMod : Op::kFloorMod);
  if (is_constant(a)) {
    std::int64_t value = 0;
    fold(op, a->int_value, b->int_value, &value);
    return idx(value);
  }
  if (b->int_value == 1) return s.op == Op::kDiv ? a : idx(0);
  return binary(op, a, b);
}

ExprPtr IndexBuilder::condition(const Syntax& s) {
  if (s.kind == Syntax::Kind::kUnary && s.op == Op::kNot) {
    const ExprPtr a = condition(*s.args[0]);
    return a ? unary(Op::kNot, a) : nullptr;
  }
  if (s.kind == Syntax::Kind::kBinary && (s.op == Op::kAnd || s.op == Op::kOr)) {
    const ExprPtr a = condition(*s.args[0]);
    const ExprPtr b = condition(*s.args[1]);
    return a && b ? binary(s.op, a, b) : nullptr;
  }
  if (s.kind == Syntax::Kind::kBinary && is_comparison(s.op)) {
    const ExprPtr a = index(*s.args[0]);
    const ExprPtr b = index(*s.args[1]);
    return a && b ? binary(s.op, a, b) : nullptr;
  }
  if (language_ == Language::kC) {  // C: an integer is true when it is not zero
    const ExprPtr a = index(s);
    return a ? binary(Op::kNe, a, idx(0)) : nullptr;
  }
  return fail(s, "a condition compares index expressions by ==, !=, <, <=, > or >=");
}

namespace {

// One text of symbols, parsed and built by `build`.
template <class Build>
Result<ExprPtr> parse_text(const std::string& text, const std::vector<std::string>& symbols, const Place& place,
                           const Build& build) {
  const SourceText source(text, place);
  Result<std::vector<Token>> tokens = lex(source, Language::kEquation);
  if (!tokens) return tokens.errors();
  ExpressionParser parser(source, Language::kEquation, std::move(*tokens));
  const SyntaxPtr syntax = parser.expression();
  if (syntax && !parser.at_end()) parser.fail("an operator or the end of the text");
  if (!parser.errors().empty()) return parser.errors();
  Diagnostics errors;
  IndexBuilder builder(
      source, Language::kEquation,
      [&](const Syntax& s) -> ExprPtr {
        if (s.kind == Syntax::Kind::kName && std::find(symbols.begin(), symbols.end(), s.name) != symbols.end())
          return index(s.name);
        if (s.kind == Syntax::Kind::kName) {
          errors.push_back(diagnose(Code::kUnknownNameInText, source.at(s.offset), {s.name, "a symbol of this program"},
                                    did_you_mean(s.name, symbols)));
        } else {
          errors.push_back(
              diagnose(Code::kNotAffine, source.at(s.begin), {source.slice(s.begin, s.end), "only symbols can be used here"}));
        }
        return nullptr;
      },
      &errors);
  const ExprPtr e = build(builder, *syntax);
  if (!e) return errors;
  return e;
}

}  // namespace

Result<ExprPtr> parse_affine(const std::string& text, const std::vector<std::string>& symbols, const Place& place) {
  return parse_text(text, symbols, place, [](IndexBuilder& b, const Syntax& s) { return b.index(s); });
}

Result<ExprPtr> parse_condition(const std::string& text, const std::vector<std::string>& symbols, const Place& place) {
  return parse_text(text, symbols, place, [](IndexBuilder& b, const Syntax& s) { return b.condition(s); });
}

bool is_affine(const ExprPtr& e, const std::set<std::string>& names) {
  const auto part = [&](std::size_t i) { return is_affine(e->args[i], names); };
  switch (e->op) {
    case Op::kLiteral: return !is_float(e->type);
    case Op::kIndex: return names.count(e->name) > 0;
    case Op::kNeg:
    case Op::kNot: return part(0);
    case Op::kCast: return is_integer(e->type) && part(0);
    case Op::kMul: return part(0) && part(1) && (is_constant(e->args[0]) || is_constant(e->args[1]));
    case Op::kFloorDiv:
    case Op::kFloorMod:
    case Op::kTruncDiv:
    case Op::kTruncMod: return part(0) && is_constant(e->args[1]) && is_integer(e->args[1]->type) && e->args[1]->int_value > 0;
    case Op::kAdd:
    case Op::kSub:
    case Op::kMin:
    case Op::kMax:
    case Op::kAnd:
    case Op::kOr: return part(0) && part(1);
    default: return is_comparison(e->op) && part(0) && part(1);
  }
}

namespace {

// sum of coefficient * atom + constant; atoms are kept by their text. Exact in 128 bits: a part with a larger factor is an
// atom.
struct LinearForm {
  std::map<std::string, __int128> terms;
  __int128 constant = 0;
};

void add_scaled(const ExprPtr& e, __int128 scale, LinearForm* form) {
  constexpr __int128 kLimit = static_cast<__int128>(1) << 50;  // times a 64-bit literal, times a thousand terms, fits
  const __int128 factor = e->op == Op::kMul && is_constant(e->args[0]) ? scale * e->args[0]->int_value : 0;
  if (e->op == Op::kLiteral) {
    form->constant += scale * e->int_value;
  } else if (e->op == Op::kAdd || e->op == Op::kSub) {
    add_scaled(e->args[0], scale, form);
    add_scaled(e->args[1], e->op == Op::kAdd ? scale : -scale, form);
  } else if (e->op == Op::kNeg) {
    add_scaled(e->args[0], -scale, form);
  } else if (factor != 0 && factor < kLimit && factor > -kLimit) {
    add_scaled(e->args[1], factor, form);
  } else {
    form->terms[to_text(e)] += scale;
  }
}

}  // namespace

std::optional<std::int64_t> constant_difference(const ExprPtr& a, const ExprPtr& b) {
  if (same(a, b)) return 0;
  LinearForm form;
  add_scaled(b, 1, &form);
  add_scaled(a, -1, &form);
  for (const auto& [atom, coefficient] : form.terms)
    if (coefficient != 0) return std::nullopt;
  if (form.constant > kMax64 || form.constant < -kMax64) return std::nullopt;
  return static_cast<std::int64_t>(form.constant);
}

}  // namespace facet
