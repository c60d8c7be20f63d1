// The loops and the read of a pool over x [n, c, ...].
#pragma once

#include "src/ops/windows.hpp"

namespace facet {

struct PoolLoops {
  Windows windows;
  Loops left;  // n, c, positions
  Loops taps;
  Subscripts read;
  Shape shape;
  bool padded = false;
};

// From kernel_shape and the window attributes; complains.
PoolLoops pool_loops(OpBuilder& b);

}  // namespace facet
