// Statements -> bytecode: loops, branches, stores, named values, allocations, barriers, collectives.
#include "src/run/interpret/compile.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "src/run/interpret/compiler.hpp"

namespace facet::agents {

namespace {

const char* const kAgentNames[kAgentRegisters] = {"block.x", "block.y", "block.z", "thread.x", "thread.y", "thread.z"};

// Names of the buffers stored to anywhere in `body`.
void collect_stores(const LoopList& body, std::set<std::string>* names) {
  for (const LoopPtr& n : body) {
    if (const Store* s = std::get_if<Store>(&n->node)) names->insert(s->buffer);
    if (const For* f = std::get_if<For>(&n->node)) collect_stores(f->body, names);
    if (const Sequence* s = std::get_if<Sequence>(&n->node)) collect_stores(s->body, names);
    if (const If* i = std::get_if<If>(&n->node)) {
      collect_stores(i->then, names);
      collect_stores(i->otherwise, names);
    }
  }
}

}  // namespace

int Compiler::alloc(int lanes) {
  const int reg = next_;
  next_ += lanes;
  code_.registers = std::max(code_.registers, next_);
  return reg;
}

Instr& Compiler::emit(Bc code) {
  code_.instrs.emplace_back();
  code_.instrs.back().code = code;
  code_.instrs.back().site = site_;
  return code_.instrs.back();
}

Compiler::Name* Compiler::find(const std::string& name) {
  for (auto it = names_.rbegin(); it != names_.rend(); ++it)
    if (it->name == name) return &*it;
  return nullptr;
}

const Compiler::BufferName* Compiler::find_buffer(const std::string& name) const {
  for (auto it = buffer_names_.rbegin(); it != buffer_names_.rend(); ++it)
    if (it->name == name) return &*it;
  return nullptr;
}

void Compiler::kernel(const Kernel& kernel, const LoopList& body) {
  code_.kernel = kernel.name;
  code_.sites.push_back(kernel.name);
  std::set<std::string> stored;
  collect_stores(body, &stored);
  joined_ = kernel.joined;
  for (const Buffer& b : program_.buffers) {
    BufferDecl decl;
    decl.buffer = &b;
    decl.index = static_cast<int>(code_.buffers.size());
    decl.written = stored.count(b.name) > 0;
    buffer_names_.push_back({b.name, decl.index, 0});
    code_.buffers.push_back(decl);
  }
  if (gpu_)
    for (const char* name : kAgentNames) names_.push_back({name, alloc(1), 1, DType::kI64, 0});
  block(body);
  emit(Bc::kHalt);
}

// A scope: names, buffers and registers end with it.
void Compiler::block(const LoopList& body) {
  const std::size_t names = names_.size(), buffers = buffer_names_.size();
  const int registers = next_;
  for (const LoopPtr& n : body) node(*n);
  names_.resize(names);
  buffer_names_.resize(buffers);
  next_ = registers;
}

void Compiler::node(const LoopNode& n) {
  // Registers of temporaries are free again after each statement; a Let keeps its own.
  const int before = next_;
  if (const Let* l = std::get_if<Let>(&n.node)) {
    let(*l);
    next_ = before + l->lanes;
    return;
  }
  if (const For* f = std::get_if<For>(&n.node))
    loop(*f);
  else if (const If* i = std::get_if<If>(&n.node))
    branch(*i);
  else if (const Store* s = std::get_if<Store>(&n.node))
    store(*s);
  else if (const Set* v = std::get_if<Set>(&n.node))
    set(*v);
  else if (const Allocate* a = std::get_if<Allocate>(&n.node))
    allocate(*a);
  else if (const Collective* c = std::get_if<Collective>(&n.node))
    collective(*c);
  else if (const Sequence* q = std::get_if<Sequence>(&n.node))
    block(q->body);
  else if (const Barrier* b = std::get_if<Barrier>(&n.node)) {
    if (b->scope == Scope::kGrid) problem("a grid barrier inside a kernel is not executed; split the kernel");
    if (gpu_) {
      code_.sites.push_back("barrier (" + b->reason + ")");
      Instr& i = emit(Bc::kBarrier);
      i.extra = static_cast<int>(b->scope);
      i.site = static_cast<int>(code_.sites.size()) - 1;
    }
  } else if (!std::holds_alternative<Comment>(n.node) && !std::holds_alternative<Prefetch>(n.node)) {
    problem("the tree holds a reserved node (asynchronous copy, role or tile operation)");
  }
  next_ = before;
}

void Compiler::loop(const For& f) {
  if (!gpu_ && f.kind == LoopKind::kParallel) return parallel_loop(f);
  if (collapse_left_ > 0) return parallel_loop(f);
  if (f.kind < LoopKind::kBlockX) return serial_loop(f);
  // An agent's own iteration of a grid or thread loop.
  const int iterator = alloc(1);
  expr_to(f.lower, iterator);
  names_.push_back({f.iterator, iterator, 1, DType::kI64, parallel_depth_});
  block(f.body);
  names_.pop_back();
}

void Compiler::serial_loop(const For& f) {
  const int iterator = alloc(1), bound = alloc(1), step = integer(f.step);
  expr_to(f.lower, iterator);
  expr_to(f.upper, bound);
  const int test = here();
  Instr& enter = emit(Bc::kLoopTest);
  enter.a = iterator;
  enter.b = bound;
  const int start = here();
  names_.push_back({f.iterator, iterator, 1, DType::kI64, parallel_depth_});
  block(f.body);
  names_.pop_back();
  Instr& next = emit(Bc::kLoopNext);
  next.a = iterator;
  next.b = bound;
  next.c = step;
  next.imm = start;
  code_.instrs[static_cast<std::size_t>(test)].imm = here();
}

// Iterations are agents; those of a collapsed nest all are, those of a parallel loop inside another agent are not.
void Compiler::parallel_loop(const For& f) {
  ParallelLoop info;
  info.kind = nested_ || (collapse_left_ == 0 && parallel_depth_ > 0) ? ParallelLoop::Kind::kNested
              : collapse_left_ > 0                                    ? ParallelLoop::Kind::kCollapsed
                                                                      : ParallelLoop::Kind::kOutermost;
  info.step = f.step;
  info.frame = code_.frames++;
  const int outer_collapse = collapse_left_;
  collapse_left_ = outer_collapse > 0 ? outer_collapse - 1 : std::max(0, f.collapse - 1);
  const bool outer_nested = std::exchange(nested_, info.kind == ParallelLoop::Kind::kNested);
  const int id = static_cast<int>(code_.parallel_loops.size());
  code_.parallel_loops.push_back(info);
  const int iterator = alloc(1), lower = alloc(1), upper = alloc(1);
  expr_to(f.lower, lower);
  expr_to(f.upper, upper);
  const int begin = here();
  Instr& enter = emit(Bc::kParallelBegin);
  enter.dst = iterator;
  enter.a = lower;
  enter.b = upper;
  enter.extra = id;
  const int start = here();
  if (info.kind != ParallelLoop::Kind::kNested) ++parallel_depth_;
  names_.push_back({f.iterator, iterator, 1, DType::kI64, parallel_depth_});
  block(f.body);
  names_.pop_back();
  if (info.kind != ParallelLoop::Kind::kNested) --parallel_depth_;
  Instr& next = emit(Bc::kParallelNext);
  next.dst = iterator;
  next.a = lower;
  next.extra = id;
  next.imm = start;
  code_.instrs[static_cast<std::size_t>(begin)].imm = here();
  collapse_left_ = outer_collapse;
  nested_ = outer_nested;
}

void Compiler::branch(const If& i) {
  if (i.condition->lanes > 1) return problem("an `if` has a vector condition");
  const int condition = expr(i.condition);
  const int test = here();
  emit(Bc::kJumpIfZero).a = condition;
  block(i.then);
  if (!i.otherwise.empty()) {
    const int skip = here();
    emit(Bc::kJump);
    code_.instrs[static_cast<std::size_t>(test)].imm = here();
    block(i.otherwise);
    code_.instrs[static_cast<std::size_t>(skip)].imm = here();
    return;
  }
  code_.instrs[static_cast<std::size_t>(test)].imm = here();
}

void Compiler::store(const Store& s) {
  code_.sites.push_back(s.statement);
  site_ = static_cast<int>(code_.sites.size()) - 1;
  const int value = expr(s.value);
  const int id = access(s.buffer, s.subscripts, s.lanes);
  if (id >= 0 && s.runs_on)
    code_.accesses[static_cast<std::size_t>(id)].runs_on |= std::uint64_t{1} << (s.subscripts.size() - 1);
  const int mask = s.mask ? expr(s.mask) : kNoRegister;
  if (id >= 0) {
    AccessInfo& info = code_.accesses[static_cast<std::size_t>(id)];
    const Buffer& buffer = *code_.buffers[static_cast<std::size_t>(info.buffer)].buffer;
    if (s.value->type != buffer.dtype)
      problem("statement '" + s.statement + "' stores " + to_text(s.value->type) + " to '" + s.buffer + "', which holds " +
              to_text(buffer.dtype));
    info.lane_stride = s.lane_stride;
    info.mask = mask;
    info.scalar_mask = s.mask && s.mask->lanes == 1;
    info.update = s.update.has_value();
    info.atomic = s.atomic;
    info.gather = 0;  // a scatter outside its buffer is a fault, not clamped
    Instr& i = emit(Bc::kStore);
    i.type = buffer.dtype;
    i.lanes = static_cast<std::int16_t>(s.lanes);
    i.a = value;
    i.scalar = s.value->lanes == 1 ? 1 : 0;
    i.reduce = s.update.value_or(ReduceKind::kSum);
    i.extra = id;
  }
  site_ = 0;
}

void Compiler::let(const Let& l) {
  const int reg = alloc(l.lanes);
  code_.sites.push_back("let " + l.name);
  site_ = static_cast<int>(code_.sites.size()) - 1;
  if (l.value) expr_to(l.value, reg);
  site_ = 0;
  names_.push_back({l.name, reg, l.lanes, l.type, parallel_depth_});
}

void Compiler::set(const Set& s) {
  const Name* name = find(s.name);
  if (name == nullptr) return problem("value '" + s.name + "' is set but not introduced here");
  if (name->parallel_depth < parallel_depth_) code_.parallel_sets.push_back(s.name);
  if (name->lanes != s.value->lanes) return problem("value '" + s.name + "' is set with another number of lanes");
  const int reg = name->reg;
  code_.sites.push_back("set " + s.name);
  site_ = static_cast<int>(code_.sites.size()) - 1;
  // Through a temporary where the value is written before all of the old one is read.
  const bool lazy = s.value->op == Op::kSelect || s.value->op == Op::kAnd || s.value->op == Op::kOr;
  if (s.value->lanes > 1 || lazy) {
    const int value = expr(s.value);
    Instr& move = emit(Bc::kMove);
    move.dst = reg;
    move.a = value;
    move.lanes = static_cast<std::int16_t>(s.value->lanes);
  } else {
    expr_to(s.value, reg);
  }
  site_ = 0;
}

void Compiler::allocate(const Allocate& a) {
  BufferDecl decl;
  decl.buffer = &a.buffer;
  const bool shared = gpu_ && a.buffer.space == MemorySpace::kShared;
  decl.home = shared ? BufferDecl::Home::kShared : BufferDecl::Home::kLocal;
  decl.index = shared ? code_.shared_count++ : code_.local_count++;
  decl.written = true;
  // Extents outlive this statement's temporaries only until the instance is shaped, at once.
  for (const ExprPtr& e : a.buffer.extents) decl.extents.push_back(expr(e));
  for (const ExprPtr& e : a.buffer.strides) decl.strides.push_back(expr(e));
  const int id = static_cast<int>(code_.buffers.size());
  code_.buffers.push_back(decl);
  buffer_names_.push_back({a.buffer.name, id, parallel_depth_});
  emit(Bc::kAllocate).extra = id;
}

void Compiler::collective(const Collective& c) {
  const Name* name = find(c.target);
  if (!gpu_) return problem("a collective outside of a GPU kernel");
  if (name == nullptr) return problem("collective target '" + c.target + "' is not introduced here");
  if (c.value->lanes > 1 || c.kind >= ReduceKind::kArgMax) return problem("a collective of vectors or positions");
  const int target = name->reg;
  const int value = expr(c.value);
  code_.collectives.push_back({c.scope, c.width});
  code_.sites.push_back("collective " + to_text(c.kind) + " into " + c.target);
  Instr& i = emit(Bc::kCollective);
  i.type = c.value->type;
  i.reduce = c.kind;
  i.dst = target;
  i.a = value;
  i.extra = static_cast<int>(code_.collectives.size()) - 1;
  i.site = static_cast<int>(code_.sites.size()) - 1;
}

Result<Bytecode> compile_kernel(const LoopProgram& program, const Kernel& kernel, const LoopList& body, bool gpu,
                                const SymbolValues& symbols) {
  Compiler compiler(program, symbols, gpu);
  compiler.kernel(kernel, body);
  if (!compiler.problems().empty())
    return diagnose(Code::kLoopTreeMeaningless, Place{}, {kernel.name, compiler.problems().front()});
  return compiler.take();
}

}  // namespace facet::agents
