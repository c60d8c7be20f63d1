// Statements of a region: loops with affine headers, affine conditions, declarations of scalars, assignments.
#include "clang/Basic/SourceManager.h"
#include "src/frontend/c_import/reader.hpp"

namespace facet::c_import {

namespace {

const clang::VarDecl* variable_of(const clang::Expr* e) {
  const auto* name = llvm::dyn_cast_or_null<clang::DeclRefExpr>(e ? e->IgnoreParenImpCasts() : nullptr);
  return name ? llvm::dyn_cast<clang::VarDecl>(name->getDecl()) : nullptr;
}

// The only statement in braces or without.
const clang::Stmt* only(const clang::Stmt* s) {
  const auto* block = llvm::dyn_cast_or_null<clang::CompoundStmt>(s);
  return !block ? s : block->size() == 1 ? block->body_front() : nullptr;
}

}  // namespace

void RegionReader::statement(const clang::Stmt* s) {
  if (llvm::isa<clang::NullStmt>(s)) return;
  if (const auto* attributed = llvm::dyn_cast<clang::AttributedStmt>(s)) return statement(attributed->getSubStmt());
  if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(s)) {
    begin(s->getBeginLoc());
    return compound(block);
  }
  if (const auto* nest = llvm::dyn_cast<clang::ForStmt>(s)) return loop(nest);
  if (const auto* choice = llvm::dyn_cast<clang::IfStmt>(s)) return branch(choice);
  if (const auto* declared = llvm::dyn_cast<clang::DeclStmt>(s)) return declaration(declared);
  if (const auto* expression = llvm::dyn_cast<clang::Expr>(s)) return expression_statement(expression);
  refuse_statement(s);
}

// The line has been begun.
void RegionReader::compound(const clang::CompoundStmt* s) {
  const std::size_t scope = active_.size();
  put("{");
  const auto sunk = sunk_.find(s);
  if (sunk != sunk_.end()) {
    for (const clang::VarDecl* v : sunk->second) {
      bindings_[v] = {Kind::kLocal, name_for(v, true), dtype_of(context_, v->getType())};
      put(" " + c_word(bindings_[v].dtype) + " " + bindings_[v].text + ";");
    }
  }
  for (const clang::Stmt* child : s->body()) statement(child);
  begin(s->getRBracLoc());
  put("}");
  active_.resize(scope);
}

// The variable that the header starts, and its first value.
const clang::VarDecl* RegionReader::loop_start(const clang::ForStmt* s, const clang::Expr** first) {
  const auto* declared = llvm::dyn_cast_or_null<clang::DeclStmt>(s->getInit());
  const auto* assigned = llvm::dyn_cast_or_null<clang::BinaryOperator>(s->getInit());
  const clang::VarDecl* variable = nullptr;
  if (declared && declared->isSingleDecl()) variable = llvm::dyn_cast<clang::VarDecl>(declared->getSingleDecl());
  if (assigned && assigned->getOpcode() == clang::BO_Assign) variable = variable_of(assigned->getLHS());
  *first = declared && variable ? variable->getInit() : assigned && variable ? assigned->getRHS() : nullptr;
  if (variable && *first && variable->getType()->isIntegerType()) return variable;
  const clang::SourceRange at = s->getInit() ? s->getInit()->getSourceRange() : clang::SourceRange(s->getForLoc());
  refuse("loop-form", at, {s->getInit() ? quote(s->getInit()) : "for", "a loop starts one integer variable"},
         {"write for (int i = 0; i < n; i++)"});
  return nullptr;
}

std::optional<std::string> RegionReader::loop_bounds(const clang::Expr* e, const clang::VarDecl* v) {
  const clang::Expr* inner = e ? e->IgnoreParenImpCasts() : nullptr;
  const auto* both = llvm::dyn_cast_or_null<clang::BinaryOperator>(inner);
  if (both && both->getOpcode() == clang::BO_LAnd) {
    const std::optional<std::string> a = loop_bounds(both->getLHS(), v), b = loop_bounds(both->getRHS(), v);
    return a && b ? std::optional<std::string>(*a + " && " + *b) : std::nullopt;
  }
  const std::string name = v->getNameAsString();
  if (both && both->getOpcode() == clang::BO_NE)
    return refuse("loop-form", inner->getSourceRange(), {quote(inner), "the loop need not reach this bound"},
                  {"write " + quote(both->getLHS()) + " < " + quote(both->getRHS()) + " where it counts up"});
  if (!both || !both->isRelationalOp()) {
    const clang::SourceRange at = inner ? inner->getSourceRange() : clang::SourceRange(v->getBeginLoc());
    return refuse("loop-form", at, {inner ? quote(inner) : name, "the condition compares the loop variable with no bound"},
                  {"write " + name + " < n; a choice by data belongs into the value: x = c ? a : b"});
  }
  const std::optional<std::string> a = affine(both->getLHS()), b = affine(both->getRHS());
  return a && b ? std::optional<std::string>(*a + " " + both->getOpcodeStr().str() + " " + *b) : std::nullopt;
}

// i++, i -= 2, i = i + 3
std::optional<std::string> RegionReader::loop_step(const clang::ForStmt* s, const clang::VarDecl* v) {
  const std::string& name = bindings_.at(v).text;
  const clang::Expr* e = s->getInc() ? s->getInc()->IgnoreParenImpCasts() : nullptr;
  const auto* one = llvm::dyn_cast_or_null<clang::UnaryOperator>(e);
  const auto* both = llvm::dyn_cast_or_null<clang::BinaryOperator>(e);
  if (one && one->isIncrementDecrementOp() && variable_of(one->getSubExpr()) == v)
    return name + (one->isIncrementOp() ? "++" : "--");
  const clang::Expr* by = nullptr;
  bool down = false;
  if (both && variable_of(both->getLHS()) == v) {
    if (both->getOpcode() == clang::BO_AddAssign || both->getOpcode() == clang::BO_SubAssign) {
      by = both->getRHS();
      down = both->getOpcode() == clang::BO_SubAssign;
    }
    const auto* sum = llvm::dyn_cast<clang::BinaryOperator>(both->getRHS()->IgnoreParenImpCasts());
    if (both->getOpcode() == clang::BO_Assign && sum && sum->isAdditiveOp()) {
      down = sum->getOpcode() == clang::BO_Sub;
      by = variable_of(sum->getLHS()) == v ? sum->getRHS() : !down && variable_of(sum->getRHS()) == v ? sum->getLHS() : nullptr;
    }
  }
  const std::optional<std::string> step = by ? constant(by) : std::nullopt;
  if (step) return name + (down ? " -= " : " += ") + *step;
  const clang::SourceRange at = e ? e->getSourceRange() : clang::SourceRange(s->getForLoc());
  return refuse("loop-form", at, {e ? quote(e) : "for", "the step adds no constant to the loop variable"},
                {"write " + name + "++ or " + name + " += 2; a loop whose step varies can run over a counter k with " + name +
                 " = f(k)"});
}

void RegionReader::loop(const clang::ForStmt* s) {
  const clang::Expr* first = nullptr;
  const clang::VarDecl* v = loop_start(s, &first);
  if (!v) return;
  const auto outer = bindings_.find(v);
  if (outer != bindings_.end() && outer->second.kind == Kind::kLoop) {
    refuse("loop-variable-assigned", s->getInit()->getSourceRange(), {outer->second.text},
           {"give the inner loop a variable of its own"});
    return;
  }
  if (s->getConditionVariable()) return refuse_statement(s);
  const std::optional<std::string> from = affine(first);
  const std::optional<Binding> before = outer == bindings_.end() ? std::nullopt : std::optional<Binding>(outer->second);
  const std::size_t scope = active_.size();
  const std::string dtype = dtype_of(context_, v->getType());
  bindings_[v] = {Kind::kLoop, name_for(v, true), dtype};
  const std::string name = bindings_[v].text;
  const std::optional<std::string> bounds = loop_bounds(s->getCond(), v);
  const std::optional<std::string> step = loop_step(s, v);
  begin(s->getForLoc());
  put("for (" + c_word(dtype) + " " + name + " = " + from.value_or("0") + "; " + bounds.value_or(name + " < 0") + "; " +
      step.value_or(name + "++") + ") ");
  if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(s->getBody())) {
    compound(block);
  } else if (llvm::isa<clang::NullStmt>(s->getBody())) {
    put(";");
  } else {
    statement(s->getBody());
  }
  active_.resize(scope);
  bindings_.erase(v);  // its value after the loop is not kept
  if (before) bindings_[v] = *before;
}

void RegionReader::branch(const clang::IfStmt* s) {
  const std::optional<std::string> test = affine_quietly(s->getCond(), true);
  if (!test || s->getConditionVariable()) return refuse_condition(s);
  begin(s->getIfLoc());
  put("if (" + *test + ") ");
  const auto part = [this](const clang::Stmt* body) {
    const std::size_t scope = active_.size();
    put("{");  // whatever stands in it, an else belongs where it belongs
    if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(body)) {
      for (const clang::Stmt* child : block->body()) statement(child);
      begin(block->getRBracLoc());
    } else {
      statement(body);
    }
    put("}");
    active_.resize(scope);
  };
  part(s->getThen());
  if (!s->getElse()) return;
  begin(s->getElseLoc());
  put("else ");
  if (llvm::isa<clang::IfStmt>(s->getElse())) return statement(s->getElse());
  part(s->getElse());
}

// A choice by data, and how it is written as a value.
void RegionReader::refuse_condition(const clang::IfStmt* s) {
  const std::size_t count = answer_.problems.size();
  condition(s->getCond());
  if (answer_.problems.size() == count) {
    refuse_statement(s);
    return;
  }
  const auto* set = llvm::dyn_cast_or_null<clang::BinaryOperator>(only(s->getThen()));
  const auto* other = llvm::dyn_cast_or_null<clang::BinaryOperator>(only(s->getElse()));
  Notes notes = {"choose by data in the value: x = condition ? a : b"};
  if (set && set->isAssignmentOp()) {
    const std::string target = quote(set->getLHS());
    std::string then = quote(set->getRHS());
    if (set->isCompoundAssignmentOp())
      then = target + " " +
             clang::BinaryOperator::getOpcodeStr(clang::BinaryOperator::getOpForCompoundAssignment(set->getOpcode())).str() +
             " " + then;
    const bool paired = other && other->getOpcode() == clang::BO_Assign && quote(other->getLHS()) == target;
    if (paired || !s->getElse())
      notes = {"choose by data in the value: " + target + " = " + quote(s->getCond()) + " ? " + then + " : " +
               (paired ? quote(other->getRHS()) : target) + ";"};
  }
  answer_.problems[count].notes = std::move(notes);
}

void RegionReader::declaration(const clang::DeclStmt* s) {
  for (const clang::Decl* d : s->decls()) {
    const auto* v = llvm::dyn_cast<clang::VarDecl>(d);
    if (!v) {
      if (!llvm::isa<clang::TypedefNameDecl>(d))
        refuse("not-imported", d->getSourceRange(), {quote(d->getSourceRange()), "it declares no variable"});
      continue;
    }
    if (v->getType()->isArrayType() && !v->hasInit()) continue;  // scratch: judged where it is used
    if (v->getType()->isArrayType() || v->getType()->isPointerType() || v->isStaticLocal()) {
      binding(v, v->getSourceRange());
      continue;
    }
    if (usage_.loop_variables.count(v) && !v->hasInit()) continue;  // its loops declare it
    if (!fixed_value(v)) declare(v);
  }
}

void RegionReader::declare(const clang::VarDecl* v) {
  const std::string dtype = dtype_of(context_, v->getType());
  const std::string word = c_word(dtype);
  if (word.empty()) {
    refuse("not-imported", v->getSourceRange(), {quote(v->getSourceRange()), "its type is " + v->getType().getAsString()},
           {"scalars are float, double, or integers of up to 64 bits"});
    bindings_[v] = {};
    return;
  }
  const bool integer = dtype[0] == 'i' || dtype[0] == 'u';
  if (integer && v->hasInit() && !usage_.changed.count(v)) {
    if (const std::optional<std::string> text = affine_quietly(v->getInit())) {
      bindings_[v] = {Kind::kAlias, *text, dtype};
      return;
    }
  }
  const std::optional<std::string> initial = v->hasInit() ? value(v->getInit()) : std::optional<std::string>("");
  const std::string name = name_for(v, true);
  bindings_[v] = {Kind::kLocal, name, dtype};
  begin(v->getBeginLoc());
  put(word + " " + name + (v->hasInit() ? " = " + initial.value_or("0") : "") + ";");
}

void RegionReader::expression_statement(const clang::Expr* e) {
  e = e->IgnoreParens();
  const auto* set = llvm::dyn_cast<clang::BinaryOperator>(e);
  const auto* step = llvm::dyn_cast<clang::UnaryOperator>(e);
  if (set && set->isAssignmentOp()) {
    const std::optional<std::string> target = place(set->getLHS(), set->isCompoundAssignmentOp(), true);
    const std::optional<std::string> text = value(set->getRHS());
    if (!target || !text) return;
    begin(e->getBeginLoc());
    return put(*target + " " + set->getOpcodeStr().str() + " " + *text + ";");
  }
  if (step && step->isIncrementDecrementOp()) {
    const std::optional<std::string> target = place(step->getSubExpr(), true, true);
    if (!target) return;
    begin(e->getBeginLoc());
    return put(*target + (step->isIncrementOp() ? "++;" : "--;"));
  }
  refuse_statement(e);
}

void RegionReader::refuse_statement(const clang::Stmt* s) {
  const clang::SourceRange at = clang::SourceRange(s->getBeginLoc());
  const auto say = [&](const char* word, const char* reason, const std::string& note) {
    refuse("not-imported", at, {word, reason}, {note});
  };
  switch (s->getStmtClass()) {
    case clang::Stmt::WhileStmtClass:
    case clang::Stmt::DoStmtClass:
      return say(llvm::isa<clang::WhileStmt>(s) ? "while" : "do", "how often it runs is not known before it starts",
                 "write for (int i = 0; i < n; i++) with an affine bound");
    case clang::Stmt::BreakStmtClass:
      return say("break", "how often the loop runs would depend on data",
                 "run the whole loop and choose in the value: x = done ? x : next");
    case clang::Stmt::ContinueStmtClass:
      return say("continue", "it leaves the iteration", "put the rest of the body into if (affine condition)");
    case clang::Stmt::GotoStmtClass:
    case clang::Stmt::LabelStmtClass: return say("goto", "control flow is loops and ifs", "write for and if");
    case clang::Stmt::ReturnStmtClass: return say("return", "it leaves the region", "move it behind the region");
    case clang::Stmt::SwitchStmtClass:
      return say("switch", "control flow is loops and ifs", "write if and else with affine conditions");
    default: break;
  }
  if (const auto* called = llvm::dyn_cast<clang::CallExpr>(s)) {
    refuse("not-imported", s->getSourceRange(), {quote(called), "it calls a function for its effects"},
           {"move the call out of the region, or write the function's statements here"});
    return;
  }
  refuse("not-imported", s->getSourceRange(), {quote(s), "a statement of this kind has no affine form"},
         {"statements are for, if, declarations of scalars, and assignments to elements and scalars"});
}

}  // namespace facet::c_import
