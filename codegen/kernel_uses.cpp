// A walk over a kernel that collects names.
#include "codegen/kernel_uses.hpp"

#include <algorithm>

#include "codegen/c_family.hpp"

namespace facet {

namespace {

void add_once(std::vector<std::string>& list, const std::string& name) {
  if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
}

class UseWalk {
 public:
  explicit UseWalk(const LoopProgram& program, KernelUses& uses) : program_(program), uses_(uses) {}

  void list(const LoopList& body) {
    for (const LoopPtr& n : body) {
      std::visit([&](const auto& node) { visit(node); }, n->node);
    }
  }

 private:
  void visit(const For& f) {
    expr(f.lower);
    expr(f.upper);
    list(f.body);
  }
  void visit(const If& n) {
    expr(n.condition);
    list(n.then);
    list(n.otherwise);
  }
  void visit(const Store& s) { store(s); }
  void visit(const Let& n) { expr(n.value); }
  void visit(const Set& n) { expr(n.value); }
  void visit(const Sequence& n) { list(n.body); }
  void visit(const Prefetch& n) { buffer(n.buffer, n.subscripts); }
  void visit(const AsyncCopy& n) { store(n.copy); }
  void visit(const Collective& n) { expr(n.value); }
  void visit(const Role& n) {
    expr(n.condition);
    list(n.body);
  }
  void visit(const Allocate&) {}
  void visit(const Barrier&) {}
  void visit(const Comment&) {}
  void visit(const AsyncWait&) {}
  void visit(const TileOp&) {}

  void store(const Store& s) {
    buffer(s.buffer, s.subscripts);
    uses_.written.insert(s.buffer);
    expr(s.value);
    expr(s.mask);
  }
  void buffer(const std::string& name, const std::vector<ExprPtr>& subscripts) {
    for (const ExprPtr& e : subscripts) expr(e);
    const Buffer* b = program_.find_buffer(name);
    if (!b) return;
    add_once(uses_.buffers, name);
    strides(*b, subscripts);
  }
  // A subscript 0 (the one slot of a contracted axis) leaves no trace of its stride in the text.
  void strides(const Buffer& b, const std::vector<ExprPtr>& subscripts) {
    const std::vector<ExprPtr> all = CPrinter::strides_of(b);
    for (std::size_t d = 0; d < all.size(); ++d)
      if (d >= subscripts.size() || subscripts[d]->op != Op::kLiteral || subscripts[d]->int_value != 0) expr(all[d]);
  }
  void expr(const ExprPtr& e) {
    walk(e, [&](const Expr& node) {
      if (node.op == Op::kIndex &&
          std::any_of(program_.symbols.begin(), program_.symbols.end(), [&](const Symbol& s) { return s.name == node.name; }))
        uses_.symbols.insert(node.name);
      if (node.op == Op::kValue) uses_.values.insert(node.name);
      if (node.op != Op::kRead) return;
      const Buffer* b = program_.find_buffer(node.name);
      if (!b) return;
      add_once(uses_.buffers, node.name);
      strides(*b, node.args);
      // Padded and clamped reads name the extents.
      for (const ExprPtr& extent : b->extents)
        if (node.pad || std::any_of(node.args.begin(), node.args.end(), holds_read)) expr(extent);
    });
  }

  const LoopProgram& program_;
  KernelUses& uses_;
};

}  // namespace

KernelUses uses_of(const LoopProgram& program, const LoopList& body) {
  KernelUses uses;
  UseWalk(program, uses).list(body);
  return uses;
}

int flop_bytes(const LoopProgram& program, const LoopList& body) {
  std::int64_t bytes = 4;
  for (const std::string& name : uses_of(program, body).buffers)
    if (const DType type = program.find_buffer(name)->dtype; is_float(type)) bytes = std::max(bytes, size_bytes(type));
  return static_cast<int>(bytes);
}

}  // namespace facet
