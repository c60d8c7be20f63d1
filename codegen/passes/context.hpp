// What every pass is given: the program's buffers and policies, the machine,
// the names in use, and the log.
#pragma once

#include <map>
#include <string>

#include "codegen/passes/facts.hpp"
#include "codegen/passes/passes.hpp"
#include "codegen/passes/tree.hpp"

namespace facet::passes {

struct Context {
  const LoopProgram* program = nullptr;
  CpuMachine machine;
  std::map<std::string, Buffer> buffers;  // global ones and, after collect_buffers, the kernel's local
                                          // ones
  Names names;
  PassLog* log = nullptr;
  std::string kernel;

  Facts symbol_facts() const { return Facts(program->symbols); }
  const Buffer* find(const std::string& name) const;
  bool allows_reassociation(DType type) const;  // strict policy forbids it for floats
  bool allows_contraction(DType type) const;    // a*b + c in one rounding
  void note(const std::string& pass, const std::string& loop, bool done, const std::string& reason);
  // Of a loop that a step may have asked for.
  void note(const std::string& pass, const For& loop, bool done, const std::string& reason);
  void obey(const For& loop);             // without a note
  bool is_obeyed(const For& loop) const;  // or no step has asked
};

Context make_context(const LoopProgram& program, const CpuMachine& machine, PassLog* log);
void enter_kernel(Context& context,
                  const Kernel& kernel);  // names and local buffers of this kernel

// The passes, in the order in which lower_for_cpu applies them. Each takes a
// kernel body and gives the new one.
using JoinedRows = std::map<std::string, std::vector<std::size_t>>;  // buffer -> for each dimension, how many it stands for
LoopList join_rows(const LoopList& body, Context& context, JoinedRows* rows);
LoopList join_lanes(const LoopList& body, Context& context, JoinedRows* rows);
LoopList simplify(const LoopList& body, const Context& context);
LoopList contract_locals(const LoopList& body, Context& context);
LoopList widen(const LoopList& body, Context& context);
LoopList peel(const LoopList& body, Context& context);
LoopList split_padding(const LoopList& body, Context& context);
LoopList form_tiles(const LoopList& body, Context& context);
LoopList hoist_values(const LoopList& body, const Context& context);
LoopList hoist_costly(const LoopList& body, Context& context);
LoopList keep_in_registers(const LoopList& body, Context& context);
LoopList forward_stores(const LoopList& body, Context& context);
LoopList sink_stores(const LoopList& body);
LoopList share_loads(const LoopList& body, Context& context);

// Named values that nothing reads are gone.
LoopList drop_unread(const LoopList& body);
LoopList whole_lines(const LoopList& body, const Context& context);
LoopList prefetch_results(const LoopList& body, Context& context);
LoopList prefetch_rows(const LoopList& body, Context& context);
LoopList prefetch_tiles(const LoopList& body, Context& context);
LoopList prefetch_copies(const LoopList& body, Context& context);
LoopList split_rows(const LoopList& body, const Context& context, const JoinedRows& rows);

// Every access of the tree through `visit`, which gives the subscripts that it has from then on.
using Subscripts = std::vector<ExprPtr>;
using VisitAccess = std::function<Subscripts(const std::string& buffer, const Subscripts& subscripts, bool padded)>;
LoopList map_accesses(const LoopList& body, const VisitAccess& visit);

// The expression forms of simplify, for passes that make new expressions.
ExprPtr simplify_expr(const ExprPtr& e, const Facts& facts, const Context& context);
LoopList simplify(const LoopList& body, const Facts& facts, const Context& context);

// Reduction facts as operators.
Op operator_of(ReduceKind kind);  // kSum -> kAdd; arg reductions have none: kReduce
ExprPtr identity_of(ReduceKind kind, DType type);

}  // namespace facet::passes
