// One-operator programs from the samples of the operator table: tests, documentation and measurements use them.
#pragma once

#include "src/ops/op_table.hpp"

namespace facet {

// "f32[2, N + 1]" -> a tensor of that dtype and shape; symbols must be among `symbols`.
Result<Tensor> parse_tensor(const std::string& text, const std::string& name, const std::vector<std::string>& symbols);

// Inputs x0, x1, ..., outputs z0, z1, ..., one node, not elaborated.
Result<Program> sample_program(const OpDef& op, const OpSample& sample);

// How many outputs that node has.
int outputs_of(const OpDef& op, const OpSample& sample);

// The node's call against the program's tensors.
OpCall call_of(const Program& program, const Node& node);

}  // namespace facet
