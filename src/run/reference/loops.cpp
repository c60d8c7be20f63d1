// A loop nest, statement by statement. Stores round to the array's dtype, as any kernel's stores do.
//
// Sum updates (`s += e`) may be added in another order by a kernel, so their bound must hold for every order: the element's
// running sum of |terms| is kept beside it, and each update adds u times that sum. An assignment starts it afresh.
#include "facet/host_tensor.hpp"
#include "src/run/reference/error_model.hpp"
#include "src/run/reference/nodes.hpp"

namespace facet::reference {

namespace {

struct LoopCode {
  LoopStatement::Kind kind = LoopStatement::Kind::kAssign;
  int slot = 0;  // kFor
  IndexCode first, bound;
  std::int64_t step = 1;
  CodePtr condition;  // kIf
  std::vector<LoopCode> body, otherwise;
  Storage* target = nullptr;  // kAssign, kDeclare
  std::vector<IndexCode> subscripts;
  CodePtr value, operand;  // operand: a floating sum update
  FloatFacts facts = {};
};

LoopCode compile_statement(Compiler& compiler, const LoopStatement& s);

std::vector<LoopCode> compile_body(Compiler& compiler, const LoopBody& body) {
  std::vector<LoopCode> codes;
  for (const LoopStatement& s : body) codes.push_back(compile_statement(compiler, s));
  return codes;
}

LoopCode compile_statement(Compiler& compiler, const LoopStatement& s) {
  LoopCode code;
  code.kind = s.kind;
  code.step = s.step;
  if (s.kind == LoopStatement::Kind::kFor) {
    code.slot = compiler.slot_of(s.name);
    code.first = compiler.compile_index(s.first);
    code.bound = compiler.compile_index(s.bound);
  }
  if (s.condition) code.condition = compiler.compile(s.condition);
  code.body = compile_body(compiler, s.body);
  code.otherwise = compile_body(compiler, s.otherwise);
  const bool declares = s.kind == LoopStatement::Kind::kDeclare;
  if (!declares && s.kind != LoopStatement::Kind::kAssign) return code;
  code.target = compiler.storage->at(declares ? s.name : s.target).get();
  for (const ExprPtr& e : s.subscripts) code.subscripts.push_back(compiler.compile_index(e));
  if (s.value) code.value = compiler.compile(s.value);
  if (!code.target->is_float) return code;
  code.facts = float_facts(code.target->dtype, compiler.flush_denormals, compiler.seed);
  if (s.update == ReduceKind::kSum && s.operand) {
    code.operand = compiler.compile(s.operand);
    if (code.target->magnitudes.empty()) code.target->magnitudes.assign(static_cast<std::size_t>(code.target->count), 0.0F);
  }
  return code;
}

// The offset of the stored element, or -1 after reporting that it lies outside.
std::int64_t target_offset(State& state, const LoopCode& code) {
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < code.subscripts.size(); ++d) {
    const std::int64_t i = evaluate(state, code.subscripts[d]);
    if (i < 0 || i >= code.target->extents[d]) {
      add_violation(state, "a statement writes " + code.target->name + " at " + std::to_string(i) + " outside 0.." +
                               std::to_string(code.target->extents[d]) + " of axis " + std::to_string(d));
      return -1;
    }
    offset += i * code.target->strides[d];
  }
  return offset;
}

Value sum_update(const LoopCode& code, Value element, Value term, float* magnitude) {
  const double sum = element.f + term.f;
  if (!std::isfinite(sum)) return float_add(code.target->dtype, code.facts, element, term);
  const double start = std::max(static_cast<double>(*magnitude), std::fabs(element.f));
  *magnitude = Storage::round_up(start + std::fabs(term.f));
  const double propagated = element.bound + term.bound;
  if (propagated == 0 && representable(code.target->dtype, sum)) return float_value(sum, 0);
  return finish_slow(code.target->dtype, code.facts, sum, propagated + code.facts.unit * static_cast<double>(*magnitude), 1);
}

Value rounded(const LoopCode& code, Value v) {
  if (v.bound == 0 || !std::isfinite(v.f)) return float_value(round_to(code.target->dtype, v.f), v.bound);
  return float_value(round_to(code.target->dtype, v.f), v.bound + code.facts.unit * std::fabs(v.f));
}

void assign(State& state, const LoopCode& code) {
  const std::int64_t offset = target_offset(state, code);
  if (offset < 0) return;
  Storage& target = *code.target;
  if (!target.is_float) return target.store(offset, execute(state, *code.value));
  if (code.operand && (target.defined.empty() || target.defined[static_cast<std::size_t>(offset)])) {
    const Value term = execute(state, *code.operand);
    return target.store(offset, rounded(code, sum_update(code, target.load(offset), term,
                                                         &target.magnitudes[static_cast<std::size_t>(offset)])));
  }
  target.store(offset, rounded(code, execute(state, *code.value)));  // reports the read of an undefined element itself
  if (!target.magnitudes.empty()) target.magnitudes[static_cast<std::size_t>(offset)] = 0;
}

void run_body(State& state, const std::vector<LoopCode>& body);

void run_statement(State& state, const LoopCode& code) {
  switch (code.kind) {
    case LoopStatement::Kind::kFor: {
      const std::int64_t bound = evaluate(state, code.bound);
      std::int64_t& i = state.slots[static_cast<std::size_t>(code.slot)];
      for (i = evaluate(state, code.first); code.step > 0 ? i < bound : i > bound; i += code.step) run_body(state, code.body);
      return;
    }
    case LoopStatement::Kind::kIf: return run_body(state, execute(state, *code.condition).i ? code.body : code.otherwise);
    case LoopStatement::Kind::kBlock: return run_body(state, code.body);
    case LoopStatement::Kind::kDeclare:
      code.target->defined.assign(1, 0);
      if (code.value) assign(state, code);
      return;
    case LoopStatement::Kind::kAssign: return assign(state, code);
  }
}

void run_body(State& state, const std::vector<LoopCode>& body) {
  for (const LoopCode& code : body) run_statement(state, code);
}

}  // namespace

void run_loops(State& state, Compiler& compiler, const LoopBody& body) {
  compiler.slots.clear();
  const std::vector<LoopCode> codes = compile_body(compiler, body);
  state.element_tensor = "a statement";
  state.element_slots.clear();
  state.registers.resize(static_cast<std::size_t>(compiler.registers));
  state.slots.resize(static_cast<std::size_t>(compiler.slot_count));
  run_body(state, codes);
}

}  // namespace facet::reference
