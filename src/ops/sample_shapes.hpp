// A sample's operands as extents, to make other samples of them.
#pragma once

#include <map>

#include "src/ops/op_table.hpp"

namespace facet {

struct Shaped {
  std::string dtype;
  std::vector<std::int64_t> extents;
  bool omitted = false;
};
using Operands = std::vector<Shaped>;

Operands operands_of(const OpSample& sample);
// With the attributes and outputs of `base`.
OpSample sample_of(const Operands& operands, const OpSample& base);
// Equal extents are taken to belong together: every one that `to` lists changes in all operands.
Operands mapped(Operands operands, const std::map<std::int64_t, std::int64_t>& to);

}  // namespace facet
