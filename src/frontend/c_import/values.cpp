// Arithmetic of a region: C's operators as they are, with macros, constants and small helper functions put in.
//
// The text keeps the parentheses of the source; what is put in place of a name gets its own. Conversions that C makes by itself
// are left to the loops language, which makes the same ones, except float to integer, which is written as a cast.
#include <algorithm>

#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "src/frontend/c_import/reader.hpp"
#include "src/frontend/loops_functions.hpp"

namespace facet::c_import {

namespace {

constexpr int kMostInlined = 8;                // helper functions that call helper functions
constexpr std::size_t kLongestInlined = 4000;  // characters; each use of a parameter repeats its argument

std::string cast_text(const std::string& word, const std::string& text) { return "(" + word + ")(" + text + ")"; }

std::string float_text(const llvm::APFloat& value, bool is_float) {
  llvm::SmallString<40> text;
  value.toString(text, 0, 0);
  const bool whole = text.str().find_first_of(".eEnN") == llvm::StringRef::npos;
  return text.str().str() + (whole ? ".0" : "") + (is_float ? "f" : "");
}

}  // namespace

std::optional<std::string> RegionReader::value(const clang::Expr* e) {
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(e)) {
    const std::optional<std::string> inside = value(cast->getSubExpr());
    const bool written = llvm::isa<clang::CStyleCastExpr>(cast);
    if (!inside || (!written && cast->getCastKind() != clang::CK_FloatingToIntegral)) return inside;
    const std::string word = c_word(dtype_of(context_, cast->getType()));
    return word.empty() ? refuse_value(e) : std::optional<std::string>(cast_text(word, *inside));
  }
  if (const auto* paren = llvm::dyn_cast<clang::ParenExpr>(e)) {
    const std::optional<std::string> inside = value(paren->getSubExpr());
    return inside ? std::optional<std::string>("(" + *inside + ")") : inside;
  }
  if (e->getType()->isPointerType()) return refuse_base(e, e);
  if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(e)) return name_value(name);
  if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(e)) {
    const std::optional<std::string> c = value(choice->getCond()), a = value(choice->getTrueExpr()),
                                     b = value(choice->getFalseExpr());
    return c && a && b ? std::optional<std::string>(*c + " ? " + *a + " : " + *b) : std::nullopt;
  }
  if (const auto* both = llvm::dyn_cast<clang::BinaryOperator>(e); both && !both->isAssignmentOp() && !both->isCommaOp()) {
    const std::optional<std::string> a = value(both->getLHS()), b = value(both->getRHS());
    return a && b ? std::optional<std::string>(*a + " " + both->getOpcodeStr().str() + " " + *b) : std::nullopt;
  }
  if (const auto* one = llvm::dyn_cast<clang::UnaryOperator>(e)) return unary_value(one);
  if (const auto* called = llvm::dyn_cast<clang::CallExpr>(e)) return call(called);
  if (llvm::isa<clang::ArraySubscriptExpr>(e)) return place(e, true, false);
  return number(e);
}

std::optional<std::string> RegionReader::number(const clang::Expr* e) {
  const std::string dtype = dtype_of(context_, e->getType());
  if (const auto* literal = llvm::dyn_cast<clang::FloatingLiteral>(e)) {
    if (dtype.empty()) return refuse_value(e);
    llvm::SmallString<64> buffer;
    const clang::SourceLocation spelled = sources_.getSpellingLoc(e->getBeginLoc());
    const std::string written = clang::Lexer::getSpelling(spelled, buffer, sources_, context_.getLangOpts()).str();
    const bool decimal = !written.empty() && written.find_first_not_of("0123456789.eE+-fF") == std::string::npos;
    return decimal ? written : float_text(literal->getValue(), dtype == "f32");
  }
  if (const std::optional<std::string> whole = constant(e)) {
    const std::string suffix = dtype == "u64" ? "ul" : dtype == "i64" ? "l" : dtype == "u32" ? "u" : "";
    return (*whole)[0] == '-' ? "(" + *whole + suffix + ")" : *whole + suffix;
  }
  return refuse_value(e);
}

// const double c = 0.5;
std::optional<std::string> RegionReader::fixed_value(const clang::VarDecl* v) {
  if (!v->getType().isConstQualified() || !v->hasInit()) return std::nullopt;
  const std::string dtype = dtype_of(context_, v->getType());
  const auto* literal = llvm::dyn_cast<clang::FloatingLiteral>(v->getInit()->IgnoreParenImpCasts());
  if (literal && dtype == dtype_of(context_, literal->getType())) return number(literal);
  clang::Expr::EvalResult result;
  std::optional<std::string> text = constant(v->getInit());
  if (!text && v->getInit()->EvaluateAsRValue(result, context_) && result.Val.isFloat())
    text = float_text(result.Val.getFloat(), dtype == "f32");
  return text && (*text)[0] == '-' ? "(" + *text + ")" : text;
}

std::optional<std::string> RegionReader::name_value(const clang::DeclRefExpr* e) {
  const clang::ValueDecl* decl = e->getDecl();
  const auto expanded = substituted_.find(decl);
  if (expanded != substituted_.end()) return expanded->second;
  const auto* variable = llvm::dyn_cast<clang::VarDecl>(decl);
  if (llvm::isa<clang::EnumConstantDecl>(decl)) return number(e);
  if (const std::optional<std::string> fixed = variable ? fixed_value(variable) : std::nullopt) return fixed;
  const Binding b = binding(decl, e->getSourceRange());
  switch (b.kind) {
    case Kind::kSymbol:
    case Kind::kAlias: {
      const bool wide = b.dtype == "i64" || b.dtype == "u64";  // a symbol in the range of int counts as int
      return wide ? cast_text("int64_t", b.text) : b.kind == Kind::kAlias ? "(" + b.text + ")" : b.text;
    }
    case Kind::kLoop:
    case Kind::kLocal: return b.text;
    case Kind::kScalar: answer_.tensors[b.tensor].read = true; return b.text;
    case Kind::kArray: return refuse_base(e, e);
    case Kind::kRefused: break;
  }
  return std::nullopt;
}

std::optional<std::string> RegionReader::unary_value(const clang::UnaryOperator* e) {
  switch (e->getOpcode()) {
    case clang::UO_Deref: return place(e, true, false);
    case clang::UO_Plus: return value(e->getSubExpr());
    case clang::UO_Minus:
    case clang::UO_Not:
    case clang::UO_LNot: {
      const std::optional<std::string> inside = value(e->getSubExpr());
      const std::string sign = clang::UnaryOperator::getOpcodeStr(e->getOpcode()).str();
      if (!inside) return inside;
      return inside->compare(0, 1, sign) == 0 ? sign + "(" + *inside + ")" : sign + *inside;
    }
    default: return refuse_value(e);
  }
}

std::optional<std::string> RegionReader::call(const clang::CallExpr* e) {
  const clang::FunctionDecl* callee = e->getDirectCallee();
  if (!callee)
    return refuse("not-imported", e->getSourceRange(), {quote(e), "it calls through a pointer"},
                  {"call the function by its name"});
  if (const clang::FunctionDecl* defined = callee->getDefinition()) return inlined(e, defined);
  std::string name = callee->getNameAsString();
  if (name.compare(0, 10, "__builtin_") == 0) name = name.substr(10);
  char suffix = 0;
  const bool known = find_c_function(name, &suffix) && name != "min" && name != "max" && suffix != 'l';
  if (!known) {
    std::string list;
    for (const std::string& f : c_function_names())
      if (f != "min" && f != "max" && f != "rsqrt" && f != "sigmoid") list += (list.empty() ? "" : " ") + f;
    return refuse(
        "not-imported", e->getSourceRange(), {quote(e), "it calls a function that may do more than give a value"},
        {"define it in this file as one return of an expression: then it is put in here", "known functions: " + list});
  }
  std::string args;
  for (const clang::Expr* a : e->arguments()) {
    const std::optional<std::string> text = value(a);
    if (!text) return text;
    args += (args.empty() ? "" : ", ") + *text;
  }
  return name + "(" + args + ")";
}

// A function of this file that is one return statement, with its arguments put in.
std::optional<std::string> RegionReader::inlined(const clang::CallExpr* e, const clang::FunctionDecl* callee) {
  const auto* body = llvm::dyn_cast<clang::CompoundStmt>(callee->getBody());
  const auto* result = body && body->size() == 1 ? llvm::dyn_cast<clang::ReturnStmt>(body->body_front()) : nullptr;
  const std::string word = c_word(dtype_of(context_, callee->getReturnType()));
  if (!result || !result->getRetValue() || word.empty() || inline_depth_ >= kMostInlined)
    return refuse("not-imported", e->getSourceRange(), {quote(e), "the function is more than one return of an expression"},
                  {"write its statements in the region"});
  std::map<const clang::ValueDecl*, std::string> arguments;
  for (unsigned i = 0; i < callee->getNumParams(); ++i) {
    const std::optional<std::string> text = value(e->getArg(i));
    if (!text) return text;
    const std::string wanted = dtype_of(context_, callee->getParamDecl(i)->getType());
    const bool same = wanted == dtype_of(context_, e->getArg(i)->IgnoreImpCasts()->getType());
    arguments[callee->getParamDecl(i)] = same ? "(" + *text + ")" : cast_text(c_word(wanted), *text);
  }
  std::swap(substituted_, arguments);
  ++inline_depth_;
  const clang::Expr* expression = result->getRetValue();
  const std::optional<std::string> text = value(expression);
  --inline_depth_;
  std::swap(substituted_, arguments);
  if (!text) return text;
  if (text->size() > kLongestInlined)
    return refuse("not-imported", e->getSourceRange(), {quote(e), "with its arguments put in it is too long"},
                  {"store the arguments in scalars first"});
  const bool same = dtype_of(context_, expression->IgnoreImpCasts()->getType()) == dtype_of(context_, callee->getReturnType());
  return same ? "(" + *text + ")" : cast_text(word, *text);
}

std::optional<std::string> RegionReader::place(const clang::Expr* e, bool reads, bool writes) {
  e = e->IgnoreParenImpCasts();
  const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(e);
  if (!name) return element(e, reads, writes);
  const Binding b = binding(name->getDecl(), e->getSourceRange());
  if (b.kind == Kind::kLoop && writes) return refuse("loop-variable-assigned", e->getSourceRange(), {b.text});
  if (b.kind == Kind::kLocal) return b.text;
  if (b.kind == Kind::kScalar) {
    answer_.tensors[b.tensor].read |= reads;
    answer_.tensors[b.tensor].written |= writes;
    return b.text;
  }
  if (b.kind == Kind::kRefused) return std::nullopt;
  return refuse("not-imported", e->getSourceRange(), {quote(e), "it is assigned here"},
                {"declare a scalar of the region for it"});
}

std::optional<std::string> RegionReader::element(const clang::Expr* e, bool reads, bool writes) {
  std::vector<const clang::Expr*> subscripts;  // null: *p
  const clang::Expr* at = e;
  for (;;) {
    at = at->IgnoreParenImpCasts();
    const auto* bracket = llvm::dyn_cast<clang::ArraySubscriptExpr>(at);
    const auto* star = llvm::dyn_cast<clang::UnaryOperator>(at);
    if (!bracket && !(star && star->getOpcode() == clang::UO_Deref)) break;
    subscripts.push_back(bracket ? bracket->getIdx() : nullptr);
    at = bracket ? bracket->getBase() : star->getSubExpr();
  }
  std::reverse(subscripts.begin(), subscripts.end());
  const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(at);
  if (!name || substituted_.count(name->getDecl())) return refuse_base(at, e);
  const Binding b = binding(name->getDecl(), at->getSourceRange());
  if (b.kind == Kind::kRefused) return std::nullopt;
  if (b.kind != Kind::kArray || b.rank != static_cast<int>(subscripts.size())) return refuse_base(at, e);
  answer_.tensors[b.tensor].read |= reads;
  answer_.tensors[b.tensor].written |= writes;
  std::string text = b.text;
  for (const clang::Expr* s : subscripts) {
    if (!s) {
      text += "[0]";
      continue;
    }
    const Notes rows = b.rank == 1 && !affine_quietly(s) ? row_length_note(at, s) : Notes();
    if (!rows.empty())
      return refuse("not-affine", s->getSourceRange(), {quote(s), "it walks rows by a product of two variables"}, rows);
    if (llvm::isa<clang::ArraySubscriptExpr>(s->IgnoreParenImpCasts()))
      return refuse(
          "not-affine", s->getSourceRange(), {quote(s), "the element is chosen by data"},
          {"gather in front of the region into an array with affine subscripts; in a program, op compute can: t[i] = A[k[i]]"});
    const std::optional<std::string> subscript = affine(s);
    if (!subscript) return subscript;
    text += "[" + *subscript + "]";
  }
  return text;
}

// What stands where the name of an array is needed.
std::optional<std::string> RegionReader::refuse_base(const clang::Expr* base, const clang::Expr* whole) {
  base = base->IgnoreParenImpCasts();
  const std::string text = quote(whole);
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(base)) {
    const std::string field = member->getMemberDecl()->getNameAsString();
    return refuse("not-imported", base->getSourceRange(), {text, "it is a field of a struct"},
                  {"pass the field as a parameter of its own, '" + field + "', and use that name here"});
  }
  if (const auto* sum = llvm::dyn_cast<clang::BinaryOperator>(base); sum && sum->isAdditiveOp())
    return refuse(
        "not-imported", whole->getSourceRange(), {text, "it computes with pointers"},
        {"write " + quote(sum->getLHS()) + "[" + (sum->getOpcode() == clang::BO_Sub ? "-" : "") + quote(sum->getRHS()) + "]"});
  if (llvm::isa<clang::UnaryOperator>(base))
    return refuse("not-imported", whole->getSourceRange(), {text, "it computes with pointers"},
                  {"write the array's own name and subscripts, A[i][j]"});
  if (llvm::isa<clang::DeclRefExpr>(base))
    return refuse("not-imported", whole->getSourceRange(), {text, "it names a part of an array, not an element"},
                  {"write all subscripts of the array"});
  return refuse("not-imported", whole->getSourceRange(), {text, "what memory it names cannot be told"},
                {"write the array's own name and subscripts, A[i][j]"});
}

std::optional<std::string> RegionReader::refuse_value(const clang::Expr* e) {
  const clang::SourceRange range = e->getSourceRange();
  if (llvm::isa<clang::MemberExpr>(e)) return refuse_base(e, e);
  const auto* both = llvm::dyn_cast<clang::BinaryOperator>(e);
  const auto* one = llvm::dyn_cast<clang::UnaryOperator>(e);
  if (both || (one && one->isIncrementDecrementOp()))
    return refuse("not-imported", range, {quote(e), "it changes a variable inside an expression"},
                  {"write a statement of its own in front"});
  if (one && one->getOpcode() == clang::UO_AddrOf)
    return refuse("not-imported", range, {quote(e), "it takes an address"}, {"use the element's value"});
  const std::string type = e->getType().getAsString();
  return refuse("not-imported", range, {quote(e), "an expression of this kind (of type " + type + ") has no meaning there"},
                {"use + - * / % comparisons ?: casts, and the functions of math.h on float, double and integers"});
}

}  // namespace facet::c_import
