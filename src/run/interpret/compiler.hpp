// The compiler's state, shared by its two halves: expressions (compile_expr.cpp) and statements (compile.cpp).
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "facet/loop_ast.hpp"
#include "facet/program.hpp"
#include "src/run/interpret/bytecode.hpp"

namespace facet::agents {

class Compiler {
 public:
  Compiler(const LoopProgram& program, const SymbolValues& symbols, bool gpu)
      : program_(program), symbols_(symbols), gpu_(gpu) {}

  void kernel(const Kernel& kernel, const LoopList& body);
  Bytecode take() { return std::move(code_); }
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  struct Name {
    std::string name;
    int reg = 0;
    int lanes = 1;
    DType type = DType::kI64;
    int parallel_depth = 0;
  };
  struct BufferName {
    std::string name;
    int id = 0;
    int parallel_depth = 0;
  };

  // compile_expr.cpp
  int expr(const ExprPtr& e);               // the register that holds the value
  void expr_to(const ExprPtr& e, int dst);  // evaluated into `dst`
  int constant(Slot value);
  int integer(std::int64_t value) { return constant(slot_of(value)); }
  bool named(const Expr& e, int* reg);
  void compute(const ExprPtr& e, int dst);
  void operation(const ExprPtr& e, int dst);
  void lazy_select(const ExprPtr& e, int dst);
  void lazy_logic(const ExprPtr& e, int dst);
  void jump_in_choice(int condition);
  void chosen(Op op, int by, int dst);
  void load(const ExprPtr& e, int dst);
  int access(const std::string& buffer, const std::vector<ExprPtr>& subscripts, int lanes, bool padded = false);

  // compile.cpp
  void block(const LoopList& body);
  void node(const LoopNode& n);
  void loop(const For& f);
  void serial_loop(const For& f);
  void parallel_loop(const For& f);
  void branch(const If& i);
  void store(const Store& s);
  void let(const Let& l);
  void set(const Set& s);
  void allocate(const Allocate& a);
  void collective(const Collective& c);

  int alloc(int lanes);
  Instr& emit(Bc code);
  int here() const { return static_cast<int>(code_.instrs.size()); }
  void problem(const std::string& text) { problems_.push_back(text); }
  Name* find(const std::string& name);
  const BufferName* find_buffer(const std::string& name) const;

  const LoopProgram& program_;
  const SymbolValues& symbols_;
  const bool gpu_;
  Bytecode code_;
  std::vector<Name> names_;
  std::vector<BufferName> buffer_names_;
  std::map<std::int64_t, int> constants_;        // by bits
  std::map<std::string, std::uint64_t> joined_;  // the kernel's
  std::vector<std::string> problems_;
  int next_ = 0;
  int site_ = 0;
  int parallel_depth_ = 0;
  int collapse_left_ = 0;  // loops still belonging to the enclosing collapsed parallel loop
  bool nested_ = false;    // inside a parallel loop that another agent runs by itself, in its turn
};

}  // namespace facet::agents
