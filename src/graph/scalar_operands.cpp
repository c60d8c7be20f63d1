// Dtypes of numbers written as operands.
#include "src/graph/scalar_operands.hpp"

#include <cmath>

#include "facet/host_tensor.hpp"

namespace facet {

namespace {

bool is_open_scalar(const Tensor& t) { return t.data && !t.inferred && t.local; }

const OperandDef* operand_of(const OpDef& op, std::size_t k) {
  if (k < op.operands.size()) return &op.operands[k];
  return op.variadic && !op.operands.empty() ? &op.operands.back() : nullptr;
}

// The operand whose dtype operand `k` takes: of its group, else any that is no bool.
const Tensor* model_of(const Node& node, const OpDef& op, std::size_t k, const Program& program) {
  const OperandDef* own = operand_of(op, k);
  const Tensor* other = nullptr;
  for (std::size_t j = 0; j < node.in.size(); ++j) {
    if (j == k || node.in[j].empty()) continue;
    const Tensor& t = program.tensor(node.in[j]);
    if (is_open_scalar(t)) continue;
    const OperandDef* def = operand_of(op, j);
    if (own && def && own->group == def->group) return &t;
    if (!other && t.dtype != DType::kBool) other = &t;
  }
  return other;
}

std::string written(const Tensor& t) {
  return t.dtype == DType::kI64 ? std::to_string(t.data->int_fill) : to_text(literal(DType::kF64, t.data->fill));
}

// Converts the provisional value (kI64 or kF64, as written) to `dtype`; false when it does not fit.
bool convert(Tensor* t, DType dtype) {
  TensorData& data = *t->data;
  const bool integer = t->dtype == DType::kI64;
  if (is_float(dtype)) {
    data.fill = round_to(dtype, integer ? static_cast<double>(data.int_fill) : data.fill);
    if (!std::isfinite(data.fill)) return false;
  } else if (dtype == DType::kBool) {
    return false;
  } else {
    if (!integer) return false;
    const int bits = static_cast<int>(size_bytes(dtype)) * 8;
    const std::int64_t v = data.int_fill;
    if (is_signed(dtype) && bits < 64 && (v < -(std::int64_t{1} << (bits - 1)) || v >= std::int64_t{1} << (bits - 1)))
      return false;
    if (!is_signed(dtype) && (v < 0 || (bits < 64 && v >= std::int64_t{1} << bits))) return false;
  }
  t->dtype = dtype;
  t->inferred = true;
  return true;
}

}  // namespace

Result<Done> give_scalars_dtypes(const Node& node, const OpDef& op, Program* program) {
  Diagnostics errors;
  for (std::size_t k = 0; k < node.in.size(); ++k) {
    if (node.in[k].empty()) continue;
    Tensor& scalar = program->tensors.at(node.in[k]);
    if (!is_open_scalar(scalar)) continue;
    const Tensor* model = model_of(node, op, k, *program);
    if (!model) {
      errors.push_back(diagnose(Code::kOpenDtype, scalar.place, {written(scalar)},
                                {"no other operand says it; declare a tensor of rank 0 with \"fill\""}));
    } else if (!convert(&scalar, model->dtype)) {
      errors.push_back(diagnose(Code::kBadFill, scalar.place, {written(scalar), to_text(model->dtype)},
                                {"a number takes the dtype of operand \"" + model->name + "\""}));
    }
  }
  if (!errors.empty()) return errors;
  return Done{};
}

}  // namespace facet
