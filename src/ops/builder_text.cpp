// The string helpers of definitions: references, literals, broadcasting, accumulators, attribute records.
#include <algorithm>
#include <cmath>
#include <limits>

#include "src/ops/builder.hpp"

namespace facet {

std::string formal(int operand) { return "a" + std::to_string(operand); }

std::string ref(const std::string& tensor, const Subscripts& subscripts, const std::string& pad) {
  std::string text = tensor + "[";
  for (std::size_t i = 0; i < subscripts.size(); ++i) text += (i ? ", " : "") + to_text(subscripts[i]);
  return text + (pad.empty() ? "" : " ? " + pad) + "]";
}

Subscripts indices_of(const Loops& loops) {
  Subscripts s;
  for (const Loop& l : loops) s.push_back(l.index());
  return s;
}

std::string broadcast_read(const OpBuilder& b, int k, const Loops& result) {
  Subscripts s;
  const std::size_t skip = result.size() - static_cast<std::size_t>(b.rank(k));
  for (std::size_t a = 0; a < b.shape(k).size(); ++a) {
    const Loop& l = result[skip + a];
    const bool stretched = !same_dim(b.shape(k)[a], l.extent);
    s.push_back(stretched ? idx(0) : l.index());
  }
  return ref(formal(k), s);
}

Shape broadcast_two(OpBuilder& b, const Shape& x, const Shape& y, int operand) {
  const Shape& longer = x.size() >= y.size() ? x : y;
  const Shape& shorter = x.size() >= y.size() ? y : x;
  Shape result = longer;
  const std::size_t skip = longer.size() - shorter.size();
  for (std::size_t a = 0; a < shorter.size(); ++a) {
    const ExprPtr& p = longer[skip + a];
    const ExprPtr& q = shorter[a];
    if (same_dim(p, q) || constant_of(q) == 1) continue;
    if (constant_of(p) == 1) {
      result[skip + a] = q;
      continue;
    }
    std::vector<std::string> notes;
    if (!constant_of(p) || !constant_of(q)) notes.push_back("symbolic extents must be the same expression, or the constant 1");
    b.fail(Code::kBroadcast, "/in/" + std::to_string(operand),
           {b.def().name, shape_text(x), shape_text(y), std::to_string(skip + a), to_text(normal(p)), to_text(normal(q))},
           notes);
    return result;
  }
  return result;
}

Shape broadcast_shape(OpBuilder& b, const std::vector<int>& operands) {
  Shape result;
  for (const int k : operands) {
    result = broadcast_two(b, result, b.shape(k), k);
    if (b.failed()) return result;
  }
  return result;
}

std::string number_text(DType dtype, double value) {
  if (dtype == DType::kBool) return value != 0 ? "true" : "false";
  if (is_float(dtype)) return to_text(literal(DType::kF64, value));
  return std::to_string(static_cast<std::int64_t>(value));
}

std::string lowest_text(DType dtype) {
  if (is_float(dtype)) return "-inf";
  if (dtype == DType::kBool) return "false";
  if (!is_signed(dtype)) return "0";
  const int bits = static_cast<int>(size_bytes(dtype)) * 8;
  return std::to_string(bits == 64 ? std::numeric_limits<std::int64_t>::min() : -(std::int64_t{1} << (bits - 1)));
}

std::string highest_text(DType dtype) {
  if (is_float(dtype)) return "inf";
  if (dtype == DType::kBool) return "true";
  const int bits = static_cast<int>(size_bytes(dtype)) * 8;
  if (bits == 64) return std::to_string(std::numeric_limits<std::int64_t>::max());
  return std::to_string((std::int64_t{1} << (is_signed(dtype) ? bits - 1 : bits)) - 1);
}

std::string cast_text(DType to, DType from, const std::string& value) {
  return to == from ? value : "cast(" + to_text(to) + ", " + value + ")";
}

std::string calls(const std::string& function, const std::string& argument) { return function + "(" + argument + ")"; }
std::string in_parens(const std::string& text) { return "(" + text + ")"; }

std::string reduction(const std::string& kind, const Loops& loops, const std::string& value) {
  if (loops.empty()) return value;
  std::string names;
  for (const Loop& l : loops) names += (names.empty() ? "" : ", ") + l.name;
  return kind + "[" + names + "](" + value + ")";
}

std::string c_element(const std::string& tensor, const Subscripts& subscripts) {
  std::string text = tensor;
  for (const ExprPtr& e : subscripts) text += "[" + to_text(e) + "]";
  return text;
}

std::string c_for(const Loop& loop) {
  return "for (long " + loop.name + " = 0; " + loop.name + " < " + to_text(loop.extent) + "; " + loop.name + "++)";
}

std::string c_type_text(DType dtype) {
  if (dtype == DType::kF64) return "double";
  if (is_float(dtype)) return "float";
  return size_bytes(dtype) == 8 ? "int64_t" : "int32_t";
}

DType sum_result(DType dtype) { return dtype == DType::kI8 || dtype == DType::kU8 ? DType::kI32 : dtype; }
DType wide_float(DType dtype) { return dtype == DType::kF16 || dtype == DType::kBF16 ? DType::kF32 : dtype; }
DType accumulator(const OpBuilder& b, DType dtype) { return b.dtype_attr("acc", sum_result(wide_float(dtype))); }

AttrDef acc_attribute() {
  return optional_attr("acc", AttrKind::kDType, "dtype of the accumulator; absent: at least f32, i32 for 8-bit integers");
}

std::string extent_text(DType dtype, const Shape& extents) {
  double constant = 1;
  std::string text;
  for (const ExprPtr& e : extents) {
    if (const std::optional<std::int64_t> c = constant_of(e)) {
      constant *= static_cast<double>(*c);
    } else {
      text += (text.empty() ? "" : " * ") + cast_text(dtype, DType::kI64, to_text(normal(e)));
    }
  }
  if (text.empty()) return number_text(dtype, constant);
  return constant == 1 ? text : number_text(dtype, constant) + " * " + text;
}

AttrDef int_attr(const std::string& name, std::int64_t fallback, const std::string& doc) {
  return AttrDef{name, AttrKind::kInt, as_attribute(fallback), false, doc, {}};
}
AttrDef flag_attr(const std::string& name, bool fallback, const std::string& doc) {
  return AttrDef{name, AttrKind::kFlag, as_attribute(std::int64_t{fallback ? 1 : 0}), false, doc, {}};
}
AttrDef float_attr(const std::string& name, double fallback, const std::string& doc) {
  return AttrDef{name, AttrKind::kFloat, as_attribute(fallback), false, doc, {}};
}
AttrDef text_attr(const std::string& name, const std::string& fallback, const std::string& doc,
                  std::vector<std::string> choices) {
  return AttrDef{name, AttrKind::kText, as_attribute(fallback.c_str()), false, doc, std::move(choices)};
}
AttrDef optional_attr(const std::string& name, AttrKind kind, const std::string& doc) {
  return AttrDef{name, kind, std::nullopt, true, doc, {}};
}
AttrDef required_attr(const std::string& name, AttrKind kind, const std::string& doc) {
  return AttrDef{name, kind, std::nullopt, false, doc, {}};
}

Attribute as_attribute(std::int64_t value) { return Attribute{value}; }
Attribute as_attribute(int value) { return Attribute{static_cast<std::int64_t>(value)}; }
Attribute as_attribute(double value) { return Attribute{value}; }
Attribute as_attribute(bool value) { return Attribute{value}; }
Attribute as_attribute(const char* value) { return Attribute{std::string(value)}; }
Attribute as_attribute(const std::vector<int>& values) {
  std::vector<Attribute> list;
  for (const int v : values) list.push_back(as_attribute(v));
  return Attribute{std::move(list)};
}

Attribute as_attribute(const std::vector<double>& values) {
  std::vector<Attribute> list;
  for (const double v : values) list.push_back(as_attribute(v));
  return Attribute{std::move(list)};
}

}  // namespace facet
