// Index arithmetic and element access: subscripts become one plain 64-bit offset.
#include "codegen/c_family.hpp"

#include <algorithm>

namespace facet {

namespace {

bool is_index_op(Op op) {
  return op == Op::kAdd || op == Op::kSub || op == Op::kMul || op == Op::kNeg || op == Op::kFloorDiv || op == Op::kFloorMod ||
         op == Op::kTruncDiv || op == Op::kTruncMod || op == Op::kMin || op == Op::kMax;
}

bool is_literal(const ExprPtr& e) { return e->op == Op::kLiteral && e->lanes == 1; }

// Products of two run-time values could leave 64 bits in a value (not in a subscript of something that exists).
bool is_small_literal(const ExprPtr& e) {
  return is_literal(e) && e->int_value > -(INT64_C(1) << 31) && e->int_value < (INT64_C(1) << 31);
}

}  // namespace

// Whether an i64 value is made of indices, sums and multiples only: then it cannot overflow and needs no wrapping.
bool CPrinter::is_plain_index(const ExprPtr& e) const {
  if (e->type != DType::kI64 || e->lanes != 1) return false;
  if (e->op == Op::kIndex) return true;
  if (e->op == Op::kValue) return e->int_value == 1;  // passes mark their index values so
  if (e->op == Op::kLiteral) return is_small_literal(e);
  if (!is_index_op(e->op)) return false;
  if (e->op == Op::kMul && !is_small_literal(e->args[0]) && !is_small_literal(e->args[1])) return false;
  for (const ExprPtr& a : e->args)
    if (!is_plain_index(a)) return false;
  return true;
}

// What passes name of subscripts: products of sizes too. A program's own i64 value (a hash, say) is not one: it wraps.
bool CPrinter::is_index_value(const ExprPtr& e) const {
  if (e->type != DType::kI64 || e->lanes != 1) return false;
  if (!is_index_op(e->op)) return is_plain_index(e);
  return std::all_of(e->args.begin(), e->args.end(), [&](const ExprPtr& a) { return is_index_value(a); });
}

bool CPrinter::non_negative(const ExprPtr& e) const {
  const auto both = [&] { return non_negative(e->args[0]) && non_negative(e->args[1]); };
  switch (e->op) {
    case Op::kLiteral: return e->int_value >= 0;
    case Op::kIndex:
    case Op::kValue: return non_negative_.count(e->name) != 0;
    case Op::kAdd:
    case Op::kMul:
    case Op::kFloorDiv:
    case Op::kTruncDiv:
    case Op::kMin: return is_integer(e->type) && both();
    case Op::kTruncMod: return is_integer(e->type) && non_negative(e->args[0]);
    case Op::kMax: return non_negative(e->args[0]) || non_negative(e->args[1]);
    case Op::kFloorMod: return is_literal(e->args[1]) && e->args[1]->int_value > 0;
    default: return false;
  }
}

bool CPrinter::positive(const ExprPtr& e) const {
  switch (e->op) {
    case Op::kLiteral: return e->int_value > 0;
    case Op::kIndex: return positive_.count(e->name) != 0;
    case Op::kMul: return is_integer(e->type) && positive(e->args[0]) && positive(e->args[1]);
    default: return false;
  }
}

std::string CPrinter::index_text(const ExprPtr& e, Level level) {
  const bool index = e->type == DType::kI64 && e->lanes == 1 && !holds_read(e) && (is_index_op(e->op) || is_literal(e));
  const Spelled s = index ? index_spelled(e) : spell(e);
  return s.level < level ? "(" + s.text + ")" : s.text;
}

// Plain arithmetic; 2 * i is written i * 2, so that the strides of one subscript line up.
CPrinter::Spelled CPrinter::index_spelled(const ExprPtr& e) {
  const auto arg = [&](std::size_t n, Level level) { return index_text(e->args[n], level); };
  switch (e->op) {
    case Op::kLiteral: {
      const bool narrow = e->int_value >= -INT32_MAX && e->int_value <= INT32_MAX;
      if (!narrow) return literal_text(*e);
      return {std::to_string(e->int_value), e->int_value < 0 ? Level::kUnary : Level::kAtom};
    }
    case Op::kNeg: return {"-" + arg(0, Level::kAtom), Level::kUnary};
    // Exact arithmetic: a + (b - c) needs no parentheses.
    case Op::kAdd: return {arg(0, Level::kSum) + " + " + arg(1, Level::kSum), Level::kSum};
    case Op::kSub: return {arg(0, Level::kSum) + " - " + arg(1, Level::kTerm), Level::kSum};
    case Op::kMul: {
      const bool swap = is_literal(e->args[0]) && !is_literal(e->args[1]);
      return {arg(swap ? 1 : 0, Level::kTerm) + " * " + arg(swap ? 0 : 1, Level::kUnary), Level::kTerm};
    }
    case Op::kMin: return {call("min", DType::kI64, 1, {arg(0, Level::kTernary), arg(1, Level::kTernary)})};
    case Op::kMax: return {call("max", DType::kI64, 1, {arg(0, Level::kTernary), arg(1, Level::kTernary)})};
    case Op::kFloorDiv:
    case Op::kFloorMod:
    case Op::kTruncDiv:
    case Op::kTruncMod: {
      const bool modulo = e->op == Op::kFloorMod || e->op == Op::kTruncMod;
      const bool truncating = e->op == Op::kTruncDiv || e->op == Op::kTruncMod;
      const bool divisor = is_literal(e->args[1]) && e->args[1]->int_value > 0;
      if ((divisor && truncating) || (non_negative(e->args[0]) && positive(e->args[1]))) {
        const std::string sign = modulo ? " % " : " / ";
        if (!divisor && is_narrow(e->args[0]) && is_narrow(e->args[1]))
          return {"(int64_t)((uint32_t)" + arg(0, Level::kAtom) + sign + "(uint32_t)" + arg(1, Level::kAtom) + ")",
                  Level::kUnary};
        return {arg(0, Level::kTerm) + sign + arg(1, Level::kUnary), Level::kTerm};
      }
      const char* helper = truncating ? (modulo ? "trunc_mod" : "trunc_div") : (modulo ? "floor_mod" : "floor_div");
      return {call(helper, DType::kI64, 1, {arg(0, Level::kTernary), arg(1, Level::kTernary)})};
    }
    default: return spell(e);
  }
}

std::vector<ExprPtr> CPrinter::strides_of(const Buffer& buffer) {
  if (!buffer.strides.empty()) return buffer.strides;
  std::vector<ExprPtr> strides(buffer.extents.size());
  ExprPtr stride = idx(1);
  for (std::size_t d = buffer.extents.size(); d-- > 0;) {
    strides[d] = stride;
    stride = idx_mul(stride, buffer.extents[d]);
  }
  return strides;
}

const Buffer& CPrinter::buffer_of(const std::string& name) {
  const auto it = buffers_.find(name);
  if (it != buffers_.end()) return it->second;
  fail("unknown buffer " + name);
  static const Buffer none;
  return none;
}

void CPrinter::declare(const Buffer& buffer) { buffers_[buffer.name] = buffer; }

std::string CPrinter::offset(const Buffer& buffer, const std::vector<ExprPtr>& subscripts) {
  const std::vector<ExprPtr> strides = strides_of(buffer);
  if (strides.size() != subscripts.size()) {
    fail("buffer " + buffer.name + " has rank " + std::to_string(strides.size()) + ", subscripted by " +
         std::to_string(subscripts.size()));
    return "0";
  }
  ExprPtr sum = idx(0);
  for (std::size_t d = 0; d < strides.size(); ++d) sum = idx_add(sum, idx_mul(subscripts[d], strides[d]));
  return index_text(sum);
}

std::string CPrinter::element(const Buffer& buffer, const std::vector<ExprPtr>& subscripts) {
  return buffer_name(buffer.name) + "[" + offset(buffer, subscripts) + "]";
}

std::string CPrinter::address(const Buffer& buffer, const std::vector<ExprPtr>& subscripts) {
  const std::string at = offset(buffer, subscripts);
  return at == "0" ? buffer_name(buffer.name) : buffer_name(buffer.name) + " + " + at;
}

// Data-dependent subscripts are wrapped once where the operator says so, then clamped into the extents (contract C11, V1).
std::vector<ExprPtr> CPrinter::clamped(const Buffer& buffer, const ExprPtr& e) {
  std::vector<ExprPtr> subscripts = e->args;
  for (std::size_t d = 0; d < subscripts.size() && d < buffer.extents.size(); ++d) {
    ExprPtr& s = subscripts[d];
    if (e->pad || !holds_read(s)) continue;
    if (e->wrap_gather) s = select(binary(Op::kLt, s, idx(0)), binary(Op::kAdd, s, buffer.extents[d]), s);
    s = binary(Op::kMax, binary(Op::kMin, s, idx_sub(buffer.extents[d], idx(1))), idx(0));
  }
  return subscripts;
}

std::string CPrinter::from_storage(DType type, int lanes, const std::string& text) {
  if (type == DType::kF16) return call("from_f16", DType::kF32, lanes, {text});
  if (type == DType::kBF16) return call("from_bf16", DType::kF32, lanes, {text});
  return text;
}

std::string CPrinter::to_storage(DType type, int lanes, const ExprPtr& v) {
  const std::string text = lanes > 1 ? vector_arg(v, lanes) : at(v, Level::kTernary);
  if (type == DType::kF16) return call("to_f16", DType::kF32, lanes, {text});
  if (type == DType::kBF16) return call("to_bf16", DType::kF32, lanes, {text});
  return text;
}

CPrinter::Spelled CPrinter::scalar_read(const ExprPtr& e) {
  const Buffer& buffer = buffer_of(e->name);
  const std::string text = from_storage(e->type, 1, element(buffer, clamped(buffer, e)));
  const Spelled loaded = e->type == DType::kBool ? Spelled{text + " != 0", Level::kEqual} : Spelled{text};
  if (!e->pad) return loaded;
  std::string inside;
  for (std::size_t d = 0; d < e->args.size(); ++d) {
    const ExprPtr& s = e->args[d];
    if (!non_negative(s)) inside += (inside.empty() ? "" : " && ") + index_text(s, Level::kShift) + " >= 0";
    inside +=
        (inside.empty() ? "" : " && ") + index_text(s, Level::kShift) + " < " + index_text(buffer.extents[d], Level::kShift);
  }
  if (inside.empty()) return loaded;
  const std::string text_or_pad = inside + " ? " + loaded.text + " : " + at(e->pad, Level::kOr);
  const bool narrow = is_integer(e->type) && size_bytes(e->type) < 4;
  if (narrow) return {"(" + storage_type(e->type) + ")(" + text_or_pad + ")", Level::kUnary};
  return {text_or_pad, Level::kTernary};
}

}  // namespace facet
