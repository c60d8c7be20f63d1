// Parser of op `loops`: statements (loops.cpp), loop headers and conditions (loops_control.cpp), values (loops_value.cpp).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/frontend/affine.hpp"
#include "src/frontend/loops.hpp"

namespace facet {

// Bounds of an index expression over all allowed symbol values; exact arithmetic in 128 bits, unknown when large.
struct Interval {
  bool known = false;
  __int128 low = 0, high = 0;
};

// What a name means in a block.
struct CBinding {
  enum class Kind {
    kLoop,      // the variable of an enclosing loop
    kScalar,    // a declared scalar, tensor `unique`
    kAlias,     // a const integer with an affine value
    kFinished,  // a scalar that a loop has used as its variable
  };
  Kind kind = Kind::kScalar;
  std::string unique;
  DType dtype = DType::kI32;
  ExprPtr alias;
  Interval range;
};

// Where an assignment goes.
struct CTarget {
  std::string tensor;
  DType dtype = DType::kF32;
  std::vector<ExprPtr> subscripts;
};

// C's conversion of `e` to a dtype; integer literals are converted at once.
ExprPtr convert(DType to, const ExprPtr& e);

class LoopParser {
 public:
  LoopParser(const SourceText& source, const LoopContext& context, std::vector<Token> tokens)
      : source_(source), context_(context), parser_(source, Language::kC, std::move(tokens)) {}

  Result<ParsedLoops> run();

 private:
  using Kind = LoopStatement::Kind;
  using Form = OperandType::Form;

  // loops.cpp. Each returns false after a syntax error, which ends the parse; other complaints let it go on.
  bool statement(LoopBody* out);
  bool block(LoopBody* out);
  bool declaration(LoopBody* out);
  bool declarator(DType dtype, bool is_const, LoopBody* out);
  bool assignment(LoopBody* out);
  bool refuse_keyword();
  void assign(const Syntax& left, const Syntax& value, int offset, LoopBody* out);
  bool target_of(const Syntax& left, CTarget* target);
  void recognise_update(const Syntax& value, DType weak, const CTarget& target, LoopStatement* s);
  LoopStatement make(Kind kind, int offset) const;

  // loops_control.cpp
  bool loop(LoopBody* out);
  bool loop_header(LoopStatement* s, std::string* name, CBinding* variable, std::vector<ExprPtr>* guards);
  void check_variable(const std::string& name, int offset, bool declared);
  bool loop_step(const std::string& name, SyntaxPtr* step, bool* negative);
  bool find_bound(const Syntax& condition, const std::string& unique, LoopStatement* s, std::vector<ExprPtr>* guards);
  bool one_bound(const Syntax& condition, const std::string& unique, LoopStatement* s, std::vector<ExprPtr>* guards);
  bool find_step(const Syntax* step, bool negative, int offset, LoopStatement* s);
  bool branch(LoopBody* out);
  ExprPtr affine(const Syntax& s, bool condition);
  ExprPtr affine_leaf(const Syntax& s);
  Interval interval(const ExprPtr& e) const;
  Interval interval_of_name(const std::string& name) const;
  std::string unique_loop_name(const std::string& name) const;

  // loops_value.cpp
  OperandType infer(const Syntax& s);
  OperandType infer_name(const Syntax& s);
  OperandType infer_element(const Syntax& s);
  OperandType infer_unary(const Syntax& s);
  OperandType infer_binary(const Syntax& s);
  OperandType infer_call(const Syntax& s);
  OperandType infer_number(const Syntax& s);
  ExprPtr build(const Syntax& s, DType weak);
  ExprPtr build_number(const Syntax& s, DType weak);
  ExprPtr build_name(const Syntax& s, DType weak);
  ExprPtr build_element(const Syntax& s);
  ExprPtr build_unary(const Syntax& s, DType weak);
  ExprPtr build_binary(const Syntax& s, DType weak);
  ExprPtr build_call(const Syntax& s, DType weak);
  ExprPtr build_as(const Syntax& s, DType type);  // converted to `type`
  ExprPtr boolean(const Syntax& s);               // s != 0
  const Tensor* readable(const Syntax& s, bool complain);

  const CBinding* bound(const std::string& name) const;
  bool is_symbol(const std::string& name) const;
  bool has_role(const std::vector<std::string>& list, const std::string& name) const;
  std::vector<std::string> visible_names() const;
  std::string quote(const Syntax& s) const { return source_.slice(s.begin, s.end); }
  std::nullptr_t fail(Code code, int offset, std::vector<std::string> args, std::vector<std::string> notes = {});

  const SourceText& source_;
  const LoopContext& context_;
  ExpressionParser parser_;
  std::vector<std::map<std::string, CBinding>> scopes_;
  std::vector<std::string> active_loops_;   // unique names, outermost first
  std::map<std::string, Interval> ranges_;  // of active loops
  std::map<std::string, int> scalar_count_;
  int depth_ = 0;
  Diagnostics errors_;
  ParsedLoops result_;
};

}  // namespace facet
