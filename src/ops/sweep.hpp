// Many shapes and dtypes of an operator, from its samples: what tests run over all operators.
#pragma once

#include <string>
#include <vector>

#include "src/ops/op_table.hpp"

namespace facet {

// kEmpty: an extent is 0. kOne: an extent is 1. kPrime: extents are primes. kRagged: extents one past powers of two, which no
// tile divides. kBroadcast: one operand has extent 1, or lacks leading axes, where others do not. kLarge: an extent in the
// hundreds.
enum class SweepShape { kEmpty, kOne, kPrime, kRagged, kBroadcast, kLarge };
inline constexpr SweepShape kSweepShapes[] = {SweepShape::kEmpty,  SweepShape::kOne,       SweepShape::kPrime,
                                              SweepShape::kRagged, SweepShape::kBroadcast, SweepShape::kLarge};
std::string to_text(SweepShape shape);

struct SweepCase {
  OpSample sample;
  SweepShape shape = SweepShape::kOne;
  std::string dtypes;  // "T=f32, I=i64"
};

// What the operator accepts of: its first sample in every dtype and every kind of shape; its other samples in every kind of
// shape. `too_large` says which programs (not elaborated) are not worth their time.
std::vector<SweepCase> sweep_cases(const OpDef& op, const std::function<bool(const Program&)>& too_large);

}  // namespace facet
