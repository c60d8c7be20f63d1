// Sample programs.
#include "src/ops/samples.hpp"

#include <algorithm>

#include "src/frontend/affine.hpp"

namespace facet {

Result<Tensor> parse_tensor(const std::string& text, const std::string& name, const std::vector<std::string>& symbols) {
  Tensor t;
  t.name = name;
  t.declared = t.inferred = true;
  const std::size_t open = text.find('[');
  if (open == std::string::npos || text.back() != ']' || !dtype_from_text(text.substr(0, open), &t.dtype))
    return diagnose(Code::kInternalError, {}, {"a sample", "bad tensor text " + text});
  std::string rest = text.substr(open + 1, text.size() - open - 2);
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    Result<ExprPtr> extent = parse_affine(rest.substr(0, comma), symbols, {});
    if (!extent) return extent.errors();
    t.shape.push_back(*extent);
    rest = comma == rest.size() ? "" : rest.substr(comma + 1);
  }
  return t;
}

int outputs_of(const OpDef& op, const OpSample& sample) { return std::max(op.required_outputs, sample.outputs); }

Result<Program> sample_program(const OpDef& op, const OpSample& sample) {
  Program p;
  p.name = "sample";
  Node node;
  node.op = op.name;
  node.attrs = sample.attrs;
  node.place.pointer = "/ops/0";
  for (std::size_t k = 0; k < sample.operands.size(); ++k) {
    const std::string name = sample.operands[k].empty() ? "" : "x" + std::to_string(k);
    node.in.push_back(name);
    if (name.empty()) continue;
    Result<Tensor> tensor = parse_tensor(sample.operands[k], name, {});
    if (!tensor) return tensor.errors();
    p.tensors[name] = *tensor;
    p.tensor_order.push_back(name);
    p.inputs.push_back(name);
  }
  for (int k = 0; k < outputs_of(op, sample); ++k) {
    const std::string name = "z" + std::to_string(k);
    node.out.push_back(name);
    p.outputs.push_back(name);
    p.tensors[name].name = name;
    p.tensor_order.push_back(name);
  }
  p.nodes.push_back(std::move(node));
  return p;
}

OpCall call_of(const Program& program, const Node& node) {
  OpCall call{node, {}, program};
  for (const std::string& name : node.in) call.operands.push_back(name.empty() ? Tensor{} : program.tensor(name));
  return call;
}

}  // namespace facet
