// RegionReader: one walk over the statements of a region in Clang's AST that judges and writes them at once.
//
// Everything it accepts is written in the language of op `loops` (macros, typedefs and helper functions expanded, constants
// folded in subscripts), each statement on the line and in the column where the C file has it; everything else becomes a
// Problem with the nearest form that would be accepted.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "clang/AST/Stmt.h"
#include "src/frontend/c_import/answer.hpp"

namespace facet::c_import {

// The statements to read, and what stands around them.
struct RegionOf {
  const clang::FunctionDecl* function = nullptr;
  std::vector<const clang::Stmt*> statements;  // of the region, in order
  std::vector<const clang::Stmt*> before;      // statements of the function's body in front of it
  std::string outside;                         // a statement around the region that a function of the region alone would lose
};

// What a variable is to the region.
struct Binding {
  enum class Kind {
    kSymbol,   // an integer parameter that nothing changes
    kArray,    // elements in memory
    kScalar,   // a parameter or global value: a tensor of rank 0
    kLocal,    // a scalar of the function
    kLoop,     // the variable of a loop
    kAlias,    // an integer that is set once to an affine value: `text` is that value
    kRefused,  // complained about already
  };
  Kind kind = Kind::kRefused;
  std::string text;
  std::string dtype;
  int rank = 0;
  std::size_t tensor = 0;  // kArray, kScalar: position in Answer::tensors
};

// Which variables a function changes and where it mentions them.
struct Usage {
  std::set<const clang::ValueDecl*> changed;         // assigned, stepped, or their address taken; loop variables apart
  std::set<const clang::ValueDecl*> loop_variables;  // of a `for` that does not declare them
  std::map<const clang::ValueDecl*, std::vector<std::vector<const clang::Stmt*>>> paths;  // blocks around each mention
};
Usage usage_of(const RegionOf& region);

std::string dtype_of(const clang::ASTContext& context, clang::QualType type);  // "" where there is none
std::string c_word(const std::string& dtype);                                  // "double", "int64_t"; "" where there is none

class RegionReader {
 public:
  RegionReader(clang::ASTContext& context, RegionOf region);
  Answer run();

 private:
  using Kind = Binding::Kind;
  using Notes = std::vector<std::string>;

  // reader.cpp: complaints and the lines of the text.
  std::nullopt_t refuse(const char* code, clang::SourceRange culprit, Notes args, Notes notes = {});
  std::string quote(clang::SourceRange range) const;
  std::string quote(const clang::Stmt* s) const { return quote(s->getSourceRange()); }
  void begin(clang::SourceLocation at);
  void put(const std::string& text) { answer_.lines.back().text += text; }

  // names.cpp: what variables are.
  const Binding& binding(const clang::ValueDecl* decl, clang::SourceRange use);
  Binding bind(const clang::VarDecl* decl, clang::SourceRange use);
  Binding bind_array(const clang::VarDecl* decl, clang::SourceRange use);
  const clang::VarDecl* loop_in(const clang::Stmt* size) const;
  bool extents_of(const clang::VarDecl* decl, clang::QualType type, std::vector<std::string>* extents, clang::QualType* element,
                  clang::SourceRange use);
  bool is_stored(const clang::VarDecl* decl, const std::string& dtype, clang::SourceRange use);
  Binding bind_tensor(const clang::VarDecl* decl, const std::string& dtype, std::vector<std::string> extents, bool array);
  std::string name_for(const clang::ValueDecl* decl, bool local);
  void reserve_outer_names();
  void describe_arguments();
  ArgumentFact argument_of(const clang::VarDecl* decl);
  void hoist_declarations();
  void hoist(const clang::VarDecl* variable);
  bool sink(const clang::VarDecl* variable);

  // statements.cpp
  void statement(const clang::Stmt* s);
  void compound(const clang::CompoundStmt* s);
  void loop(const clang::ForStmt* s);
  const clang::VarDecl* loop_start(const clang::ForStmt* s, const clang::Expr** first);
  std::optional<std::string> loop_bounds(const clang::Expr* e, const clang::VarDecl* variable);
  std::optional<std::string> loop_step(const clang::ForStmt* s, const clang::VarDecl* variable);
  void branch(const clang::IfStmt* s);
  void refuse_condition(const clang::IfStmt* s);
  void declaration(const clang::DeclStmt* s);
  void declare(const clang::VarDecl* variable);
  void expression_statement(const clang::Expr* e);
  void refuse_statement(const clang::Stmt* s);

  // affine.cpp: bounds, subscripts and conditions. `condition` allows comparisons.
  std::optional<std::string> affine(const clang::Expr* e);
  std::optional<std::string> affine_name(const clang::DeclRefExpr* e);
  std::optional<std::string> affine_binary(const clang::BinaryOperator* e);
  std::optional<std::string> affine_choice(const clang::ConditionalOperator* e);
  std::optional<std::string> condition(const clang::Expr* e);
  std::optional<std::string> affine_quietly(const clang::Expr* e, bool is_condition = false);
  std::optional<std::string> constant(const clang::Expr* e);
  Notes row_length_note(const clang::Expr* base, const clang::Expr* subscript);

  // values.cpp: arithmetic.
  std::optional<std::string> value(const clang::Expr* e);
  std::optional<std::string> name_value(const clang::DeclRefExpr* e);
  std::optional<std::string> number(const clang::Expr* e);
  std::optional<std::string> fixed_value(const clang::VarDecl* variable);
  std::optional<std::string> unary_value(const clang::UnaryOperator* e);
  std::optional<std::string> call(const clang::CallExpr* e);
  std::optional<std::string> inlined(const clang::CallExpr* e, const clang::FunctionDecl* callee);
  std::optional<std::string> place(const clang::Expr* e, bool reads, bool writes);  // an element or a scalar
  std::optional<std::string> element(const clang::Expr* e, bool reads, bool writes);
  std::optional<std::string> refuse_base(const clang::Expr* base, const clang::Expr* whole);
  std::optional<std::string> refuse_value(const clang::Expr* e);

  clang::ASTContext& context_;
  const clang::SourceManager& sources_;
  RegionOf region_;
  Usage usage_;
  Answer answer_;
  std::map<const clang::ValueDecl*, Binding> bindings_;
  std::map<std::string, const clang::ValueDecl*> outer_names_;  // parameters and globals keep their names; locals give way
  std::map<const clang::ValueDecl*, std::string> substituted_;  // parameters of helper functions while those are expanded
  std::map<const clang::Stmt*, std::vector<const clang::VarDecl*>> sunk_;  // scalars declared again where they are used
  std::vector<std::string> active_;                                        // names of the locals in scope
  std::vector<const clang::VarDecl*> globals_;
  int inline_depth_ = 0;
};

}  // namespace facet::c_import
