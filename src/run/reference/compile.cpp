// Expression trees to bytecode: names become slots and pointers, symbols constants, affine subscripts linear forms.
#include <cassert>

#include "facet/host_tensor.hpp"
#include "src/run/reference/bytecode.hpp"
#include "src/run/reference/integer.hpp"

namespace facet::reference {

namespace {

void add_term(Linear& linear, int slot, std::int64_t factor) {
  for (Term& t : linear.terms) {
    if (t.slot != slot) continue;
    t.factor += factor;
    return;
  }
  linear.terms.push_back({slot, factor});
}

bool depends_on_data(const ExprPtr& e) {
  bool found = false;
  walk(e, [&](const Expr& node) { found = found || node.op == Op::kRead; });
  return found;
}

Value constant_of(const Expr& literal) {
  if (is_float(literal.type)) return float_value(round_to(literal.type, literal.float_value));
  return int_value(wrap(literal.type, literal.int_value));
}

}  // namespace

int Compiler::slot_of(const std::string& name) {
  const auto [at, fresh] = slots.emplace(name, slot_count);
  if (fresh) ++slot_count;
  return at->second;
}

int Compiler::push(Code& code, Instruction instruction) {
  instruction.to = registers++;
  if (is_float(instruction.type)) instruction.facts = float_facts(instruction.type, flush_denormals, seed);
  code.instructions.push_back(instruction);
  return instruction.to;
}

bool Compiler::linear_of(const ExprPtr& e, Linear* out) {
  if (e->type != DType::kI64) return false;
  switch (e->op) {
    case Op::kLiteral: out->constant += e->int_value; return true;
    case Op::kIndex: {
      const auto symbol = symbols->find(e->name);
      if (symbol != symbols->end()) {
        out->constant += symbol->second;
      } else {
        add_term(*out, slot_of(e->name), 1);
      }
      return true;
    }
    case Op::kNeg:
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul: break;
    default: return false;
  }
  Linear a, b;
  if (!linear_of(e->args[0], &a)) return false;
  if (e->op != Op::kNeg && !linear_of(e->args[1], &b)) return false;
  std::int64_t scale_a = 1;
  std::int64_t scale_b = 1;
  if (e->op == Op::kNeg) scale_a = -1;
  if (e->op == Op::kSub) scale_b = -1;
  if (e->op == Op::kMul) {
    if (!a.terms.empty() && !b.terms.empty()) return false;
    if (a.terms.empty()) std::swap(a, b);
    scale_a = b.constant;
    scale_b = 0;
  }
  out->constant += scale_a * a.constant + scale_b * b.constant;
  for (const Term& t : a.terms) add_term(*out, t.slot, scale_a * t.factor);
  for (const Term& t : b.terms) add_term(*out, t.slot, scale_b * t.factor);
  return true;
}

IndexCode Compiler::compile_index(const ExprPtr& e) {
  IndexCode index;
  if (linear_of(e, &index.linear)) return index;
  index.code = compile(e);
  return index;
}

CodePtr Compiler::compile(const ExprPtr& e) {
  Code code;
  code.result = emit(code, e);
  return std::make_shared<const Code>(std::move(code));
}

int Compiler::emit(Code& code, const ExprPtr& e) {
  Instruction in;
  in.op = e->op;
  in.type = e->type;
  switch (e->op) {
    case Op::kLiteral: in.constant = constant_of(*e); return push(code, in);
    case Op::kIndex: {
      in.what = Do::kLinear;
      in.extra = static_cast<int>(code.linears.size());
      Linear linear;
      linear_of(e, &linear);
      code.linears.push_back(linear);
      return push(code, in);
    }
    case Op::kRead: return emit_read(code, e);
    case Op::kCast: return emit_cast(code, e);
    case Op::kReduce: return emit_reduce(code, e);
    default: return emit_operation(code, e);
  }
}

int Compiler::emit_read(Code& code, const ExprPtr& e) {
  LoadCode load;
  const auto at = storage->find(e->name);
  assert(at != storage->end() && "a read of a tensor that has no memory");
  load.from = at->second.get();
  load.wraps = e->wrap_gather;
  load.text = to_text(e);
  for (const ExprPtr& s : e->args) {
    load.subscripts.push_back(compile_index(s));
    load.gather.push_back(depends_on_data(s));
  }
  if (e->pad) {
    load.has_pad = true;
    const Code pad = *compile(e->pad);  // a constant of the tensor's dtype, possibly -1.0 or a cast
    State state;
    state.registers.resize(static_cast<std::size_t>(registers));
    state.slots.resize(static_cast<std::size_t>(slot_count) + 1);
    load.pad = execute(state, pad);
  }
  Instruction in;
  in.what = Do::kLoad;
  in.type = e->type;
  in.extra = static_cast<int>(code.loads.size());
  code.loads.push_back(std::move(load));
  return push(code, in);
}

int Compiler::emit_cast(Code& code, const ExprPtr& e) {
  Instruction in;
  in.a = emit(code, e->args[0]);
  in.op = e->op;
  in.type = e->type;
  in.from = e->args[0]->type;
  const bool from_float = is_float(in.from);
  const bool to_float = is_float(in.type);
  in.what = from_float ? (to_float ? Do::kFloatToFloat : Do::kFloatToInt) : (to_float ? Do::kIntToFloat : Do::kIntToInt);
  return push(code, in);
}

int Compiler::emit_reduce(Code& code, const ExprPtr& e) {
  const Reduction& r = *e->reduction;
  ReduceCode reduce;
  reduce.kind = r.kind;
  reduce.type = e->type;
  reduce.body_type = r.body->type;
  if (is_float(e->type)) reduce.facts = float_facts(e->type, flush_denormals, seed);
  for (const Range& range : r.ranges)
    reduce.ranges.push_back({slot_of(range.name), compile_index(range.lower), compile_index(range.upper)});
  for (const ExprPtr& condition : r.conditions) reduce.conditions.push_back(compile(condition));
  reduce.body = compile(r.body);
  Instruction in;
  in.what = Do::kReduce;
  in.op = e->op;
  in.type = e->type;
  in.extra = static_cast<int>(code.reductions.size());
  code.reductions.push_back(std::move(reduce));
  return push(code, in);
}

int Compiler::emit_operation(Code& code, const ExprPtr& e) {
  Instruction in;
  in.op = e->op;
  in.a = emit(code, e->args[0]);
  if (e->args.size() > 1) in.b = emit(code, e->args[1]);
  if (e->args.size() > 2) in.c = emit(code, e->args[2]);
  if (e->op == Op::kSelect) {
    in.what = Do::kSelect;
    in.type = e->type;
    return push(code, in);
  }
  in.type = e->args[0]->type;
  const bool unary = e->args.size() == 1;
  if (!is_float(in.type)) {
    in.what = unary ? Do::kIntUnary : Do::kIntBinary;
    return push(code, in);
  }
  const bool comparison = e->op >= Op::kLt && e->op <= Op::kNe;
  in.what = unary               ? Do::kFloatUnary
            : comparison        ? Do::kFloatCompare
            : e->op == Op::kAdd ? Do::kFloatAdd
            : e->op == Op::kSub ? Do::kFloatSub
            : e->op == Op::kMul ? Do::kFloatMul
                                : Do::kFloatBinary;
  return push(code, in);
}

}  // namespace facet::reference
