// One axis of a resize: the scale, and where an output position lies in the input, in exact integer arithmetic.
#pragma once

#include "src/ops/builder.hpp"

namespace facet {

// scale = up / down.
struct Scale {
  std::int64_t up = 1, down = 1;
  ExprPtr input, output;
  bool crops = false;            // mode tf_crop_and_resize: an axis that has a region changes
  double start = 0, finish = 1;  // its region, in shares of input - 1
  bool changes() const { return crops || up != down || !same_dim(input, output); }
};

// Output position i lies at the input position (a * i + b) / d.
struct Position {
  std::int64_t a = 1, b = 0, d = 1;
};

// The scales of all axes by attributes sizes, scales, axes, roi and keep_aspect_ratio_policy; complains.
std::vector<Scale> scales_of(OpBuilder& b);
// By coordinate_transformation_mode; complains.
Position position_of(OpBuilder& b, const Scale& s);

// floor((a*i + b) / d) + offset, clamped into the axis where it can leave it; `steps` more offsets 0..steps are added by
// `extra`.
ExprPtr floor_at(const Position& p, const Loop& i, const ExprPtr& extent, std::int64_t offset, const ExprPtr& extra = idx(0),
                 std::int64_t steps = 0);
// Without the clamping.
ExprPtr plain_floor_at(const Position& p, const Loop& i, std::int64_t offset, const ExprPtr& extra = idx(0));
// (a*i + b) mod d: the fraction in parts of d.
ExprPtr remainder_at(const Position& p, const Loop& i);

// The value, or extrapolation_value where a cropped axis leaves the input.
std::string framed(OpBuilder& b, const std::vector<Scale>& scales, const std::vector<Position>& positions, const Loops& l,
                   const std::string& value);

}  // namespace facet
