// One equation on its way from syntax to a typed Equation: binding of indices, ranges, dtypes, building.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/frontend/affine.hpp"
#include "src/frontend/equations.hpp"

namespace facet {

// A name that equations define: an output or a local.
struct Definition {
  Tensor tensor;
  bool out = false;
  bool declared = false;  // dtype and shape come from outside
  bool dtype_known = false;
  bool shape_known = false;
  int first_line = -1;  // the first equation that defines it; -1 before
  bool broken = false;  // that equation has an error: reads of it complain no more
};

// An index, bound on the left or by a reduction.
struct BoundIndex {
  std::string name;
  int offset = 0;
  const RangeSyntax* given = nullptr;
  std::vector<ExprPtr> extents;  // of the axes it subscripts alone
  Range range;
};

struct ReductionInfo {
  std::vector<BoundIndex> indices;
  std::vector<const Syntax*> conditions;
  std::vector<BoundIndex*> outer;  // visible around it: left indices and those of enclosing reductions
};

struct EquationLine {
  EquationLine(const std::string& text, const Place& place) : source(text, place) {}
  SourceText source;
  int number = 0;
  std::string target;
  int target_offset = 0;
  std::vector<BoundIndex> left;
  SyntaxPtr value;
  Clauses clauses;
  std::vector<const Syntax*> conditions;                            // on left indices only
  std::vector<std::pair<const Syntax*, ReductionInfo>> reductions;  // in the order of the text, outer before inner
  std::map<const Syntax*, std::size_t> reduction_at;                // index into `reductions`
};

// NAME[i, j] = EXPR and the clauses; null after adding to `errors`.
std::unique_ptr<EquationLine> parse_equation_line(const std::string& text, const Place& place, Diagnostics* errors);

class LineCompiler {
 public:
  LineCompiler(EquationLine* line, const EquationContext& context, std::map<std::string, Definition>* definitions,
               Diagnostics* errors)
      : line_(*line), context_(context), definitions_(*definitions), errors_(*errors) {}

  // Each returns false after adding to the errors. They are called in this order.
  bool bind();         // indices, clauses
  bool find_ranges();  // of every index; sets the target's shape at its first line
  bool infer();        // OperandType of every node; value->type is the equation's
  Result<Equation> build(DType dtype);

 private:
  using Form = OperandType::Form;

  // equations_bind.cpp
  bool check_index_name(const std::string& name, int offset);
  void bind_node(const Syntax& s);
  void bind_reduction(const Syntax& s);
  void note_extents(const Syntax& element);
  void attach_ranges(const Clauses& clauses, ReductionInfo* only);
  void attach_condition(const Syntax& condition);
  void find_left_ranges();
  void find_reduction_ranges(ReductionInfo* info);
  bool bounds_from(const RangeSyntax& given, BoundIndex* index);
  bool extent_from_reads(BoundIndex* index);

  // equations_types.cpp
  OperandType infer(const Syntax& s);
  OperandType infer_name(const Syntax& s);
  OperandType infer_element(const Syntax& s);
  OperandType infer_unary(const Syntax& s);
  OperandType infer_binary(const Syntax& s);
  OperandType infer_call(const Syntax& s);
  OperandType infer_cast(const Syntax& s);
  OperandType infer_select(const Syntax& s);
  OperandType infer_reduction(const Syntax& s);
  OperandType join(const Syntax& a, OperandType x, const Syntax& b, OperandType y);
  bool infer_pad(const Syntax& pad, DType dtype);
  enum class Takes { kNumbers, kFloats, kIntegers, kBools };
  OperandType require(const Syntax& s, OperandType type, const std::string& who, Takes takes);
  const Tensor* readable(const std::string& name, int offset, bool complain);

  // equations_build.cpp
  ExprPtr value(const Syntax& s, DType want);
  ExprPtr literal_value(const Syntax& s, DType want, bool negative);
  ExprPtr name_value(const Syntax& s, DType want);
  ExprPtr element_value(const Syntax& s);
  ExprPtr unary_value(const Syntax& s, DType want);
  ExprPtr binary_value(const Syntax& s, DType want);
  ExprPtr comparison_value(const Syntax& s);
  ExprPtr call_value(const Syntax& s, DType want);
  ExprPtr reduction_value(const Syntax& s, DType want);
  ExprPtr widened(const Syntax& s, DType narrow, DType wide);
  ExprPtr subscript(const Syntax& s, bool* wraps);
  ExprPtr gathered(const Syntax& s, bool* wraps);
  ExprPtr operation(const Syntax& s, ExprPtr a, ExprPtr b);
  ExprPtr cast_value(const Syntax& s);
  ExprPtr function_value(const Syntax& s, DType want);
  DType accumulator(ReduceKind kind, DType dtype) const;

  ExprPtr affine(const Syntax& s, bool condition);  // of the indices in scope and symbols
  BoundIndex* bound(const std::string& name) const;
  bool is_symbol(const std::string& name) const;
  bool is_tensor(const std::string& name) const;
  std::vector<std::string> visible_names() const;
  std::string quote(const Syntax& s) const { return line_.source.slice(s.begin, s.end); }
  std::nullptr_t fail(Code code, int offset, std::vector<std::string> args, std::vector<std::string> notes = {});
  ReductionInfo& info_of(const Syntax& s) { return line_.reductions[line_.reduction_at.at(&s)].second; }
  void enter(ReductionInfo& info);
  void leave(const ReductionInfo& info);

  EquationLine& line_;
  const EquationContext& context_;
  std::map<std::string, Definition>& definitions_;
  Diagnostics& errors_;
  std::vector<BoundIndex*> scope_;
  bool reads_broken_ = false;  // it reads a name whose own line was wrong
};

}  // namespace facet
