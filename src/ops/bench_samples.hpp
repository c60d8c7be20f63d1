// The sizes at which each operator is timed.
#pragma once

#include <functional>

#include "src/ops/op_table.hpp"

namespace facet {

// The operator's row where it has one (layers as networks have them), else its first sample, of f32 where it takes floats, with
// extents doubled in turn until `enough` (of a program that is not elaborated) says so.
OpSample bench_sample(const OpDef& op, const std::function<bool(const Program&)>& enough);

// Rows that name no operator or that their operator refuses; there should be none.
std::vector<std::string> unfit_bench_rows();

}  // namespace facet
