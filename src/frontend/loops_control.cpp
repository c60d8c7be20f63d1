// Loop headers and conditions: affine, with a constant step that moves towards the bound (contract L4).
#include <algorithm>

#include "facet/expr_facts.hpp"
#include "facet/nearest.hpp"
#include "src/frontend/loops_parser.hpp"

namespace facet {

namespace {

constexpr __int128 kLarge = static_cast<__int128>(1) << 100;

// Constants so small that sums of a few cannot overflow.
bool is_small(const ExprPtr& e) {
  constexpr std::int64_t kSafe = std::int64_t{1} << 60;
  bool ok = true;
  walk(e, [&](const Expr& x) { ok &= x.op != Op::kLiteral || (x.int_value < kSafe && x.int_value > -kSafe); });
  return ok;
}

// e = coefficient * name + rest; false when e is not linear in name.
bool linear_in(const ExprPtr& e, const std::string& name, std::int64_t* coefficient, ExprPtr* rest) {
  if (!mentions_index(e, name)) {
    *coefficient = 0;
    *rest = e;
    return true;
  }
  if (e->op == Op::kIndex) {
    *coefficient = 1;
    *rest = idx(0);
    return true;
  }
  if (e->op != Op::kAdd && e->op != Op::kSub && e->op != Op::kNeg && e->op != Op::kMul) return false;
  std::int64_t c = 0;
  ExprPtr r;
  if (e->op == Op::kNeg || e->op == Op::kMul) {
    const std::int64_t factor = e->op == Op::kNeg ? -1 : e->args[0]->int_value;  // idx_mul keeps the constant in front
    if (e->op == Op::kMul && e->args[0]->op != Op::kLiteral) return false;
    if (!linear_in(e->args.back(), name, &c, &r) || __builtin_mul_overflow(c, factor, coefficient)) return false;
    std::int64_t product = 0;
    if (r->op == Op::kLiteral && __builtin_mul_overflow(r->int_value, factor, &product)) return false;
    *rest = idx_mul(idx(factor), r);
    return is_small(*rest);
  }
  std::int64_t d = 0;
  ExprPtr t;
  if (!linear_in(e->args[0], name, &c, &r) || !linear_in(e->args[1], name, &d, &t)) return false;
  const bool add = e->op == Op::kAdd;
  if (add ? __builtin_add_overflow(c, d, coefficient) : __builtin_sub_overflow(c, d, coefficient)) return false;
  *rest = add ? idx_add(r, t) : idx_sub(r, t);
  return is_small(*rest);
}

ExprPtr negated(const ExprPtr& e) {
  if (e->op == Op::kSub) return idx_sub(e->args[1], e->args[0]);
  return e->op == Op::kNeg ? e->args[0] : idx_mul(idx(-1), e);
}

void split_and(const Syntax& s, std::vector<const Syntax*>* out) {
  if (s.kind == Syntax::Kind::kBinary && s.op == Op::kAnd) {
    split_and(*s.args[0], out);
    split_and(*s.args[1], out);
  } else {
    out->push_back(&s);
  }
}

Op mirrored(Op op) {
  switch (op) {
    case Op::kLt: return Op::kGt;
    case Op::kLe: return Op::kGe;
    case Op::kGt: return Op::kLt;
    case Op::kGe: return Op::kLe;
    default: return op;
  }
}

}  // namespace

ExprPtr LoopParser::affine_leaf(const Syntax& s) {
  if (s.kind == Syntax::Kind::kName) {
    if (const CBinding* binding = bound(s.name)) {
      if (binding->kind == CBinding::Kind::kLoop) return index(binding->unique);
      if (binding->kind == CBinding::Kind::kAlias) return binding->alias;  // null after a complaint at its declaration
      return fail(Code::kNotAffine, s.begin, {s.name, "it is a scalar, whose value is computed"},
                  {"a scalar declared 'const int' with an affine value can be used here"});
    }
    if (is_symbol(s.name)) {
      if (has_role(context_.in, s.name)) return index(s.name);
      return fail(Code::kUnknownNameInText, s.offset, {s.name, "listed in \"in\" of this op"},
                  {"add \"" + s.name + "\" to \"in\""});
    }
  }
  if (s.kind == Syntax::Kind::kCall)
    return fail(Code::kNotAffine, s.begin, {quote(s), "it calls a function"},
                {"min and max are the functions of bounds and subscripts"});
  if (context_.program->tensors.count(s.name))
    return fail(Code::kNotAffine, s.begin, {quote(s), "it reads a tensor"},
                {"bounds, conditions and subscripts are of loop variables and symbols; choose by data with 'c ? a : b'"});
  return fail(Code::kUnknownNameInText, s.offset, {s.name, "a loop variable or a symbol"},
              did_you_mean(s.name, visible_names()));
}

// An index expression or condition. Where C's truncating / and % cannot meet a negative number they become the flooring ones.
ExprPtr LoopParser::affine(const Syntax& s, bool condition) {
  IndexBuilder builder(
      source_, Language::kC, [&](const Syntax& leaf) { return affine_leaf(leaf); }, &errors_);
  const ExprPtr e = condition ? builder.condition(s) : builder.index(s);
  if (!e) return e;
  return rewrite(e, [&](const ExprPtr& x) -> ExprPtr {
    if (x->op != Op::kTruncDiv && x->op != Op::kTruncMod) return x;
    const Interval numerator = interval(x->args[0]);
    if (!numerator.known || numerator.low < 0) return x;
    return binary(x->op == Op::kTruncDiv ? Op::kFloorDiv : Op::kFloorMod, x->args[0], x->args[1]);
  });
}

Interval LoopParser::interval_of_name(const std::string& name) const {
  const auto it = ranges_.find(name);
  if (it != ranges_.end()) return it->second;
  for (const Symbol& s : context_.program->symbols)
    if (s.name == name) return {true, s.min, s.max};
  return {};
}

Interval LoopParser::interval(const ExprPtr& e) const {
  if (e->op == Op::kLiteral) return {true, e->int_value, e->int_value};
  if (e->op == Op::kIndex) return interval_of_name(e->name);
  const Interval a = e->args.empty() ? Interval{} : interval(e->args[0]);
  const Interval b = e->args.size() > 1 ? interval(e->args[1]) : a;
  if (!a.known || !b.known) return {};
  if (std::max({a.high, -a.low, b.high, -b.low}) > kLarge) return {};
  const auto floor = [](__int128 x, __int128 y) { return x >= 0 ? x / y : -((-x + y - 1) / y); };
  switch (e->op) {
    case Op::kNeg: return {true, -a.high, -a.low};
    case Op::kAdd: return {true, a.low + b.low, a.high + b.high};
    case Op::kSub: return {true, a.low - b.high, a.high - b.low};
    case Op::kMin: return {true, std::min(a.low, b.low), std::min(a.high, b.high)};
    case Op::kMax: return {true, std::max(a.low, b.low), std::max(a.high, b.high)};
    case Op::kMul: {  // by a constant in front, which fits 64 bits
      if (e->args[0]->op != Op::kLiteral || std::max(b.high, -b.low) > (static_cast<__int128>(1) << 62)) return {};
      const __int128 x = a.low * b.low, y = a.low * b.high;
      return {true, std::min(x, y), std::max(x, y)};
    }
    case Op::kFloorDiv: return {true, floor(a.low, b.low), floor(a.high, b.low)};
    case Op::kTruncDiv: return {true, a.low / b.low, a.high / b.low};
    case Op::kFloorMod: return {true, 0, b.low - 1};
    case Op::kTruncMod: return {true, a.low < 0 ? 1 - b.low : 0, b.low - 1};
    default: return {};
  }
}

std::string LoopParser::unique_loop_name(const std::string& name) const {
  const auto taken = [&](const std::string& candidate) {
    return has_role(active_loops_, candidate) || is_symbol(candidate) || context_.program->tensors.count(candidate) > 0;
  };
  std::string unique = name;
  for (int k = 2; taken(unique); ++k) unique = name + "_" + std::to_string(k);
  return unique;
}

// for (INIT; CONDITION; STEP) STATEMENT
bool LoopParser::loop(LoopBody* out) {
  LoopStatement s = make(Kind::kFor, parser_.take().offset);
  parser_.take();  // (
  std::string name;
  CBinding variable;
  std::vector<ExprPtr> guards;
  if (!loop_header(&s, &name, &variable, &guards)) return false;
  scopes_.emplace_back();
  scopes_.back()[name] = variable;
  active_loops_.push_back(s.name);
  ranges_[s.name] = variable.range;
  const bool ok = statement(&s.body);
  ranges_.erase(s.name);
  active_loops_.pop_back();
  scopes_.pop_back();
  if (!ok) return false;
  ExprPtr guard;
  for (const ExprPtr& g : guards) guard = guard ? binary(Op::kAnd, guard, g) : g;
  if (!guard) {
    out->push_back(std::move(s));
    return true;
  }
  LoopStatement test = s;  // conditions that do not change in the loop are asked once
  test.kind = Kind::kIf;
  test.name.clear();
  test.first = test.bound = nullptr;
  test.condition = guard;
  test.body = {std::move(s)};
  out->push_back(std::move(test));
  return true;
}

bool LoopParser::loop_header(LoopStatement* s, std::string* name, CBinding* variable, std::vector<ExprPtr>* guards) {
  variable->kind = CBinding::Kind::kLoop;
  DType dtype = DType::kI32;
  bool declared = false;
  if (c_type(parser_.peek().text, nullptr) && parser_.peek(1).kind == TokenKind::kName) {
    declared = true;
    const Token word = parser_.peek();
    if (!parser_.type_words(&dtype)) return false;
    if (!is_integer(dtype))
      fail(Code::kLoopForm, word.offset, {word.text, "a loop variable is an integer"});
    else if (size_bytes(dtype) < 4)  // in C it wraps before it reaches a bound beyond its range
      fail(Code::kLoopForm, word.offset, {word.text, "a loop variable has at least 32 bits"}, {"declare it int or long"});
  }
  if (parser_.peek().kind != TokenKind::kName) return parser_.fail("'int i = ...'"), false;
  const Token variable_token = parser_.take();
  *name = variable_token.text;
  if (!parser_.expect("=")) return false;
  const SyntaxPtr init = parser_.expression();
  if (!init) return false;
  if (parser_.is(",")) return parser_.fail(Code::kLoopForm, parser_.peek().offset, {"','", "a loop has one variable"}), false;
  if (!parser_.expect(";")) return false;
  const SyntaxPtr condition = parser_.expression();
  if (!condition || !parser_.expect(";")) return false;
  const int step_offset = parser_.peek().offset;
  SyntaxPtr step;
  bool negative = false;
  if (!loop_step(*name, &step, &negative) || !parser_.expect(")")) return false;

  check_variable(*name, variable_token.offset, declared);
  s->name = variable->unique = unique_loop_name(*name);
  s->first = affine(*init, false);
  scopes_.emplace_back();
  scopes_.back()[*name] = *variable;
  bool ok = s->first && find_step(step.get(), negative, step_offset, s);
  ok = ok && find_bound(*condition, variable->unique, s, guards);
  scopes_.pop_back();
  if (ok && !is_signed(dtype) && s->step < 0)
    fail(Code::kLoopForm, step_offset, {*name, "an unsigned variable cannot count down safely"}, {"declare it int"});
  if (!ok) return true;
  const Interval first = interval(s->first), last = interval(s->bound);
  if (first.known && last.known)
    variable->range = s->step > 0 ? Interval{true, first.low, std::max(first.low, last.high - 1)}
                                  : Interval{true, std::min(first.high, last.low + 1), first.high};
  const bool narrow = variable->range.known && variable->range.low >= -2147483648LL && variable->range.high <= 2147483647LL;
  variable->dtype = narrow ? dtype : DType::kI64;  // beyond int the C program has no meaning; the wider type has one
  return true;
}

// The name of a loop variable is free (contract P2); one that is not declared may be a scalar of an enclosing block.
void LoopParser::check_variable(const std::string& name, int offset, bool declared) {
  if (is_symbol(name)) fail(Code::kIndexNameTaken, offset, {name, "symbol"});
  for (const auto* list : {&context_.in, &context_.inout, &context_.out})
    if (has_role(*list, name) && !is_symbol(name)) fail(Code::kIndexNameTaken, offset, {name, "tensor of this op"});
  const CBinding* outer = bound(name);
  if (outer && !declared) {
    if (outer->kind == CBinding::Kind::kLoop) fail(Code::kLoopVariableAssigned, offset, {name});
    for (auto& scope : scopes_)  // after the loop its value is not kept
      if (const auto it = scope.find(name); it != scope.end() && it->second.kind == CBinding::Kind::kScalar)
        it->second.kind = CBinding::Kind::kFinished;
  }
}

// i++, --i, i += C, i = i + C, i = C + i, i = i - C. `step` is null for one.
bool LoopParser::loop_step(const std::string& name, SyntaxPtr* step, bool* negative) {
  const auto misnamed = [&](const Token& found) {
    return parser_.fail(Code::kLoopForm, found.offset, {found.text, "the step must change the loop variable " + name}), false;
  };
  if (parser_.is("++") || parser_.is("--")) {
    *negative = parser_.take().text == "--";
    const Token found = parser_.take();
    return found.text == name || misnamed(found);
  }
  const Token found = parser_.take();
  if (found.text != name) return misnamed(found);
  if (parser_.is("++") || parser_.is("--")) {
    *negative = parser_.take().text == "--";
    return true;
  }
  if (parser_.is("+=") || parser_.is("-=")) {
    *negative = parser_.take().text == "-=";
    *step = parser_.expression();
    return *step != nullptr;
  }
  if (!parser_.expect("=", "a step: '++', '--', '+=', '-=' or '='")) return false;
  SyntaxPtr sum = parser_.expression();
  if (!sum) return false;
  const auto is_variable = [&](const Syntax& x) { return x.kind == Syntax::Kind::kName && x.name == name; };
  const bool binary = sum->kind == Syntax::Kind::kBinary && (sum->op == Op::kAdd || sum->op == Op::kSub);
  if (binary && is_variable(*sum->args[0])) {
    *negative = sum->op == Op::kSub;
    *step = std::move(sum->args[1]);
    return true;
  }
  if (binary && sum->op == Op::kAdd && is_variable(*sum->args[1])) {
    *step = std::move(sum->args[0]);
    return true;
  }
  return parser_.fail(Code::kLoopForm, sum->begin, {quote(*sum), "the step adds a constant to the loop variable"},
                      {"write " + name + " += 2"}),
         false;
}

bool LoopParser::find_step(const Syntax* step, bool negative, int offset, LoopStatement* s) {
  std::int64_t value = 1;
  if (step) {
    const ExprPtr e = affine(*step, false);
    if (!e) return false;
    if (e->op != Op::kLiteral) return fail(Code::kLoopForm, step->begin, {quote(*step), "the step is not a constant"}), false;
    value = e->int_value;
  }
  if (value == 0) return fail(Code::kLoopForm, offset, {"0", "the step may not be zero"}), false;
  s->step = negative ? -value : value;
  return true;
}

bool LoopParser::find_bound(const Syntax& condition, const std::string& unique, LoopStatement* s,
                            std::vector<ExprPtr>* guards) {
  std::vector<const Syntax*> parts;
  split_and(condition, &parts);
  for (const Syntax* part : parts)
    if (!one_bound(*part, unique, s, guards)) return false;
  if (s->bound) return true;
  return fail(Code::kLoopForm, condition.begin, {quote(condition), "the condition does not bound the loop variable"}), false;
}

// Adds one comparison of the condition to s->bound (exclusive), or to the guards when the loop variable is not in it.
bool LoopParser::one_bound(const Syntax& c, const std::string& unique, LoopStatement* s, std::vector<ExprPtr>* guards) {
  const bool comparison = c.kind == Syntax::Kind::kBinary && c.op >= Op::kLt && c.op <= Op::kNe;
  if (!comparison)
    return fail(Code::kLoopForm, c.begin, {quote(c), "a loop condition compares the loop variable with its bound"},
                {"write i < N"}),
           false;
  ExprPtr left = affine(*c.args[0], false);
  ExprPtr right = affine(*c.args[1], false);
  if (!left || !right) return false;
  if (!is_small(left) || !is_small(right)) return fail(Code::kIndexOverflow, c.begin, {quote(c)}), false;
  if (!mentions_index(left, unique) && !mentions_index(right, unique)) {
    guards->push_back(binary(c.op, left, right));
    return true;
  }
  if (c.op == Op::kEq || c.op == Op::kNe)
    return fail(Code::kLoopForm, c.begin, {quote(c), "the loop need not reach this bound"}, {"write < or > instead"}), false;
  Op op = c.op;
  if (!mentions_index(left, unique) || (right->op == Op::kIndex && right->name == unique)) {
    std::swap(left, right);
    op = mirrored(op);
  }
  std::int64_t k = 1;
  ExprPtr rest = right;
  if (!(left->op == Op::kIndex && !mentions_index(right, unique))) {  // k * i + r OP 0
    if (!linear_in(idx_sub(left, right), unique, &k, &rest) || k == 0 || k > INT32_MAX || k < INT32_MIN)
      return fail(Code::kLoopForm, c.begin, {quote(c), "it cannot be solved for the loop variable"}, {"write i < BOUND"}),
             false;
    rest = k > 0 ? negated(rest) : rest;
    if (k < 0) op = mirrored(op);
    k = std::abs(k);  // k * i OP rest
  }
  const bool upper = op == Op::kLt || op == Op::kLe;
  ExprPtr bound;
  if (op == Op::kLt) bound = idx_floordiv(idx_add(rest, idx(k - 1)), k);
  if (op == Op::kLe) bound = idx_add(idx_floordiv(rest, k), idx(1));
  if (op == Op::kGt) bound = idx_floordiv(rest, k);
  if (op == Op::kGe) bound = idx_sub(idx_floordiv(idx_add(rest, idx(k - 1)), k), idx(1));
  if (upper != (s->step > 0))
    return fail(Code::kLoopDirection, c.begin, {quote(c), std::to_string(s->step)},
                {upper ? "a loop that counts down needs i > or i >=" : "a loop that counts up needs i < or i <="}),
           false;
  s->bound = !s->bound ? bound : upper ? idx_min(s->bound, bound) : idx_max(s->bound, bound);
  return true;
}

bool LoopParser::branch(LoopBody* out) {
  LoopStatement s = make(Kind::kIf, parser_.take().offset);
  parser_.take();  // (
  const SyntaxPtr condition = parser_.expression();
  if (!condition || !parser_.expect(")")) return false;
  s.condition = affine(*condition, true);
  scopes_.emplace_back();
  bool ok = statement(&s.body);
  scopes_.pop_back();
  if (ok && parser_.accept("else")) {
    scopes_.emplace_back();
    ok = statement(&s.otherwise);
    scopes_.pop_back();
  }
  if (ok) out->push_back(std::move(s));
  return ok;
}

}  // namespace facet
