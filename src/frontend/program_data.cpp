// "data" and "sample" of a tensor: constants from files, fills, lists and ramps; how random inputs are drawn (contract F1,
// V10).
#include <cmath>
#include <limits>

#include "facet/host_tensor.hpp"
#include "src/frontend/files.hpp"
#include "src/frontend/npy.hpp"
#include "src/frontend/program_reader.hpp"

namespace facet {

namespace {

bool constant_extents(const Tensor& t, std::vector<std::int64_t>* extents) {
  for (const ExprPtr& e : t.shape) {
    if (e->op != Op::kLiteral) return false;
    extents->push_back(e->int_value);
  }
  return true;
}

std::string shape_text(const Tensor& t) {
  std::string text;
  for (const ExprPtr& e : t.shape) text += (text.empty() ? "" : ", ") + to_text(e);
  return "(" + text + ")";
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t e : shape) text += (text.empty() ? "" : ", ") + std::to_string(e);
  return "(" + text + ")";
}

bool integer_fits(DType dtype, std::int64_t v) {
  if (dtype == DType::kBool) return v == 0 || v == 1;
  const int bits = static_cast<int>(8 * size_bytes(dtype));
  if (bits == 64) return true;
  if (!is_signed(dtype)) return v >= 0 && v < (std::int64_t{1} << bits);
  return v >= -(std::int64_t{1} << (bits - 1)) && v < (std::int64_t{1} << (bits - 1));
}

double largest(DType dtype) {
  if (dtype == DType::kF16) return 65504;
  if (dtype == DType::kBF16 || dtype == DType::kF32) return std::numeric_limits<float>::max();
  return std::numeric_limits<double>::max();
}

// Header against declaration; symbolic extents are compared when the sizes are in force.
void check_file(const JsonValue& at, const std::string& relative, const Tensor& t, ProgramReader* r) {
  const Place place = r->json.place(at);
  const Result<std::string> path = path_inside(r->program.folder, relative, place);
  if (!path) return r->json.complain_all(path.errors());
  const Result<NpyHeader> header = read_npy_header(*path, place);
  if (!header) return r->json.complain_all(header.errors());
  if (header->dtype != npy_dtype(t.dtype))
    return r->json.complain(Code::kNpyDtype, at, {relative, to_text(header->dtype), t.name, to_text(t.dtype)});
  bool equal = header->shape.size() == t.shape.size();
  for (std::size_t d = 0; equal && d < t.shape.size(); ++d)
    equal = t.shape[d]->op != Op::kLiteral || t.shape[d]->int_value == header->shape[d];
  if (!equal) r->json.complain(Code::kNpyShape, at, {relative, shape_text(header->shape), t.name, shape_text(t)});
}

// Row-major leaves of a flat or nested list.
bool read_values(const JsonValue& v, ProgramReader* r, const std::string& tensor, DType dtype, TensorData* data) {
  if (v.is(JsonValue::Kind::kArray)) {
    for (const JsonValue& item : v.items)
      if (!read_values(item, r, tensor, dtype, data)) return false;
    return true;
  }
  double real = 0;
  std::int64_t integer = 0;
  if (!read_element(v, dtype, "a value of tensor \"" + tensor + "\"", r, &real, &integer)) return false;
  if (is_float(dtype)) {
    data->values.push_back(real);
  } else {
    data->int_values.push_back(integer);
  }
  return true;
}

// A nested list must repeat the shape; a flat one only its count.
bool nesting_matches(const JsonValue& v, const std::vector<std::int64_t>& extents, std::size_t depth) {
  if (depth == extents.size()) return !v.is(JsonValue::Kind::kArray);
  if (!v.is(JsonValue::Kind::kArray) || static_cast<std::int64_t>(v.items.size()) != extents[depth]) return false;
  for (const JsonValue& item : v.items)
    if (!nesting_matches(item, extents, depth + 1)) return false;
  return true;
}

void read_value_list(const JsonValue& list, ProgramReader* r, Tensor* t, TensorData* data) {
  data->kind = TensorData::Kind::kValues;
  if (!r->json.array(list, "\"values\" of tensor \"" + t->name + "\"")) return;
  std::vector<std::int64_t> extents;
  if (!constant_extents(*t, &extents)) return r->json.complain(Code::kDataSymbolic, list, {t->name});
  if (!read_values(list, r, t->name, t->dtype, data)) return;
  const std::size_t found = data->values.size() + data->int_values.size();
  __int128 count = 1;
  for (const std::int64_t e : extents) count = std::min<__int128>(count * e, std::numeric_limits<std::int64_t>::max());
  bool flat = true;
  for (const JsonValue& item : list.items) flat = flat && !item.is(JsonValue::Kind::kArray);
  if (static_cast<__int128>(found) != count || (!flat && !nesting_matches(list, extents, 0)))
    r->json.complain(Code::kDataCount, list,
                     {t->name, flat ? std::to_string(found) : std::to_string(found) + " (nested)",
                      std::to_string(static_cast<std::int64_t>(count)) + " " + shape_text(extents)});
}

void read_iota(const JsonValue& axis, ProgramReader* r, Tensor* t, TensorData* data) {
  data->kind = TensorData::Kind::kIota;
  const auto value = r->json.integer(axis, "\"iota\" of tensor \"" + t->name + "\"");
  if (!value) return;
  const std::int64_t rank = static_cast<std::int64_t>(t->shape.size());
  if (*value < -rank || *value >= rank)
    return r->json.complain(Code::kBadAxis, axis, {std::to_string(*value), std::to_string(rank)});
  data->axis = static_cast<int>(*value < 0 ? *value + rank : *value);
  const ExprPtr& extent = t->shape[static_cast<std::size_t>(data->axis)];
  if (extent->op == Op::kLiteral && extent->int_value > 0 && !is_float(t->dtype) &&
      !integer_fits(t->dtype, extent->int_value - 1))
    r->json.complain(Code::kBadFill, axis, {std::to_string(extent->int_value - 1), to_text(t->dtype)});
}

std::string sample_fault(const Sample& s, const Tensor& t) {
  const bool integers = !is_float(t.dtype);
  switch (s.kind) {
    case Sample::Kind::kUniform:
      if (integers) return "uniform draws fractions; an integer tensor takes \"integers\"";
      return s.a <= s.b ? "" : "lo must not exceed hi";
    case Sample::Kind::kNormal:
      if (integers) return "normal draws fractions; an integer tensor takes \"integers\"";
      return s.b >= 0 ? "" : "the deviation may not be negative";
    case Sample::Kind::kIntegers:
      if (s.a > s.b) return "lo must not exceed hi";
      if (integers &&
          !(integer_fits(t.dtype, static_cast<std::int64_t>(s.a)) && integer_fits(t.dtype, static_cast<std::int64_t>(s.b))))
        return "the bounds do not fit " + to_text(t.dtype);
      return "";
    case Sample::Kind::kSpd:
      if (integers) return "spd needs a floating-point tensor";
      if (t.shape.size() < 2 || !same(t.shape[t.shape.size() - 1], t.shape[t.shape.size() - 2]))
        return "spd needs a tensor whose last two extents are the same";
      return "";
    case Sample::Kind::kPermutation:
      if (t.dtype == DType::kBool) return "permutation needs numbers";
      return t.shape.empty() ? "permutation needs at least one axis" : "";
    default: return "";
  }
}

}  // namespace

bool read_element(const JsonValue& v, DType dtype, const std::string& what, ProgramReader* r, double* real,
                  std::int64_t* integer) {
  if (dtype == DType::kBool && v.is(JsonValue::Kind::kBool)) {
    *integer = v.boolean;
    return true;
  }
  if (is_float(dtype)) {
    const auto number = r->json.number_or_text(v, what);
    if (!number) return false;
    *real = *number;
    if (!std::isfinite(*number) || std::isfinite(round_to(dtype, *number)) || std::fabs(*number) <= largest(dtype)) return true;
    r->json.complain(Code::kBadFill, v, {std::to_string(*number), to_text(dtype)});
    return false;
  }
  if (v.is(JsonValue::Kind::kFloat)) {
    r->json.complain(Code::kWrongType, v, {what, "an integer (its dtype is " + to_text(dtype) + ")", kind_text(v)});
    return false;
  }
  const auto number = r->json.integer(v, what);
  if (!number) return false;
  *integer = *number;
  if (integer_fits(dtype, *number)) return true;
  r->json.complain(Code::kBadFill, v, {std::to_string(*number), to_text(dtype)});
  return false;
}

void read_tensor_data(const JsonValue& v, ProgramReader* r, Tensor* t) {
  TensorData data;
  if (v.is(JsonValue::Kind::kString)) {
    data.kind = TensorData::Kind::kFile;
    data.path = v.text;
    check_file(v, v.text, *t, r);
    t->data = std::move(data);
    return;
  }
  const std::string what = "\"data\" of tensor \"" + t->name + "\"";
  if (!v.is(JsonValue::Kind::kObject)) {
    r->json.complain(Code::kWrongType, v, {what, "a path or an object with fill, values or iota", kind_text(v)});
    return;
  }
  if (!r->json.fields(v, what, {}, {"fill", "values", "iota"})) return;
  if (v.members.size() != 1) {
    r->json.complain(
        Code::kWrongType, v,
        {what, "an object with exactly one of fill, values and iota", std::to_string(v.members.size()) + " fields"});
    return;
  }
  if (const JsonValue* fill = v.find("fill"))
    read_element(*fill, t->dtype, "\"fill\" of tensor \"" + t->name + "\"", r, &data.fill, &data.int_fill);
  if (const JsonValue* values = v.find("values")) read_value_list(*values, r, t, &data);
  if (const JsonValue* axis = v.find("iota")) read_iota(*axis, r, t, &data);
  t->data = std::move(data);
}

void read_tensor_sample(const JsonValue& v, ProgramReader* r, Tensor* t) {
  const std::string what = "\"sample\" of tensor \"" + t->name + "\"";
  if (v.is(JsonValue::Kind::kString)) {
    const auto text = r->json.choice(v, what, {"spd", "permutation"});
    if (!text) return;
    t->sample.kind = *text == "spd" ? Sample::Kind::kSpd : Sample::Kind::kPermutation;
  } else {
    if (!r->json.fields(v, what, {}, {"uniform", "normal", "integers"})) return;
    if (v.members.size() != 1)
      return r->json.complain(
          Code::kWrongType, v,
          {what, "an object with exactly one of uniform, normal and integers", std::to_string(v.members.size()) + " fields"});
    const JsonMember& member = v.members[0];
    t->sample.kind = member.key == "uniform"  ? Sample::Kind::kUniform
                     : member.key == "normal" ? Sample::Kind::kNormal
                                              : Sample::Kind::kIntegers;
    if (!member.value.is(JsonValue::Kind::kArray) || member.value.items.size() != 2)
      return r->json.complain(Code::kWrongType, member.value,
                              {"\"" + member.key + "\"", "an array of two numbers", kind_text(member.value)});
    const bool whole = t->sample.kind == Sample::Kind::kIntegers;
    double* const parts[2] = {&t->sample.a, &t->sample.b};
    for (std::size_t i = 0; i < 2; ++i) {
      const JsonValue& item = member.value.items[i];
      if (whole && !r->json.integer(item, "a bound of \"integers\"")) return;
      const auto number = r->json.number(item, "a part of \"" + member.key + "\"");
      if (!number) return;
      *parts[i] = *number;
    }
  }
  const std::string fault = sample_fault(t->sample, *t);
  if (!fault.empty()) r->json.complain(Code::kBadSample, v, {t->name, fault});
}

}  // namespace facet
