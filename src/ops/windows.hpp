// Sliding windows over the trailing (spatial) axes: kernel, strides, dilations, padding and the number of positions.
#pragma once

#include "src/ops/builder.hpp"

namespace facet {

struct Window {
  ExprPtr input;  // extent of the axis
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t begin = 0, end = 0;  // padding; negative crops
  ExprPtr output;                   // number of window positions

  std::int64_t span() const { return dilation * (kernel - 1) + 1; }
  // The input position of tap `r` of window `p`: p*stride + r*dilation - begin.
  ExprPtr at(const ExprPtr& p, const ExprPtr& r) const;
  // Some tap of some window lies outside the input (or it cannot be excluded).
  bool leaves_input() const;
};
using Windows = std::vector<Window>;

// Reads strides, dilations, pads, auto_pad (and ceil_mode where the operator has it) for the axes of operand 0 from `first` on.
// Complains about wrong counts, values and symbolic sizes that cannot be decided.
Windows windows_of(OpBuilder& b, const std::vector<std::int64_t>& kernel, int first);

// Loops p, q / r, s over window positions and taps.
Loops position_loops(OpBuilder& b, const Windows& windows);
Loops tap_loops(OpBuilder& b, const Windows& windows);

std::vector<AttrDef> window_attributes();  // kernel_shape apart

// A list attribute of one entry per spatial axis; `fallback` when absent or empty. Complains when the count is wrong
// or an entry is below `least`.
std::vector<std::int64_t> per_axis(OpBuilder& b, const std::string& name, std::size_t count, std::int64_t fallback,
                                   std::int64_t least);

}  // namespace facet
