// C spellings of types and literals, and lane analysis of vector subscripts.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "codegen/c_family.hpp"

namespace facet {

DType computed_as(DType type) { return type == DType::kF16 || type == DType::kBF16 ? DType::kF32 : type; }

std::string type_suffix(DType type, int lanes) {
  return to_text(computed_as(type)) + (lanes > 1 ? "x" + std::to_string(lanes) : "");
}

std::string storage_type(DType type) {
  switch (type) {
    case DType::kBool:
    case DType::kU8: return "uint8_t";
    case DType::kI8: return "int8_t";
    case DType::kI16: return "int16_t";
    case DType::kU16:
    case DType::kF16:
    case DType::kBF16: return "uint16_t";
    case DType::kI32: return "int32_t";
    case DType::kU32: return "uint32_t";
    case DType::kI64: return "int64_t";
    case DType::kU64: return "uint64_t";
    case DType::kF32: return "float";
    case DType::kF64: return "double";
  }
  return "void";
}

std::string value_type(DType type, int lanes) {
  if (lanes > 1) return type_suffix(type == DType::kBool ? DType::kI32 : type, lanes);
  return type == DType::kBool ? "bool" : storage_type(computed_as(type));
}

std::string float_literal(DType type, double value) {
  const bool single = computed_as(type) == DType::kF32;
  if (std::isnan(value)) return single ? "__builtin_nanf(\"\")" : "__builtin_nan(\"\")";
  if (std::isinf(value)) return std::string(value < 0 ? "-" : "") + (single ? "__builtin_inff()" : "__builtin_inf()");
  const double rounded = single ? static_cast<double>(static_cast<float>(value)) : value;
  if (std::isinf(rounded)) return float_literal(type, rounded);
  // The fewest digits that read back, and enough of them to do without an exponent where the number is of common size.
  const double size = std::fabs(rounded);
  const int whole_digits = size >= 1 && size < 1e9 ? static_cast<int>(std::log10(size)) + 1 : 1;
  char buffer[64];
  for (int digits = whole_digits; digits <= 17; ++digits) {
    std::snprintf(buffer, sizeof buffer, "%.*g", digits, rounded);
    const double back = std::strtod(buffer, nullptr);
    if ((single ? static_cast<double>(std::strtof(buffer, nullptr)) : back) == rounded) break;
  }
  std::string text = buffer;
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + (single ? "f" : "");
}

bool holds_read(const ExprPtr& e) {
  bool found = false;
  walk(e, [&](const Expr& node) { found = found || node.op == Op::kRead; });
  return found;
}

namespace {

bool is_int_literal(const ExprPtr& e) { return e->op == Op::kLiteral && is_integer(e->type) && e->lanes == 1; }

LaneForm sum_of(const LaneForm& a, const LaneForm& b, bool subtract) {
  if (!a.affine || !b.affine) return {};
  return {true, subtract ? idx_sub(a.base, b.base) : idx_add(a.base, b.base), subtract ? a.step - b.step : a.step + b.step};
}

}  // namespace

LaneForm lane_form(const ExprPtr& e) {
  if (e->lanes == 1) return {true, e, 0};
  switch (e->op) {
    case Op::kIota: return {true, e->args[0], 1};
    case Op::kSplat: return {true, e->args[0], 0};
    case Op::kAdd:
    case Op::kSub: return sum_of(lane_form(e->args[0]), lane_form(e->args[1]), e->op == Op::kSub);
    case Op::kNeg: return sum_of({true, idx(0), 0}, lane_form(e->args[0]), true);
    case Op::kMul: {
      LaneForm a = lane_form(e->args[0]);
      LaneForm b = lane_form(e->args[1]);
      if (!a.affine || !b.affine) return {};
      if (a.step == 0 && is_int_literal(a.base)) std::swap(a, b);
      if (b.step == 0 && is_int_literal(b.base)) return {true, idx_mul(a.base, b.base), a.step * b.base->int_value};
      if (a.step == 0 && b.step == 0) return {true, idx_mul(a.base, b.base), 0};
      return {};
    }
    default: return {};
  }
}

}  // namespace facet
