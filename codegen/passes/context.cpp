// The context of a pass run and the small tables about reductions.
#include "codegen/passes/context.hpp"

#include <limits>

namespace facet {

std::string to_text(const PassLog& log) {
  std::string text;
  for (const PassNote& n : log.notes)
    text += n.kernel + ": " + n.pass + " " + n.loop + ": " + (n.done ? "" : "refused: ") + n.reason + "\n";
  return text;
}

std::vector<PassNote> dropped(const PassLog& log) {
  std::vector<PassNote> list;
  std::set<std::tuple<std::string, int, std::string>> told = log.obeyed;
  for (const PassNote& n : log.notes)
    if (!n.done && n.asked_by >= 0 && told.insert({n.kernel, n.asked_by, n.asked_of}).second) list.push_back(n);
  return list;
}

}  // namespace facet

namespace facet::passes {

const Buffer* Context::find(const std::string& name) const {
  const auto it = buffers.find(name);
  return it == buffers.end() ? nullptr : &it->second;
}

bool Context::allows_reassociation(DType type) const {
  return !is_float(type) || program->numerics.reassociate != Numerics::Reassociate::kStrict;
}

bool Context::allows_contraction(DType type) const {
  return program->numerics.contract && machine.isa != "generic" && (type == DType::kF32 || type == DType::kF64);
}

void Context::note(const std::string& pass, const std::string& loop, bool done, const std::string& reason) {
  if (log) log->notes.push_back({kernel, pass, loop, done, reason});
}

namespace {

// A step that marks one loop is obeyed where a piece of it, of a tile or of what was split later, has the form; a step that
// maps several where each is.
std::string asked_of(const For& loop) { return loop.kind == LoopKind::kMapped ? loop.statement_loops : ""; }

}  // namespace

void Context::note(const std::string& pass, const For& loop, bool done, const std::string& reason) {
  if (log) log->notes.push_back({kernel, pass, loop.iterator, done, reason, loop.asked_by, asked_of(loop)});
  if (done) obey(loop);
}

void Context::obey(const For& loop) {
  if (log && loop.asked_by >= 0) log->obeyed.insert({kernel, loop.asked_by, asked_of(loop)});
}

bool Context::is_obeyed(const For& loop) const {
  return !log || loop.asked_by < 0 || log->obeyed.count({kernel, loop.asked_by, asked_of(loop)}) > 0;
}

Context make_context(const LoopProgram& program, const CpuMachine& machine, PassLog* log) {
  Context context;
  context.program = &program;
  context.machine = machine;
  context.log = log;
  return context;
}

void enter_kernel(Context& context, const Kernel& kernel) {
  context.kernel = kernel.name;
  context.buffers.clear();
  context.names = Names();
  for (const Buffer& b : context.program->buffers) {
    context.buffers[b.name] = b;
    context.names.take(b.name);
  }
  for (const Symbol& s : context.program->symbols) context.names.take(s.name);
  context.names.take(kernel.body);
  walk_nodes(kernel.body, [&](const LoopPtr& node) {
    if (const Allocate* a = as<Allocate>(node)) context.buffers[a->buffer.name] = a->buffer;
  });
}

Op operator_of(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::kSum: return Op::kAdd;
    case ReduceKind::kProd: return Op::kMul;
    case ReduceKind::kMax: return Op::kMax;
    case ReduceKind::kMin: return Op::kMin;
    case ReduceKind::kAny: return Op::kOr;
    case ReduceKind::kAll: return Op::kAnd;
    default: return Op::kReduce;
  }
}

namespace {

std::int64_t lowest_integer(DType type) {
  if (type == DType::kBool || !is_signed(type)) return 0;
  return size_bytes(type) == 8 ? std::numeric_limits<std::int64_t>::min() : -(std::int64_t{1} << (8 * size_bytes(type) - 1));
}

std::int64_t highest_integer(DType type) {
  if (type == DType::kBool) return 1;
  if (type == DType::kU64) return -1;  // all bits set
  if (!is_signed(type)) return (std::int64_t{1} << (8 * size_bytes(type))) - 1;
  return -(lowest_integer(type) + 1);
}

}  // namespace

ExprPtr identity_of(ReduceKind kind, DType type) {
  const double infinity = std::numeric_limits<double>::infinity();
  switch (kind) {
    case ReduceKind::kProd: return is_float(type) ? literal(type, 1) : int_literal(type, 1);
    case ReduceKind::kMax: return is_float(type) ? literal(type, -infinity) : int_literal(type, lowest_integer(type));
    case ReduceKind::kMin: return is_float(type) ? literal(type, infinity) : int_literal(type, highest_integer(type));
    case ReduceKind::kAll: return int_literal(type, 1);
    default: return is_float(type) ? literal(type, 0) : int_literal(type, 0);
  }
}

}  // namespace facet::passes
