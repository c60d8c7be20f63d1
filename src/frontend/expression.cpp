// Precedence climbing over the tokens of an equation or a C expression.
#include "src/frontend/expression.hpp"

#include <algorithm>
#include <utility>

namespace facet {

namespace {

struct Infix {
  const char* text;
  Op op;
  int level;         // loosest first, the levels of C
  bool equation, c;  // the languages that have it
};

constexpr Infix kInfix[] = {
    {"or", Op::kOr, 0, true, false},   {"||", Op::kOr, 0, false, true},      {"and", Op::kAnd, 1, true, false},
    {"&&", Op::kAnd, 1, false, true},  {"|", Op::kBitOr, 3, true, true},     {"^", Op::kBitXor, 4, true, true},
    {"&", Op::kBitAnd, 5, true, true}, {"==", Op::kEq, 6, true, true},       {"!=", Op::kNe, 6, true, true},
    {"<", Op::kLt, 7, true, true},     {"<=", Op::kLe, 7, true, true},       {">", Op::kGt, 7, true, true},
    {">=", Op::kGe, 7, true, true},    {"<<", Op::kShl, 8, true, true},      {">>", Op::kShr, 8, true, true},
    {"+", Op::kAdd, 9, true, true},    {"-", Op::kSub, 9, true, true},       {"*", Op::kMul, 10, true, true},
    {"/", Op::kDiv, 10, true, true},   {"%", Op::kFloorMod, 10, true, true},
};
constexpr int kNotLevel = 2;  // `not a < b` is not (a < b)

const Infix* infix_of(const Token& token, Language language) {
  for (const Infix& row : kInfix)
    if (token.text == row.text && (language == Language::kC ? row.c : row.equation)) return &row;
  return nullptr;
}

// What a person who writes the other language's operator means.
const char* other_spelling(const std::string& text, Language language) {
  static const std::pair<const char*, const char*> equation[] = {
      {"&&", "and"}, {"||", "or"}, {"!", "not"}, {"**", "pow(x, y)"}};
  static const std::pair<const char*, const char*> c[] = {{"and", "&&"}, {"or", "||"}, {"not", "!"}, {"**", "pow(x, y)"}};
  for (const auto& [wrong, right] : language == Language::kC ? c : equation)
    if (text == wrong) return right;
  return nullptr;
}

bool starts_operand(const Token& token) {
  return token.kind == TokenKind::kName || token.kind == TokenKind::kInteger || token.kind == TokenKind::kFloat ||
         token.text == "(" || token.text == "-" || token.text == "~";
}

}  // namespace

bool is_reduction_name(const std::string& name, ReduceKind* kind) {
  for (int k = 0; k <= static_cast<int>(ReduceKind::kArgMin); ++k) {
    if (name != to_text(static_cast<ReduceKind>(k))) continue;
    if (kind) *kind = static_cast<ReduceKind>(k);
    return true;
  }
  return false;
}

// Counts the levels of the recursive descent, so that "((((…" cannot exhaust the stack.
struct ExpressionParser::Deeper {
  explicit Deeper(int* depth) : depth_(depth) { ++*depth_; }
  ~Deeper() { --*depth_; }
  int* depth_;
};

const Token& ExpressionParser::peek(int ahead) const {
  return tokens_[std::min(at_ + static_cast<std::size_t>(ahead), tokens_.size() - 1)];
}

Token ExpressionParser::take() {
  Token token = peek();
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool ExpressionParser::is(const char* text, int ahead) const {
  return peek(ahead).kind != TokenKind::kEnd && peek(ahead).text == text;
}

bool ExpressionParser::accept(const char* text) {
  if (!is(text)) return false;
  take();
  return true;
}

bool ExpressionParser::expect(const char* text, const std::string& what) {
  if (accept(text)) return true;
  fail(what.empty() ? std::string("'") + text + "'" : what);
  return false;
}

SyntaxPtr ExpressionParser::fail(const std::string& expected) {
  std::vector<std::string> notes;
  if (const char* right = other_spelling(peek().text, language_)) notes.push_back(std::string("write ") + right);
  return fail(Code::kSyntax, peek().offset, {expected, describe(peek())}, std::move(notes));
}

SyntaxPtr ExpressionParser::fail(Code code, int offset, std::vector<std::string> args, std::vector<std::string> notes) {
  if (errors_.empty()) errors_.push_back(diagnose(code, source_.at(offset), std::move(args), std::move(notes)));
  return nullptr;
}

// Sets the depth and the extent of a node from its parts.
SyntaxPtr ExpressionParser::finish(SyntaxPtr node) {
  for (const SyntaxPtr& a : node->args) node->depth = std::max(node->depth, a->depth + 1);
  for (const SyntaxPtr& c : node->clauses.conditions) node->depth = std::max(node->depth, c->depth + 1);
  for (const RangeSyntax& r : node->clauses.ranges)
    node->depth = std::max({node->depth, r.lower->depth + 1, r.upper->depth + 1});
  if (node->pad) node->depth = std::max(node->depth, node->pad->depth + 1);
  if (node->depth > kMaxDepth) return fail(Code::kTextTooDeep, node->offset, {std::to_string(kMaxDepth)});
  return node;
}

SyntaxPtr ExpressionParser::expression() {
  const Deeper deeper(&brackets_);
  if (brackets_ > kMaxBrackets + 1) return fail(Code::kTextTooDeep, peek().offset, {std::to_string(kMaxBrackets)});
  return language_ == Language::kC ? conditional() : binary(0);
}

SyntaxPtr ExpressionParser::conditional() {
  SyntaxPtr condition = binary(0);
  if (!condition || !is("?")) return condition;
  const Deeper deeper(&depth_);
  if (depth_ > kMaxDepth) return fail(Code::kTextTooDeep, peek().offset, {std::to_string(kMaxDepth)});
  SyntaxPtr node = std::make_unique<Syntax>();
  node->kind = Syntax::Kind::kConditional;
  node->begin = condition->begin;
  node->offset = take().offset;
  SyntaxPtr then = expression();
  if (!then || !expect(":")) return nullptr;
  SyntaxPtr otherwise = conditional();
  if (!otherwise) return nullptr;
  node->end = otherwise->end;
  node->args.push_back(std::move(condition));
  node->args.push_back(std::move(then));
  node->args.push_back(std::move(otherwise));
  return finish(std::move(node));
}

SyntaxPtr ExpressionParser::binary(int level) {
  const Deeper deeper(&depth_);
  if (depth_ > kMaxDepth) return fail(Code::kTextTooDeep, peek().offset, {std::to_string(kMaxDepth)});
  SyntaxPtr left;
  if (level <= kNotLevel && language_ == Language::kEquation && is("not") && starts_operand(peek(1))) {
    left = std::make_unique<Syntax>();
    left->kind = Syntax::Kind::kUnary;
    left->op = Op::kNot;
    left->begin = left->offset = take().offset;
    SyntaxPtr operand = binary(kNotLevel);
    if (!operand) return nullptr;
    left->end = operand->end;
    left->args.push_back(std::move(operand));
    left = finish(std::move(left));
  } else {
    left = unary();
  }
  while (left) {
    const Infix* row = infix_of(peek(), language_);
    if (!row || row->level < level) return left;
    SyntaxPtr node = std::make_unique<Syntax>();
    node->kind = Syntax::Kind::kBinary;
    node->op = row->op;
    node->begin = left->begin;
    node->offset = take().offset;
    SyntaxPtr right = binary(row->level + 1);
    if (!right) return nullptr;
    if (language_ == Language::kEquation && row->level >= 6 && row->level <= 7) {
      const Infix* next = infix_of(peek(), language_);
      if (next && next->level >= 6 && next->level <= 7)
        return fail(Code::kSyntax, peek().offset, {"one comparison", "a chain of them"}, {"write a < b and b < c"});
    }
    node->end = right->end;
    node->args.push_back(std::move(left));
    node->args.push_back(std::move(right));
    left = finish(std::move(node));
  }
  return nullptr;
}

SyntaxPtr ExpressionParser::unary() {
  const bool c = language_ == Language::kC;
  Op op = Op::kLiteral;
  if (is("-")) op = Op::kNeg;
  if (is("~")) op = Op::kBitNot;
  if (c && is("!")) op = Op::kNot;
  const bool plus = c && is("+");
  if (c && is("(") && peek(1).kind == TokenKind::kName && c_type(peek(1).text, nullptr)) return c_cast();
  if (op == Op::kLiteral && !plus) return primary();
  const Deeper deeper(&depth_);
  if (depth_ > kMaxDepth) return fail(Code::kTextTooDeep, peek().offset, {std::to_string(kMaxDepth)});
  const int begin = take().offset;
  SyntaxPtr operand = unary();
  if (!operand || plus) return operand;
  SyntaxPtr node = std::make_unique<Syntax>();
  node->kind = Syntax::Kind::kUnary;
  node->op = op;
  node->begin = node->offset = begin;
  node->end = operand->end;
  node->args.push_back(std::move(operand));
  return finish(std::move(node));
}

SyntaxPtr ExpressionParser::c_cast() {
  const Deeper deeper(&depth_);
  if (depth_ > kMaxDepth) return fail(Code::kTextTooDeep, peek().offset, {std::to_string(kMaxDepth)});
  SyntaxPtr node = std::make_unique<Syntax>();
  node->kind = Syntax::Kind::kUnary;
  node->op = Op::kCast;
  node->begin = node->offset = take().offset;
  if (!type_words(&node->cast_type) || !expect(")")) return nullptr;
  SyntaxPtr operand = unary();
  if (!operand) return nullptr;
  node->end = operand->end;
  node->args.push_back(std::move(operand));
  return finish(std::move(node));
}

SyntaxPtr ExpressionParser::primary() {
  const Token& token = peek();
  if (token.kind == TokenKind::kInteger || token.kind == TokenKind::kFloat) return number();
  if (token.kind == TokenKind::kName) return named();
  if (!is("(")) return fail("an operand");
  const int begin = take().offset;
  SyntaxPtr inner = expression();
  if (!inner || !expect(")")) return nullptr;
  inner->begin = begin;
  inner->end = tokens_[at_ - 1].end;
  return inner;
}

SyntaxPtr ExpressionParser::number() {
  const Token token = take();
  SyntaxPtr node = std::make_unique<Syntax>();
  node->kind = token.kind == TokenKind::kInteger ? Syntax::Kind::kInteger : Syntax::Kind::kFloat;
  node->int_value = token.int_value;
  node->float_value = token.float_value;
  node->suffix = token.suffix;
  node->begin = node->offset = token.offset;
  node->end = token.end;
  return node;
}

// NAME, NAME[subscripts], NAME(arguments) or a reduction.
SyntaxPtr ExpressionParser::named() {
  const Token token = take();
  SyntaxPtr node = std::make_unique<Syntax>();
  node->name = token.text;
  node->begin = node->offset = token.offset;
  node->end = token.end;
  if (is("[")) return subscripts(std::move(node));
  if (!accept("(")) return node;
  node->kind = Syntax::Kind::kCall;
  if (!is(")")) {
    do {
      SyntaxPtr argument = expression();
      if (!argument) return nullptr;
      node->args.push_back(std::move(argument));
    } while (accept(","));
  }
  if (!expect(")", "',' or ')'")) return nullptr;
  node->end = tokens_[at_ - 1].end;
  return finish(std::move(node));
}

SyntaxPtr ExpressionParser::subscripts(SyntaxPtr node) {
  node->kind = Syntax::Kind::kElement;
  do {
    take();  // [
    if (is("]") && node->args.empty() && language_ == Language::kEquation) break;
    do {
      SyntaxPtr subscript = expression();
      if (!subscript) return nullptr;
      node->args.push_back(std::move(subscript));
    } while (language_ == Language::kEquation && accept(","));
    if (language_ == Language::kC) {
      if (is(","))
        return fail(Code::kSyntax, peek().offset, {"']'", "','"}, {"C writes one subscript in each bracket: A[i][j]"});
      if (!expect("]")) return nullptr;
    }
  } while (language_ == Language::kC && is("["));
  if (language_ == Language::kEquation) {
    if (accept("?")) {
      node->pad = expression();
      if (!node->pad) return nullptr;
    }
    if (!expect("]", node->pad ? "']'" : "',', '?' or ']'")) return nullptr;
    if (is("["))
      return fail(Code::kSyntax, peek().offset, {"an operator", "'['"}, {"subscripts are written together: x[i, j]"});
    if (is("(") && is_reduction_name(node->name)) return reduction(std::move(node));
  }
  node->end = tokens_[at_ - 1].end;
  return finish(std::move(node));
}

// Turns `sum[k, l]`, read as an element, into a reduction and reads its body.
SyntaxPtr ExpressionParser::reduction(SyntaxPtr node) {
  node->kind = Syntax::Kind::kReduction;
  if (node->pad) return fail(Code::kSyntax, node->pad->begin, {"indices", "a padding value"});
  if (node->args.empty())
    return fail(Code::kSyntax, node->offset, {"an index to reduce over", "none"}, {"write " + node->name + "[k](...)"});
  for (const SyntaxPtr& a : node->args) {
    if (a->kind != Syntax::Kind::kName)
      return fail(Code::kSyntax, a->begin, {"a plain index", "'" + source_.slice(a->begin, a->end) + "'"});
    node->indices.emplace_back(a->name, a->offset);
  }
  node->args.clear();
  take();  // (
  SyntaxPtr body = expression();
  if (!body) return nullptr;
  node->args.push_back(std::move(body));
  if (!clauses(&node->clauses) || !expect(")")) return nullptr;
  node->end = tokens_[at_ - 1].end;
  return finish(std::move(node));
}

namespace {

void split_conjunction(SyntaxPtr condition, std::vector<SyntaxPtr>* out) {
  if (condition->kind == Syntax::Kind::kBinary && condition->op == Op::kAnd) {
    split_conjunction(std::move(condition->args[0]), out);
    split_conjunction(std::move(condition->args[1]), out);
  } else {
    out->push_back(std::move(condition));
  }
}

}  // namespace

bool ExpressionParser::clauses(Clauses* out) {
  bool where = false;
  bool range = false;
  for (;;) {
    const int offset = peek().offset;
    if (accept("where")) {
      if (std::exchange(where, true))
        return fail(Code::kSyntax, offset, {"one 'where'", "a second one"}, {"join conditions by 'and'"}), false;
      SyntaxPtr condition = expression();
      if (!condition) return false;
      split_conjunction(std::move(condition), &out->conditions);
    } else if (accept("for")) {
      if (std::exchange(range, true))
        return fail(Code::kSyntax, offset, {"one 'for'", "a second one"}, {"join ranges by ','"}), false;
      if (!ranges(&out->ranges)) return false;
    } else {
      return true;
    }
  }
}

bool ExpressionParser::ranges(std::vector<RangeSyntax>* out) {
  do {
    if (peek().kind != TokenKind::kName) return fail("an index"), false;
    RangeSyntax range;
    const Token name = take();
    range.name = name.text;
    range.offset = name.offset;
    if (!expect("in")) return false;
    range.lower = expression();
    if (!range.lower || !expect("..", "'..' and the end of the range")) return false;
    range.upper = expression();
    if (!range.upper) return false;
    out->push_back(std::move(range));
  } while (accept(","));
  return true;
}

}  // namespace facet
