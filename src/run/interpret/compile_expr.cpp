// Expressions -> bytecode. Scalar selects, `and` and `or` evaluate only what they need, as the printed source does; vector
// ones evaluate both sides.
#include <algorithm>
#include <cstring>

#include "src/run/interpret/compiler.hpp"

namespace facet::agents {

namespace {

bool reads_memory(const ExprPtr& e) {
  bool found = false;
  walk(e, [&](const Expr& x) { found = found || x.op == Op::kRead; });
  return found;
}

// The fast scalar form of a binary operation, or kBinary.
Bc fast_form(Op op, DType type) {
  if (type == DType::kI64) {
    switch (op) {
      case Op::kAdd: return Bc::kAddI64;
      case Op::kSub: return Bc::kSubI64;
      case Op::kMul: return Bc::kMulI64;
      case Op::kLt: return Bc::kLtI64;
      default: return Bc::kBinary;
    }
  }
  if (type == DType::kF32) {
    switch (op) {
      case Op::kAdd: return Bc::kAddF32;
      case Op::kSub: return Bc::kSubF32;
      case Op::kMul: return Bc::kMulF32;
      default: return Bc::kBinary;
    }
  }
  return Bc::kBinary;
}

}  // namespace

int Compiler::constant(Slot value) {
  const auto [it, fresh] = constants_.emplace(value.i, static_cast<int>(code_.constants.size()));
  if (fresh) code_.constants.push_back(value);
  return -1 - it->second;
}

// Names and literals live in a register already.
bool Compiler::named(const Expr& e, int* reg) {
  if (e.op == Op::kLiteral && e.lanes == 1) {
    *reg = constant(literal_slot(e.type, e.float_value, e.int_value));
    return true;
  }
  if (e.op != Op::kIndex && e.op != Op::kValue) return false;
  if (const Name* name = find(e.name)) {
    if (name->lanes != e.lanes)
      problem("'" + e.name + "' has " + std::to_string(name->lanes) + " lanes and is used with " + std::to_string(e.lanes));
    *reg = name->reg;
    return true;
  }
  const auto symbol = symbols_.find(e.name);
  if (symbol == symbols_.end()) {
    problem("'" + e.name + "' is no loop variable, value or symbol here");
    *reg = integer(0);
    return true;
  }
  *reg = integer(symbol->second);
  return true;
}

int Compiler::expr(const ExprPtr& e) {
  int reg = 0;
  if (named(*e, &reg)) return reg;
  const int dst = alloc(e->lanes);
  compute(e, dst);
  return dst;
}

void Compiler::expr_to(const ExprPtr& e, int dst) {
  int reg = 0;
  if (!named(*e, &reg)) return compute(e, dst);
  Instr& move = emit(Bc::kMove);
  move.dst = dst;
  move.a = reg;
  move.lanes = static_cast<std::int16_t>(e->lanes);
}

void Compiler::compute(const ExprPtr& e, int dst) {
  switch (e->op) {
    case Op::kRead: return load(e, dst);
    case Op::kSelect:
      if (e->lanes == 1) return lazy_select(e, dst);
      break;
    case Op::kAnd:
    case Op::kOr:
      if (e->lanes == 1 && reads_memory(e->args[1])) return lazy_logic(e, dst);
      break;
    case Op::kReduce: return problem("a reduction is left in the loop tree");
    case Op::kLiteral: {
      Instr& move = emit(Bc::kMove);
      move.dst = dst;
      move.a = constant(literal_slot(e->type, e->float_value, e->int_value));
      move.lanes = static_cast<std::int16_t>(e->lanes);
      move.scalar = 1;
      return;
    }
    case Op::kExtract:
      if (e->args.size() < 2) break;
      expr_to(e->args[0], dst);
      return expr_to(e->args[1], dst + e->args[0]->lanes);
    default: break;
  }
  operation(e, dst);
}

void Compiler::operation(const ExprPtr& e, int dst) {
  int operands[3] = {kNoRegister, kNoRegister, kNoRegister};
  std::uint8_t scalar = 0;
  const std::size_t count = std::min<std::size_t>(3, e->args.size());
  for (std::size_t k = 0; k < count; ++k) {
    operands[k] = expr(e->args[k]);
    if (e->args[k]->lanes == 1) scalar |= static_cast<std::uint8_t>(1u << k);
  }
  Bc code = count == 1 ? Bc::kUnary : Bc::kBinary;
  switch (e->op) {
    case Op::kCast: code = Bc::kCast; break;
    case Op::kSplat: code = Bc::kMove; break;
    case Op::kIota: code = Bc::kIota; break;
    case Op::kLaneReduce: code = Bc::kLaneReduce; break;
    case Op::kSelect: code = Bc::kSelect; break;
    case Op::kFma: code = Bc::kFma; break;
    case Op::kExtract:
      code = Bc::kMove;
      operands[0] += static_cast<int>(e->int_value);
      break;
    default:
      if (count == 2 && e->lanes == 1) code = fast_form(e->op, e->args[0]->type);
      break;
  }
  Instr& i = emit(code);
  i.type = e->op == Op::kSelect ? e->type : e->args.empty() ? e->type : e->args[0]->type;
  i.to = e->type;
  i.op = e->op;
  i.reduce = e->reduce_kind;
  i.lanes = static_cast<std::int16_t>(e->op == Op::kLaneReduce ? e->args[0]->lanes : e->lanes);
  i.scalar = scalar;
  i.dst = dst;
  i.a = operands[0];
  i.b = operands[1];
  i.c = operands[2];
}

// Only the chosen operand is evaluated.
void Compiler::lazy_select(const ExprPtr& e, int dst) {
  const int condition = expr(e->args[0]);
  const int test = here();
  jump_in_choice(condition);
  expr_to(e->args[1], dst);
  const int skip = here();
  emit(Bc::kJump);
  code_.instrs[static_cast<std::size_t>(test)].imm = here();
  expr_to(e->args[2], dst);
  code_.instrs[static_cast<std::size_t>(skip)].imm = here();
  chosen(e->op, condition, dst);
}

void Compiler::jump_in_choice(int condition) {
  Instr& jump = emit(Bc::kJumpIfZero);
  jump.a = condition;
  jump.scalar = 1;
}

void Compiler::chosen(Op op, int by, int dst) {
  Instr& i = emit(Bc::kChosen);
  i.op = op;
  i.a = by;
  i.dst = dst;
}

// dst = a; if (a == neutral) dst = b.
void Compiler::lazy_logic(const ExprPtr& e, int dst) {
  const int first = expr(e->args[0]);
  int condition = first;
  if (e->op == Op::kOr) {
    condition = alloc(1);
    Instr& negate = emit(Bc::kUnary);
    negate.op = Op::kNot;
    negate.type = DType::kBool;
    negate.dst = condition;
    negate.a = first;
  }
  Instr& move = emit(Bc::kMove);
  move.dst = dst;
  move.a = first;
  const int test = here();
  jump_in_choice(condition);
  expr_to(e->args[1], dst);
  code_.instrs[static_cast<std::size_t>(test)].imm = here();
  chosen(e->op, first, dst);
}

void Compiler::load(const ExprPtr& e, int dst) {
  const int id = access(e->name, e->args, e->lanes, e->pad != nullptr);
  if (id < 0) return;
  const int pad = e->pad ? expr(e->pad) : kNoRegister;
  const int mask = e->mask ? expr(e->mask) : kNoRegister;
  AccessInfo& info = code_.accesses[static_cast<std::size_t>(id)];
  info.pad = pad;
  info.mask = mask;
  info.scalar_mask = e->mask && e->mask->lanes == 1;
  info.wrap = e->wrap_gather;
  Instr& i = emit(Bc::kLoad);
  i.type = e->type;
  i.dst = dst;
  i.lanes = static_cast<std::int16_t>(e->lanes);
  i.extra = id;
}

// The access's description with its subscripts evaluated; -1 after a problem.
int Compiler::access(const std::string& buffer, const std::vector<ExprPtr>& subscripts, int lanes, bool padded) {
  const BufferName* found = find_buffer(buffer);
  if (found == nullptr) {
    problem("buffer '" + buffer + "' is not known here");
    return -1;
  }
  const BufferDecl& decl = code_.buffers[static_cast<std::size_t>(found->id)];
  if (decl.buffer->extents.size() != subscripts.size()) {
    problem("buffer '" + buffer + "' has " + std::to_string(decl.buffer->extents.size()) + " dimensions and " +
            std::to_string(subscripts.size()) + " subscripts");
    return -1;
  }
  if (subscripts.size() > kMaxRank) {
    problem("buffer '" + buffer + "' has more than " + std::to_string(kMaxRank) + " dimensions");
    return -1;
  }
  AccessInfo info;
  info.buffer = found->id;
  info.rank = static_cast<int>(subscripts.size());
  const bool shared_by_agents =
      gpu_ ? decl.home != BufferDecl::Home::kLocal : parallel_depth_ > 0 && found->parallel_depth == 0;
  info.tracked = shared_by_agents && decl.written;
  std::vector<int> registers;
  for (std::size_t d = 0; d < subscripts.size(); ++d) {
    registers.push_back(expr(subscripts[d]));
    if (subscripts[d]->lanes > 1) {
      info.vector_subscripts |= std::uint64_t{1} << d;
      if (subscripts[d]->lanes != lanes) problem("a subscript of '" + buffer + "' has another number of lanes than the access");
    }
    if (reads_memory(subscripts[d])) info.gather |= std::uint64_t{1} << d;
  }
  // A pad asks each dimension.
  if (const auto it = joined_.find(buffer); !padded && it != joined_.end()) info.runs_on = it->second;
  info.arguments = static_cast<int>(code_.operands.size());
  code_.operands.insert(code_.operands.end(), registers.begin(), registers.end());
  code_.accesses.push_back(info);
  return static_cast<int>(code_.accesses.size()) - 1;
}

}  // namespace facet::agents
