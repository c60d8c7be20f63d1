// Texts to extents and back.
#include "src/ops/sample_shapes.hpp"

#include "src/ops/samples.hpp"

namespace facet {

Operands operands_of(const OpSample& sample) {
  Operands list;
  for (const std::string& text : sample.operands) {
    Shaped s;
    s.omitted = text.empty();
    const Result<Tensor> t = parse_tensor(s.omitted ? "f32[]" : text, "x", {});
    if (t) {
      s.dtype = to_text(t->dtype);
      for (const ExprPtr& e : t->shape) s.extents.push_back(e->int_value);
    }
    list.push_back(std::move(s));
  }
  return list;
}

OpSample sample_of(const Operands& operands, const OpSample& base) {
  OpSample sample;
  sample.attrs = base.attrs;
  sample.outputs = base.outputs;
  for (const Shaped& s : operands) {
    std::string text = s.dtype + "[";
    for (std::size_t d = 0; d < s.extents.size(); ++d) text += (d ? ", " : "") + std::to_string(s.extents[d]);
    sample.operands.push_back(s.omitted ? "" : text + "]");
  }
  return sample;
}

Operands mapped(Operands operands, const std::map<std::int64_t, std::int64_t>& to) {
  for (Shaped& s : operands)
    for (std::int64_t& e : s.extents)
      if (const auto it = to.find(e); it != to.end()) e = it->second;
  return operands;
}

}  // namespace facet
