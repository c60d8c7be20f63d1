// One equation: every point of the left ranges that satisfies the conditions gets its value.
#include <algorithm>
#include <cassert>

#include "src/run/reference/nodes.hpp"

namespace facet::reference {

namespace {

void run_from(State& state, const EquationCode& code, std::size_t depth, std::int64_t offset) {
  if (depth == code.ranges.size()) {
    for (const CodePtr& condition : code.conditions)
      if (!execute(state, *condition).i) return;
    code.target->store(offset, execute(state, *code.value));
    return;
  }
  const RangeCode& range = code.ranges[depth];
  const std::int64_t lower = evaluate(state, range.lower);
  const std::int64_t upper = std::min(evaluate(state, range.upper), code.target->extents[depth]);
  std::int64_t& i = state.slots[static_cast<std::size_t>(range.slot)];
  for (i = lower; i < upper; ++i) run_from(state, code, depth + 1, offset + i * code.target->strides[depth]);
}

}  // namespace

EquationCode compile_equation(Compiler& compiler, const Equation& equation) {
  compiler.slots.clear();
  EquationCode code;
  code.target = compiler.storage->at(equation.tensor).get();
  assert(code.target->extents.size() == equation.indices.size());
  for (const Range& r : equation.indices)
    code.ranges.push_back({compiler.slot_of(r.name), compiler.compile_index(r.lower), compiler.compile_index(r.upper)});
  for (const ExprPtr& c : equation.conditions) code.conditions.push_back(compiler.compile(c));
  code.value = compiler.compile(equation.value);
  return code;
}

void make_room(State& state, const Compiler& compiler) {
  state.registers.resize(static_cast<std::size_t>(compiler.registers));
  state.slots.resize(static_cast<std::size_t>(compiler.slot_count));
}

void run_equation(State& state, const EquationCode& code) {
  state.element_tensor = code.target->name;
  state.element_slots.clear();
  for (const RangeCode& r : code.ranges) state.element_slots.push_back(r.slot);
  run_from(state, code, 0, 0);
}

}  // namespace facet::reference
