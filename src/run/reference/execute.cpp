// The interpreter's inner loop: one pass over an expression's instructions, and tensor reads.
#include <algorithm>

#include "src/run/reference/bytecode.hpp"
#include "src/run/reference/error_model.hpp"
#include "src/run/reference/integer.hpp"
#include "src/run/reference/lazy.hpp"

namespace facet::reference {

namespace {

constexpr std::size_t kKept = 8;  // messages kept of each kind

Value int_binary(const Instruction& in, Value a, Value b) {
  const std::int64_t result = integer_binary(in.op, in.type, a.i, b.i);
  const double bound = std::max(a.bound, b.bound);
  if (bound == 0) return int_value(result);
  // One certain operand can decide a logical operation.
  const bool decided = (in.op == Op::kAnd && ((a.bound == 0 && a.i == 0) || (b.bound == 0 && b.i == 0))) ||
                       (in.op == Op::kOr && ((a.bound == 0 && a.i != 0) || (b.bound == 0 && b.i != 0)));
  return int_value(result, decided ? 0 : bound);
}

std::string subscript_text(const std::vector<std::int64_t>& at) {
  std::string text;
  for (const std::int64_t i : at) text += (text.empty() ? "" : ", ") + std::to_string(i);
  return "[" + text + "]";
}

void note_gather(State& state, const LoadCode& load, std::int64_t wanted, std::int64_t extent) {
  ++state.gather_count;
  if (state.gathers.size() >= kKept) return;
  state.gathers.push_back("element " + element_text(state) + ": the gather " + load.text + " wants position " +
                          std::to_string(wanted) + " of an axis of " + std::to_string(extent));
}

// One data-dependent subscript: wrapped if the operator wraps, then clamped into the axis.
std::int64_t clamp_gather(State& state, const LoadCode& load, std::int64_t i, std::int64_t extent) {
  if (load.wraps && i < 0) i += extent;
  if (i >= 0 && i < extent) return i;
  if (!load.wraps) note_gather(state, load, i, extent);
  return std::clamp<std::int64_t>(i, 0, std::max<std::int64_t>(extent - 1, 0));
}

}  // namespace

std::string element_text(const State& state) {
  std::vector<std::int64_t> at;
  for (const int slot : state.element_slots) at.push_back(state.slots[static_cast<std::size_t>(slot)]);
  return state.element_tensor + subscript_text(at);
}

void add_violation(State& state, const std::string& text) {
  if (state.violations.size() < kKept) state.violations.push_back(text);
}

Value execute_load(State& state, const LoadCode& load) {
  const Storage& from = *load.from;
  std::int64_t offset = 0;
  double ambiguity = 0;
  const std::size_t rank = load.subscripts.size();
  for (std::size_t d = 0; d < rank; ++d) {
    const IndexCode& subscript = load.subscripts[d];
    std::int64_t i = 0;
    if (subscript.code) {
      const Value v = execute(state, *subscript.code);
      i = v.i;
      ambiguity = std::max(ambiguity, v.bound);
    } else {
      i = evaluate(subscript.linear, state.slots.data());
    }
    const std::int64_t extent = from.extents[d];
    if (static_cast<std::uint64_t>(i) >= static_cast<std::uint64_t>(extent)) {
      if (load.has_pad && !(load.gather[d] && load.wraps)) {
        Value pad = load.pad;
        pad.bound = ambiguity;
        return pad;
      }
      if (!load.gather[d] || extent == 0) {
        add_violation(state, element_text(state) + " reads " + load.text + " at " + std::to_string(i) + " outside 0.." +
                                 std::to_string(extent));
        return from.is_float ? float_value(0, kAmbiguous) : int_value(0, kAmbiguous);
      }
      i = clamp_gather(state, load, i, extent);
    }
    offset += i * from.strides[d];
  }
  if (from.lazy) {
    Value v = from.lazy->at(state, offset);
    if (ambiguity != 0) v.bound = kAmbiguous;
    return v;
  }
  if (!from.defined.empty() && !from.defined[static_cast<std::size_t>(offset)])
    add_violation(state, element_text(state) + " reads " + load.text + " before that element is defined");
  Value v = from.load(offset);
  if (ambiguity != 0) v.bound = kAmbiguous;
  return v;
}

Value execute(State& state, const Code& code) {
  Value* const r = state.registers.data();
  for (const Instruction& in : code.instructions) {
    switch (in.what) {
      case Do::kConstant: r[in.to] = in.constant; break;
      case Do::kLinear:
        r[in.to] = int_value(evaluate(code.linears[static_cast<std::size_t>(in.extra)], state.slots.data()));
        break;
      case Do::kLoad: r[in.to] = execute_load(state, code.loads[static_cast<std::size_t>(in.extra)]); break;
      case Do::kFloatAdd: r[in.to] = float_add(in.type, in.facts, r[in.a], r[in.b]); break;
      case Do::kFloatSub: r[in.to] = float_sub(in.type, in.facts, r[in.a], r[in.b]); break;
      case Do::kFloatMul: r[in.to] = float_mul(in.type, in.facts, r[in.a], r[in.b]); break;
      case Do::kFloatUnary: r[in.to] = float_unary(in.op, in.type, in.facts, r[in.a]); break;
      case Do::kFloatBinary: r[in.to] = float_binary(in.op, in.type, in.facts, r[in.a], r[in.b]); break;
      case Do::kFloatCompare: r[in.to] = float_compare(in.op, r[in.a], r[in.b]); break;
      case Do::kIntUnary: r[in.to] = int_value(integer_unary(in.op, in.type, r[in.a].i), r[in.a].bound); break;
      case Do::kIntBinary: r[in.to] = int_binary(in, r[in.a], r[in.b]); break;
      case Do::kFloatToFloat: r[in.to] = float_to_float(in.type, in.facts, r[in.a]); break;
      case Do::kFloatToInt: r[in.to] = float_to_int(in.type, r[in.a]); break;
      case Do::kIntToFloat: r[in.to] = int_to_float(in.from, in.type, r[in.a]); break;
      case Do::kIntToInt: r[in.to] = int_value(wrap(in.type, r[in.a].i), r[in.a].bound); break;
      case Do::kSelect: r[in.to] = choose(is_float(in.type), r[in.a], r[in.b], r[in.c]); break;
      case Do::kReduce: r[in.to] = execute_reduce(state, code.reductions[static_cast<std::size_t>(in.extra)]); break;
    }
  }
  return r[code.result];
}

}  // namespace facet::reference
