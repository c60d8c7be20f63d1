// The untyped expression tree of both small languages, and the parser that makes it.
//
// One precedence table serves equations and C; they differ in a few spellings (`and` / `&&`), in subscripts (`x[i, j ? 0.0]` /
// `x[i][j]`), and in what only one has (reductions; casts and `?:`). Names are not looked up here.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "facet/expr.hpp"
#include "src/frontend/lexer.hpp"

namespace facet {

struct Syntax;
using SyntaxPtr = std::unique_ptr<Syntax>;

// One entry of `for i in LO..HI`.
struct RangeSyntax {
  std::string name;
  int offset = 0;
  SyntaxPtr lower, upper;
};

// `where COND and COND` and `for RANGE, RANGE`, in either order; conditions are split at their top-level `and`.
struct Clauses {
  std::vector<SyntaxPtr> conditions;
  std::vector<RangeSyntax> ranges;
};

// The dtype of an equation's subexpression before it is combined (contract C7): fixed, or open to adaptation.
struct OperandType {
  enum class Form {
    kUnknown,
    kFixed,     // `dtype`
    kNumber,    // integer literals: any number dtype
    kFraction,  // literals with a point, inf, nan: any float
    kPosition,  // indices and symbols: any integer
  };
  Form form = Form::kUnknown;
  DType dtype = DType::kF32;
};

std::string describe(const OperandType& type);  // "f32", "a floating point literal"

struct Syntax {
  enum class Kind {
    kInteger,
    kFloat,
    kName,         // `name` alone: index, symbol, scalar, literal word
    kElement,      // name[args ? pad]
    kCall,         // name(args)
    kUnary,        // `op`: kNeg, kNot, kBitNot, or kCast for a C cast to `cast_type`
    kBinary,       // `op`; `/` is kDiv and `%` is kFloorMod until the types are known
    kConditional,  // C's ?:
    kReduction,    // name[indices](args[0] clauses)
  };
  Kind kind = Kind::kName;
  Op op = Op::kLiteral;
  std::string name;
  std::uint64_t int_value = 0;
  double float_value = 0;
  std::string suffix;  // C number
  DType cast_type = DType::kF32;
  std::vector<SyntaxPtr> args;
  SyntaxPtr pad;
  std::vector<std::pair<std::string, int>> indices;  // kReduction: name and offset
  Clauses clauses;                                   // kReduction
  int offset = 0;                                    // of the token that names the node (the operator of a binary)
  int begin = 0, end = 0;                            // extent in the text
  int depth = 1;
  mutable OperandType type;  // equations: filled by the typing pass
};

// Deeper trees are refused: every later stage walks trees recursively. A sum of 1000 terms has 1000 levels.
constexpr int kMaxDepth = 1000;
// Brackets inside brackets (contract P3).
constexpr int kMaxBrackets = 256;

// A parser over one token list. The first error ends the parse: the functions then return null and `errors` is not empty.
class ExpressionParser {
 public:
  ExpressionParser(const SourceText& source, Language language, std::vector<Token> tokens)
      : source_(source), language_(language), tokens_(std::move(tokens)) {}

  SyntaxPtr expression();        // up to a token that cannot continue it
  bool clauses(Clauses* out);    // equations: any `where` and `for` that follow
  bool type_words(DType* type);  // C: "int", "long long", "unsigned int", ...; complains
  const Token& peek(int ahead = 0) const;
  Token take();
  bool accept(const char* text);  // consumes the token if it is this one
  bool expect(const char* text, const std::string& what = "");
  bool at_end() const { return peek().kind == TokenKind::kEnd; }
  bool is(const char* text, int ahead = 0) const;
  SyntaxPtr fail(const std::string& expected);  // "expected X, found TOKEN"
  SyntaxPtr fail(Code code, int offset, std::vector<std::string> args, std::vector<std::string> notes = {});
  const Diagnostics& errors() const { return errors_; }

 private:
  struct Deeper;
  SyntaxPtr binary(int level);
  SyntaxPtr conditional();
  SyntaxPtr unary();
  SyntaxPtr primary();
  SyntaxPtr number();
  SyntaxPtr named();
  SyntaxPtr subscripts(SyntaxPtr node);
  SyntaxPtr reduction(SyntaxPtr node);
  SyntaxPtr c_cast();
  bool ranges(std::vector<RangeSyntax>* out);
  SyntaxPtr finish(SyntaxPtr node);

  const SourceText& source_;
  Language language_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  int brackets_ = 0;
  Diagnostics errors_;
};

bool is_reduction_name(const std::string& name, ReduceKind* kind = nullptr);
// C type words of loops: int, long, int32_t, int64_t, float, double and the other <stdint.h> names.
bool c_type(const std::string& name, DType* type);

}  // namespace facet
