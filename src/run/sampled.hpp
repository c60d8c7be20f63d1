// The reference for some elements only: for programs whose elements are each computed on their own but are too many.
//
// The chosen elements form a grid: on every axis the first and last index and pairs around multiples of 8 (where tiles begin
// and end), the others drawn at random. A grid shares rows and columns, so that what elements have in common (a softmax's row)
// is computed once. Elements of intermediate tensors are computed when they are first needed.
#pragma once

#include "src/run/reference.hpp"

namespace facet {

struct SampleOptions {
  std::int64_t count = 10000;        // at least this many elements of each output, or all it has
  std::int64_t budget = 4000000000;  // summed terms and intermediate elements
  std::uint64_t seed = 1;
};

// True if every node is equations, so that elements can be computed one by one.
bool can_sample(const Program& program);

// Marks the elements that were computed in ReferenceTensor::defined. kOracleTooLarge when the budget runs out.
Result<ReferenceRun> run_sampled(const Program& program, const SymbolValues& symbols, const HostTensors& tensors,
                                 const SampleOptions& options);

// The indices of each axis of the grid, ascending. Their product is at least `count`, or the number of elements.
std::vector<std::vector<std::int64_t>> sample_grid(const std::vector<std::int64_t>& shape, std::int64_t count,
                                                   std::uint64_t seed);

}  // namespace facet
