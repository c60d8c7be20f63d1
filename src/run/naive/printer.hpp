// The state of printing a naive program: names, used helpers, and the text so far.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "codegen/text_writer.hpp"
#include "facet/program.hpp"
#include "src/run/naive/prelude.hpp"

namespace facet::naive {

class Printer {
 public:
  explicit Printer(const Program& program);

  // The member function of one node, and the statement list of run().
  void print_node(std::size_t n);

  std::string tensor_name(const std::string& tensor) { return names_.of("tensor", tensor); }
  std::string symbol_name(const std::string& symbol) { return names_.of("symbol", symbol); }
  std::string method_name(std::size_t n);
  // "{N, 512}"
  std::string shape_text(const Tensor& tensor);
  // "Real<24>" or "Whole".
  static std::string number_type(DType type);
  void use(Piece piece) { pieces_.insert(piece); }

  TextWriter out{1};
  const std::set<Piece>& pieces() const { return pieces_; }
  const std::set<Op>& functions() const { return functions_; }
  const Program& program() const { return program_; }

 private:
  void print_equation(const Equation& q);
  void print_loops(const LoopBody& body);
  void print_assign(const LoopStatement& s);

  // Text of an expression of type Real<P> or Whole; reductions are printed as loops before the current statement.
  std::string value(const ExprPtr& e);
  // Text of an index expression, as int64_t (or bool for conditions).
  std::string index_text(const ExprPtr& e);
  std::string condition_text(const ExprPtr& e);
  std::string literal_text(const Expr& e);
  std::string read_text(const ExprPtr& e);
  std::string cast_text(const ExprPtr& e);
  std::string unary_text(const ExprPtr& e);
  std::string real_binary_text(const ExprPtr& e);
  std::string whole_binary_text(const ExprPtr& e);
  std::string reduction_text(const ExprPtr& e);
  std::string accumulator(const Expr& e);
  std::string subscript_list(const std::vector<ExprPtr>& subscripts);
  std::string index_name(const std::string& index);

  const Program& program_;
  NameTable names_;
  std::set<Piece> pieces_;
  std::set<Op> functions_;  // mathematical functions that need a wrapper
  std::string element_;     // C++ text naming the element being computed, for gathers
  int reductions_ = 0;
};

// Wrappers like `template <int P> Real<P> exp(Real<P> a)` for the functions used.
std::string function_wrappers(const std::set<Op>& functions);
std::string function_name(Op op);
const char* c_type(DType type);
int bits_of(DType type);

}  // namespace facet::naive
