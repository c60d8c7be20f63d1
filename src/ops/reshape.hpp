// The row-major reinterpretation other definitions use too.
#pragma once

#include "src/ops/builder.hpp"

namespace facet {

// y0 = operand 0 under `shape` (same number of elements, else a complaint).
void define_reshaped(OpBuilder& b, const Shape& shape);

}  // namespace facet
