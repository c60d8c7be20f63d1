// Statements: loops, conditions, stores, named values, local arrays.
#include "codegen/c_family.hpp"

namespace facet {

namespace {

// buffer[subscripts] OP value as an expression; any and all are or and and.
ExprPtr combined(ReduceKind kind, ExprPtr old, ExprPtr operand) {
  switch (kind) {
    case ReduceKind::kSum: return binary(Op::kAdd, std::move(old), std::move(operand));
    case ReduceKind::kProd: return binary(Op::kMul, std::move(old), std::move(operand));
    case ReduceKind::kMax: return binary(Op::kMax, std::move(old), std::move(operand));
    case ReduceKind::kMin: return binary(Op::kMin, std::move(old), std::move(operand));
    case ReduceKind::kAny: return binary(Op::kOr, std::move(old), std::move(operand));
    case ReduceKind::kAll: return binary(Op::kAnd, std::move(old), std::move(operand));
    default: return nullptr;
  }
}

bool is_sum_or_product_of_floats(const Store& s) {
  const DType t = s.value->type;
  return (t == DType::kF32 || t == DType::kF64) && (*s.update == ReduceKind::kSum || *s.update == ReduceKind::kProd);
}

// The element that a store updates, read as a vector of the store's shape.
ExprPtr old_value(const Store& s) {
  Expr old;
  old.op = Op::kRead;
  old.type = s.value->type;
  old.name = s.buffer;
  old.args = s.subscripts;
  old.lanes = s.lanes;
  old.mask = s.mask;
  bool scatter = false;
  for (const ExprPtr& x : s.subscripts) scatter = scatter || x->lanes > 1;
  if (s.lanes > 1 && !scatter && s.lane_stride != 1) {
    Expr lane;
    lane.op = Op::kIota;
    lane.type = DType::kI64;
    lane.lanes = s.lanes;
    lane.args = {idx(0)};
    old.args.back() =
        binary(Op::kAdd, binary(Op::kMul, std::make_shared<const Expr>(lane), idx(s.lane_stride)), old.args.back());
  }
  return std::make_shared<const Expr>(std::move(old));
}

}  // namespace

void CPrinter::statements(const LoopList& body) {
  for (const LoopPtr& n : body) {
    if (const For* f = std::get_if<For>(&n->node)) {
      loop(*f);
    } else if (const If* i = std::get_if<If>(&n->node)) {
      out.open("if (" + value(i->condition) + ")");
      statements(i->then);
      if (!i->otherwise.empty()) {
        out.reopen("} else {");
        statements(i->otherwise);
      }
      out.close();
    } else if (const Store* s = std::get_if<Store>(&n->node)) {
      s->atomic ? atomic_store(*s) : store(*s);
    } else if (const Let* l = std::get_if<Let>(&n->node)) {
      let(*l);
    } else if (const Set* t = std::get_if<Set>(&n->node)) {
      const bool mask_value = t->value->type == DType::kBool && t->value->lanes > 1;
      out.line(names.of("value", t->name) + " = " + (mask_value ? mask(t->value, 4) : value(t->value)) + ";");
    } else if (const Allocate* a = std::get_if<Allocate>(&n->node)) {
      allocate(*a);
    } else if (const Comment* c = std::get_if<Comment>(&n->node)) {
      out.comment(c->text);
    } else if (const Sequence* q = std::get_if<Sequence>(&n->node)) {
      out.open("");
      statements(q->body);
      out.close();
    } else if (const Prefetch* p = std::get_if<Prefetch>(&n->node)) {
      out.line("__builtin_prefetch(" + address(buffer_of(p->buffer), p->subscripts) + ");");
    } else {
      special(*n);
    }
  }
}

void CPrinter::special(const LoopNode&) { fail("this target has no spelling for a statement of the loop tree"); }

std::string CPrinter::for_header(const For& f) {
  const std::string i = index_name(f.iterator);
  return "for (int64_t " + i + " = " + index_text(f.lower) + "; " + i + " < " + index_text(f.upper, Level::kShift) + "; " +
         (f.step == 1 ? "++" + i : i + " += " + std::to_string(f.step)) + ")";
}

void CPrinter::loop_body(const For& f) {
  const bool added = non_negative(f.lower) && non_negative_.insert(f.iterator).second;
  statements(f.body);
  if (added) non_negative_.erase(f.iterator);
}

void CPrinter::serial_loop(const For& f) {
  out.comment(f.comment);
  out.open(for_header(f));
  loop_body(f);
  out.close();
}

void CPrinter::loop(const For& f) {
  if (f.kind != LoopKind::kSerial && f.kind != LoopKind::kParallel)
    fail("loop " + f.iterator + " reached the printer as a vector, unroll or grid loop");
  serial_loop(f);
}

void CPrinter::let(const Let& n) {
  const std::string type = value_type(n.type, n.lanes);
  const std::string name = names.of("value", n.name);
  if (!n.value) {
    out.line(type + " " + name + ";");
    return;
  }
  const bool index = n.lanes == 1 && is_index_value(n.value);
  if (index && non_negative(n.value)) non_negative_.insert(n.name);
  std::string text = index ? index_text(n.value) : value(n.value);
  if (n.lanes > 1 && n.type == DType::kBool)
    text = mask(n.value, 4);
  else if (n.lanes > 1 && n.value->lanes == 1)
    text = vector_arg(n.value, n.lanes);
  out.line((n.is_mutable ? "" : "const ") + type + " " + name + " = " + initial(n, text) + ";");
}

void CPrinter::allocate(const Allocate& a) {
  const Buffer& b = a.buffer;
  declare(b);
  ExprPtr size = idx(1);
  for (std::size_t d = 0; d < b.extents.size(); ++d) size = idx_mul(size, b.extents[d]);
  if (!b.strides.empty()) {  // padded or permuted: the last element's offset + 1
    size = idx(1);
    for (std::size_t d = 0; d < b.extents.size(); ++d)
      size = idx_add(size, idx_mul(idx_sub(b.extents[d], idx(1)), b.strides[d]));
  }
  if (size->op != Op::kLiteral) fail("local buffer " + b.name + " has a run-time size " + to_text(size));
  out.comment(b.comment);
  const std::string align =
      b.alignment_bytes > size_bytes(b.dtype) ? "alignas(" + std::to_string(b.alignment_bytes) + ") " : "";
  out.line(align + storage_type(b.dtype) + " " + buffer_name(b.name) + "[" +
           std::to_string(size->int_value > 0 ? size->int_value : 1) + "];");
}

void CPrinter::store(const Store& s) {
  const Buffer& buffer = buffer_of(s.buffer);
  if (s.lanes > 1) {
    Store whole = s;
    if (s.update) {
      const ExprPtr old = old_value(s);
      whole.value = combined(*s.update, old, s.value);
      whole.update.reset();
    }
    vector_store(whole, buffer);
    return;
  }
  const std::string target = element(buffer, s.subscripts);
  if (s.update && is_sum_or_product_of_floats(s) && buffer.dtype == s.value->type) {
    out.line(target + (*s.update == ReduceKind::kSum ? " += " : " *= ") + value(s.value) + ";");
    return;
  }
  ExprPtr stored = s.value;
  if (s.update) stored = combined(*s.update, read(s.buffer, s.value->type, s.subscripts), s.value);
  if (!stored) {
    fail("an arg reduction as an update of " + s.buffer);
    return;
  }
  out.line(target + " = " + to_storage(buffer.dtype, 1, stored) + ";");
}

void CPrinter::atomic_store(const Store& s) { fail("this target has no atomic update of " + s.buffer); }

}  // namespace facet
