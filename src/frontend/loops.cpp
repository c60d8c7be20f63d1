// Statements of op `loops`: blocks, declarations, assignments and the reductions they amount to.
#include "src/frontend/loops.hpp"

#include <algorithm>

#include "facet/nearest.hpp"
#include "src/frontend/loops_parser.hpp"

namespace facet {

namespace {

constexpr int kMaxNesting = 256;  // of statements; contract P3 has the same limit for JSON

SyntaxPtr clone(const Syntax& s) {
  SyntaxPtr copy = std::make_unique<Syntax>();
  copy->kind = s.kind;
  copy->op = s.op;
  copy->name = s.name;
  copy->int_value = s.int_value;
  copy->float_value = s.float_value;
  copy->suffix = s.suffix;
  copy->cast_type = s.cast_type;
  for (const SyntaxPtr& a : s.args) copy->args.push_back(clone(*a));
  copy->offset = s.offset;
  copy->begin = s.begin;
  copy->end = s.end;
  copy->depth = s.depth;
  return copy;
}

struct Compound {
  const char* text;
  Op op;
};
constexpr Compound kCompound[] = {{"+=", Op::kAdd},      {"-=", Op::kSub},    {"*=", Op::kMul},   {"/=", Op::kDiv},
                                  {"%=", Op::kFloorMod}, {"&=", Op::kBitAnd}, {"|=", Op::kBitOr}, {"^=", Op::kBitXor},
                                  {"<<=", Op::kShl},     {">>=", Op::kShr}};

SyntaxPtr combine(Op op, const Syntax& left, SyntaxPtr right, int offset) {
  SyntaxPtr node = std::make_unique<Syntax>();
  node->kind = Syntax::Kind::kBinary;
  node->op = op;
  node->offset = offset;
  node->begin = left.begin;
  node->end = right->end;
  node->depth = std::max(left.depth, right->depth) + 1;
  node->args.push_back(clone(left));
  node->args.push_back(std::move(right));
  return node;
}

SyntaxPtr one(int offset) {
  SyntaxPtr node = std::make_unique<Syntax>();
  node->kind = Syntax::Kind::kInteger;
  node->int_value = 1;
  node->begin = node->offset = offset;
  node->end = offset + 2;
  return node;
}

}  // namespace

std::nullptr_t LoopParser::fail(Code code, int offset, std::vector<std::string> args, std::vector<std::string> notes) {
  constexpr std::size_t kMostComplaints = 50;
  if (errors_.size() >= kMostComplaints) return nullptr;
  Diagnostic d = diagnose(code, source_.at(offset), std::move(args), std::move(notes));
  for (const Diagnostic& e : errors_)  // the left side of `x += 1` is looked at twice
    if (e.code == code && e.place.line == d.place.line && e.place.column == d.place.column) return nullptr;
  errors_.push_back(std::move(d));
  return nullptr;
}

LoopStatement LoopParser::make(Kind kind, int offset) const {
  LoopStatement s;
  s.kind = kind;
  s.place = source_.at(offset);
  return s;
}

const CBinding* LoopParser::bound(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto it = scope->find(name);
    if (it != scope->end()) return &it->second;
  }
  return nullptr;
}

bool LoopParser::is_symbol(const std::string& name) const {
  const std::vector<Symbol>& symbols = context_.program->symbols;
  return std::any_of(symbols.begin(), symbols.end(), [&](const Symbol& s) { return s.name == name; });
}

bool LoopParser::has_role(const std::vector<std::string>& list, const std::string& name) const {
  return std::find(list.begin(), list.end(), name) != list.end();
}

std::vector<std::string> LoopParser::visible_names() const {
  std::vector<std::string> names;
  for (const auto& scope : scopes_)
    for (const auto& [name, binding] : scope) names.push_back(name);
  for (const auto* list : {&context_.in, &context_.inout, &context_.out}) names.insert(names.end(), list->begin(), list->end());
  return names;
}

Result<ParsedLoops> LoopParser::run() {
  scopes_.emplace_back();
  while (parser_.errors().empty() && !parser_.at_end())
    if (!statement(&result_.body)) break;
  errors_.insert(errors_.end(), parser_.errors().begin(), parser_.errors().end());
  if (!errors_.empty()) return errors_;
  return std::move(result_);
}

// Names that start statements which are not part of the language.
bool LoopParser::refuse_keyword() {
  static const char* const words[] = {"while",    "do",     "goto",   "return",  "switch", "break",
                                      "continue", "struct", "static", "typedef", "else"};
  for (const char* word : words) {
    if (!parser_.is(word)) continue;
    parser_.fail(Code::kUnsupportedC, parser_.peek().offset, {word},
                 {"loops are written 'for (int i = 0; i < N; i++)', choices 'if (affine condition)'"});
    return true;
  }
  return false;
}

bool LoopParser::statement(LoopBody* out) {
  if (depth_ >= kMaxNesting)
    return parser_.fail(Code::kTextTooDeep, parser_.peek().offset, {std::to_string(kMaxNesting)}), false;
  ++depth_;
  bool ok = false;
  const bool type_word = c_type(parser_.peek().text, nullptr) || parser_.is("const");
  if (parser_.accept(";")) {
    ok = true;
  } else if (parser_.is("{")) {
    ok = block(out);
  } else if (parser_.is("for") && parser_.is("(", 1)) {
    ok = loop(out);
  } else if (parser_.is("if") && parser_.is("(", 1)) {
    ok = branch(out);
  } else if (type_word && (parser_.peek(1).kind == TokenKind::kName || parser_.is("*", 1))) {
    ok = declaration(out);
  } else if (!(parser_.peek(1).kind == TokenKind::kName && refuse_keyword()) && !refuse_keyword()) {
    ok = assignment(out);
  }
  --depth_;
  return ok;
}

bool LoopParser::block(LoopBody* out) {
  LoopStatement s = make(Kind::kBlock, parser_.take().offset);
  scopes_.emplace_back();
  bool ok = true;
  while (ok && !parser_.is("}")) ok = parser_.at_end() ? (parser_.fail("'}'"), false) : statement(&s.body);
  scopes_.pop_back();
  if (!ok) return false;
  parser_.take();
  // Braces only matter where scalars are declared; names are unique already, but each execution makes them fresh.
  const bool declares =
      std::any_of(s.body.begin(), s.body.end(), [](const LoopStatement& x) { return x.kind == Kind::kDeclare; });
  if (declares) {
    out->push_back(std::move(s));
  } else {
    std::move(s.body.begin(), s.body.end(), std::back_inserter(*out));
  }
  return true;
}

// [const] TYPE NAME [= VALUE], NAME ... ;
bool LoopParser::declaration(LoopBody* out) {
  const bool is_const = parser_.accept("const");
  DType dtype = DType::kI32;
  const Token first = parser_.peek();
  const bool long_double = first.text == "long" && parser_.peek(1).text == "double";
  if (!parser_.type_words(&dtype)) return false;
  const bool scalar = dtype == DType::kI32 || dtype == DType::kI64 || dtype == DType::kF32 || dtype == DType::kF64;
  if (!scalar || long_double)
    return parser_.fail(Code::kUnsupportedC, first.offset, {"a scalar of type " + (long_double ? "long double" : first.text)},
                        {"scalars are int, long, int32_t, int64_t, float or double; casts may name other types"}),
           false;
  do {
    if (!declarator(dtype, is_const, out)) return false;
  } while (parser_.accept(","));
  return parser_.expect(";");
}

bool LoopParser::declarator(DType dtype, bool is_const, LoopBody* out) {
  if (parser_.is("*")) return parser_.fail(Code::kUnsupportedC, parser_.peek().offset, {"a pointer"}), false;
  if (parser_.peek().kind != TokenKind::kName) return parser_.fail("the name of a scalar"), false;
  const Token name = parser_.take();
  if (parser_.is("["))
    return parser_.fail(
               Code::kLocalArray, name.offset, {name.text},
               {"declare it in \"tensors\", with a shape of which the loops set every element, and name it in \"out\": no later op need read it"}),
           false;
  SyntaxPtr initial;
  if (parser_.accept("=")) {
    initial = parser_.expression();
    if (!initial) return false;
  }
  if (scopes_.back().count(name.text)) fail(Code::kRedeclared, name.offset, {name.text});
  CBinding binding;
  binding.dtype = dtype;
  if (is_const && initial && is_integer(dtype)) {
    const std::size_t before = errors_.size();
    binding.alias = affine(*initial, false);
    if (binding.alias) {
      binding.kind = CBinding::Kind::kAlias;
      binding.range = interval(binding.alias);
      scopes_.back()[name.text] = binding;
      return true;
    }
    errors_.resize(before);  // it is computed: a scalar like others
  }
  LoopStatement s = make(Kind::kDeclare, name.offset);
  if (initial && infer(*initial).form != Form::kUnknown)
    s.value = build_as(*initial, dtype);  // in the outer meaning of the name
  std::string unique;
  do {
    const int count = ++scalar_count_[name.text];
    unique = context_.local_prefix + "." + name.text + (count == 1 ? "" : "_" + std::to_string(count));
  } while (context_.program->tensors.count(unique));
  binding.unique = s.name = unique;
  scopes_.back()[name.text] = binding;
  Tensor local;
  local.name = unique;
  local.dtype = dtype;
  local.local = local.inferred = true;
  local.place = s.place;
  result_.locals.push_back(std::move(local));
  out->push_back(std::move(s));
  return true;
}

// ELEMENT = VALUE; ELEMENT += VALUE; ELEMENT++; ++ELEMENT;
bool LoopParser::assignment(LoopBody* out) {
  const Token first = parser_.peek();
  const bool prefix = parser_.is("++") || parser_.is("--");
  if (prefix) parser_.take();
  if (parser_.peek().kind != TokenKind::kName) return parser_.fail("a statement"), false;
  SyntaxPtr left = parser_.expression();
  if (!left) return false;
  const int offset = parser_.peek().offset;
  SyntaxPtr value;
  if (prefix || parser_.is("++") || parser_.is("--")) {
    const std::string text = prefix ? first.text : parser_.take().text;
    value = combine(text == "++" ? Op::kAdd : Op::kSub, *left, one(prefix ? first.offset : offset), offset);
  } else if (parser_.accept("=")) {
    value = parser_.expression();
    if (!value) return false;
  } else {
    for (const Compound& row : kCompound) {
      if (!parser_.accept(row.text)) continue;
      SyntaxPtr right = parser_.expression();
      if (!right) return false;
      value = combine(row.op, *left, std::move(right), offset);
      break;
    }
  }
  if (!value) return parser_.fail("'=' or another assignment"), false;
  if (parser_.is("="))
    return parser_.fail(Code::kUnsupportedC, parser_.peek().offset, {"an assignment inside an expression"}), false;
  if (!parser_.expect(";")) return false;
  assign(*left, *value, left->begin, out);
  return true;
}

bool LoopParser::target_of(const Syntax& left, CTarget* target) {
  if (left.kind != Syntax::Kind::kName && left.kind != Syntax::Kind::kElement)
    return fail(Code::kNotAssignable, left.begin, {quote(left), "it is no array element or scalar"}), false;
  const CBinding* binding = bound(left.name);
  if (binding && binding->kind == CBinding::Kind::kLoop)
    return fail(Code::kLoopVariableAssigned, left.offset, {left.name}), false;
  if (binding && binding->kind == CBinding::Kind::kAlias)
    return fail(Code::kNotAssignable, left.offset, {left.name, "it is const"}), false;
  if (!binding && has_role(context_.in, left.name)) {
    return fail(Code::kNotAssignable, left.offset, {left.name, is_symbol(left.name) ? "it is a symbol" : "it is in \"in\""},
                {"tensors that are updated are named in \"inout\""}),
           false;
  }
  const OperandType type = infer(left);
  if (type.form == Form::kUnknown) return false;
  const ExprPtr element = build(left, DType::kF64);
  if (!element) return false;
  if (element->op != Op::kRead) return fail(Code::kNotAssignable, left.begin, {quote(left), "it is a constant"}), false;
  target->tensor = element->name;
  target->dtype = element->type;
  target->subscripts = element->args;
  return true;
}

void LoopParser::assign(const Syntax& left, const Syntax& value, int offset, LoopBody* out) {
  CTarget target;
  const bool known = target_of(left, &target);
  if (infer(value).form == Form::kUnknown || !known) return;
  LoopStatement s = make(Kind::kAssign, offset);
  s.target = target.tensor;
  s.subscripts = target.subscripts;
  // A value whose literals leave it open is computed in the precision of its target.
  const DType weak = !is_float(target.dtype) || target.dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  const ExprPtr e = build(value, weak);
  if (!e) return;
  s.value = convert(target.dtype, e);
  recognise_update(value, weak, target, &s);
  out->push_back(std::move(s));
}

// target = target OP operand: the statement kind of a reduction. The operand may not read the element itself (other elements of
// the target it may: whether they are others in every instance is the lowering's question), and the arithmetic must be that of
// the target's dtype (integer sums and products agree modulo its width in any dtype).
void LoopParser::recognise_update(const Syntax& value, DType weak, const CTarget& target, LoopStatement* s) {
  const bool call = value.kind == Syntax::Kind::kCall && value.args.size() == 2 && (value.name == "min" || value.name == "max");
  const bool arithmetic =
      value.kind == Syntax::Kind::kBinary && (value.op == Op::kAdd || value.op == Op::kSub || value.op == Op::kMul);
  if ((!call && !arithmetic) || target.dtype == DType::kBool) return;
  const ExprPtr current = read(target.tensor, target.dtype, target.subscripts);
  const ExprPtr a = build(*value.args[0], weak);
  const ExprPtr b = build(*value.args[1], weak);
  const bool left = same(a, current);
  const bool right = !left && value.op != Op::kSub && same(b, current);
  if (!left && !right) return;
  const ExprPtr other = left ? b : a;
  const DType computed = value.type.form == Form::kFixed ? value.type.dtype : weak;
  const bool modular = arithmetic && is_integer(target.dtype) && !is_float(other->type);
  if (computed != target.dtype && !modular && !(call && other->type == target.dtype)) return;
  bool reads_element = false;
  walk(other, [&](const Expr& e) { reads_element |= e.op == Op::kRead && same(read(e.name, e.type, e.args), current); });
  if (reads_element) return;
  s->operand = convert(target.dtype, other);
  if (value.op == Op::kSub) s->operand = unary(Op::kNeg, s->operand);
  s->update = call                   ? (value.name == "min" ? ReduceKind::kMin : ReduceKind::kMax)
              : value.op == Op::kMul ? ReduceKind::kProd
                                     : ReduceKind::kSum;
}

Result<ParsedLoops> parse_loops(const std::vector<std::string>& lines, const LoopContext& context) {
  const SourceText source(lines, context.line_places, context.place);
  Result<std::vector<Token>> tokens = lex(source, Language::kC);
  if (!tokens) return tokens.errors();
  return LoopParser(source, context, std::move(*tokens)).run();
}

}  // namespace facet
