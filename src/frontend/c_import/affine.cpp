// Bounds, subscripts and conditions: affine in loop variables and symbols, with constants folded.
//
// The grammar is that of the loops language: + - and products with a constant, / and % by positive constants, min and max (also
// written as a choice, as macros do), comparisons joined by && and ||. What is not affine is refused where it stands, with the
// form nearest to it.
#include "clang/Basic/SourceManager.h"
#include "src/frontend/c_import/reader.hpp"

namespace facet::c_import {

namespace {

bool is_plain(const clang::Expr* e) {
  e = e->IgnoreParenImpCasts();
  return llvm::isa<clang::DeclRefExpr>(e) || llvm::isa<clang::IntegerLiteral>(e);
}

const clang::Expr* bare(const clang::Expr* e) { return e->IgnoreParenImpCasts(); }

// The same tree of names, numbers and operators.
bool alike(const clang::Expr* a, const clang::Expr* b) {
  a = bare(a), b = bare(b);
  if (a->getStmtClass() != b->getStmtClass()) return false;
  if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(a))
    return name->getDecl() == llvm::cast<clang::DeclRefExpr>(b)->getDecl();
  if (const auto* n = llvm::dyn_cast<clang::IntegerLiteral>(a))
    return n->getValue() == llvm::cast<clang::IntegerLiteral>(b)->getValue();
  if (const auto* x = llvm::dyn_cast<clang::BinaryOperator>(a)) {
    const auto* y = llvm::cast<clang::BinaryOperator>(b);
    return x->getOpcode() == y->getOpcode() && alike(x->getLHS(), y->getLHS()) && alike(x->getRHS(), y->getRHS());
  }
  return false;
}

}  // namespace

// The value of an integer constant expression.
std::optional<std::string> RegionReader::constant(const clang::Expr* e) {
  clang::Expr::EvalResult result;
  if (!e->getType()->isIntegralOrEnumerationType() || e->isValueDependent()) return std::nullopt;
  if (!e->EvaluateAsInt(result, context_)) return std::nullopt;
  llvm::SmallString<32> text;
  result.Val.getInt().toString(text);
  return text.str().str();
}

std::optional<std::string> RegionReader::affine_quietly(const clang::Expr* e, bool is_condition) {
  const std::size_t before = answer_.problems.size();
  const std::optional<std::string> text = is_condition ? condition(e) : affine(e);
  answer_.problems.resize(before);
  return text;
}

std::optional<std::string> RegionReader::affine(const clang::Expr* e) {
  if (const std::optional<std::string> number = constant(e)) return (*number)[0] == '-' ? "(" + *number + ")" : *number;
  if (const auto* paren = llvm::dyn_cast<clang::ParenExpr>(e)) {
    const std::optional<std::string> inside = affine(paren->getSubExpr());
    if (!inside) return inside;
    const bool closed = is_plain(paren->getSubExpr()) || llvm::isa<clang::ConditionalOperator>(bare(paren->getSubExpr()));
    return closed ? *inside : "(" + *inside + ")";
  }
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(e)) {
    const bool converts = cast->getCastKind() != clang::CK_LValueToRValue;  // else it only reads
    if (!converts || cast->getSubExpr()->getType()->isIntegralOrEnumerationType()) return affine(cast->getSubExpr());
    return refuse("not-affine", e->getSourceRange(),
                  {quote(e), "it is converted from " + cast->getSubExpr()->getType().getAsString()},
                  {"compute it before the region and pass it as an integer parameter"});
  }
  if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(e)) return affine_name(name);
  if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(e)) return affine_choice(choice);
  if (const auto* both = llvm::dyn_cast<clang::BinaryOperator>(e)) return affine_binary(both);
  if (const auto* sign = llvm::dyn_cast<clang::UnaryOperator>(e)) {
    if (sign->getOpcode() == clang::UO_Minus || sign->getOpcode() == clang::UO_Plus) {
      const std::optional<std::string> inside = affine(sign->getSubExpr());
      return !inside || sign->getOpcode() == clang::UO_Plus ? inside : "(-" + *inside + ")";
    }
    if (sign->isIncrementDecrementOp())
      return refuse("not-affine", e->getSourceRange(), {quote(e), "it changes a variable while it is used"},
                    {"step the variable in a loop header: for (int i = 0; i < n; i++)"});
  }
  if (llvm::isa<clang::CallExpr>(e))
    return refuse(
        "not-affine", e->getSourceRange(), {quote(e), "it calls a function"},
        {"compute it before the region and pass it as an integer parameter; min and max may be written a < b ? a : b"});
  if (llvm::isa<clang::ArraySubscriptExpr>(e))
    return refuse("not-affine", e->getSourceRange(), {quote(e), "its value comes from an array"},
                  {"loop over the whole range and choose by data in the value: x = j < " + quote(e) + " ? a : b"});
  return refuse("not-affine", e->getSourceRange(),
                {quote(e), "it is no sum of loop variables, integer parameters and constants"},
                {"an affine form is a sum like 2*i - j + n + 1"});
}

std::optional<std::string> RegionReader::affine_name(const clang::DeclRefExpr* e) {
  const std::string written = e->getNameInfo().getAsString();
  const auto expanded = substituted_.find(e->getDecl());
  if (expanded != substituted_.end())
    return refuse("not-affine", e->getSourceRange(), {written, "a subscript in a function that is called"},
                  {"write the element in the call"});
  const Binding& b = binding(e->getDecl(), e->getSourceRange());
  switch (b.kind) {
    case Kind::kSymbol:
    case Kind::kLoop: return b.text;
    case Kind::kAlias: return b.text.find_first_of(" -+*/%?") == std::string::npos ? b.text : "(" + b.text + ")";
    case Kind::kRefused: return std::nullopt;
    default: break;
  }
  const bool changed = usage_.changed.count(e->getDecl()) > 0;
  return refuse("not-affine", e->getSourceRange(),
                {written, changed ? "its value changes in the function" : "it is a scalar, whose value is computed"},
                {"write the sum of loop variables and parameters that it stands for, or declare it const int with that value"});
}

std::optional<std::string> RegionReader::affine_binary(const clang::BinaryOperator* e) {
  const clang::BinaryOperatorKind op = e->getOpcode();
  const std::string sign = e->getOpcodeStr().str();
  const std::optional<std::string> left = constant(e->getLHS()), right = constant(e->getRHS());
  if (op == clang::BO_Mul && !left && !right) {
    if (!affine(e->getLHS()) || !affine(e->getRHS())) return std::nullopt;
    return refuse("not-affine", e->getSourceRange(), {quote(e), "it is a product of two variables"},
                  {"one factor must be a constant; where it walks an array by rows, give the array two subscripts: A[i][j]"});
  }
  if (op == clang::BO_Div || op == clang::BO_Rem) {
    if (!right || (*right)[0] == '-' || *right == "0")
      return refuse("not-affine", e->getSourceRange(), {quote(e), "the divisor is not a positive constant"},
                    {"compute it before the region and pass it as an integer parameter"});
  } else if (op == clang::BO_Shl && right && right->size() < 2 && (*right)[0] != '-') {
    const std::optional<std::string> base = affine(e->getLHS());
    return base ? std::optional<std::string>("(" + std::to_string(1 << std::stoi(*right)) + " * (" + *base + "))") : base;
  } else if (op != clang::BO_Add && op != clang::BO_Sub && op != clang::BO_Mul) {
    return refuse("not-affine", e->getSourceRange(), {quote(e), "'" + sign + "' has no affine meaning"},
                  {"an affine form is a sum like 2*i - j + n + 1"});
  }
  const std::optional<std::string> a = affine(e->getLHS());
  const std::optional<std::string> b = affine(e->getRHS());
  if (!a || !b) return std::nullopt;
  return *a + " " + sign + " " + *b;
}

// a < b ? a : b
std::optional<std::string> RegionReader::affine_choice(const clang::ConditionalOperator* e) {
  const auto* test = llvm::dyn_cast<clang::BinaryOperator>(bare(e->getCond()));
  if (test && test->isRelationalOp()) {
    const bool less = test->getOpcode() == clang::BO_LT || test->getOpcode() == clang::BO_LE;
    const bool straight = alike(test->getLHS(), e->getTrueExpr()) && alike(test->getRHS(), e->getFalseExpr());
    const bool crossed = alike(test->getLHS(), e->getFalseExpr()) && alike(test->getRHS(), e->getTrueExpr());
    if (straight || crossed) {
      const std::optional<std::string> a = affine(e->getTrueExpr()), b = affine(e->getFalseExpr());
      if (!a || !b) return std::nullopt;
      return std::string(less == straight ? "min(" : "max(") + *a + ", " + *b + ")";
    }
  }
  return refuse("not-affine", e->getSourceRange(),
                {quote(e), "it is a choice that is neither the smaller nor the larger of two"},
                {"write a < b ? a : b, or split the loop at the condition"});
}

std::optional<std::string> RegionReader::condition(const clang::Expr* e) {
  const clang::Expr* inner = e->IgnoreImpCasts();
  if (const auto* paren = llvm::dyn_cast<clang::ParenExpr>(inner)) {
    const std::optional<std::string> text = condition(paren->getSubExpr());
    return text ? std::optional<std::string>("(" + *text + ")") : text;
  }
  if (const auto* negation = llvm::dyn_cast<clang::UnaryOperator>(inner); negation && negation->getOpcode() == clang::UO_LNot) {
    const std::optional<std::string> text = condition(negation->getSubExpr());
    return text ? std::optional<std::string>("!(" + *text + ")") : text;
  }
  const auto* both = llvm::dyn_cast<clang::BinaryOperator>(inner);
  if (both && (both->isLogicalOp() || both->isComparisonOp())) {
    const std::optional<std::string> a = both->isLogicalOp() ? condition(both->getLHS()) : affine(both->getLHS());
    const std::optional<std::string> b = both->isLogicalOp() ? condition(both->getRHS()) : affine(both->getRHS());
    if (!a || !b) return std::nullopt;
    return *a + " " + both->getOpcodeStr().str() + " " + *b;
  }
  const std::optional<std::string> whole = affine(inner);
  return whole ? std::optional<std::string>(*whole + " != 0") : whole;
}

// Where an array has one subscript that walks rows, i*n + j: how it is written with two.
RegionReader::Notes RegionReader::row_length_note(const clang::Expr* base, const clang::Expr* subscript) {
  const auto* sum = llvm::dyn_cast<clang::BinaryOperator>(bare(subscript));
  if (!sum || sum->getOpcode() != clang::BO_Add) return {};
  const clang::Expr* rows = bare(sum->getLHS());
  const clang::Expr* rest = sum->getRHS();
  if (const auto* product = llvm::dyn_cast<clang::BinaryOperator>(rows); !product || product->getOpcode() != clang::BO_Mul) {
    rows = bare(sum->getRHS());
    rest = sum->getLHS();
  }
  const auto* product = llvm::dyn_cast<clang::BinaryOperator>(rows);
  if (!product || product->getOpcode() != clang::BO_Mul) return {};
  const clang::Expr* row = product->getLHS();
  const clang::Expr* length = product->getRHS();
  const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(bare(length));
  if (!name || !affine_quietly(length) || binding(name->getDecl(), length->getSourceRange()).kind != Kind::kSymbol)
    std::swap(row, length);
  const std::string array = quote(base);
  return {"declare it with its row length, double " + array + "[][" + quote(length) + "], and write " + array + "[" +
          quote(row) + "][" + quote(rest) + "]"};
}

}  // namespace facet::c_import
