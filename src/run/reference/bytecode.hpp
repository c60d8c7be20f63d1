// What an expression becomes before it is interpreted: straight-line instructions over numbered registers.
//
// Index variables are numbered slots, symbols are folded to constants, affine subscripts are {constant, factor * slot ...}, and
// tensors are direct pointers, so nothing is looked up by name while elements are computed. A reduction is one instruction that
// owns the code of its ranges, conditions and body.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "facet/program.hpp"
#include "src/run/reference/value.hpp"

namespace facet::reference {

class LazyTensor;

// A tensor's memory while the program is interpreted. With `lazy` it has none: elements are computed when they are read.
struct Storage {
  LazyTensor* lazy = nullptr;
  std::string name;
  DType dtype = DType::kF32;
  bool is_float = true;
  std::vector<std::int64_t> extents, strides;
  std::int64_t count = 0;
  std::vector<double> floats;         // is_float
  std::vector<std::int64_t> ints;     // otherwise
  std::vector<float> bounds;          // per element; empty: all exact
  std::vector<float> magnitudes;      // sum of |terms| of elements that are sum-updated in loops; empty: not needed
  std::vector<std::uint8_t> defined;  // empty: everywhere

  Value load(std::int64_t at) const {
    const double bound = bounds.empty() ? 0.0 : static_cast<double>(bounds[static_cast<std::size_t>(at)]);
    return is_float ? float_value(floats[static_cast<std::size_t>(at)], bound)
                    : int_value(ints[static_cast<std::size_t>(at)], bound);
  }
  void store(std::int64_t at, Value v) {
    if (is_float) {
      floats[static_cast<std::size_t>(at)] = v.f;
    } else {
      ints[static_cast<std::size_t>(at)] = v.i;
    }
    if (v.bound != 0 && bounds.empty()) bounds.assign(static_cast<std::size_t>(count), 0.0F);
    if (!bounds.empty()) bounds[static_cast<std::size_t>(at)] = round_up(v.bound);
    if (!defined.empty()) defined[static_cast<std::size_t>(at)] = 1;
  }
  static float round_up(double bound) {
    if (bound == 0) return 0;
    return static_cast<float>(bound * (1 + 0x1p-23)) + 0x1p-149F;
  }
};

struct Term {
  int slot = 0;
  std::int64_t factor = 0;
};
struct Linear {
  std::int64_t constant = 0;
  std::vector<Term> terms;
};

enum class Do : std::uint8_t {
  kConstant,
  kLinear,
  kLoad,
  kFloatAdd,
  kFloatSub,
  kFloatMul,
  kFloatUnary,
  kFloatBinary,
  kFloatCompare,
  kIntUnary,
  kIntBinary,
  kFloatToFloat,
  kFloatToInt,
  kIntToFloat,
  kIntToInt,
  kSelect,
  kReduce
};

struct Instruction {
  Do what = Do::kConstant;
  Op op = Op::kLiteral;
  DType type = DType::kF32;  // of the operands (operations) or the result (casts, kSelect)
  DType from = DType::kF32;  // casts
  int to = 0;                // registers
  int a = 0, b = 0, c = 0;
  int extra = 0;  // kLinear, kLoad, kReduce: position in the code's tables
  Value constant = {};
  FloatFacts facts = {};
};

struct Code;
using CodePtr = std::shared_ptr<const Code>;

// An integer expression of slots: linear, or general code.
struct IndexCode {
  Linear linear;
  CodePtr code;  // null: linear
};

struct LoadCode {
  const Storage* from = nullptr;
  std::vector<IndexCode> subscripts;
  std::vector<bool> gather;  // the subscript depends on data: clamped instead of refused
  bool wraps = false;        // negative gather subscripts wrap once first (ONNX)
  bool has_pad = false;
  Value pad = {};
  std::string text;  // for messages
};

struct RangeCode {
  int slot = 0;
  IndexCode lower, upper;
};

struct ReduceCode {
  ReduceKind kind = ReduceKind::kSum;
  DType type = DType::kF32;  // accumulator
  DType body_type = DType::kF32;
  FloatFacts facts = {};
  std::vector<RangeCode> ranges;
  std::vector<CodePtr> conditions;
  CodePtr body;
};

struct Code {
  std::vector<Instruction> instructions;
  std::vector<Linear> linears;
  std::vector<LoadCode> loads;
  std::vector<ReduceCode> reductions;
  int result = 0;  // register
};

// The state of a run. `violations` are user errors met on the way (reads outside, undefined elements), `gathers` the
// data-dependent subscripts that had to be clamped; both keep the first few only.
struct State {
  std::vector<Value> registers;
  std::vector<std::int64_t> slots;
  std::string element_tensor;  // the element being computed, for messages
  std::vector<int> element_slots;
  std::vector<std::string> violations;
  std::vector<std::string> gathers;
  std::int64_t gather_count = 0;
  std::int64_t budget = std::numeric_limits<std::int64_t>::max();  // terms and lazy elements left; below 0 the run is given up
};

// Turns names into numbers. Registers and slots are given out once per run; within a node slots are per name, so reuse of a
// name in another scope is harmless: every range writes its slot before its body reads it.
struct Compiler {
  const SymbolValues* symbols = nullptr;
  std::map<std::string, std::unique_ptr<Storage>>* storage = nullptr;
  bool flush_denormals = false;
  std::uint64_t seed = 0;            // FloatFacts::seed of every instruction
  std::map<std::string, int> slots;  // of the node being compiled
  int slot_count = 0;
  int registers = 0;

  int slot_of(const std::string& name);
  CodePtr compile(const ExprPtr& e);
  IndexCode compile_index(const ExprPtr& e);

 private:
  int emit(Code& code, const ExprPtr& e);
  int emit_read(Code& code, const ExprPtr& e);
  int emit_cast(Code& code, const ExprPtr& e);
  int emit_reduce(Code& code, const ExprPtr& e);
  int emit_operation(Code& code, const ExprPtr& e);
  int push(Code& code, Instruction instruction);
  bool linear_of(const ExprPtr& e, Linear* out);
};

inline std::int64_t evaluate(const Linear& linear, const std::int64_t* slots) {
  std::int64_t value = linear.constant;
  for (const Term& t : linear.terms) value += t.factor * slots[t.slot];
  return value;
}

Value execute(State& state, const Code& code);
Value execute_load(State& state, const LoadCode& load);
Value execute_reduce(State& state, const ReduceCode& reduce);
inline std::int64_t evaluate(State& state, const IndexCode& index) {
  return index.code ? execute(state, *index.code).i : evaluate(index.linear, state.slots.data());
}

// "y[3, 0]": the element being computed.
std::string element_text(const State& state);
void add_violation(State& state, const std::string& text);

}  // namespace facet::reference
