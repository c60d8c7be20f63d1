// The C subset of op `loops` (contract L1-L5): affine control, assignments to array elements and scalars, C's arithmetic.
#pragma once

#include <string>
#include <vector>

#include "facet/program.hpp"
#include "facet/result.hpp"

namespace facet {

struct LoopContext {
  const Program* program = nullptr;  // its tensors (dtype and shape known) and symbols
  std::vector<std::string> in;       // tensors that are read, symbols that are used
  std::vector<std::string> inout;    // tensors updated in place
  std::vector<std::string> out;      // tensors written
  std::string local_prefix;          // scalar s becomes the rank-0 tensor "PREFIX.s", or "PREFIX.s_2" when that is taken
  Place place;                       // of the node
  std::vector<Place> line_places;    // of each line's first character; may be empty
};

struct ParsedLoops {
  LoopBody body;
  std::vector<Tensor> locals;  // the scalars, in the order of their declaration
};

// All complaints, or the loops. Whether subscripts are inside and elements defined is not judged here.
Result<ParsedLoops> parse_loops(const std::vector<std::string>& lines, const LoopContext& context);

}  // namespace facet
