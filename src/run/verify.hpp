// Compares a run's outputs with the reference, element by element, by bounds that come from the program and not from trial.
//
// An element passes if it differs from the reference by no more than its running error bound plus the rounding to its dtype;
// where numerics are `free`, by no more than 16 times the largest such bound of its output. It fails on a NaN where the
// reference has none (or the reverse), when it still holds poison, and when the reference never defines it. Ambiguous elements
// (behind a comparison that rounding may turn over) are counted, not compared; more than 0.1 % of an output, and the verdict is
// "not verified". So is a run whose gathers left their tensor (contract C11), and, for sampled inputs, an output of 16 elements
// or more whose reference is mostly non-finite or all equal (V10).
#pragma once

#include <string>
#include <vector>

#include "facet/host_tensor.hpp"
#include "facet/program.hpp"
#include "src/run/reference.hpp"

namespace facet {

struct OutputVerdict {
  std::string name;
  bool verified = false;
  std::string reason;  // why not; names the worst element
  double max_abs_error = 0;
  double max_rel_error = 0;  // relative to the element or, where terms cancelled, to the output's root mean square
  double tolerance = 0;      // largest bound used
  std::int64_t elements = 0;
  std::int64_t verified_elements = 0;  // compared and within their bound
  std::int64_t ambiguous = 0;
  std::int64_t wrong = 0;
};

struct Verdict {
  bool verified = false;
  std::string reason;  // the first reason why not
  double max_abs_error = 0;
  double max_rel_error = 0;
  double tolerance = 0;
  std::int64_t verified_elements = 0;
  std::int64_t ambiguous = 0;
  bool sampled = false;  // only some elements were compared
  std::vector<OutputVerdict> outputs;
};

// `sampled_inputs`: at least one input was drawn at random (rule V10 applies).
Verdict verify(const Program& program, const ReferenceRun& reference, const HostTensors& results, bool sampled_inputs);

// Fills a tensor with values no program should leave behind: quiet NaNs with a payload of their own, 0xA5 bytes for integers.
// For outputs before a run; not for inout tensors.
void poison(HostTensor& tensor);
bool is_poison(const HostTensor& tensor, std::int64_t i);  // floats and bools; integers cannot be told apart

}  // namespace facet
