// Demand-driven evaluation of equations.
#include "src/run/reference/lazy.hpp"

namespace facet::reference {

// Sets the equation's left indices to the element and says whether the equation defines it.
bool LazyTensor::covers(State& state, const EquationCode& code, std::int64_t offset) const {
  for (std::size_t d = 0; d < code.ranges.size(); ++d) {
    const RangeCode& range = code.ranges[d];
    const std::int64_t i = offset / shape_.strides[d];
    offset %= shape_.strides[d];
    state.slots[static_cast<std::size_t>(range.slot)] = i;
    if (i < evaluate(state, range.lower) || i >= evaluate(state, range.upper)) return false;
  }
  for (const CodePtr& condition : code.conditions)
    if (!execute(state, *condition).i) return false;
  return true;
}

Value LazyTensor::at(State& state, std::int64_t offset) {
  const auto known = known_.find(offset);
  if (known != known_.end()) return known->second;
  --state.budget;
  for (const EquationCode& code : equations_) {
    if (!covers(state, code, offset)) continue;
    const std::string outer_tensor = state.element_tensor;
    const std::vector<int> outer_slots = state.element_slots;
    state.element_tensor = shape_.name;
    state.element_slots.clear();
    for (const RangeCode& r : code.ranges) state.element_slots.push_back(r.slot);
    Value value = execute(state, *code.value);
    value.bound = static_cast<double>(Storage::round_up(value.bound));  // as stored elements are
    state.element_tensor = outer_tensor;
    state.element_slots = outer_slots;
    known_.emplace(offset, value);
    return value;
  }
  add_violation(state, element_text(state) + " reads an element of " + shape_.name + " that is never defined");
  return shape_.is_float ? float_value(0, kAmbiguous) : int_value(0, kAmbiguous);
}

}  // namespace facet::reference
