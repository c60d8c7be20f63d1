// Resizing as a weighted sum over neighbours, axis by axis.
#pragma once

#include "src/ops/resize_axis.hpp"

namespace facet {

// mode linear, two neighbours whose weights are the distances: no array of weights is needed.
void resize_linear(OpBuilder& b, const std::vector<Scale>& scales, const std::vector<Position>& positions);

// Any kernel: cubic, antialiased, with positions outside left out.
void resize_by_kernel(OpBuilder& b, const std::vector<Scale>& scales, const std::vector<Position>& positions);

}  // namespace facet
